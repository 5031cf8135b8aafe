#!/usr/bin/env python3
"""record.py PROGRAM: runs the scenes below with contact "hard" and writes scene, states and gradients at full precision into
tests/data/hard_law/, one file each. limit.py holds contacts of ever less width against them. Run it only with a program that
has that law."""
import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

OUT = Path(__file__).resolve().parent.parent / "data" / "hard_law"
THICK = 5e-4  # m, of every body; it stays while the layer around it goes to nothing
DT = 0.01  # s


def box(name, place, size=(0.2, 0.16, 0.12), **more):
    return {"name": name, "mesh": {"box": {"x": size[0], "y": size[1], "z": size[2]}}, "position": list(place), "density": 500, **more}


def ball(name, place, radius=0.1, **more):
    return {"name": name, "sphere": {"radius": radius}, "position": list(place), "density": 500, **more}


def floor(**more):
    """Its upper face at z = -THICK, so that a box whose lower face is at z touches when z = THICK."""
    return {"name": "floor", "type": "fixed", "mesh": {"box": {"x": 6, "y": 6, "z": 0.2}}, "position": [0, 0, -0.1], **more}


def on_floor(height, clearance=0.0):
    """Where the middle of a body of this height is when it touches the floor; both have their thickness."""
    return 0.5 * height + 2 * THICK + clearance


def sheet(n, place, **more):
    return {"name": "sheet", "type": "cloth", "density": 0.3, "stretch": 300, "bend": 1e-3, "damping": 0.01, "thickness": 2e-3,
            "mesh": {"sheet": {"width": 0.6, "height": 0.6, "nx": n - 1, "ny": n - 1}}, "position": list(place), **more}


def scene(seconds, bodies, loss, parameters, gravity=(0, 0, -9.81), friction=0.4, dt=DT, **more):
    """loss: {body: target of its place at the end}, or {body: (node, target)}; parameters: "body.what"."""
    terms = []
    for name, target in loss.items():
        node = {"node": target[0]} if isinstance(target[1], (list, tuple)) else {}
        terms.append({"what": "position", "of": name, "target": list(target[1] if node else target), **node})
        terms.append({"what": "velocity", "of": name, "weight": 0.1, **node})
    return {"carom": 1, "world": {"dt": dt, "duration": seconds, "gravity": list(gravity), "friction": friction, "thickness": THICK,
                                  "contact": "hard", **more},
            "bodies": bodies, "objective": {"terms": terms}, "parameters": [dict(zip(("of", "what"), p.split("."))) for p in parameters]}


def leaning(degrees):
    """Gravity as on an incline that goes down along x."""
    a = math.radians(degrees)
    return [9.81 * math.sin(a), 0, -9.81 * math.cos(a)]


def landing(turn, restitution, seconds):
    """A box falls on a face, an edge or a corner with the same clearance."""
    height = {"face": 0.12, "edge": 0.25, "corner": 0.29}[turn]
    tilt = {"face": [0, 0, 20], "edge": [0, 40, 20], "corner": [30, 40, 20]}[turn]
    return scene(seconds, [floor(), box("box", [0, 0, on_floor(height, 0.1)], euler_degrees=tilt, velocity=[0.3, 0.1, -0.5],
                                        restitution=restitution)],
                 {"box": [0.1, 0, 0]}, ["box.velocity", "box.position", "box.mass"] + (["box.restitution"] if restitution else []))


def pushing(friction):
    """The faces are of two sizes: which corner meets what does not hang on round-off."""
    return dict(scene(0.4, [floor(), box("one", [0, 0, on_floor(0.12)], force=[30, 0, 0]),
                            box("two", [0.2 + 2 * THICK + 0.01, 0, on_floor(0.16)], (0.2, 0.2, 0.16), density=300)],
                      {"one": [0.1, 0, 0], "two": [0.5, 0, 0]}, ["one.force", "one.mass", "two.mass", "two.friction"]),
                pairs=[{"between": ["one", "two"], "friction": friction}])


