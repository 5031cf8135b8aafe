"""Many runs of one model at once, over threads."""
from __future__ import annotations

import collections
import ctypes as C
import os
import weakref
from typing import Sequence

import numpy as np

from . import _errors
from ._library import ParameterInfo, at, call, count, finite, i32, lib, make, numbers
from .sim import Body, Chunks, Compiled, Gradient, Sim, State, _Use, split


class BatchRun:
    """Runs of a Batch: states [K, T+1, S], and their derivatives."""

    def __init__(self, batch: "Batch", states, controls, theta, from_start, slots):
        self._batch, self._from_start, self._slots = batch, from_start, slots
        self.states: np.ndarray = states      #: [K, T+1, S]
        self.controls: np.ndarray = controls  #: [K, T, C]
        self.theta: np.ndarray = theta        #: [K, P]
        self._end = None
        if slots is not None:
            self._end = weakref.finalize(self, batch._dropped.append, slots)

    def __len__(self) -> int:
        return len(self.states)

    @property
    def parts(self) -> State:
        """States by their parts, as views [K, T+1, ...]."""
        return self._batch.split(self.states)

    def vjp(self, bars) -> Gradient:
        """dL/d(states at the start [K, S], controls [K, T, C], theta [K, P]), given dL/d(states)
        [K, T+1, S], or [K, S] of the last ones."""
        if self._slots is None:
            raise _errors.MisuseError("these runs were not kept for derivatives; use keep=True")
        if not self._end.alive:
            raise _errors.ClosedError("these runs were closed")
        batch, shape = self._batch, self.states.shape
        if np.ndim(bars) == 2:
            last = numbers(bars, (shape[0], shape[2]), "bars")
            bars = np.zeros(shape)
            bars[:, -1] = last
        bars = finite(numbers(bars, shape, "bars"), "bars")
        return batch._back(self._slots, bars, self.theta, self._from_start)

    def close(self) -> None:
        """Gives back what derivatives need; the states stay."""
        if self._end is not None:
            self._end()


