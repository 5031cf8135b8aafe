"""What runs are made of: bodies, states, derivatives, and what Sim and Batch share."""
from __future__ import annotations

import collections
import ctypes as C
import dataclasses
import re
import time
import weakref
from typing import Any, NamedTuple

import numpy as np

from . import _errors
from ._library import (BodyInfo, Bound, Handle, ParameterInfo, at, call, count, finite, lib, make,
                       numbers)
from .scene import Scene, _parameter, as_scene

KINDS = ("fixed", "kinematic", "rigid", "cloth")


@dataclasses.dataclass(frozen=True)
class Body:
    """What a body is."""
    name: str
    kind: str             #: "fixed", "kinematic", "rigid" or "cloth"
    index: int            #: among all bodies
    frame: int            #: among bodies that are not cloth: its place in State; -1 of cloth
    nodes: range          #: of cloth: its nodes in State; else empty
    vertices: range       #: in Sim.vertices
    mass: float           #: kg; 0 of what never moves freely
    inertia: tuple        #: kg m^2, principal
    thickness: float      #: m, of the layer around the mesh; the radius of spheres and capsules
    friction: float
    restitution: float
    pinned: int           #: nodes of cloth that do not move freely


class State(NamedTuple):
    """The parts of a flat state, as views. Leading axes (time, batch) are kept."""
    positions: Any           #: [..., frame, 3] m, centres of mass
    quaternions: Any         #: [..., frame, 4] w, x, y, z of the mesh, as the scene gives it
    velocities: Any          #: [..., frame, 3] m/s
    angular_velocities: Any  #: [..., frame, 3] rad/s, world axes
    nodes: Any               #: [..., node, 3] m, of cloth
    node_velocities: Any     #: [..., node, 3] m/s


@dataclasses.dataclass(frozen=True)
class Gradient:
    """What a loss feels of the inputs of a run, or a direction in them."""
    state: np.ndarray        #: [S] of the state at the start
    controls: np.ndarray     #: [T, C]
    theta: np.ndarray        #: [P] of all parameters
    parameters: dict         #: the parts of theta by name: views

    def __iter__(self):
        return iter((self.state, self.controls, self.theta))