def sheet_and_ball(place, friction):
    return scene(0.3, [sheet(7, [0, 0, 0], pins=[{"nodes": "border"}]), ball("ball", place, density=100)], {"ball": [0.1, 0, 0]},
                 ["ball.velocity", "ball.mass", "sheet.stretch"], friction=friction)


# {name: (what it is, scene, {body: how many widths of a layer it starts farther up, as a vector})}: what starts in touch has to
# start outside of a layer with a width, and each body of a stack has one layer more below it than the one under it.
SCENES = {
    "flight": ("a box turns in free flight", scene(
        0.5, [box("box", [0, 0, 0], velocity=[0.5, 0, 2], angular_velocity=[3, 1, 2])], {"box": [0.1, 0, 0]},
        ["box.velocity", "box.position", "box.rotation"]), {}),
    "rest": ("a box at rest on a floor", scene(
        0.5, [floor(), box("box", [0, 0, on_floor(0.12)], force=[1, 0, 0])], {"box": [0.1, 0, 0]}, ["box.velocity", "box.mass", "box.force"]),
        {"box": [0, 0, 1]}),
    "stick": ("a box that sticks on an incline of 15 degrees", scene(
        0.4, [floor(), box("box", [0, 0, on_floor(0.12)])], {"box": [0.1, 0, 0]}, ["box.mass", "box.friction"], leaning(15)), {"box": [0, 0, 1]}),
    "slide": ("a box that slides down an incline of 30 degrees", scene(
        0.4, [floor(), box("box", [0, 0, on_floor(0.12)])], {"box": [0.1, 0, 0]}, ["box.velocity", "box.friction", "floor.friction"],
        leaning(30)), {"box": [0, 0, 1]}),
    "brake": ("a box thrown along a floor, which stops it", scene(
        0.5, [floor(), box("box", [0, 0, on_floor(0.12)], velocity=[1, 0.3, 0])], {"box": [0.1, 0, 0]}, ["box.velocity", "box.friction"]),
        {"box": [0, 0, 1]}),
    "roll": ("a ball that rolls down an incline of 10 degrees", scene(
        0.5, [floor(), ball("ball", [0, 0, 0.1 + 1 * THICK])], {"ball": [0.1, 0, 0]}, ["ball.velocity", "ball.mass"], leaning(10)),
        {"ball": [0, 0, 1]}),
    "skid": ("a ball thrown along a floor skids, then rolls", scene(
        0.5, [floor(), ball("ball", [0, 0, 0.1 + 1 * THICK], velocity=[1, 0, 0], angular_velocity=[0, -2, 1])], {"ball": [0.1, 0, 0]},
        ["ball.velocity", "ball.friction"]), {"ball": [0, 0, 1]}),
    "stack": ("a stack of three boxes, pushed at the top", scene(
        0.3, [floor(), box("low", [0, 0, on_floor(0.12)]), box("middle", [0.01, 0, on_floor(0.12) + 0.121]),
              box("high", [0, 0.01, on_floor(0.12) + 0.242], force=[2, 0, 0])], {"high": [0.1, 0, 0.3], "low": [0, 0, 0]},
        ["high.mass", "low.mass", "high.force"]), {"low": [0, 0, 1], "middle": [0, 0, 2], "high": [0, 0, 3]}),
    **{f"{turn}{word}": (f"a box lands on a{'n' if turn == 'edge' else ''} {turn} with restitution {e:g}", landing(turn, e, seconds), {})
       for turn, seconds in (("face", 0.4), ("edge", 0.3), ("corner", 0.3)) for word, e in (("", 0.0), ("-bounce", 0.5))},
    "push": ("one box pushes another, larger one along a floor", pushing(0), {"one": [0, 0, 1], "two": [0, 0, 1]}),
    "push-rubbing": ("one box pushes another, with friction between the two", pushing(0.4), {"one": [0, 0, 1], "two": [0, 0, 1]}),
    "belt": ("a box on a floor that moves", scene(
        0.4, [dict(floor(), type="kinematic", script={"velocity": [0.5, 0.2, 0]}), box("box", [0, 0, on_floor(0.12)])], {"box": [0.1, 0, 0]},
        ["box.velocity", "box.friction"]), {"box": [0, 0, 1]}),
    "capsule": ("a capsule falls on a floor and rolls", scene(
        0.4, [floor(), {"name": "capsule", "capsule": {"radius": 0.06, "length": 0.2}, "density": 500, "position": [0, 0, 0.12],
                        "euler_degrees": [0, 80, 0], "velocity": [0, 0.4, 0]}], {"capsule": [0.1, 0, 0]},
        ["capsule.velocity", "capsule.position", "capsule.mass"]), {}),
    "carom": ("two balls meet off centre, restitution 1", scene(
        0.4, [ball("one", [0, 0, 0], velocity=[1.5, 0, 0]), ball("two", [0.35, 0.06, 0.02], 0.08)], {"one": [0.1, 0, 0], "two": [0.5, 0, 0]},
        ["one.velocity", "one.position", "two.mass"], (0, 0, 0), restitution=1, friction=0.2), {}),
    "edges": ("two boxes meet edge on edge in the air", scene(
        0.4, [box("one", [0, 0, 0], euler_degrees=[20, 35, 15], velocity=[0.8, 0, 0]),
              box("two", [0.4, 0.03, 0.02], euler_degrees=[-30, 25, 50], velocity=[-0.8, 0, 0])], {"one": [0.1, 0, 0]},
        ["one.velocity", "one.rotation", "two.mass"], (0, 0, 0)), {}),
    "ball-on-sheet": ("a ball falls on a sheet held at its border, without friction", sheet_and_ball([0, 0, 0.13], 0), {}),
    "ball-rubbing": ("a ball falls on a sheet held at its border, with friction", sheet_and_ball([0, 0, 0.13], 0.2), {}),
    "ball-beside": ("a ball falls beside the middle of a sheet, without friction", sheet_and_ball([0.02, 0.03, 0.13], 0), {}),
    "drape": ("a sheet of 8 x 8 nodes falls over a ball", scene(
        0.25, [sheet(8, [0.013, 0.008, 0.12], euler_degrees=[3, 5, 10]), dict(ball("ball", [0, 0, 0]), type="fixed")],
        {"sheet": (9, [0.1, 0, 0])}, ["sheet.velocity", "sheet.density", "sheet.stretch"], friction=0.2, dt=0.005), {}),
}
for fixed in SCENES.values():  # a fixed body has no density
    for body in fixed[1]["bodies"]:
        if body.get("type") == "fixed":
            body.pop("density", None)


def told(program, *arguments):
    done = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{arguments}: {done.stderr}")
    return json.loads(done.stdout)


def measure(program, what, room):
    """States after a quarter, half, three quarters and the whole of the run; the objective and its gradient."""
    path = Path(room) / "scene.json"
    path.write_text(json.dumps(what))
    steps = round(what["world"]["duration"] / what["world"]["dt"])
    states = []
    for k in (1, 2, 3, 4):
        run = told(program, "run", path, "--steps", steps * k // 4, "--threads", 1)
        states.append({"steps": steps * k // 4, "relaxed": run["eased"],
                       "bodies": {name: body for name, body in run["final"].items() if name != "floor"}})
    grad = told(program, "grad", path)
    return {"states": states, "objective": grad["objective"], "gradient": {p["name"]: p["gradient"] for p in grad["parameters"]},
            "value": {p["name"]: p["value"] for p in grad["parameters"]}}


def main():
    OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as room:
        for name, (what, hard, lift) in SCENES.items():
            record = {"what": what, "scene": hard, "lift": lift, **measure(sys.argv[1], hard, room)}
            (OUT / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
            print(name, record["objective"], {k: v[:3] for k, v in record["gradient"].items()}, flush=True)


if __name__ == "__main__":
    main()
