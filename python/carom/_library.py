"""The shared library: where it is, and its calls with their types."""
from __future__ import annotations

import contextlib
import ctypes as C
import os
import pathlib
import signal
import sys
import threading

import numpy as np

from . import _errors

i32, i64, f64, text = C.c_int32, C.c_int64, C.c_double, C.c_char_p
doubles, ints = C.POINTER(f64), C.POINTER(i32)
handle = C.c_void_p


class CError(C.Structure):
    _fields_ = [("status", C.c_int), ("message", C.c_char * 1000)]


class BodyInfo(C.Structure):
    _fields_ = [("name", text), ("kind", C.c_int), ("vertex_first", i32), ("vertex_count", i32),
                ("edge_count", i32), ("face_first", i32), ("face_count", i32),
                ("pinned_count", i32), ("thickness", f64), ("mass", f64), ("inertia", f64 * 3),
                ("friction", f64), ("restitution", f64), ("mesh_position", f64 * 3)]


class Contact(C.Structure):
    _fields_ = [("body", i32 * 2), ("point", f64 * 3), ("normal", f64 * 3), ("impulse", f64 * 3),
                ("zone", i32)]


class Energy(C.Structure):
    _fields_ = [("kinetic", f64), ("gravity", f64), ("elastic", f64), ("total", f64)]


class StepInfo(C.Structure):
    _fields_ = [("zones", i32), ("contacts", i32), ("max_zone_dofs", i32),
                ("max_zone_contacts", i32), ("parts", i32), ("iterations", i32),
                ("factorisations", i32), ("weakly_active", i32), ("events", i32), ("retries", i32),
                ("least_gap", f64), ("residual", f64), ("eased", i32), ("unfinished", i32)]


class ParameterInfo(C.Structure):
    _fields_ = [("name", text), ("body_name", text), ("body", i32), ("first", i32), ("count", i32)]


class ParameterKindInfo(C.Structure):
    _fields_ = [("name", text), ("who", text), ("numbers", i32), ("about", text)]


class Layout(C.Structure):
    _fields_ = [("frame_count", i32), ("node_count", i32), ("state_size", i32),
                ("control_size", i32), ("theta_size", i32), ("parameter_count", i32)]


STOP = C.CFUNCTYPE(C.c_int, C.c_void_p)


class ProblemOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("steps", i64), ("worker_count", i32),
                ("tape_memory", C.c_size_t), ("stop", STOP), ("user", C.c_void_p)]


class ProblemInfo(C.Structure):
    _fields_ = [("forward_s", f64), ("backward_s", f64), ("tape_bytes", C.c_size_t),
                ("tape_record_bytes", C.c_size_t), ("replayed", i64), ("weakly_active", i64),
                ("impacts", i64), ("max_contacts", i32)]


class CheckOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("step", f64), ("most", i32)]


class CheckRow(C.Structure):
    _fields_ = [("checked", i32), ("kinks", i32), ("failed", i32), ("max_relative_error", f64),
                ("noise", f64), ("worst", i32), ("worst_exact", f64), ("worst_difference", f64)]


class CheckReportC(C.Structure):
    _fields_ = [("value", f64), ("max_relative_error", f64), ("taylor_slope", f64),
                ("contact_switches", i64), ("weakly_active", i64), ("evaluations", i64),
                ("kinks", i32), ("failed", i32)]


class OptimizeReportC(C.Structure):
    _fields_ = [("iterations", i32), ("evaluations", i64), ("value_start", f64),
                ("value_end", f64), ("gradient_start", f64), ("gradient_end", f64),
                ("end", C.c_int)]


PROGRESS = C.CFUNCTYPE(C.c_int, C.c_void_p, C.POINTER(OptimizeReportC), doubles)


class OptimizeOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("method", C.c_int), ("iterations", i32),
                ("rate", f64), ("momentum", f64), ("tolerance", f64), ("progress", PROGRESS),
                ("user", C.c_void_p)]


class Bars(C.Structure):
    _fields_ = [(name, doubles) for name in ("position", "rotation", "velocity",
                                             "angular_velocity", "vertex_position",
                                             "vertex_velocity")]


FEEL = C.CFUNCTYPE(None, C.c_void_p, i64, C.POINTER(Bars))
CONTROL = C.CFUNCTYPE(None, C.c_void_p, i64, doubles, doubles)


class TapeListener(C.Structure):
    _fields_ = [("user", C.c_void_p), ("state", FEEL), ("control", CONTROL)]