def split(state, frames: int, nodes: int) -> State:
    """A flat state [..., S] as its parts; of NumPy, PyTorch and JAX arrays alike."""
    f, n = frames, nodes
    cuts = ((3 * f, 3), (4 * f, 4), (3 * f, 3), (3 * f, 3), (3 * n, 3), (3 * n, 3))
    parts, begin = [], 0
    for length, width in cuts:
        part = state[..., begin:begin + length]
        parts.append(part.reshape(tuple(part.shape[:-1]) + (length // width, width)))
        begin += length
    return State(*parts)


class Pace:
    """How many steps a call of about a twentieth of a second takes, so that Ctrl-C is heard. What was
    learnt stays from run to run: many items that take turns after every few steps find nothing of
    theirs in the cache."""

    def __init__(self):
        self.size = 1

    def chunks(self, total: int):
        """Lengths of calls that together make up total steps."""
        while total > 0:
            size = min(self.size, total)
            began = time.perf_counter()
            yield size
            took = time.perf_counter() - began
            total -= size
            if took < 0.02 and size == self.size:
                self.size *= 2
            elif took > 0.1:
                self.size = max(1, self.size // 2)


class Compiled:
    """A scene with its parameters and controls, compiled: what Sim and Batch share."""

    def __init__(self, source, parameters, controls):
        scene = as_scene(source)
        data = scene.dict()
        if parameters is None:  # the scene's own; those per step are controls here
            chosen = [p for p in data.get("parameters", [])
                      if p.get("what") not in ("forces", "torques")]
        else:
            if isinstance(parameters, (str, dict)):
                parameters = [parameters]
            chosen = [_parameter(p) for p in parameters]
        data.pop("objective", None)
        data.pop("parameters", None)
        if chosen:
            data["parameters"] = chosen
        self.scene = Scene(data, folder=scene._folder)
        self.scene._name = scene._name
        with self.scene._handle.use() as h:
            self.model = make(lib.carom_model_create, h, destroy=lib.carom_model_destroy,
                              what="model")
        self._bodies()
        self.controls, self.chosen = self._controls(controls)

    def _bodies(self):
        self.bodies, frames, nodes, vertices = [], 0, 0, 0
        with self.model.use() as m:
            self.dt, self.duration = lib.carom_model_dt(m), lib.carom_model_duration(m)
            self.vertex_count = lib.carom_model_vertex_count(m)
            self.notes = [lib.carom_model_note(m, i).decode()
                          for i in range(lib.carom_model_note_count(m))]
            for i in range(lib.carom_model_body_count(m)):
                info = BodyInfo()
                lib.carom_model_body(m, i, C.byref(info))
                cloth = KINDS[info.kind] == "cloth"
                many = info.vertex_count
                self.bodies.append(Body(
                    info.name.decode(), KINDS[info.kind], i, -1 if cloth else frames,
                    range(nodes, nodes + many) if cloth else range(0),
                    range(info.vertex_first, info.vertex_first + many), info.mass,
                    tuple(info.inertia), info.thickness, info.friction, info.restitution,
                    info.pinned_count))
                frames, nodes = frames + (not cloth), nodes + (many if cloth else 0)
        self.frames, self.nodes = frames, nodes
        self.by_name = {b.name: b for b in self.bodies}
        self.state_size = 13 * frames + 6 * nodes

    def body(self, name) -> Body:
        if isinstance(name, Body):
            return name
        if isinstance(name, str) and name in self.by_name:
            return self.by_name[name]
        if isinstance(name, (int, np.integer)) and 0 <= name < len(self.bodies):
            return self.bodies[int(name)]
        raise _errors.ArgumentError(f"there is no body {name!r}; there are: "
                                    + ", ".join(self.by_name))

    _PART = re.compile(r"(.+)\.(force|torque|velocity|angular_velocity|nodes)"
                       r"(?:\[([0-9, ]+)\])?(?:\.([xyz]+))?")

    def _controls(self, specs):
        """Places in the library's vector of all controls for each name that was given."""
        if specs is None:
            specs = [f"{b.name}.{w}" for b in self.bodies if b.kind == "rigid"
                     for w in ("force", "torque")]
        elif isinstance(specs, str):
            specs = [specs]
        names, places = {}, []
        for spec in specs:
            found = self._PART.fullmatch(spec) if isinstance(spec, str) else None
            if not found:
                raise _errors.ArgumentError(
                    f"a control is {spec!r}; it has to be \"body.force\", \"body.torque\" (of rigid "
                    "bodies), \"body.velocity\", \"body.angular_velocity\" (of kinematic bodies "
                    "without script) or \"body.nodes[0,8]\" (forces on nodes of cloth, velocities "
                    "of pinned ones); \".x\" or \".xz\" at its end takes some components")
            body, what = self.body(found[1]), found[2]
            axes = ["xyz".index(a) for a in (found[4] or "xyz")]
            if body.kind == "fixed":
                raise _errors.ArgumentError(f"{spec!r}: \"{body.name}\" is fixed; nothing moves it")
            if (body.kind == "cloth") != (what == "nodes") or \
                    (body.kind == "rigid" and what not in ("force", "torque")) or \
                    (body.kind == "kinematic" and "velocity" not in what) or \
                    (found[3] and what != "nodes"):
                raise _errors.ArgumentError(f"{spec!r}: \"{body.name}\" is {body.kind}; rigid bodies "
                                            "take force and torque, kinematic ones velocity and "
                                            "angular_velocity, cloth nodes")
            if what == "nodes":
                picked = range(len(body.nodes)) if not found[3] else \
                    [int(k) for k in found[3].split(",")]
                if any(k >= len(body.nodes) for k in picked):
                    raise _errors.ArgumentError(f"{spec!r}: \"{body.name}\" has the nodes 0 to "
                                                f"{len(body.nodes) - 1}")
                firsts = [6 * self.frames + 3 * body.nodes[k] for k in picked]
            else:
                firsts = [3 * body.frame + (3 * self.frames if what in ("torque",
                                                                        "angular_velocity") else 0)]
            begin, more = len(places), [first + axis for first in firsts for axis in axes]
            if len(set(places + more)) < begin + len(more):
                raise _errors.ArgumentError(f"{spec!r}: some of it is among the controls before it, or "
                                            "in it twice")
            places += more
            names[spec] = slice(begin, len(places))
        return names, np.array(places, dtype=np.int32)


def _piece(view: np.ndarray) -> np.ndarray:
    """The view itself where it is one block of memory, else a copy."""
    return view if view.flags.c_contiguous else np.ascontiguousarray(view)


class Runs(Bound):
    """What Sim and Batch share. Arrays of a Batch have its items as their first axis."""

    _kind = "carom_rollout_"  # functions of the library
    _lead: tuple = ()         # axes before those of one run

    def __init__(self, built: Compiled, handle: Handle):
        self._built, self._handle = built, handle
        self._dropped = collections.deque()  # slots of runs that are gone
        self._pace = {"run": Pace(), "back": Pace(), "jvp": Pace(), "jacobian": Pace()}
        with self._use() as h:
            call(self._do("choose"), h, len(built.chosen), at(built.chosen))
            one = self._one(h)
            layout = lib.carom_rollout_layout(one)
            self._theta_size = layout.theta_size
            self._slices = {}
            for i in range(layout.parameter_count):
                info = ParameterInfo()
                lib.carom_rollout_parameter(one, i, C.byref(info))
                name = f"{info.body_name.decode() or 'world'}.{info.name.decode()}"
                self._slices[name] = slice(info.first, info.first + info.count)
            self._theta0 = np.zeros(self._theta_size)
            lib.carom_rollout_scene(one, at(self._theta0))
            call(self._do("place"), h, None, 0)
        self._theta = np.broadcast_to(self._theta0, self._lead + self._theta0.shape).copy()

    # ---- what it is

    @property
    def scene(self) -> Scene:
        """A copy of the scene it was made from."""
        return Scene(self._built.scene)

    @property
    def bodies(self) -> list[Body]:
        """All bodies, in the order of the scene."""
        return list(self._built.bodies)

    def body(self, name: "str | int") -> Body:
        """A body by its name."""
        return self._built.body(name)

    @property
    def dt(self) -> float:
        """s, one step."""
        return self._built.dt

    @property
    def duration(self) -> float:
        """s, how long the scene says a run is."""
        return self._built.duration

    @property
    def notes(self) -> list[str]:
        """What the compiler did that the scene did not say."""
        return list(self._built.notes)

    @property
    def state_size(self) -> int:
        """Numbers in a flat state: 13 per frame and 6 per node."""
        return self._built.state_size

    @property
    def controls(self) -> dict[str, slice]:
        """Where each control stands in a vector of controls."""
        return dict(self._built.controls)

    @property
    def control_size(self) -> int:
        """Numbers in a vector of controls."""
        return len(self._built.chosen)

    @property
    def parameters(self) -> dict[str, slice]:
        """Where each parameter stands in theta; carom.parameter_kinds() says what they are."""
        return dict(self._slices)

    @property
    def theta_size(self) -> int:
        """Numbers in theta, the vector of all parameters."""
        return self._theta_size

    @property
    def theta(self) -> np.ndarray:
        """The parameters of the coming steps, [P] or of a Batch [K, P]; set it to change them. A
        copy."""
        return self._theta.copy()

    @theta.setter
    def theta(self, value):
        theta = self._theta_of(value)
        with self._use() as h:
            self._write(h, theta)

    @property
    def theta_scene(self) -> np.ndarray:
        """[P] the parameters as the scene has them."""
        return self._theta0.copy()

    def theta_range(self) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
        """Where an optimisation starts and its bounds, as the scene says: start, least, most."""
        out = tuple(np.zeros(self._theta_size) for _ in range(3))
        with self._use() as h:
            lib.carom_rollout_range(self._one(h), *map(at, out))
        return out

    def split(self, state) -> State:
        """The parts of flat states [..., state_size] as views; NumPy, PyTorch or JAX."""
        size = np.shape(state)[-1] if np.ndim(state) else 0
        if size != self.state_size:
            raise _errors.ArgumentError(f"a state has {size} numbers; it has to be "
                                        f"{self.state_size}")
        return split(state, self._built.frames, self._built.nodes)

    # ---- where it is

    @property
    def state(self) -> np.ndarray:
        """The flat state [S], of a Batch [K, S]; a copy. Set it to go somewhere; contacts are then
        not remembered."""
        out = np.empty(self._lead + (self.state_size,))
        with self._use() as h:
            self._do("state")(h, at(out))
        return out

    @state.setter
    def state(self, value):
        self.place(value, self.steps)

    @property
    def steps(self) -> int:
        """Steps since the start."""
        with self._use() as h:
            return lib.carom_sim_steps(lib.carom_rollout_sim(self._one(h)))

    def place(self, state=None, step: int = 0):
        """Goes to a state [S] (of a Batch [K, S], or one for all) after `step` steps, which scripts
        go by; None: to the start."""
        state, step = self._state_of(state), count(step, "step")
        with self._use() as h:
            call(self._do("place"), h, at(state), step)
        return self

    def reset(self):
        """Back to the start of the scene."""
        return self.place()

    # ---- the handle

    def _do(self, name: str):
        return getattr(lib, self._kind + name)

    def _use(self):
        return _Use(self._handle, self._dropped, self._do("drop"))

    def _one(self, h):
        """A rollout of the library, to look at."""
        return h

    def _write(self, h, theta: np.ndarray) -> None:
        call(lib.carom_rollout_write, h, at(theta))
        self._theta = theta

    # ---- inputs

    def _shaped(self, value, shape: tuple, name: str) -> np.ndarray:
        """value as an array [lead, *shape]; one of that shape counts for all of a batch."""
        if self._lead and np.ndim(value) == len(shape):
            one = numbers(value, shape, name)
            return np.broadcast_to(one, self._lead + one.shape).copy()
        return numbers(value, self._lead + shape, name)

    def _state_of(self, value) -> "np.ndarray | None":
        return None if value is None else self._shaped(value, (self.state_size,), "state")

    def _named(self, value: dict, base: np.ndarray) -> np.ndarray:
        """base [lead, P] with what a dict by names says, each for all or [lead, ...]."""
        theta = base.copy()
        for name, part in value.items():
            if name not in self._slices:
                raise _errors.ArgumentError(f"there is no parameter {name!r}; there are: "
                                            + (", ".join(self._slices) or "none"))
            where = self._slices[name]
            width, shape = where.stop - where.start, np.shape(part)
            lead = theta.shape[:-1]
            if np.size(part) == width:  # for all
                theta[..., where] = numbers(np.ravel(part), (width,), name)
            elif lead and shape[:len(lead)] == lead and np.size(part) == width * lead[0]:
                theta[..., where] = numbers(np.reshape(part, lead + (width,)), lead + (width,), name)
            else:
                raise _errors.ArgumentError(f"{name} has the shape {shape}; it has to be ({width},)"
                                            + (f" or {lead + (width,)}" if lead else ""))
        return theta

    def _theta_of(self, value) -> np.ndarray:
        if isinstance(value, dict):
            return self._named(value, self._theta)
        return self._shaped(value, (self._theta_size,), "theta").copy()

    def _steps(self, steps, seconds):
        if steps is not None and seconds is not None:
            raise _errors.ArgumentError("steps and seconds are both given; one of them will do")
        if seconds is not None:
            seconds = float(seconds)
            if not 0 < seconds < 1e9:
                raise _errors.ArgumentError(f"seconds is {seconds}; it has to be above 0")
            return max(1, round(seconds / self.dt))
        return None if steps is None else count(steps, "steps")

    def _control_of(self, value, steps: "int | None") -> np.ndarray:
        """Controls [lead, T, C] from an array, or a dict of arrays [lead, T, c], [lead, c] or [c] by
        name."""
        if isinstance(value, dict):
            return self._controls_named(value, steps)
        if value is None:
            if steps is None:
                steps = max(1, round(self.duration / self.dt))
            return np.zeros(self._lead + (steps, self.control_size))
        return numbers(value, self._lead + (steps, self.control_size), "controls")

    def _controls_named(self, value: dict, steps: "int | None") -> np.ndarray:
        parts, whole = {}, len(self._lead) + 2
        for name, part in value.items():
            if name not in self._built.controls:
                raise _errors.ArgumentError(f"there is no control {name!r}; there are: "
                                            + (", ".join(self._built.controls) or "none"))
            parts[name] = np.asarray(part)
            if parts[name].ndim == whole and steps is None:
                steps = parts[name].shape[-2]
        if steps is None:
            raise _errors.ArgumentError("how many steps? give steps, or controls per step")
        out = np.zeros(self._lead + (steps, self.control_size))
        for name, part in parts.items():
            where = self._built.controls[name]
            width = where.stop - where.start
            if self._lead and part.ndim == whole - 1:  # of each item, in all steps
                out[..., where] = numbers(part, self._lead + (width,), name)[..., None, :]
                continue
            shape = self._lead + (steps, width) if part.ndim == whole else (width,)
            out[..., where] = numbers(part, shape, name)
        return out

    # ---- motion

    def _go(self, h, controls, states, slots) -> None:
        """All steps of controls [lead, T, C], into states [lead, T, S] and slots [lead, T] (-1
        before) where they are wanted."""
        begin = 0
        for size in self._pace["run"].chunks(controls.shape[-2]):
            end, done = begin + size, np.zeros(self._lead or 1, np.int32)
            got = None if states is None else _piece(states[..., begin:end, :])
            kept = None if slots is None else _piece(slots[..., begin:end])
            try:
                call(self._do("run"), h, size, at(_piece(controls[..., begin:end, :])), at(got),
                     at(kept), at(done))
            finally:
                if kept is not None:
                    kept[np.arange(size) >= done.reshape(self._lead + (1,))] = -1
                    slots[..., begin:end] = kept
            if got is not None and got.base is None:
                states[..., begin:end, :] = got
            begin = end

    def _rolled(self, controls, state, step, theta, keep):
        """A run as (states [lead, T+1, S], the start that was given or None, slots or None)."""
        if controls.shape[-2] < 1:
            raise _errors.ArgumentError("a rollout of 0 steps is asked for; it has to be 1 or more")
        theta = None if theta is None else self._theta_of(theta)
        start, step = self._state_of(state), count(step, "step")
        total = controls.shape[-2]
        states = np.empty(self._lead + (total + 1, self.state_size))
        slots = np.full(self._lead + (total,), -1, dtype=np.int32) if keep else None
        with self._use() as h:
            if theta is not None:
                self._write(h, theta)
            call(self._do("place"), h, at(start), step)
            first = np.empty(self._lead + (self.state_size,))
            self._do("state")(h, at(first))
            # as given: its quaternions may have any length
            states[..., 0, :] = first if start is None else start
            try:
                self._go(h, controls, states[..., 1:, :], slots)
            except BaseException:
                if slots is not None:
                    self._dropped.append(slots)
                raise
        return states, start, slots

    # ---- derivatives

    def _at_theta(self, h, theta, function, *arguments) -> None:
        """A call with the parameters that a run had."""
        now = self._theta
        self._write(h, theta)
        try:
            call(function, h, *arguments)
        finally:
            self._write(h, now)

    def _back(self, slots, bars, theta, from_start) -> "Gradient":
        """The way back for bars [lead, T+1, S]."""
        total = slots.shape[-1]
        bar = np.array(bars[..., -1, :])
        control_bar = np.zeros(self._lead + (total, self.control_size))
        theta_bar = np.zeros(self._lead + (self._theta_size,))
        with self._use() as h:
            end = total
            for size in self._pace["back"].chunks(total):
                begin = end - size
                part = _piece(control_bar[..., begin:end, :])
                call(self._do("back"), h, size, at(_piece(slots[..., begin:end])),
                     at(_piece(bars[..., begin:end, :])), at(bar), at(part), at(theta_bar))
                control_bar[..., begin:end, :] = part
                end = begin
            if from_start and self._theta_size:
                self._at_theta(h, theta, self._do("start_back"), at(bar), at(theta_bar))
        return self._gradient(bar, control_bar, theta_bar)

    def _forward(self, slots, dstate, dcontrols, dtheta, theta, from_start) -> np.ndarray:
        """The way forward along D directions, [lead, D, S], [lead, D, T, C] and [lead, D, P], to
        [lead, D, T+1, S]."""
        total, many = slots.shape[-1], dstate.shape[-2]
        now, dtheta = np.array(dstate), np.ascontiguousarray(dtheta)
        out = np.empty(self._lead + (many, total + 1, self.state_size))
        with self._use() as h:
            if from_start and self._theta_size:
                self._at_theta(h, theta, self._do("start_jvp"), many, at(dtheta), at(now))
            out[..., 0, :] = now
            begin = 0
            for size in self._pace["jvp"].chunks(total):
                end = begin + size
                part = np.empty(self._lead + (many, size, self.state_size))
                call(self._do("jvp"), h, size, at(_piece(slots[..., begin:end])), many, at(now),
                     at(_piece(dcontrols[..., begin:end, :])), at(dtheta), at(part))
                out[..., begin + 1:end + 1, :] = part
                begin = end
        return out

    def _columns(self, h, slots):
        """Of the states after these steps by the states before, their controls and theta:
        [lead, S, S], [lead, S, t C] and [lead, S, P]."""
        s, steps = self.state_size, slots.shape[-1]
        out = [np.empty(self._lead + (s, n)) for n in (s, steps * self.control_size,
                                                       self._theta_size)]
        call(self._do("jacobian"), h, steps, at(_piece(slots)), *map(at, out))
        return out

    def _jacobian(self, slots, theta, from_start) -> Gradient:
        """Of the last states by the inputs of all steps, a product of those of pieces."""
        s, p, total = self.state_size, self._theta_size, slots.shape[-1]
        js = np.broadcast_to(np.eye(s), self._lead + (s, s))
        jc, jp = np.zeros(self._lead + (s, 0)), np.zeros(self._lead + (s, p))
        with self._use() as h:
            begin = 0
            for size in self._pace["jacobian"].chunks(total):
                a, b, d = self._columns(h, slots[..., begin:begin + size])
                js, jc, jp = a @ js, np.concatenate([a @ jc, b], axis=-1), a @ jp + d
                begin += size
            if from_start and p:  # the start of the scene follows from theta
                start = np.zeros(self._lead + (p, s))
                unit = np.ascontiguousarray(np.broadcast_to(np.eye(p), self._lead + (p, p)))
                self._at_theta(h, theta, self._do("start_jvp"), p, at(unit), at(start))
                jp = jp + js @ np.swapaxes(start, -1, -2)
        return self._gradient(js, jc.reshape(self._lead + (s, total, self.control_size)), jp)

    def _gradient(self, state, controls, theta) -> Gradient:
        return Gradient(state, controls, theta,
                        {k: theta[..., w] for k, w in self._slices.items()})

    # ---- ends

    def close(self) -> None:
        """Gives the memory back; everything after that is an error."""
        self._handle.close()
        self._dropped.clear()

    def __enter__(self):
        return self

    def __exit__(self, *exception) -> None:
        self.close()


class _Use:
    """Handle.use, with the slots of runs that are gone given back first."""

    def __init__(self, handle: Handle, dropped, drop):
        self._inner, self._dropped, self._drop = handle.use(), dropped, drop

    def __enter__(self):
        h = self._inner.__enter__()
        while self._dropped:
            try:
                slots = self._dropped.popleft()
            except IndexError:
                break
            self._drop(h, slots.shape[-1], at(slots))
        return h

    def __exit__(self, *exception):
        return self._inner.__exit__(*exception)


def by_body(built: Compiled, frames: np.ndarray, nodes: "np.ndarray | None", cloth=None):
    """[..., body, k] from what frames have and the mean of what nodes have."""
    out = np.empty(frames.shape[:-2] + (len(built.bodies), frames.shape[-1]))
    for b in built.bodies:
        if b.kind != "cloth":
            out[..., b.index, :] = frames[..., b.frame, :]
        elif nodes is None:
            out[..., b.index, :] = cloth
        else:
            out[..., b.index, :] = nodes[..., b.nodes.start:b.nodes.stop, :].mean(axis=-2)
    return out


class Bars:
    """dL/d(states) of a run, by parts: arrays to fill. Those of bodies count every body, and what is
    put on a cloth's position or velocity is shared among its nodes. Of a Batch its items come
    first."""

    NAMES = ("positions", "quaternions", "velocities", "angular_velocities", "nodes",
             "node_velocities")

    def __init__(self, run: "Run"):
        self._built, self._lead = run._runs._built, run.states.shape[:-1]
        bodies, nodes = len(self._built.bodies), self._built.nodes
        self.positions = np.zeros(self._lead + (bodies, 3))           #: [T+1, body, 3]
        self.quaternions = np.zeros(self._lead + (bodies, 4))         #: [T+1, body, 4]
        self.velocities = np.zeros(self._lead + (bodies, 3))          #: [T+1, body, 3]
        self.angular_velocities = np.zeros(self._lead + (bodies, 3))  #: [T+1, body, 3]
        self.nodes = np.zeros(self._lead + (nodes, 3))                #: [T+1, node, 3]
        self.node_velocities = np.zeros(self._lead + (nodes, 3))      #: [T+1, node, 3]

    @property
    def flat(self) -> np.ndarray:
        """[T+1, S], as the run's states."""
        index = [b.index for b in self._built.bodies if b.kind != "cloth"]
        nodes, speeds = self.nodes.copy(), self.node_velocities.copy()
        for b in self._built.bodies:
            if b.kind == "cloth":
                where = slice(b.nodes.start, b.nodes.stop)
                nodes[..., where, :] += self.positions[..., b.index, None, :] / len(b.nodes)
                speeds[..., where, :] += self.velocities[..., b.index, None, :] / len(b.nodes)
        return np.concatenate([part.reshape(self._lead + (-1,)) for part in (
            self.positions[..., index, :], self.quaternions[..., index, :],
            self.velocities[..., index, :], self.angular_velocities[..., index, :], nodes,
            speeds)], axis=-1)


class Run(Bound):
    """States that came out, and their derivatives: what Trajectory and BatchRun share."""

    def __init__(self, runs: Runs, states, controls, theta, start, step, slots):
        self._runs, self._start, self._step, self._slots = runs, start, step, slots
        self.states: np.ndarray = states        #: [T+1, S] flat states, of a Batch [K, T+1, S]
        self.controls: np.ndarray = controls    #: [T, C], of a Batch [K, T, C]
        self.theta: np.ndarray = theta          #: [P] it was run with, of a Batch [K, P]
        self._end = None
        if slots is not None:
            # the sim may be in use when this run goes away: it gives the slots back later
            self._end = weakref.finalize(self, runs._dropped.append, slots)

    @property
    def parts(self) -> State:
        """States by their parts, as views; bodies that are not cloth by Body.frame."""
        return self._runs.split(self.states)

    @property
    def times(self) -> np.ndarray:
        """[T+1] s."""
        return (self._step + np.arange(self.states.shape[-2])) * self._runs.dt

    @property
    def positions(self) -> np.ndarray:
        """[T+1, body, 3] m: centres of mass, of cloth centroids. Here and below of a Batch with its
        items first."""
        return by_body(self._runs._built, self.parts.positions, self.parts.nodes)

    @property
    def velocities(self) -> np.ndarray:
        """[T+1, body, 3] m/s."""
        return by_body(self._runs._built, self.parts.velocities, self.parts.node_velocities)

    @property
    def quaternions(self) -> np.ndarray:
        """[T+1, body, 4] w, x, y, z."""
        return by_body(self._runs._built, self.parts.quaternions, None, (1.0, 0.0, 0.0, 0.0))

    @property
    def angular_velocities(self) -> np.ndarray:
        """[T+1, body, 3] rad/s, world axes."""
        return by_body(self._runs._built, self.parts.angular_velocities, None, (0.0, 0.0, 0.0))

    @property
    def nodes(self) -> np.ndarray:
        """[T+1, node, 3] m, of cloth: a view."""
        return self.parts.nodes

    @property
    def node_velocities(self) -> np.ndarray:
        """[T+1, node, 3] m/s: a view."""
        return self.parts.node_velocities

    def zeros(self) -> Bars:
        """Room for dL/d(states), all 0: fill its parts and hand it to vjp."""
        return Bars(self)

    def _kept(self) -> np.ndarray:
        if self._slots is None:
            raise _errors.MisuseError("this run was not kept for derivatives; use keep=True")
        if not self._end.alive:
            raise _errors.ClosedError("this run was closed")
        return self._slots

    def _bars(self, bars) -> np.ndarray:
        if isinstance(bars, Bars):
            bars = bars.flat
        if isinstance(bars, dict):
            filled = Bars(self)
            for name, value in bars.items():
                if name not in Bars.NAMES:
                    raise _errors.ArgumentError(f"there is no {name!r}; there are: "
                                                + ", ".join(Bars.NAMES))
                part = getattr(filled, name)
                part[...] = numbers(value, part.shape, name)
            bars = filled.flat
        shape = self.states.shape
        if np.ndim(bars) == len(shape) - 1:  # of the last state alone
            last = numbers(bars, shape[:-2] + shape[-1:], "bars")
            bars = np.zeros(shape)
            bars[..., -1, :] = last
        return finite(numbers(bars, shape, "bars"), "bars")

    def vjp(self, bars: Any) -> Gradient:
        """dL/d(state at the start, controls, parameters), given dL/d(states).

        bars  [T+1, S]; or [S] of the last state; or zeros() with its parts filled; or a dict by
              names of parts, {"positions": [T+1, body, 3], "nodes": ...}; of a Batch with its items
              first. A cloth's position is its centroid. The part of quaternions is that of the
              direction of each.
        """
        slots, bars = self._kept(), self._bars(bars)
        return self._runs._back(slots, bars, self.theta, self._start is None)

    def jvp(self, state=None, controls=None, theta=None) -> np.ndarray:
        """How all states change along a direction in the inputs, or along many at once.

        state [S], controls [T, C], theta [P] or a dict: the direction; None: 0. Of a Batch with its
        items first. Any of them may have one more axis before these, of D directions; the result
        [T+1, S] has it then too: [D, T+1, S]. Forward mode: the equations of a step are factored
        once, and solved once for each direction.
        """
        slots, runs = self._kept(), self._runs
        if isinstance(theta, dict):
            theta = runs._named(theta, np.zeros(runs._lead + (runs._theta_size,)))
        given = {}
        lead = len(runs._lead)
        for name, value, shape in (("state", state, (runs.state_size,)),
                                   ("controls", controls, self.controls.shape[lead:]),
                                   ("theta", theta, (runs._theta_size,))):
            value = np.zeros(runs._lead + shape) if value is None else value
            if np.ndim(value) == lead + 1 + len(shape):
                shape = (None,) + shape
            given[name] = finite(numbers(value, runs._lead + shape, name), name)
        sizes = {a.shape[lead] for a, n in zip(given.values(), (1, 2, 1)) if a.ndim > lead + n}
        if len(sizes) > 1:
            raise _errors.ArgumentError(f"{sorted(sizes)} directions are given; all inputs need as "
                                        "many, or one")
        many = sizes.pop() if sizes else None
        for (name, a), n in zip(given.items(), (1, 2, 1)):
            if a.ndim == lead + n:  # the same for all
                a = np.broadcast_to(np.expand_dims(a, lead),
                                    a.shape[:lead] + (many or 1,) + a.shape[lead:])
            given[name] = a
        if many == 0:
            return np.zeros(runs._lead + (0,) + self.states.shape[lead:])
        out = runs._forward(slots, given["state"], given["controls"], given["theta"], self.theta,
                            self._start is None)
        return out if many is not None else out.reshape(self.states.shape)

    def jacobian(self, step: "int | None" = None) -> Gradient:
        """d(a state)/d(inputs): of the last state by the whole run's inputs (state [S, S],
        controls [S, T, C], theta [S, P]), or, given a step t, of the state after that step alone by
        the state before it ([S, S], [S, C], [S, P]); of a Batch with its items first. One
        factorisation a step and one solve for every column; columns of a run are products of those
        of its pieces."""
        slots, runs = self._kept(), self._runs
        if step is None:
            return runs._jacobian(slots, self.theta, self._start is None)
        total = slots.shape[-1]
        if not -total <= step < total:
            raise _errors.ArgumentError(f"step is {step}; it has to be 0 to {total - 1}")
        with runs._use() as h:
            return runs._gradient(*runs._columns(h, slots[..., step:][..., :1]))

    def close(self) -> None:
        """Gives back what derivatives need; the states stay."""
        if self._end is not None:
            self._end()
