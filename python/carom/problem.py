"""The objective that a scene states, as a function of the parameters it lists."""
from __future__ import annotations

import ctypes as C
import dataclasses
from typing import Callable

import numpy as np

from . import _errors
from ._library import (PROGRESS, STOP, Bound, CheckReportC, CheckRow, OptimizeReportC,
                       ParameterInfo, at, call, count, f64, lib, make, numbers, stoppable, take_text)
from .scene import Scene, as_scene

METHODS = ("lbfgs", "gd", "adam")
ENDS = ("converged", "stalled", "limit", "stopped")


@dataclasses.dataclass(frozen=True)
class CheckReport:
    """A gradient held against differences of whole runs."""
    value: float
    max_relative_error: float
    taylor_slope: float       #: 2 for a right gradient; NaN when the function is linear or at a kink
    contact_switches: int     #: steps of moved runs in which other features touched
    weakly_active: int
    evaluations: int
    kinks: int
    failed: int
    gradient: dict            #: by parameter
    errors: dict              #: max_relative_error by parameter
    noise: dict               #: by parameter: the share of that which the differences may have
    worst: dict               #: by parameter: number in it, its gradient and its difference
    judged: dict              #: by parameter: whether any moved run came to its end

    def __bool__(self) -> bool:
        """Whether the gradient is right to a millionth."""
        return self.max_relative_error <= 1e-6 and all(self.judged.values())

    def __str__(self) -> str:
        lines = [f"objective {self.value:.9g}, {self.evaluations} runs"]
        for name, error in self.errors.items():
            said = "not judged: the moved runs fail" if not self.judged[name] else "good"
            if error > 1e-6:
                at, exact, difference = self.worst[name]
                said = (f"OFF: number {at}: gradient {exact:.12g}, difference {difference:.12g}; "
                        f"differences agree to {self.noise[name]:.1g}")
                if self.noise[name] >= 0.3 * error:
                    said += ", no better: another step may tell"
            lines.append(f"  {name:28} {error:9.2g}  {said}")
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True)
class OptimizeReport:
    """How an optimisation went."""
    value_start: float
    value_end: float
    iterations: int
    evaluations: int
    gradient_start: float
    gradient_end: float
    end: str                  #: "converged", "stalled", "limit" or "stopped"
    theta: np.ndarray         #: the best there was
    parameters: dict          #: its parts by name