class BodyGradient(C.Structure):
    _fields_ = [("position", f64 * 3), ("rotation", f64 * 3), ("velocity", f64 * 3),
                ("angular_velocity", f64 * 3), ("mass", f64), ("inertia", f64 * 3),
                ("friction", f64), ("restitution", f64), ("thickness", f64), ("force", f64 * 3),
                ("torque", f64 * 3)]


class GradientC(C.Structure):
    _fields_ = [("gravity", f64 * 3), ("wind", f64 * 3), ("body", C.POINTER(BodyGradient)),
                ("vertex", doubles)]


class RecorderOptions(C.Structure):
    _fields_ = [("struct_size", C.c_size_t), ("scene_name", text), ("scene_text", text),
                ("every", i32)]


_S, _E = C.c_int, C.POINTER(CError)
_CALLS = {
    "carom_version": (text,),
    "carom_status_text": (text, C.c_int),
    "carom_scene_load": (_S, text, C.POINTER(handle), _E),
    "carom_scene_parse": (_S, text, C.c_size_t, text, C.POINTER(handle), _E),
    "carom_scene_destroy": (None, handle),
    "carom_scene_set": (_S, handle, text, text, _E),
    "carom_scene_save": (_S, handle, text, _E),
    "carom_scene_text": (_S, handle, C.POINTER(C.c_void_p), _E),
    "carom_scene_text_free": (None, C.c_void_p),
    "carom_scene_schema": (_S, C.POINTER(C.c_void_p), _E),
    "carom_scene_import": (_S, text, text, text, C.POINTER(C.c_void_p), C.POINTER(C.c_void_p), _E),
    "carom_model_create": (_S, handle, C.POINTER(handle), _E),
    "carom_model_destroy": (None, handle),
    "carom_model_body_count": (i32, handle),
    "carom_model_vertex_count": (i32, handle),
    "carom_model_dt": (f64, handle),
    "carom_model_duration": (f64, handle),
    "carom_model_body": (_S, handle, i32, C.POINTER(BodyInfo)),
    "carom_model_note_count": (i32, handle),
    "carom_model_note": (text, handle, i32),
    "carom_sim_create": (_S, handle, i32, C.POINTER(handle), _E),
    "carom_sim_destroy": (None, handle),
    "carom_sim_reset": (_S, handle),
    "carom_sim_time": (f64, handle),
    "carom_sim_steps": (i64, handle),
    "carom_sim_hash": (C.c_uint64, handle),
    "carom_sim_vertices": (None, handle, doubles),
    "carom_sim_set_force": (_S, handle, i32, doubles, doubles),
    "carom_sim_contact_count": (i32, handle),
    "carom_sim_contact": (None, handle, i32, C.POINTER(Contact)),
    "carom_sim_energy": (Energy, handle),
    "carom_sim_momentum": (None, handle, doubles, doubles),
    "carom_sim_info": (StepInfo, handle),
    "carom_recorder_default": (RecorderOptions,),
    "carom_recorder_create": (_S, handle, text, C.POINTER(RecorderOptions), C.POINTER(handle), _E),
    "carom_recorder_add": (_S, handle, handle, _E),
    "carom_recorder_finish": (_S, handle, C.c_int, text, _E),
    "carom_recorder_destroy": (None, handle),
    "carom_problem_default": (ProblemOptions,),
    "carom_problem_create": (_S, handle, C.POINTER(ProblemOptions), C.POINTER(handle), _E),
    "carom_problem_destroy": (None, handle),
    "carom_problem_parameter_count": (i32, handle),
    "carom_problem_parameter": (_S, handle, i32, C.POINTER(ParameterInfo)),
    "carom_problem_size": (i32, handle),
    "carom_problem_steps": (i64, handle),
    "carom_problem_scene": (None, handle, doubles),
    "carom_problem_range": (None, handle, doubles, doubles, doubles),
    "carom_problem_value": (_S, handle, doubles, doubles, _E),
    "carom_problem_gradient": (_S, handle, doubles, doubles, doubles, _E),
    "carom_problem_about": (ProblemInfo, handle),
    "carom_problem_apply": (_S, handle, doubles, handle, C.POINTER(C.c_void_p), _E),
    "carom_check_default": (CheckOptions,),
    "carom_problem_check": (_S, handle, doubles, C.POINTER(CheckOptions), doubles,
                            C.POINTER(CheckRow), C.POINTER(CheckReportC), _E),
    "carom_optimize_default": (OptimizeOptions,),
    "carom_problem_optimize": (_S, handle, C.POINTER(OptimizeOptions), doubles,
                               C.POINTER(OptimizeReportC), _E),
    "carom_tape_create": (_S, handle, i32, C.c_size_t, C.POINTER(handle), _E),
    "carom_tape_destroy": (None, handle),
    "carom_tape_reset": (None, handle),
    "carom_tape_step": (_S, handle, handle, _E),
    "carom_tape_steps": (i64, handle),
    "carom_tape_bytes": (C.c_size_t, handle),
    "carom_tape_backward": (_S, handle, C.POINTER(TapeListener), C.POINTER(GradientC), _E),
    "carom_tape_rewind": (None, handle),
    "carom_parameter_kind_count": (i32,),
    "carom_parameter_kind_at": (_S, i32, C.POINTER(ParameterKindInfo)),
    "carom_rollout_create": (_S, handle, i32, C.POINTER(handle), _E),
    "carom_rollout_destroy": (None, handle),
    "carom_rollout_layout": (Layout, handle),
    "carom_rollout_parameter": (_S, handle, i32, C.POINTER(ParameterInfo)),
    "carom_rollout_scene": (None, handle, doubles),
    "carom_rollout_range": (None, handle, doubles, doubles, doubles),
    "carom_rollout_model": (handle, handle),
    "carom_rollout_sim": (handle, handle),
    "carom_rollout_choose": (_S, handle, i32, ints, _E),
    "carom_rollout_write": (_S, handle, doubles, _E),
    "carom_rollout_place": (_S, handle, doubles, i64, _E),
    "carom_rollout_state": (None, handle, doubles),
    "carom_rollout_run": (_S, handle, i32, doubles, doubles, ints, ints, _E),
    "carom_rollout_drop": (None, handle, i32, ints),
    "carom_rollout_back": (_S, handle, i32, ints, doubles, doubles, doubles, doubles, _E),
    "carom_rollout_start_back": (_S, handle, doubles, doubles, _E),
    "carom_rollout_jvp": (_S, handle, i32, ints, i32, doubles, doubles, doubles, doubles, _E),
    "carom_rollout_start_jvp": (_S, handle, i32, doubles, doubles, _E),
    "carom_rollout_jacobian": (_S, handle, i32, ints, doubles, doubles, doubles, _E),
    "carom_batch_create": (_S, handle, i32, i32, C.POINTER(handle), _E),
    "carom_batch_destroy": (None, handle),
    "carom_batch_item": (handle, handle, i32),
    "carom_batch_choose": (_S, handle, i32, ints, _E),
    "carom_batch_write": (_S, handle, doubles, i32, _E),
    "carom_batch_place": (_S, handle, doubles, i64, _E),
    "carom_batch_state": (None, handle, doubles),
    "carom_batch_run": (_S, handle, i32, doubles, doubles, ints, ints, _E),
    "carom_batch_drop": (None, handle, i32, ints),
    "carom_batch_back": (_S, handle, i32, ints, doubles, doubles, doubles, doubles, _E),
    "carom_batch_start_back": (_S, handle, doubles, doubles, _E),
    "carom_batch_jvp": (_S, handle, i32, ints, i32, doubles, doubles, doubles, doubles, _E),
    "carom_batch_start_jvp": (_S, handle, i32, doubles, doubles, _E),
    "carom_batch_jacobian": (_S, handle, i32, ints, doubles, doubles, doubles, _E),
}

