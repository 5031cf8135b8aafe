"""The tasks. Each is a scene, what an action means, and what the target is about."""
from __future__ import annotations

import numpy as np

from .base import Env, cat


def held_sheet(height: float) -> dict:
    """A cloth of 1 m x 1 m and 81 nodes, held by its corners at this height."""
    return {"name": "sheet", "type": "cloth", "position": [0, 0, height],
            "mesh": {"sheet": {"width": 1, "height": 1, "nx": 8, "ny": 8}},
            "density": 0.374, "stretch": 1000, "bend": 1e-4, "damping": 5e-3,
            "thickness": 5e-4, "pins": [{"nodes": "corners"}]}


class Object(Env):
    """A task in which one body has to come to a place."""

    target = ""        #: the body
    axes = (0, 1, 2)   #: of its position

    def _object(self, part):
        return part[..., self.sim.body(self.target).frame, :][..., list(self.axes)]

    def measure(self, state):
        return self._object(self.sim.split(state).positions)

    def motion(self, state):
        return self._object(self.sim.split(state).velocities)


class Sticks(Object):
    """Two sticks under a box bring it to any target within 1 s.

    An action accelerates the sticks, by at most 10 m/s^2 along each axis, against gravity and
    whatever lies on them: they are bodies of 1 kg that do not turn, driven by forces. The box lies
    on them and is held by friction alone.
    """

    name, target = "sticks", "box"
    hold, seconds = 5, 1.0
    controls = ["left.force", "right.force"]
    goal_low, goal_high = np.array([-0.4, -0.4, 0.3]), np.array([0.4, 0.4, 0.9])
    gravity = 9.81

    def scene(self) -> dict:
        stick = {"capsule": {"radius": 0.02, "length": 0.6}, "mass": 1.0, "friction": 0.8,
                 "lock": ["rx", "ry", "rz"]}
        return {"title": "Two sticks and a box",
                "world": {"dt": 0.01, "duration": 1, "friction_speed": 0.01,
                          "gravity": [0, 0, -self.gravity]},
                "bodies": [
                    {"name": "box", "mesh": {"box": {"size": [0.3, 0.2, 0.1]}}, "mass": 0.1,
                     "position": [0, 0, 0.5716], "friction": 0.8},
                    {"name": "left", "position": [-0.09, 0, 0.5], "euler_degrees": [90, 0, 3],
                     **stick},
                    {"name": "right", "position": [0.09, 0, 0.5], "euler_degrees": [90, 0, -3],
                     **stick}]}

    def action_scale(self) -> np.ndarray:
        return np.full(6, 10.0)

    def control(self, state, action):
        """Forces on the sticks: those that hold them and half of the box, and the action's."""
        held = np.tile([0.0, 0.0, 1.05 * self.gravity], 2)
        if not isinstance(action, np.ndarray):
            import torch
            held = torch.from_numpy(held)
        return action + held


class Cloth(Object):
    """A cloth, moved by its four corners, brings a ball that lies on it to any target within 1 s.

    An action changes the velocities of the corners. The cloth is 1 m x 1 m of 81 nodes.
    """

    name, target = "cloth", "ball"
    hold, seconds = 2, 1.0
    goal_low, goal_high = np.array([-0.3, -0.3, 0.2]), np.array([0.3, 0.3, 0.6])
    corners = (0, 8, 72, 80)
    controls = [f"sheet.nodes[{c}]" for c in corners]

    def scene(self) -> dict:
        return {"title": "A ball on a cloth that is moved by its corners",
                "world": {"dt": 0.02, "duration": 1, "friction_speed": 0.01},
                "bodies": [
                    held_sheet(0.5),
                    {"name": "ball", "sphere": {"radius": 0.1}, "mass": 0.42,
                     "position": [0, 0, 0.602]}]}

    def action_scale(self) -> np.ndarray:
        return np.full(12, 0.3 / self.hold)

    def control(self, state, action):
        speeds = self.sim.split(state).node_velocities
        return cat([speeds[..., c, :] for c in self.corners]) + action


