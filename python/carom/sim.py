"""A scene in motion."""
from __future__ import annotations

import collections
import ctypes as C
import dataclasses
import re
import time
from typing import Any, Iterable, NamedTuple, Sequence

import numpy as np

from . import _errors
from ._library import (BodyInfo, Contact, Handle, ParameterInfo, at, call, count, finite, i32, lib,
                       make, numbers)
from .scene import Scene, _parameter, as_scene, parameter_kinds

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


class Chunks:
    """Cuts a long run into calls of about a twentieth of a second, so that Ctrl-C is heard."""

    def __init__(self, total: int):
        self.left, self.size = total, 1

    def __iter__(self):
        while self.left > 0:
            size = min(self.size, self.left)
            began = time.perf_counter()
            yield size
            took = time.perf_counter() - began
            self.left -= size
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
            begin = len(places)
            places += [first + axis for first in firsts for axis in axes]
            names[spec] = slice(begin, len(places))
        return names, np.array(places, dtype=np.int32)


class Sim:
    """A scene in motion, and everything that happens to it as a differentiable function.

        sim = carom.Sim("examples/throw.json", parameters=["box.velocity", "box.mass"])
        sim.step()                          # one step of sim.dt
        run = sim.rollout(steps=200)        # from the start; a Trajectory
        grad = run.vjp({"positions": w})    # dL/d(state, controls, parameters)

    parameters  what gradients are asked for by: "body.name" or "world.gravity"
                (carom.parameter_kinds() lists names); None: what the scene lists
    controls    what comes from outside at every step, in this order: "body.force" (N),
                "body.torque" (N m) of rigid bodies; "body.velocity" (m/s),
                "body.angular_velocity" (rad/s) of kinematic bodies without script, which are then
                driven; "body.nodes" or "body.nodes[0,8]" of cloth, forces (N), of pinned nodes
                velocities (m/s); with ".x", ".xy" ... for some components. None: force and torque
                of every rigid body
    workers     threads; results do not depend on it

    A flat state is one vector of everything that moves: Sim.split shows its parts. States go in and
    out in the same bits. A Sim is used by one thread at a time; a Batch works on many.
    """

    def __init__(self, scene: "Scene | str | dict", *, parameters: "Sequence | None" = None,
                 controls: "Sequence[str] | None" = None, workers: int = 1):
        self._built = Compiled(scene, parameters, controls)
        workers = count(workers, "workers", 1)
        with self._built.model.use() as m:
            self._handle = make(lib.carom_rollout_create, m, workers, keep=self._built.model,
                                destroy=lib.carom_rollout_destroy, what="Sim")
        self._dropped = collections.deque()  # slots of runs that are gone
        self._replay = None
        with self._use() as h:
            call(lib.carom_rollout_choose, h, len(self._built.chosen), at(self._built.chosen))
            layout = lib.carom_rollout_layout(h)
            self._theta_size = layout.theta_size
            self._slices = {}
            for i in range(layout.parameter_count):
                info = ParameterInfo()
                lib.carom_rollout_parameter(h, i, C.byref(info))
                name = f"{info.body_name.decode() or 'world'}.{info.name.decode()}"
                self._slices[name] = slice(info.first, info.first + info.count)
            self._theta0 = np.zeros(self._theta_size)
            lib.carom_rollout_scene(h, at(self._theta0))
            lib.carom_rollout_place(h, None, 0, None)
        self._theta = self._theta0.copy()

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
        """The parameters of the coming steps; set it to change them. A copy."""
        return self._theta.copy()

    @theta.setter
    def theta(self, value):
        theta = self._theta_of(value)
        with self._use() as h:
            self._write(h, theta)

    @property
    def theta_scene(self) -> np.ndarray:
        """The parameters as the scene has them."""
        return self._theta0.copy()

    def theta_range(self) -> "tuple[np.ndarray, np.ndarray, np.ndarray]":
        """Where an optimisation starts and its bounds, as the scene says: start, least, most."""
        out = tuple(np.zeros(self._theta_size) for _ in range(3))
        with self._use() as h:
            lib.carom_rollout_range(h, *map(at, out))
        return out

    def split(self, state) -> State:
        """The parts of flat states [..., state_size] as views; NumPy, PyTorch or JAX."""
        size = np.shape(state)[-1] if np.ndim(state) else 0
        if size != self.state_size:
            raise _errors.ArgumentError(f"a state has {size} numbers; it has to be "
                                        f"{self.state_size}")
        return split(state, self._built.frames, self._built.nodes)

    # ---- the handle

    def _use(self):
        return _Use(self._handle, self._dropped)

    def _theta_of(self, value) -> np.ndarray:
        if isinstance(value, dict):
            theta = self._theta.copy()
            for name, part in value.items():
                if name not in self._slices:
                    raise _errors.ArgumentError(f"there is no parameter {name!r}; there are: "
                                                + (", ".join(self._slices) or "none"))
                where = self._slices[name]
                theta[where] = numbers(np.ravel(part), (where.stop - where.start,), name)
            return theta
        return numbers(value, (self._theta_size,), "theta").copy()

    def _write(self, h, theta: np.ndarray) -> None:
        call(lib.carom_rollout_write, h, at(theta))
        self._theta = theta

    def _control_of(self, value, steps: "int | None") -> np.ndarray:
        """Controls [T, C] from an array, or a dict of arrays [T, c] or [c] by name."""
        if isinstance(value, dict):
            parts = {}
            for name, part in value.items():
                if name not in self._built.controls:
                    raise _errors.ArgumentError(f"there is no control {name!r}; there are: "
                                                + (", ".join(self._built.controls) or "none"))
                parts[name] = np.asarray(part)
                if parts[name].ndim == 2 and steps is None:
                    steps = len(parts[name])
            if steps is None:
                raise _errors.ArgumentError("how many steps? give steps, or controls per step")
            out = np.zeros((steps, self.control_size))
            for name, part in parts.items():
                where = self._built.controls[name]
                width = where.stop - where.start
                out[:, where] = numbers(part, (steps, width) if part.ndim == 2 else (width,), name)
            return out
        if value is None:
            if steps is None:
                steps = max(1, round(self.duration / self.dt))
            return np.zeros((steps, self.control_size))
        return numbers(value, (steps, self.control_size), "controls")

    # ---- where it is

    @property
    def state(self) -> np.ndarray:
        """The flat state, a copy. Set it to go somewhere; contacts are then not remembered."""
        out = np.empty(self.state_size)
        with self._use() as h:
            lib.carom_rollout_state(h, at(out))
        return out

    @state.setter
    def state(self, value):
        self.place(value, self.steps)

    def place(self, state=None, step: int = 0) -> "Sim":
        """Goes to a state after `step` steps (which scripts go by); None: to the start."""
        state = None if state is None else numbers(state, (self.state_size,), "state")
        step = count(step, "step")
        with self._use() as h:
            call(lib.carom_rollout_place, h, at(state), step)
        return self

    def reset(self) -> "Sim":
        """Back to the start of the scene."""
        return self.place()

    def _look(self, function, *arguments):
        with self._use() as h:
            return function(lib.carom_rollout_sim(h), *arguments)

    @property
    def time(self) -> float:
        """s since the start."""
        return self._look(lib.carom_sim_time)

    @property
    def steps(self) -> int:
        """Steps since the start."""
        return self._look(lib.carom_sim_steps)

    @property
    def hash(self) -> int:
        """The same number for the same state to the last bit."""
        return self._look(lib.carom_sim_hash)

    def _part(self, i: int) -> np.ndarray:
        return self.split(self.state)[i]

    @property
    def positions(self) -> np.ndarray:
        """[body, 3] m: centres of mass, of cloth centroids."""
        parts = self.split(self.state)
        return by_body(self._built, parts.positions, parts.nodes)

    @property
    def velocities(self) -> np.ndarray:
        """[body, 3] m/s, of cloth the mean."""
        parts = self.split(self.state)
        return by_body(self._built, parts.velocities, parts.node_velocities)

    @property
    def quaternions(self) -> np.ndarray:
        """[body, 4] w, x, y, z of the mesh, as the scene gives it; of cloth 1, 0, 0, 0."""
        return by_body(self._built, self._part(1), None, (1.0, 0.0, 0.0, 0.0))

    @property
    def angular_velocities(self) -> np.ndarray:
        """[body, 3] rad/s, world axes; of cloth 0."""
        return by_body(self._built, self._part(3), None, (0.0, 0.0, 0.0))

    @property
    def nodes(self) -> np.ndarray:
        """[node, 3] m, of cloth."""
        return self._part(4)

    @property
    def vertices(self) -> np.ndarray:
        """[vertex, 3] m: where all vertices of all meshes are."""
        out = np.empty((self._built.vertex_count, 3))
        self._look(lib.carom_sim_vertices, at(out))
        return out

    @property
    def contacts(self) -> np.ndarray:
        """Contacts of the last step: a record array of body [2], point, normal (from the first to
        the second body), impulse (N s on the second, friction included; divide by dt for N)."""
        with self._use() as h:
            return read_contacts(lib.carom_rollout_sim(h))

    @property
    def energy(self) -> dict[str, float]:
        """J: kinetic, gravity, elastic, total."""
        e = self._look(lib.carom_sim_energy)
        return {name: getattr(e, name) for name, _ in e._fields_}

    @property
    def momentum(self) -> "tuple[np.ndarray, np.ndarray]":
        """kg m/s, and kg m^2/s about the origin, of everything that moves freely."""
        linear, angular = np.zeros(3), np.zeros(3)
        self._look(lib.carom_sim_momentum, at(linear), at(angular))
        return linear, angular

    @property
    def info(self) -> dict[str, Any]:
        """What the last step took: zones, contacts, iterations, least_gap, residual, ..."""
        i = self._look(lib.carom_sim_info)
        return {name: getattr(i, name) for name, _ in i._fields_}

    # ---- motion

    def step(self, control=None) -> np.ndarray:
        """One step with a vector of controls (or a dict by name); gives the new state. A step that
        cannot be taken raises and leaves everything as it was."""
        if isinstance(control, dict) or control is None:
            controls = self._control_of(control, 1)
        else:
            controls = numbers(control, (self.control_size,), "control")
        out, done = np.empty(self.state_size), i32()
        with self._use() as h:
            call(lib.carom_rollout_run, h, 1, at(controls), at(out), None, C.byref(done))
        return out

    def run(self, steps: "int | None" = None, controls=None, *,
            seconds: "float | None" = None) -> np.ndarray:
        """Goes on for so many steps or seconds (else as long as the scene says), with the same
        controls [C] or one row per step [T, C]; gives the new state. Nothing is recorded."""
        steps = self._steps(steps, seconds)
        if controls is not None and not isinstance(controls, dict) and np.ndim(controls) == 1:
            controls = np.broadcast_to(np.asarray(controls), (steps or 1, len(controls)))
        controls = self._control_of(controls, steps)
        with self._use() as h:
            self._go(h, controls, None, None)
        return self.state

    def _steps(self, steps, seconds):
        if steps is not None and seconds is not None:
            raise _errors.ArgumentError("steps and seconds are both given; one of them will do")
        if seconds is not None:
            seconds = float(seconds)
            if not 0 < seconds < 1e9:
                raise _errors.ArgumentError(f"seconds is {seconds}; it has to be above 0")
            return max(1, round(seconds / self.dt))
        return None if steps is None else count(steps, "steps")

    def _go(self, h, controls, states, slots) -> None:
        """All steps of controls [T, C], into states [T, S] and slots [T] where they are wanted."""
        begin = 0
        for size in Chunks(len(controls)):
            done, end = i32(), begin + size
            try:
                call(lib.carom_rollout_run, h, size, at(controls[begin:end]),
                     at(None if states is None else states[begin:end]),
                     at(None if slots is None else slots[begin:end]), C.byref(done))
            except BaseException:
                if slots is not None:
                    slots[begin + done.value:] = -1
                raise
            begin = end

    def rollout(self, controls=None, *, steps: "int | None" = None,
                seconds: "float | None" = None, state=None, step: int = 0, theta=None,
                keep: bool = True) -> "Trajectory":
        """A run from the start of the scene, or from a state after `step` steps, as a Trajectory.

        controls  [T, C], or a dict by name of arrays [T, c] or [c]; None: all 0
        steps     how many, or seconds; else as many as controls has, or the scene says
        theta     parameters, [P] or a dict by name; else as they are. They stay.
        keep      whether vjp, jvp and jacobian will be asked for; a kept step takes about 250
                  bytes per body and 100 per node
        """
        from .trajectory import Trajectory
        controls = self._control_of(controls, self._steps(steps, seconds))
        if len(controls) < 1:
            raise _errors.ArgumentError("a rollout of 0 steps is asked for; it has to be 1 or more")
        theta = None if theta is None else self._theta_of(theta)
        start = None if state is None else numbers(state, (self.state_size,), "state")
        step = count(step, "step")
        states = np.empty((len(controls) + 1, self.state_size))
        slots = np.full(len(controls), -1, dtype=np.int32) if keep else None
        with self._use() as h:
            if theta is not None:
                self._write(h, theta)
            call(lib.carom_rollout_place, h, at(start), step)
            lib.carom_rollout_state(h, at(states))
            if start is not None:
                states[0] = start  # as given: its quaternions may have any length
            try:
                self._go(h, controls, states[1:], slots)
            except BaseException:
                if slots is not None:
                    self._dropped.append(slots[slots >= 0])
                raise
        return Trajectory(self, states, controls.copy(), self._theta.copy(), start, step, slots)

    # ---- derivatives, for Trajectory

    def _back(self, slots, bars, theta, from_start, wants_theta=True):
        """bars [T+1, S] to (state_bar, control_bar [T, C], theta_bar)."""
        bar = bars[-1].copy()
        control_bar = np.zeros((len(slots), self.control_size))
        theta_bar = np.zeros(self._theta_size)
        with self._use() as h:
            end = len(slots)
            for size in Chunks(len(slots)):
                begin = end - size
                call(lib.carom_rollout_back, h, size, at(slots[begin:end]), at(bars[begin:end]),
                     at(bar), at(control_bar[begin:end]), at(theta_bar) if wants_theta else None)
                end = begin
            if from_start and self._theta_size and wants_theta:
                now = self._theta
                self._write(h, theta)
                try:
                    call(lib.carom_rollout_start_back, h, at(bar), at(theta_bar))
                finally:
                    self._write(h, now)
        return bar, control_bar, theta_bar

    def _jacobian(self, slot: int):
        """Of one kept step: d(state after)/d(state before, control, theta)."""
        s, c, p = self.state_size, self.control_size, self._theta_size
        out = np.empty((s, s)), np.empty((s, c)), np.empty((s, p))
        with self._use() as h:
            call(lib.carom_rollout_jacobian, h, 1, at(np.array([slot], dtype=np.int32)), *map(at, out))
        return out

    def _gradient(self, state, controls, theta) -> Gradient:
        return Gradient(state, controls, theta, {k: theta[w] for k, w in self._slices.items()})

    # ---- ends

    def copy(self) -> "Sim":
        """Another Sim of the same scene, parameters and controls, at the start."""
        other = Sim(self._built.scene, parameters=None, controls=list(self._built.controls))
        other.theta = self._theta
        return other

    def close(self) -> None:
        """Gives the memory back; everything after that is an error."""
        self._handle.close()
        self._dropped.clear()

    def __enter__(self) -> "Sim":
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._handle.closed:
            return "<carom.Sim, closed>"
        return (f"<carom.Sim of {len(self._built.bodies)} bodies, {self.control_size} controls, "
                f"{self._theta_size} parameters, dt {self.dt:g} s>")


class _Use:
    """Handle.use, with the slots of runs that are gone given back first."""

    def __init__(self, handle: Handle, dropped):
        self._inner, self._dropped = handle.use(), dropped

    def __enter__(self):
        h = self._inner.__enter__()
        while self._dropped:
            try:
                slots = self._dropped.popleft()
            except IndexError:
                break
            lib.carom_rollout_drop(h, len(slots), at(slots))
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


CONTACT = np.dtype([("body", np.int32, 2), ("point", float, 3), ("normal", float, 3),
                    ("impulse", float, 3), ("zone", np.int32)], align=True)
assert CONTACT.itemsize == C.sizeof(Contact)


def read_contacts(sim) -> np.ndarray:
    out = np.zeros(lib.carom_sim_contact_count(sim), CONTACT)
    for i in range(len(out)):
        lib.carom_sim_contact(sim, i, C.cast(out.ctypes.data + i * CONTACT.itemsize,
                                             C.POINTER(Contact)))
    return out.view(np.recarray)
