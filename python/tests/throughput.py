"""throughput.py - what a Batch costs against the library's own loop over the same steps.

    python3 python/tests/throughput.py

Both sides in turn, in processor time, with the same runs: the loop is one call of the library that
takes all steps of an item, and one that goes back, with nothing of Python in between. Ratios are
those of the best of either side; above 1 the batch is the faster one.
"""
import ctypes as C
import time

import numpy as np

import carom
from carom._library import at, call, i32, lib

ITEMS, STEPS = 16, 100


class Loop:
    """All items of a batch one after another, by one rollout of the library."""

    def __init__(self, sim, controls, bars):
        self.sim, self.controls, self.bars = sim, controls, bars
        self.states = np.empty((STEPS, sim.state_size))
        self.slots = np.zeros((ITEMS, STEPS), np.int32)

    def run(self, keep):
        done = i32()
        with self.sim._use() as h:
            for i in range(ITEMS):
                call(lib.carom_rollout_place, h, None, 0)
                call(lib.carom_rollout_run, h, STEPS, at(self.controls[i]), at(self.states),
                     at(self.slots[i]) if keep else None, C.byref(done))

    def back(self):
        theta = np.zeros(self.sim.theta_size)
        control = np.empty((STEPS, self.sim.control_size))
        with self.sim._use() as h:
            for i in range(ITEMS):
                bar = self.bars[i, -1].copy()
                call(lib.carom_rollout_back, h, STEPS, at(self.slots[i]), at(self.bars[i, :-1]),
                     at(bar), at(control), at(theta))

    def drop(self):
        with self.sim._use() as h:
            lib.carom_rollout_drop(h, self.slots.size, at(self.slots))


def spent(function, *arguments):
    began = time.process_time()
    out = function(*arguments)
    return time.process_time() - began, out


def measure(scene, workers=1, enough=None):
    """{"steps", "kept", "vjp"}: (loop, batch) in seconds, the best of each over 7 rounds, or up to
    40 while a ratio is not above enough."""
    sim = carom.Sim(scene, parameters=["box.mass"])
    batch = carom.Batch(sim, ITEMS, workers=workers)
    controls = np.zeros((ITEMS, STEPS, sim.control_size))
    bars = np.ones((ITEMS, STEPS + 1, sim.state_size))
    alone = Loop(sim, controls, bars)
    best = {what: [np.inf, np.inf] for what in ("steps", "kept", "vjp")}

    def note(what, side, took):
        best[what][side] = min(best[what][side], took)
    for i in range(7 if enough is None else 40):
        if i >= 7 and all(a / b > enough for a, b in best.values()):
            break
        note("steps", 0, spent(alone.run, False)[0])
        note("steps", 1, spent(lambda: batch.rollout(controls, keep=False))[0])
        note("kept", 0, spent(alone.run, True)[0])
        took, run = spent(batch.rollout, controls)
        note("kept", 1, took)
        note("vjp", 0, spent(alone.back)[0])
        note("vjp", 1, spent(run.vjp, bars)[0])
        alone.drop()
        run.close()
    return best


def main():
    from conftest import SLIDE
    for workers in (1, 2):
        for what, (loop, batch) in measure(SLIDE, workers).items():
            each = 1e6 / (ITEMS * STEPS)
            print(f"{workers} worker{'s' * (workers > 1)}, {what}: loop {loop * each:.1f} µs a step, "
                  f"batch {batch * each:.1f} µs, {loop / batch:.3f} of the loop's throughput")


if __name__ == "__main__":
    main()
