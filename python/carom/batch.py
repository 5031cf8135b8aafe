"""Many runs of one model at once, over threads."""
from __future__ import annotations

import os
from typing import Sequence

import numpy as np

from ._library import at, call, count, lib, make, numbers
from .runs import Compiled, Run, Runs
from .sim import Sim


class BatchRun(Run):
    """Runs of a Batch: states [K, T+1, S], their parts, and their derivatives."""

    def __len__(self) -> int:
        """How many runs."""
        return len(self.states)


class Batch(Runs):
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

    _kind = "carom_batch_"

    def __init__(self, scene, number: int, *, parameters: "Sequence | None" = None,
                 controls: "Sequence[str] | None" = None, workers: "int | None" = None):
        if isinstance(scene, Sim):
            controls = list(scene._built.controls) if controls is None else controls
            scene = scene._built.scene
        built = Compiled(scene, parameters, controls)
        self.count: int = count(number, "number", 1)  #: how many
        self.workers: int = os.cpu_count() or 1 if workers is None else \
            count(workers, "workers", 1)  #: threads
        self._lead = (self.count,)
        with built.model.use() as m:
            handle = make(lib.carom_batch_create, m, self.count, self.workers, keep=built.model,
                          destroy=lib.carom_batch_destroy, what="Batch")
        super().__init__(built, handle)

    def _one(self, h):
        return lib.carom_batch_item(h, 0)

    def _write(self, h, theta: np.ndarray) -> None:
        call(lib.carom_batch_write, h, at(theta), 1)
        self._theta = theta

    def step(self, controls=None) -> np.ndarray:
        """One step of all with controls [K, C], or a dict by name of arrays [K, c] or [c]; gives the
        states [K, S]. Nothing is kept."""
        if controls is not None and not isinstance(controls, dict):
            controls = numbers(controls, (self.count, self.control_size), "controls")[:, None]
        controls = self._control_of(controls, 1)
        out = np.empty((self.count, 1, self.state_size))
        with self._use() as h:
            self._go(h, controls, out, None)
        return out[:, 0]

    def step_kept(self, state, controls, step: int = 0, theta=None):
        """One step of all from states [K, S] with controls [K, C]: the new states, and a function
        that takes dL/d(new states) to (dL/d(states), dL/d(controls), dL/d(theta) [K, P])."""
        run = self.rollout(numbers(controls, (self.count, self.control_size),
                                   "controls")[:, None], state=state, step=step, theta=theta)

        def back(bar):
            grad = run.vjp(numbers(bar, (self.count, self.state_size), "bar"))
            return grad.state, grad.controls[:, 0], grad.theta
        return run.states[:, 1], back

    def rollout(self, controls=None, *, steps: "int | None" = None,
                seconds: "float | None" = None, state=None, step: int = 0, theta=None,
                keep: bool = True) -> BatchRun:
        """Runs from the start of the scene, or from states [K, S]; as Sim.rollout, for all.

        controls  [K, T, C], or a dict by name of arrays [K, T, c], [K, c] or [c]; None: all 0
        theta     [K, P], [P], or a dict by name of numbers for all or of each item
        """
        controls = self._control_of(controls, self._steps(steps, seconds))
        states, start, slots = self._rolled(controls, state, step, theta, keep)
        return BatchRun(self, states, controls.copy(), self._theta.copy(), start, step, slots)

    def __repr__(self) -> str:
        if self._handle.closed:
            return "<carom.Batch, closed>"
        return f"<carom.Batch of {self.count} x {len(self._built.bodies)} bodies>"
