"""Long runs in bounded memory: a tape that steps again where it did not keep."""
from __future__ import annotations

import ctypes as C
from typing import Callable

import numpy as np

from . import _errors
from ._library import (CONTROL, FEEL, BodyGradient, Bound, GradientC, TapeListener, at, call, count,
                       lib, make, numbers)
from .sim import Compiled


WORLD = ("gravity", "wind", "vertices", "forces", "torques")  # beside the bodies, in a gradient


class Tape(Bound):
    """Records a run step by step and goes through it backward, in as much memory as you say.

        tape = carom.Tape("tower.json", memory=64 << 20)
        for t in range(100000):
            tape.step(forces={"crane": [0, 0, 5]})
        grad = tape.backward(last={"positions": w})      # dL/d(last state) is enough for many
        grad["crane"]["mass"], grad["gravity"]

    memory   bytes that it may hold; None: no limit. Gradients have the same bits for any.
    Sim.rollout is the simpler way as long as all of a run fits into memory.
    """

    def __init__(self, scene, *, memory: "int | None" = None, workers: int = 1):
        self._built = Compiled(scene, (), ())
        for name in WORLD:
            if name in self._built.by_name:
                raise _errors.ArgumentError(f"a body is named {name!r}, which is the world's part of "
                                            "a tape's gradient; give it another name")
        workers = count(workers, "workers", 1)
        with self._built.model.use() as m:
            self._sim = make(lib.carom_sim_create, m, workers, keep=self._built.model,
                             destroy=lib.carom_sim_destroy, what="Tape")
            self._handle = make(lib.carom_tape_create, m, workers,
                                0 if memory is None else count(memory, "memory", 0, 2**62),
                                keep=self._sim,
                                destroy=lib.carom_tape_destroy, what="Tape")

    @property
    def bodies(self):
        """All bodies, in the order of the scene."""
        return list(self._built.bodies)

    def __len__(self) -> int:
        """Steps on the tape."""
        with self._handle.use() as h:
            return lib.carom_tape_steps(h)

    @property
    def bytes(self) -> int:
        """The most it held."""
        with self._handle.use() as h:
            return lib.carom_tape_bytes(h)

    def reset(self) -> None:
        """Back to the start of the scene, with an empty tape."""
        with self._handle.use() as h, self._sim.use() as s:
            lib.carom_tape_reset(h)
            lib.carom_sim_reset(s)

    def step(self, forces: "dict | None" = None, torques: "dict | None" = None) -> None:
        """One step; forces (N) and torques (N m) on rigid bodies by name, for this step alone."""
        forces, torques = forces or {}, torques or {}
        none = np.zeros(3)
        with self._handle.use() as h, self._sim.use() as s:
            for b in self._built.bodies:
                if b.kind == "rigid":
                    pair = [numbers(w.get(b.name, none), (3,), b.name) for w in (forces, torques)]
                    status = lib.carom_sim_set_force(s, b.index, *map(at, pair))
                    if status:
                        raise _errors.make(status, f"the force on {b.name!r} is not finite")
            for name in (*forces, *torques):
                if self._built.body(name).kind != "rigid":
                    raise _errors.ArgumentError(f"{name!r} is no rigid body; only those take "
                                                "forces here")
            call(lib.carom_tape_step, h, s)

    def backward(self, last: "dict | None" = None,
                 each: "Callable[[int], dict | None] | None" = None) -> dict:
        """dL/d(everything), given dL/d(state).

        last   dL/d(last state) by parts: {"positions", "rotations", "velocities",
               "angular_velocities": [body, 3], "vertices", "vertex_velocities": [vertex, 3] of
               cloth}. A rotation's three numbers are along R -> exp([d]) R, world axes.
        each   called with the number of every state from the last to 0; gives such a dict or None.
        Gives "gravity", "wind", "vertices" [vertex, 3], "forces" and "torques" [T, body, 3], and
        for each body a dict of its own.
        """
        bodies, vertices = len(self._built.bodies), self._built.vertex_count
        names = {"positions": ("position", bodies), "rotations": ("rotation", bodies),
                 "velocities": ("velocity", bodies),
                 "angular_velocities": ("angular_velocity", bodies),
                 "vertices": ("vertex_position", vertices),
                 "vertex_velocities": ("vertex_velocity", vertices)}
        with self._handle.use() as h:
            steps = lib.carom_tape_steps(h)
            force, torque = np.zeros((steps, bodies, 3)), np.zeros((steps, bodies, 3))
            raised = []

            def add(bars, parts):
                for name, value in (parts or {}).items():
                    if name not in names:
                        raise _errors.ArgumentError(f"there is no {name!r}; there are: "
                                                    + ", ".join(names))
                    field, many = names[name]
                    out = np.ctypeslib.as_array(getattr(bars, field), (many, 3))
                    out += numbers(value, (many, 3), name)

            def feel(user, step, bars):
                try:
                    if not raised:
                        add(bars.contents, last if step == steps else None)
                        add(bars.contents, each(step) if each else None)
                except BaseException as error:  # nothing may leave a callback of the library
                    raised.append(error)

            def control(user, step, f, t):
                force[step] = np.ctypeslib.as_array(f, (bodies, 3))
                torque[step] = np.ctypeslib.as_array(t, (bodies, 3))
            rows = (BodyGradient * max(1, bodies))()
            vertex = np.zeros((vertices, 3))
            listener = TapeListener(None, FEEL(feel), CONTROL(control))
            gradient = GradientC(body=rows, vertex=at(vertex))
            call(lib.carom_tape_backward, h, C.byref(listener), C.byref(gradient))
            lib.carom_tape_rewind(h)
        if raised:
            raise raised[0]
        out = {"gravity": np.array(gradient.gravity), "wind": np.array(gradient.wind),
               "vertices": vertex, "forces": force, "torques": torque}
        for b in self._built.bodies:
            row = rows[b.index]
            out[b.name] = {name: np.array(getattr(row, name)) if not kind is C.c_double else
                           getattr(row, name) for name, kind in row._fields_}
        return out

    def positions(self) -> np.ndarray:
        """[vertex, 3] m: where all vertices are now."""
        out = np.empty((self._built.vertex_count, 3))
        with self._sim.use() as s:
            lib.carom_sim_vertices(s, at(out))
        return out

    def close(self) -> None:
        """Gives the memory back; everything after that is an error."""
        self._handle.close()
        self._sim.close()
