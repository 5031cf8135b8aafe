#!/usr/bin/env python3
"""limit.py PROGRAM [--table PAGE] [NAME...]: contacts of ever less width against the law of no width.

tests/data/hard_law/ holds scenes that were run once by a solver whose contacts give way nearly at once: states at four times and
the gradient of an objective. Here the same scenes have a contact layer of width w, w/2, w/4, w/8 around the same shapes. What
starts in touch starts a width farther away for each layer below it. States and gradients have to come to the recorded ones, by
half or more each time the width is halved, down to FLOOR."""
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RECORDS = Path(__file__).resolve().parent.parent / "data" / "hard_law"
WIDTHS = [1e-3 * 0.5**k for k in range(4)]  # m, of the layer between two bodies
ORDER = 0.8  # least slope of log error over log width: first order, with what a second term takes off


def told(program, *arguments):
    done = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip())
    return json.loads(done.stdout)


def with_layer(record, width):
    """The recorded scene with a layer of this width between any two bodies."""
    scene = json.loads(json.dumps(record["scene"]))
    scene["world"].update(contact="barrier", contact_width=0.5 * width)
    for body in scene["bodies"]:
        up = record["lift"].get(body["name"], [0, 0, 0])
        body["position"] = [p + width * u for p, u in zip(body["position"], up)]
    return scene


def most(a, b):
    return max(abs(x - y) for x, y in zip(a, b))


def turned(a, b):
    """rad between two orientations."""
    return 2 * math.asin(min(1.0, 0.5 * min(math.dist(a, b), math.dist(a, [-x for x in b])) * 2 / 2))


def state_errors(now, then):
    """(m, m/s, rad) that the bodies are off."""
    errors = [0.0, 0.0, 0.0]
    for name, body in then.items():
        for place in ("position", "centroid"):
            if place in body:
                errors[0] = max(errors[0], most(now[name][place], body[place]))
        errors[1] = max(errors[1], most(now[name]["velocity"], body["velocity"]))
        if "quaternion" in body:
            errors[2] = max(errors[2], turned(now[name]["quaternion"], body["quaternion"]))
    return errors


def measure(program, record, width, room):
    """[places, velocities, turns, gradient]: the largest errors, of the gradient relative to the parameter's largest entry."""
    path = Path(room) / "scene.json"
    path.write_text(json.dumps(with_layer(record, width)))
    errors = [0.0] * 3
    for state in record["states"]:
        run = told(program, "run", path, "--steps", state["steps"], "--threads", 1)
        errors = [max(a, b) for a, b in zip(errors, state_errors(run["final"], state["bodies"]))]
    grad = {p["name"]: p["gradient"] for p in told(program, "grad", path)["parameters"]}
    by = {name: (most(grad[name], then), max(map(abs, then))) for name, then in record["gradient"].items()}
    return errors, by


if __name__ == "__main__":
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as room:
        for path in sorted(RECORDS.glob("*.json")):
            if sys.argv[2:] and path.stem not in sys.argv[2:]:
                continue
            record = json.loads(path.read_text())
            print("==", path.stem)
            for w in WIDTHS:
                try:
                    e, g = measure(program, record, w, room)
                    print(f"  {w:.3g}: " + " ".join(f"{x:.2e}" for x in e) + "  | " + " ".join(f"{k}:{a:.2e}/{b:.1e}" for k, (a, b) in g.items()), flush=True)
                except RuntimeError as x:
                    print("  ", w, str(x)[-300:])
