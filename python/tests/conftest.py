"""Scenes that several tests use. The package is that of the checkout unless it is installed."""
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
if not os.environ.get("CAROM_TEST_INSTALLED"):
    sys.path.insert(0, str(ROOT / "python"))

SLIDE = {
    "world": {"dt": 0.01, "friction_speed": 0.02},
    "bodies": [
        {"name": "ground", "type": "fixed", "mesh": {"sheet": {"width": 4, "nx": 1, "ny": 1}}},
        {"name": "box", "mesh": {"box": {"size": [0.3, 0.2, 0.1]}}, "position": [0, 0, 0.09],
         "euler_degrees": [5, 8, 3], "velocity": [0.5, 0.2, -0.5]}]}
SHEET = {
    "world": {"dt": 0.02},
    "bodies": [
        {"name": "sheet", "type": "cloth", "mesh": {"sheet": {"width": 1, "height": 1, "nx": 3,
                                                               "ny": 3}},
         "stretch": 300, "bend": 1e-3, "damping": 0.01, "pins": [{"nodes": "corners"}]},
        {"name": "ball", "sphere": {"radius": 0.1}, "mass": 0.3, "position": [0.05, 0.02, 0.12]},
        {"name": "hand", "type": "kinematic", "mesh": {"box": {"size": [0.1, 0.1, 0.1]}},
         "position": [-0.13, 0.02, 0.15], "euler_degrees": [4, 3, 2]}]}


@pytest.fixture
def slide():
    return SLIDE


@pytest.fixture
def sheet():
    return SHEET


@pytest.fixture
def examples():
    return ROOT / "examples"
