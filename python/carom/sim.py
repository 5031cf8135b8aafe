"""A scene in motion."""
from __future__ import annotations

import ctypes as C
from typing import Any, Sequence

import numpy as np

from . import _errors
from ._library import Contact, at, call, count, i32, lib, make, numbers
from .runs import Body, Compiled, Gradient, Runs, State, by_body, split
from .scene import Scene

__all__ = ["Sim", "Body", "Compiled", "Gradient", "State", "split"]


class Sim(Runs):
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
        built, workers = Compiled(scene, parameters, controls), count(workers, "workers", 1)
        with built.model.use() as m:
            handle = make(lib.carom_rollout_create, m, workers, keep=built.model,
                          destroy=lib.carom_rollout_destroy, what="Sim")
        self._replay = None
        super().__init__(built, handle)

    # ---- where it is

    def _look(self, function, *arguments):
        with self._use() as h:
            return function(lib.carom_rollout_sim(h), *arguments)

    @property
    def time(self) -> float:
        """s since the start."""
        return self._look(lib.carom_sim_time)

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
        states, start, slots = self._rolled(controls, state, step, theta, keep)
        return Trajectory(self, states, controls.copy(), self._theta.copy(), start, step, slots)

    # ---- derivatives in one call; those of a run that is at hand are Trajectory's own

    def vjp(self, bars, controls=None, **run) -> "tuple[np.ndarray, Gradient]":
        """A rollout and its way back: its states [T+1, S], and what dL/d(states), or a function of
        the run that gives them, means for state, controls and parameters.

        controls and the rest as for rollout: vjp(bar, control[None], state=state) is one step.
        """
        with self.rollout(controls, **run) as went:
            return went.states, went.vjp(bars(went) if callable(bars) else bars)

    def jvp(self, controls=None, *, dstate=None, dcontrols=None, dtheta=None,
            **run) -> "tuple[np.ndarray, np.ndarray]":
        """A rollout and how it changes: its states [T+1, S], and their changes along the direction
        dstate [S], dcontrols [T, C], dtheta [P], or many at once, as Trajectory.jvp has it."""
        with self.rollout(controls, **run) as went:
            return went.states, went.jvp(dstate, dcontrols, dtheta)

    def jacobian(self, controls=None, **run) -> "tuple[np.ndarray, Gradient]":
        """A rollout and d(its last state)/d(inputs), as Trajectory.jacobian: jacobian(steps=1,
        state=state) is that of a step."""
        with self.rollout(controls, **run) as went:
            return went.states, went.jacobian()

    # ---- ends

    def copy(self) -> "Sim":
        """Another Sim of the same scene, parameters and controls, at the start."""
        other = Sim(self._built.scene, parameters=None, controls=list(self._built.controls))
        other.theta = self._theta
        return other

    def __copy__(self) -> "Sim":
        return self.copy()

    def __deepcopy__(self, memo) -> "Sim":
        return self.copy()

    def __repr__(self) -> str:
        if self._handle.closed:
            return "<carom.Sim, closed>"
        return (f"<carom.Sim of {len(self._built.bodies)} bodies, {self.control_size} controls, "
                f"{self._theta_size} parameters, dt {self.dt:g} s>")


CONTACT = np.dtype([("body", np.int32, 2), ("point", float, 3), ("normal", float, 3),
                    ("impulse", float, 3), ("zone", np.int32)], align=True)
assert CONTACT.itemsize == C.sizeof(Contact)


def read_contacts(sim) -> np.ndarray:
    out = np.zeros(lib.carom_sim_contact_count(sim), CONTACT)
    for i in range(len(out)):
        lib.carom_sim_contact(sim, i, C.cast(out.ctypes.data + i * CONTACT.itemsize,
                                             C.POINTER(Contact)))
    return out.view(np.recarray)
