#!/usr/bin/env python3
"""Run by the interpreter of a clean environment: the installed package works from its own files."""
import sys

import numpy as np

import carom

assert "site-packages" in carom.__file__ and "site-packages" in carom.library_path(), carom.__file__
sim = carom.Sim({"bodies": [
    {"name": "ground", "type": "fixed", "mesh": {"sheet": {"width": 4}}},
    {"name": "ball", "sphere": {"radius": 0.1}, "position": [0, 0, 0.2]}]},
    parameters=["ball.mass"])
run = sim.rollout(seconds=0.5)
assert abs(run.positions[-1, 1, 2] - 0.1) < 1e-3
assert np.isfinite(run.vjp(run.zeros()).theta).all()
print(f"carom {carom.__version__} of a wheel works by Python {sys.version.split()[0]}")
