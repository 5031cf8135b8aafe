"""A cloth topples a ring of dominoes, and the last one strikes it from behind."""

import math

TITLE = "two-way coupling: dominoes"
PAPER = ("A cloth strikes a domino; the chain runs round; the last one strikes the cloth from behind. In the released program "
         "velocities are scripted into the cloth, masses change by 80 in mid-run and friction is faked. Ours: a hanging "
         "cloth swings by its initial speed alone, real friction, constant masses; and the gradient of where the last "
         "domino's top ends by that speed.")
COUNT, RADIUS = 15, 3.0
THICK, WIDE, TALL = 0.193, 1.0, 2.0


def scene(seconds, speed=6.0):
    bodies = [{"name": "ground", "type": "fixed", "mesh": {"sheet": {"width": 20, "height": 20, "nx": 1, "ny": 1}}}]
    for i in range(COUNT):
        angle = math.radians(20 + 320.0 * i / (COUNT - 1))
        bodies.append({"name": f"domino{i}", "mesh": {"box": {"size": [THICK, WIDE, TALL]}},
                       "position": [RADIUS * math.cos(angle), RADIUS * math.sin(angle), TALL / 2 + 0.001],
                       "euler_degrees": [0, 0, math.degrees(angle) + 90], "density": 50, "thickness": 5e-4})
    bodies.append({"name": "cloth", "type": "cloth", "mesh": {"sheet": {"width": 1.6, "height": 2.6, "nx": 8, "ny": 13}},
                   "euler_degrees": [90, 0, 0], "position": [RADIUS, 0, 1.7], "velocity": [0, speed, 0], "density": 2.0,
                   "stretch": 5000, "bend": 1e-3, "damping": 0.01, "thickness": 0.002,
                   "pins": [{"nodes": {"nearest": [RADIUS + x, 0, 3.0]}} for x in (-0.8, 0.8)]})
    return {"carom": 1, "title": "Round to the cloth again", "world": {"dt": 0.01, "duration": seconds, "friction": 0.4},
            "bodies": bodies,
            "objective": {"terms": [{"what": "position", "of": f"domino{COUNT - 1}", "point": [0, 0, TALL / 2],
                                     "norm": "value", "axes": [0, 1, 0]}]},
            "parameters": [{"of": "cloth", "what": "velocity"}]}


def run(kit):
    path = kit.scene("dominoes", scene(1.0 if kit.quick else 6.0))
    out = kit.path("dominoes.carom")
    end = kit.carom("run", path, "--out", out, "--threads", 1)[0]
    kit.row("processor time", f"{1e3 * end['cpu_s'] / end['steps']:.3g} ms/step", released="270 ms/step")
    cross = kit.carom("intersect", out)[0]
    kit.row("frames that intersect", f"{cross['intersecting_frames']} of {cross['frames']}", cross["intersecting_frames"] == 0)
    fallen = [i for i in range(COUNT) if end["final"][f"domino{i}"]["position"][2] < 0.45 * TALL]
    kit.row("dominoes that fell", f"{len(fallen)} of {COUNT}", 0 in fallen if kit.quick else len(fallen) == COUNT, paper="all")
    if kit.quick:
        return
    grad = kit.carom("grad", path)[0]
    kit.row("d(last domino's top)/d(the cloth's first speed)", f"{grad['parameters'][0]['gradient'][1]:.4g}",
            math.isfinite(grad["parameters"][0]["gradient"][1]))
    frames = [int(k * (cross["frames"] - 1) / 8) for k in range(9)]
    kit.render(out, frames, "frames.png")