class Batch:
    """`number` copies of one scene that are stepped and differentiated together.

        batch = carom.Batch("examples/throw.json", 64, parameters=["box.velocity"])
        runs = batch.rollout(steps=100, theta=thetas)       # thetas [64, 3]
        runs.vjp(bars).theta                                # [64, 3]

    scene        as for Sim, or a Sim, whose scene, parameters and controls it takes
    number       how many
    workers      threads; None: as many as the machine has. Results do not depend on it
    Arrays stand one item after another: states [K, S], controls [K, T, C], theta [K, P] or [P].
    The interpreter's lock is released while the library works. A failing item raises, and its
    number is in the message.
    """

    def __init__(self, scene, number: int, *, parameters: "Sequence | None" = None,
                 controls: "Sequence[str] | None" = None, workers: "int | None" = None):
        if isinstance(scene, Sim):
            controls = list(scene._built.controls) if controls is None else controls
            scene = scene._built.scene
        self._built = Compiled(scene, parameters, controls)
        self.count: int = count(number, "number", 1)  #: how many
        self.workers: int = os.cpu_count() or 1 if workers is None else \
            count(workers, "workers", 1)  #: threads
        with self._built.model.use() as m:
            self._handle = make(lib.carom_batch_create, m, self.count, self.workers,
                                keep=self._built.model, destroy=lib.carom_batch_destroy,
                                what="Batch")
        self._dropped = collections.deque()
        with self._use() as h:
            call(lib.carom_batch_choose, h, len(self._built.chosen), at(self._built.chosen))
            one = lib.carom_batch_item(h, 0)
            layout = lib.carom_rollout_layout(one)
            self._theta_size = layout.theta_size
            self._slices = {}
            for i in range(layout.parameter_count):
                info = ParameterInfo()
                lib.carom_rollout_parameter(one, i, C.byref(info))
                name = f"{info.body_name.decode() or 'world'}.{info.name.decode()}"
                self._slices[name] = slice(info.first, info.first + info.count)
            theta = np.zeros(self._theta_size)
            lib.carom_rollout_scene(one, at(theta))
        self._theta = np.tile(theta, (self.count, 1))
        self._theta0 = theta

    def _use(self):
        return _BatchUse(self._handle, self._dropped)

    @property
    def bodies(self) -> "list[Body]":
        """All bodies, in the order of the scene."""
        return list(self._built.bodies)

    def body(self, name) -> Body:
        """A body by its name."""
        return self._built.body(name)

    @property
    def dt(self) -> float:
        """s, one step."""
        return self._built.dt

    @property
    def state_size(self) -> int:
        """Numbers in a flat state."""
        return self._built.state_size

    @property
    def control_size(self) -> int:
        """Numbers in a vector of controls."""
        return len(self._built.chosen)

    @property
    def controls(self) -> "dict[str, slice]":
        """Where each control stands in a vector of controls."""
        return dict(self._built.controls)

    @property
    def theta_size(self) -> int:
        """Numbers in theta."""
        return self._theta_size

    @property
    def parameters(self) -> "dict[str, slice]":
        """Where each parameter stands in theta."""
        return dict(self._slices)

    @property
    def theta_scene(self) -> np.ndarray:
        """[P] the parameters as the scene has them."""
        return self._theta0.copy()

    @property
    def theta(self) -> np.ndarray:
        """[K, P] the parameters of the coming steps; a copy. Set it by [K, P] or [P]."""
        return self._theta.copy()

    @theta.setter
    def theta(self, value):
        theta = self._theta_of(value)
        with self._use() as h:
            self._write(h, theta)

    def _theta_of(self, value) -> np.ndarray:
        if np.ndim(value) == 1:
            one = numbers(value, (self._theta_size,), "theta")
            return np.tile(one, (self.count, 1))
        return numbers(value, (self.count, self._theta_size), "theta").copy()

    def _write(self, h, theta) -> None:
        call(lib.carom_batch_write, h, at(theta), 1)
        self._theta = theta

    def split(self, state) -> State:
        """The parts of flat states [..., state_size] as views."""
        size = np.shape(state)[-1] if np.ndim(state) else 0
        if size != self.state_size:
            raise _errors.ArgumentError(f"a state has {size} numbers; it has to be "
                                        f"{self.state_size}")
        return split(state, self._built.frames, self._built.nodes)

    @property
    def state(self) -> np.ndarray:
        """[K, S] where all of them are; a copy."""
        out = np.empty((self.count, self.state_size))
        with self._use() as h:
            lib.carom_batch_state(h, at(out))
        return out

    def place(self, state=None, step: int = 0) -> "Batch":
        """Goes to states [K, S] (or one [S] for all) after `step` steps; None: to the start."""
        if state is not None and np.ndim(state) == 1:
            state = np.tile(numbers(state, (self.state_size,), "state"), (self.count, 1))
        if state is not None:
            state = numbers(state, (self.count, self.state_size), "state")
        step = count(step, "step")
        with self._use() as h:
            call(lib.carom_batch_place, h, at(state), step)
        return self

    def _controls(self, controls, steps) -> np.ndarray:
        if controls is None:
            if steps is None:
                steps = max(1, round(self._built.duration / self.dt))
            return np.zeros((self.count, steps, self.control_size))
        return numbers(controls, (self.count, steps, self.control_size), "controls")

    def step(self, controls=None) -> np.ndarray:
        """One step of all with controls [K, C]; gives the states [K, S]. Nothing is kept."""
        if controls is not None:
            controls = numbers(controls, (self.count, self.control_size), "controls")[:, None]
        controls = np.ascontiguousarray(self._controls(controls, 1))
        out, done = np.empty((self.count, self.state_size)), np.zeros(self.count, np.int32)
        with self._use() as h:
            call(lib.carom_batch_run, h, 1, at(controls), at(out), None, at(done))
        return out

    def step_kept(self, state, controls, step: int = 0, theta=None):
        """One step of all from states [K, S] with controls [K, C]: the new states, and a function
        that takes dL/d(new states) to (dL/d(states), dL/d(controls), dL/d(theta) [K, P])."""
        run = self.rollout(numbers(controls, (self.count, self.control_size),
                                   "controls")[:, None], state=state, step=step, theta=theta)

        def back(bar):
            grad = run.vjp(numbers(bar, (self.count, self.state_size), "bar"))
            return grad.state, grad.controls[:, 0], grad.theta
        return run.states[:, 1], back

    def rollout(self, controls=None, *, steps: "int | None" = None, state=None, step: int = 0,
                theta=None, keep: bool = True) -> BatchRun:
        """Runs from the start of the scene, or from states [K, S]; as Sim.rollout, for all."""
        steps = None if steps is None else count(steps, "steps", 1)
        controls = self._controls(controls, steps)
        if controls.shape[1] < 1:
            raise _errors.ArgumentError("a rollout of 0 steps is asked for; it has to be 1 or more")
        theta = None if theta is None else self._theta_of(theta)
        if state is not None and np.ndim(state) == 1:
            state = np.tile(numbers(state, (self.state_size,), "state"), (self.count, 1))
        start = None if state is None else numbers(state, (self.count, self.state_size), "state")
        step = count(step, "step")
        total = controls.shape[1]
        states = np.empty((self.count, total + 1, self.state_size))
        slots = np.full((self.count, total), -1, dtype=np.int32) if keep else None
        with self._use() as h:
            if theta is not None:
                self._write(h, theta)
            call(lib.carom_batch_place, h, at(start), step)
            first = np.empty((self.count, self.state_size))
            lib.carom_batch_state(h, at(first))
            states[:, 0] = first if start is None else start
            begin = 0
            try:
                for size in Chunks(total):
                    part = np.ascontiguousarray(controls[:, begin:begin + size])
                    got = np.empty((self.count, size, self.state_size))
                    kept = np.full((self.count, size), -1, np.int32) if keep else None
                    done = np.zeros(self.count, np.int32)
                    try:
                        call(lib.carom_batch_run, h, size, at(part), at(got), at(kept), at(done))
                    finally:
                        if keep:
                            kept[np.arange(size)[None, :] >= done[:, None]] = -1
                            slots[:, begin:begin + size] = kept
                    states[:, begin + 1:begin + 1 + size] = got
                    begin += size
            except BaseException:
                if keep:
                    self._dropped.append(slots)
                raise
        return BatchRun(self, states, controls.copy(), self._theta.copy(), start is None, slots)

    def _back(self, slots, bars, theta, from_start) -> Gradient:
        total = slots.shape[1]
        bar = bars[:, -1].copy()
        control_bar = np.zeros((self.count, total, self.control_size))
        theta_bar = np.zeros((self.count, self._theta_size))
        with self._use() as h:
            end = total
            for size in Chunks(total):
                begin = end - size
                part = np.zeros((self.count, size, self.control_size))
                call(lib.carom_batch_back, h, size, at(np.ascontiguousarray(slots[:, begin:end])),
                     at(np.ascontiguousarray(bars[:, begin:end])), at(bar), at(part),
                     at(theta_bar))
                control_bar[:, begin:end] = part
                end = begin
            if from_start and self._theta_size:
                now = self._theta
                self._write(h, theta)
                try:
                    call(lib.carom_batch_start_back, h, at(bar), at(theta_bar))
                finally:
                    self._write(h, now)
        return Gradient(bar, control_bar, theta_bar,
                        {k: theta_bar[:, w] for k, w in self._slices.items()})

    def close(self) -> None:
        """Gives the memory back; everything after that is an error."""
        self._handle.close()
        self._dropped.clear()

    def __enter__(self) -> "Batch":
        return self

    def __exit__(self, *exception) -> None:
        self.close()

    def __repr__(self) -> str:
        if self._handle.closed:
            return "<carom.Batch, closed>"
        return f"<carom.Batch of {self.count} x {len(self._built.bodies)} bodies>"


class _BatchUse(_Use):
    def __enter__(self):
        h = self._inner.__enter__()
        while self._dropped:
            try:
                slots = self._dropped.popleft()
            except IndexError:
                break
            lib.carom_batch_drop(h, slots.shape[1], at(slots))
        return h