_NAME = {"darwin": "libcarom.dylib", "win32": "carom.dll"}.get(sys.platform, "libcarom.so")


def _candidates():
    here = pathlib.Path(__file__).resolve().parent
    if os.environ.get("CAROM_LIBRARY"):
        yield pathlib.Path(os.environ["CAROM_LIBRARY"])
        return
    yield here / (_NAME + ".0")  # in an installed package
    yield here / _NAME
    yield here.parents[1] / "build" / _NAME  # beside a checkout
    for folder in ("/usr/local/lib", "/usr/lib"):
        yield pathlib.Path(folder) / _NAME


def _open() -> tuple[C.CDLL, str]:
    tried = []
    for path in _candidates():
        if path.exists():
            try:
                return C.CDLL(str(path)), str(path)
            except OSError as error:
                raise ImportError(f"{path} is not a library that can be loaded: {error}") from None
        tried.append(str(path))
    raise ImportError("the library of carom is not there; looked for " + ", ".join(tried)
                      + ". In a checkout, `make build` makes it; elsewhere CAROM_LIBRARY names it")


lib, _path = _open()
for _name, (_result, *_types) in _CALLS.items():
    _function = getattr(lib, _name)
    _function.restype, _function.argtypes = _result, _types


def library_path() -> str:
    """The shared library that is in use."""
    return _path


def version() -> str:
    """The version of the library that is in use."""
    return lib.carom_version().decode()