class Marble(Object):
    """Forces along the ground (at most 2 N) bring a marble on a pinned sheet to a place in 2 s."""

    name, target, axes = "marble", "marble", (0, 1)
    hold, seconds = 1, 2.0
    controls = ["marble.force.xy"]
    goal_low, goal_high = np.array([-0.3, -0.3]), np.array([0.3, 0.3])

    def scene(self) -> dict:
        return {"title": "A marble on a sheet", "world": {"dt": 0.04, "duration": 2},
                "bodies": [
                    held_sheet(0),
                    {"name": "marble", "sphere": {"radius": 0.1}, "mass": 0.42,
                     "position": [0, 0, 0.11]}]}

    def action_scale(self) -> np.ndarray:
        return np.full(2, 2.0)


class Trampoline(Object):
    """A ball falls on a trampoline; forces along the ground (at most 1 N) let it come down at, or
    fly to, a place 1.2 s later."""

    name, target = "trampoline", "ball"
    hold, seconds = 2, 1.2
    controls = ["ball.force.xy"]
    goal_low, goal_high = np.array([-0.3, -0.3, 0.4]), np.array([0.3, 0.3, 0.6])

    def scene(self) -> dict:
        return {"title": "A ball on a trampoline", "world": {"dt": 0.02, "duration": 1.2},
                "bodies": [
                    {"name": "sheet", "type": "cloth",
                     "mesh": {"sheet": {"width": 1, "height": 1, "nx": 6, "ny": 6}},
                     "density": 0.3, "stretch": 2000, "bend": 1e-3, "thickness": 1e-3,
                     "pins": [{"nodes": "border"}]},
                    {"name": "ball", "sphere": {"radius": 0.1}, "mass": 0.3,
                     "position": [0.03, 0.02, 0.6]}]}

    def action_scale(self) -> np.ndarray:
        return np.full(2, 1.0)


class Domino(Env):
    """A hand pushes the first of five dominoes; after 1 s the top of the last has to have gone a
    given way (m). An action changes the velocity of the hand along the row."""

    name = "domino"
    hold, seconds = 10, 1.0
    controls = ["hand.velocity.x"]
    goal_low, goal_high = np.array([0.02]), np.array([0.15])

    def scene(self) -> dict:
        return {"title": "Dominoes", "world": {"dt": 0.005, "duration": 1, "friction_speed": 0.01},
                "bodies": [
                    {"name": "ground", "type": "fixed", "mesh": {"sheet": {"width": 4, "height": 2,
                                                                           "nx": 1, "ny": 1}}},
                    {"name": "domino", "mesh": {"box": {"size": [0.04, 0.1, 0.2]}}, "density": 700,
                     "position": [0, 0, 0.1005], "copies": {"count": [5, 1, 1],
                                                            "spacing": [0.1, 0, 0]}},
                    {"name": "hand", "type": "kinematic", "mesh": {"box": {"size": [0.05, 0.05,
                                                                                   0.05]}},
                     "position": [-0.06, 0.01, 0.17], "euler_degrees": [5, 4, 3]}]}

    def __init__(self, **options):
        super().__init__(**options)
        # it comes with a speed that topples all of them
        self.sim.split(self.start).velocities[self.sim.body("hand").frame, 0] = 0.4

    def action_scale(self) -> np.ndarray:
        return np.full(1, 0.2 / self.hold)

    def control(self, state, action):
        return self.sim.split(state).velocities[..., self.sim.body("hand").frame, :1] + action

    def _last(self, state):
        parts, f = self.sim.split(state), self.sim.body("domino[4]").frame
        return (parts.positions[..., f, :1], parts.velocities[..., f, :1])

    def measure(self, state):
        """How far the centre of the last one has gone."""
        return self._last(state)[0] - 0.4

    def motion(self, state):
        return self._last(state)[1]
