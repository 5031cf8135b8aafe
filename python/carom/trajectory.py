"""Runs: what came out, and its derivatives."""
from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import tempfile

import ctypes as C
import numpy as np

from . import _errors
from ._library import at, call, i32, lib, make
from .runs import Run
from .sim import Sim, read_contacts


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

    def __enter__(self) -> "Trajectory":
        return self

    def __exit__(self, *exception) -> None:
        self.close()


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