def call(function, *arguments) -> None:
    """Calls, and raises what the library refuses."""
    error = CError()
    status = function(*arguments, C.byref(error))
    if status != 0:
        message = error.message.decode(errors="replace")
        raise _errors.make(status, message or lib.carom_status_text(status).decode())


def take_text(pointer: C.c_void_p) -> str:
    """A text of the library's, as a str; given back."""
    try:
        return C.string_at(pointer).decode(errors="replace")
    finally:
        lib.carom_scene_text_free(pointer)


def at(array: np.ndarray | None):
    """The pointer to a C-contiguous array of float64 or int32; NULL for None."""
    if array is None:
        return None
    pointer = C.cast(array.ctypes.data, ints if array.dtype == np.int32 else doubles)
    pointer.of = array  # lives as long as the pointer
    return pointer


def numbers(value, shape: tuple, what: str) -> np.ndarray:
    """value as a C-contiguous float64 array of a shape (None: any length there)."""
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "fiub":
            raise TypeError
        array = np.ascontiguousarray(array, dtype=np.float64)
    except (TypeError, ValueError):
        kind = getattr(getattr(value, "dtype", None), "name", type(value).__name__)
        raise _errors.ArgumentError(f"{what} is {kind}; it has to be real numbers") from None
    array = array.reshape(np.shape(value))  # ascontiguousarray makes numbers into arrays of one
    if array.ndim != len(shape) or any(w is not None and w != n
                                       for w, n in zip(shape, array.shape)):
        want = "(" + ", ".join("any" if n is None else str(n) for n in shape) + ")"
        raise _errors.ArgumentError(f"{what} has the shape {array.shape}; it has to be {want}")
    return array


def finite(array: np.ndarray, what: str) -> np.ndarray:
    """The array, when all of it is finite."""
    if not np.isfinite(array).all():
        raise _errors.NotFiniteError(f"{what} has numbers that are not finite")
    return array


def count(value, what: str, least: int = 0, most: int = 2**31 - 1) -> int:
    """A whole number that is not too small."""
    import operator
    try:
        whole = operator.index(value)
    except TypeError:
        raise _errors.ArgumentError(f"{what} is {value!r}; it has to be a whole number") from None
    if not least <= whole <= most:
        raise _errors.ArgumentError(f"{what} is {whole}; it has to be {least} to {most}")
    return whole


@contextlib.contextmanager
def stoppable():
    """Ctrl-C during calls that ask a callback whether to go on: gives that callback, and raises
    what the signal means afterwards. Outside the main thread nothing can be interrupted."""
    hit = []
    before = None
    if threading.current_thread() is threading.main_thread():
        before = signal.getsignal(signal.SIGINT)
        if callable(before):
            signal.signal(signal.SIGINT, lambda *a: hit.append(a))
        else:
            before = None
    try:
        yield STOP(lambda user: 1 if hit else 0)
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
    if hit:
        before(*hit[0])


class Bound:
    """Something that holds pointers of the library's: there is one of it."""

    def __reduce_ex__(self, protocol):
        raise _errors.MisuseError(f"a {type(self).__name__} cannot be pickled or copied; a Scene can, "
                                  "and what is made of that in another process does the same to the "
                                  "bit")


class Handle(Bound):
    """A pointer of the library's with its end, used by one thread at a time."""

    def __init__(self, pointer: C.c_void_p, destroy, what: str, keep=None):
        self._pointer, self._destroy, self._what = pointer, destroy, what
        self._keep = keep  # what has to live as long
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def use(self):
        """The pointer, while no one else has it."""
        if not self._lock.acquire(blocking=False):
            raise _errors.MisuseError(f"this {self._what} is in use by another thread; give each "
                                      "thread its own, or use a Batch")
        try:
            if self._pointer is None:
                raise _errors.ClosedError(f"this {self._what} was closed")
            yield self._pointer
        finally:
            self._lock.release()

    def close(self) -> None:
        if not self._lock.acquire(blocking=False):
            raise _errors.MisuseError(f"this {self._what} is in use by another thread")
        try:
            pointer, self._pointer = self._pointer, None
            if pointer is not None:
                self._destroy(pointer)
        finally:
            self._lock.release()

    @property
    def closed(self) -> bool:
        return self._pointer is None

    def __del__(self):
        # nobody holds it, so nobody uses it
        pointer, self._pointer = getattr(self, "_pointer", None), None
        if pointer is not None:
            self._destroy(pointer)


def make(function, *arguments, destroy, what: str, keep=None) -> Handle:
    """A handle from a call that makes one."""
    pointer = handle()
    call(function, *arguments, C.byref(pointer))
    return Handle(pointer, destroy, what, keep)
