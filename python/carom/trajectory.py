"""Runs: what came out, and its derivatives."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile
from typing import Any

import ctypes as C
import numpy as np

from . import _errors
from ._library import at, call, i32, lib, make, numbers
from .runs import Gradient, Run
from .sim import Sim, by_body, read_contacts


class Trajectory(Run):
    """A run of a Sim: states [T+1, S] and their parts, and derivatives of all of it.

        run.positions[t, body]     run.quaternions     run.velocities     run.nodes[t, node]
        run.vjp(bars)              dL/d(state, controls, parameters) for dL/d(states)
        run.jvp(...)               how the states change along a direction
        run.jacobian()             of the last state
        run.save("run.carom")      a file for `carom view`, `carom info`, ...
    """

    def __init__(self, sim: Sim, states, controls, theta, start, step, slots):
        super().__init__(sim, states, controls, theta, start, step, slots)
        self._sim, self._seen = sim, None

    @property
    def sim(self) -> Sim:
        """The Sim it is a run of."""
        return self._sim

    def __len__(self) -> int:
        """How many steps."""
        return len(self.controls)

    @property
    def times(self) -> np.ndarray:
        """[T+1] s."""
        return (self._step + np.arange(len(self) + 1)) * self._sim.dt

    @property
    def positions(self) -> np.ndarray:
        """[T+1, body, 3] m: centres of mass, of cloth centroids."""
        return by_body(self._sim._built, self.parts.positions, self.parts.nodes)

    @property
    def velocities(self) -> np.ndarray:
        """[T+1, body, 3] m/s."""
        return by_body(self._sim._built, self.parts.velocities, self.parts.node_velocities)

    @property
    def quaternions(self) -> np.ndarray:
        """[T+1, body, 4] w, x, y, z."""
        return by_body(self._sim._built, self.parts.quaternions, None, (1.0, 0.0, 0.0, 0.0))

    @property
    def angular_velocities(self) -> np.ndarray:
        """[T+1, body, 3] rad/s, world axes."""
        return by_body(self._sim._built, self.parts.angular_velocities, None, (0.0, 0.0, 0.0))

    @property
    def nodes(self) -> np.ndarray:
        """[T+1, node, 3] m, of cloth: a view."""
        return self.parts.nodes

    @property
    def node_velocities(self) -> np.ndarray:
        """[T+1, node, 3] m/s: a view."""
        return self.parts.node_velocities

    def __repr__(self) -> str:
        return (f"<carom.Trajectory of {len(self)} steps, {self.times[0]:g} to {self.times[-1]:g} "
                f"s>")

    # ---- looked at again

    def _again(self, each) -> None:
        """The same run once more, to the bit, with a look at the simulation after each step."""
        sim = self._sim
        if sim._replay is None:
            sim._replay = sim.copy()
        other, done = sim._replay, i32()
        with other._use() as h:
            other._write(h, self.theta.copy())
            call(lib.carom_rollout_place, h, at(self._start), self._step)
            each(lib.carom_rollout_sim(h), lib.carom_rollout_model(h), 0)
            for t in range(len(self)):
                call(lib.carom_rollout_run, h, 1, at(self.controls[t]), None, None, C.byref(done))
                each(lib.carom_rollout_sim(h), lib.carom_rollout_model(h), t + 1)

    @property
    def contacts(self) -> list:
        """[T+1] record arrays, as Sim.contacts, of the step that led to each state; the first is
        empty."""
        if self._seen is None:
            seen = []
            self._again(lambda s, m, t: seen.append(read_contacts(s)))
            self._seen = seen
        return self._seen

    @property
    def forces(self) -> np.ndarray:
        """[T, body, 3] N: what contacts did to each body in each step."""
        out = np.zeros((len(self), len(self._sim._built.bodies), 3))
        for t, contacts in enumerate(self.contacts[1:]):
            np.add.at(out[t], contacts.body[:, 1], contacts.impulse / self._sim.dt)
            np.add.at(out[t], contacts.body[:, 0], -contacts.impulse / self._sim.dt)
        return out

    def save(self, path: "str | os.PathLike") -> None:
        """Writes a trajectory file, for `carom view`, `carom info`, `carom export`, ..."""
        text = self._sim._built.scene.text().encode()
        options = lib.carom_recorder_default()
        options.scene_text = text
        options.scene_name = (self._sim._built.scene._name or "scene").encode()
        recorder = []

        def add(sim, model, t):
            if not recorder:
                recorder.append(make(lib.carom_recorder_create, model, os.fsencode(path),
                                     C.byref(options), destroy=lib.carom_recorder_destroy,
                                     what="recorder"))
            with recorder[0].use() as h:
                call(lib.carom_recorder_add, h, sim)
        self._again(add)
        with recorder[0].use() as h:
            call(lib.carom_recorder_finish, h, 0, None)
        recorder[0].close()

    def page(self) -> str:
        """The run as one web page that holds the viewer, made by `carom view`."""
        program = find_program()
        with tempfile.TemporaryDirectory() as folder:
            path, page = pathlib.Path(folder, "run.carom"), pathlib.Path(folder, "run.html")
            self.save(path)
            made = subprocess.run([program, "view", str(path), "--out", str(page)],
                                  capture_output=True, text=True, check=False)
            if made.returncode != 0 or not page.exists():
                raise _errors.Error(f"{program} view failed: {made.stderr.strip()[:400]}")
            return page.read_text()

    def view(self) -> str:
        """Writes the page of the viewer into a file of its own, opens it in the browser where
        there is one, and gives its path."""
        import webbrowser
        page = self.page()
        with tempfile.NamedTemporaryFile("w", suffix=".html", prefix="carom-",
                                         delete=False) as file:
            file.write(page)
        webbrowser.open("file://" + file.name)
        return file.name

    def _repr_html_(self) -> str:
        """In a notebook, the viewer itself."""
        import html
        try:
            page = self.page()
        except _errors.Error as error:
            return f"<pre>{html.escape(repr(self))}\n{html.escape(str(error))}</pre>"
        return ('<iframe style="width:100%;height:480px;border:0" srcdoc="'
                + html.escape(page, quote=True) + '"></iframe>')

    # ---- derivatives

    def zeros(self) -> "Bars":
        """Room for dL/d(states), all 0: fill its parts and hand it to vjp."""
        return Bars(self)

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
        return super()._bars(bars)

    def vjp(self, bars: Any) -> Gradient:
        """dL/d(state at the start, controls, parameters), given dL/d(states).

        bars  [T+1, S]; or [S] of the last state; or zeros() with its parts filled; or a dict by
              names of parts, {"positions": [T+1, body, 3], "nodes": ...}. A cloth's position is
              its centroid. The part of quaternions is that of the direction of each.
        """
        return super().vjp(bars)

    def __enter__(self) -> "Trajectory":
        return self

    def __exit__(self, *exception) -> None:
        self.close()


class Bars:
    """dL/d(states) of a Trajectory, by parts: arrays to fill. Those of bodies count every body, and
    what is put on a cloth's position or velocity is shared among its nodes."""

    NAMES = ("positions", "quaternions", "velocities", "angular_velocities", "nodes",
             "node_velocities")

    def __init__(self, run: Trajectory):
        self._built, many = run._sim._built, len(run.states)
        bodies = len(self._built.bodies)
        self.positions = np.zeros((many, bodies, 3))           #: [T+1, body, 3]
        self.quaternions = np.zeros((many, bodies, 4))         #: [T+1, body, 4]
        self.velocities = np.zeros((many, bodies, 3))          #: [T+1, body, 3]
        self.angular_velocities = np.zeros((many, bodies, 3))  #: [T+1, body, 3]
        self.nodes = np.zeros((many, self._built.nodes, 3))    #: [T+1, node, 3]
        self.node_velocities = np.zeros((many, self._built.nodes, 3))  #: [T+1, node, 3]

    @property
    def flat(self) -> np.ndarray:
        """[T+1, S], as Trajectory.states."""
        rigid = [b for b in self._built.bodies if b.kind != "cloth"]
        index = [b.index for b in rigid]
        nodes, speeds = self.nodes.copy(), self.node_velocities.copy()
        for b in self._built.bodies:
            if b.kind == "cloth":
                where = slice(b.nodes.start, b.nodes.stop)
                nodes[:, where] += self.positions[:, b.index, None] / len(b.nodes)
                speeds[:, where] += self.velocities[:, b.index, None] / len(b.nodes)
        many = len(self.positions)
        return np.concatenate([part.reshape(many, -1) for part in (
            self.positions[:, index], self.quaternions[:, index], self.velocities[:, index],
            self.angular_velocities[:, index], nodes, speeds)], axis=1)


def find_program() -> str:
    """The program `carom`: CAROM_PROGRAM, beside the library, or on the PATH."""
    from ._library import library_path
    here = pathlib.Path(library_path()).resolve().parent
    for path in (os.environ.get("CAROM_PROGRAM"), here / "carom", here / "bin" / "carom",
                 here.parent / "bin" / "carom", shutil.which("carom")):
        if path and os.access(path, os.X_OK) and not os.path.isdir(path):
            return str(path)
    raise _errors.Error("the program carom, which makes the page of the viewer, is not there; "
                        "install it, put it on the PATH or name it by CAROM_PROGRAM")
