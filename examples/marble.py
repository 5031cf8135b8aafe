"""marble.py - which forces along the ground bring a marble on a sheet to a place in 2 s?

A thousandth of the squared effort is added, so that the answer is the gentle one.
"""
import pathlib

import numpy as np

import carom

sim = carom.Sim(str(pathlib.Path(__file__).with_name("marble.json")), controls=["marble.force.xy"])
target, marble = np.array([0.2, 0.15]), sim.body("marble").index
forces = np.zeros((50, 2))
velocity = np.zeros_like(forces)
for i in range(12):
    run = sim.rollout(forces)
    miss = run.positions[-1, marble, :2] - target
    loss = miss @ miss + 0.001 * (forces ** 2).sum() / len(forces)
    print(f"iteration {i:2}: loss {loss:.6f}, off by {np.linalg.norm(miss):.4f} m")
    bars = run.zeros()
    bars.positions[-1, marble, :2] = 2 * miss
    gradient = run.vjp(bars).controls + 0.002 * forces / len(forces)
    velocity = 0.4 * velocity - 400.0 * gradient
    forces = forces + velocity
assert loss < 0.02