class Problem(Bound):
    """The objective of a scene as a function of theta, the vector of the parameters it lists.

        problem = carom.Problem("examples/two_cubes.json")
        value, gradient = problem.gradient(problem.theta_scene)

    steps   of a run; None: as the scene says
    memory  bytes that the tape may hold; None: no limit. Results do not depend on it
    """

    def __init__(self, scene: "Scene | str | dict", *, steps: "int | None" = None,
                 workers: int = 1, memory: "int | None" = None):
        self._scene = Scene(as_scene(scene))
        with self._scene._handle.use() as h:
            self._model = make(lib.carom_model_create, h, destroy=lib.carom_model_destroy,
                               what="model")
        self._hit = []
        self._stop = STOP(lambda user: self._asked())
        options = lib.carom_problem_default()
        options.steps = 0 if steps is None else count(steps, "steps", 1)
        options.worker_count = count(workers, "workers", 1)
        options.tape_memory = 0 if memory is None else count(memory, "memory", 0, 2**62)
        options.stop = self._stop
        with self._model.use() as m:
            self._handle = make(lib.carom_problem_create, m, C.byref(options), keep=self._model,
                                destroy=lib.carom_problem_destroy, what="Problem")
        self._ask = None
        with self._handle.use() as h:
            self.size: int = lib.carom_problem_size(h)    #: numbers in theta
            self.steps: int = lib.carom_problem_steps(h)  #: of a run
            self._slices = {}
            for i in range(lib.carom_problem_parameter_count(h)):
                info = ParameterInfo()
                lib.carom_problem_parameter(h, i, C.byref(info))
                name = f"{info.body_name.decode() or 'world'}.{info.name.decode()}"
                self._slices[name] = slice(info.first, info.first + info.count)

    def _asked(self) -> int:
        return self._ask(None) if self._ask else 0

    def _run(self, function, *arguments) -> None:
        with self._handle.use() as h, stoppable() as self._ask:
            try:
                call(function, h, *arguments)
            except _errors.InterruptedError:
                pass  # stoppable raises what the signal means
            finally:
                self._ask = None

    @property
    def parameters(self) -> "dict[str, slice]":
        """Where each parameter stands in theta."""
        return dict(self._slices)

    @property
    def theta_scene(self) -> np.ndarray:
        """What the scene itself says."""
        out = np.zeros(self.size)
        with self._handle.use() as h:
            lib.carom_problem_scene(h, at(out))
        return out

    def theta_range(self) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
        """Where an optimisation starts, and its bounds: start, least, most."""
        out = tuple(np.zeros(self.size) for _ in range(3))
        with self._handle.use() as h:
            lib.carom_problem_range(h, *map(at, out))
        return out

    def _theta(self, theta) -> np.ndarray:
        return self.theta_scene if theta is None else numbers(theta, (self.size,), "theta").copy()

    def _named(self, theta: np.ndarray) -> dict:
        return {name: theta[where] for name, where in self._slices.items()}

    def value(self, theta=None) -> float:
        """The objective at theta (None: the scene's own)."""
        out, theta = f64(), self._theta(theta)
        self._run(lib.carom_problem_value, at(theta), C.byref(out))
        return out.value

    def gradient(self, theta=None) -> "tuple[float, np.ndarray]":
        """The objective and its gradient."""
        out, theta, bar = f64(), self._theta(theta), np.zeros(self.size)
        self._run(lib.carom_problem_gradient, at(theta), C.byref(out), at(bar))
        return out.value, bar

    @property
    def info(self) -> dict:
        """What the last of these took: seconds, bytes of tape, impacts, ..."""
        with self._handle.use() as h:
            about = lib.carom_problem_about(h)
        return {name: getattr(about, name) for name, _ in about._fields_}

    def check(self, theta=None, *, step: "float | None" = None,
              most: "int | None" = None) -> CheckReport:
        """The gradient against central differences of three step sizes."""
        options = lib.carom_check_default()
        options.step = options.step if step is None else float(step)
        options.most = options.most if most is None else count(most, "most", 1)
        theta, bar = self._theta(theta), np.zeros(self.size)
        rows, report = (CheckRow * max(1, len(self._slices)))(), CheckReportC()
        self._run(lib.carom_problem_check, at(theta), C.byref(options), at(bar), rows,
                  C.byref(report))
        told = {name: getattr(report, name) for name, _ in report._fields_}
        row = {n: rows[i] for i, n in enumerate(self._slices)}
        return CheckReport(
            **told, gradient=self._named(bar),
            errors={n: r.max_relative_error for n, r in row.items()},
            noise={n: r.noise for n, r in row.items()},
            worst={n: (r.worst - self._slices[n].start, r.worst_exact, r.worst_difference)
                   for n, r in row.items()},
            judged={n: not (r.failed > 0 and r.failed + r.kinks >= r.checked)
                    for n, r in row.items()})

    def optimize(self, theta=None, *, method: str = "lbfgs", iterations: "int | None" = None,
                 rate: "float | None" = None, momentum: "float | None" = None,
                 tolerance: "float | None" = None,
                 progress: "Callable[[OptimizeReport], bool | None] | None" = None
                 ) -> OptimizeReport:
        """Makes the objective small from theta (None: where the scene says to start).

        method     "lbfgs" (bounds, line search), "gd" (with momentum) or "adam"
        progress   called after each iteration; whatever is true stops. Ctrl-C stops too and keeps
                   the best so far.
        """
        if method not in METHODS:
            raise _errors.ArgumentError(f"method is {method!r}; it has to be one of {METHODS}")
        options = lib.carom_optimize_default()
        options.method = METHODS.index(method)
        if iterations is not None:
            options.iterations = count(iterations, "iterations")
        for name, value in (("rate", rate), ("momentum", momentum), ("tolerance", tolerance)):
            if value is not None:
                setattr(options, name, float(value))
        raised = []

        def told(user, report, best):
            try:
                now = np.ctypeslib.as_array(best, (self.size,)).copy() if self.size else \
                    np.zeros(0)
                return 1 if progress(self._report(report.contents, now)) else 0
            except BaseException as error:  # nothing may leave a callback of the library
                raised.append(error)
                return 1
        if progress is not None:
            options.progress = PROGRESS(told)
        theta = self.theta_range()[0] if theta is None else self._theta(theta)
        report = OptimizeReportC()
        try:
            self._run(lib.carom_problem_optimize, C.byref(options), at(theta), C.byref(report))
        except KeyboardInterrupt:
            if raised or report.evaluations == 0:
                raise
            report.end = ENDS.index("stopped")
        if raised:
            raise raised[0]
        return self._report(report, theta)

    def _report(self, report: OptimizeReportC, theta: np.ndarray) -> OptimizeReport:
        return OptimizeReport(report.value_start, report.value_end, report.iterations,
                              report.evaluations, report.gradient_start, report.gradient_end,
                              ENDS[report.end], theta, self._named(theta))

    def apply(self, theta) -> "tuple[Scene, str]":
        """The scene with the parameters that theta says, and what a scene file cannot hold."""
        out, notes, theta = Scene(self._scene), C.c_void_p(), self._theta(theta)
        with self._handle.use() as h, out._handle.use() as s:
            call(lib.carom_problem_apply, h, at(theta), s, C.byref(notes))
        return out, take_text(notes)

    def close(self) -> None:
        """Gives the memory back; everything after that is an error."""
        self._handle.close()

    def __repr__(self) -> str:
        return f"<carom.Problem of {self.size} numbers, {self.steps} steps>"


def gradcheck(scene: "Scene | str | dict", *, steps: "int | None" = None, **options) -> CheckReport:
    """The exact gradient of a scene's objective against differences; see Problem.check."""
    return Problem(scene, steps=steps).check(**options)


def optimize(scene: "Scene | str | dict", *, steps: "int | None" = None,
             **options) -> OptimizeReport:
    """Solves the inverse problem that a scene states; see Problem.optimize."""
    return Problem(scene, steps=steps).optimize(**options)
