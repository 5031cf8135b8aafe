#!/usr/bin/env python3
"""limit.py PROGRAM [--table PAGE] [--only NAME,...]: contacts of ever less width against a law of no width.

tests/data/hard_law/ holds scenes that were run once by a solver whose contacts give way nearly at once: states at four times and
the gradient of an objective. Here the same scenes have a contact layer around the same shapes, four times, each half as wide as
before. What starts in touch starts a width farther away for each layer below it. States and gradients have to come to the
recorded ones, at first order in the width. --table writes the errors into a page."""
import argparse
import json
import math
import re
import subprocess
import sys
import tempfile
from pathlib import Path

RECORDS = Path(__file__).resolve().parent.parent / "data" / "hard_law"
WIDE = 1e-3  # m, the widest layer between two bodies: what bodies of 0.2 m have unless told otherwise
HALVINGS = 3
# First order halves an error with the width. The last halving may leave 2^-0.75 of it, since terms of second order still count,
# and all of them together a third, since they may begin where those rule.
LAST, ALL = 2**-0.75, 1 / 3
# Below it an error is round-off and the tolerance of Newton's iterations, which gradients make more of.
FLOOR = 1e-8
QUANTITIES = ("place m", "velocity m/s", "turn rad", "gradient")

# Where another contact switches between the width above and none, the limit begins below: {scene: (width, why)}.
BEGINS = {
    "ball-on-sheet": (5e-4, "wider layers still show terms of second order"),
    "drape": (3.2e-5, "in wider layers other nodes touch than without one, which the gradient by velocity feels"),
    "edges": (2.5e-4, "wider layers touch at other edges first"),
    "push-rubbing": (1.25e-4, "while the boxes settle in wider layers their faces slip along each other faster than friction_speed, "
                              "which only the gradient by friction feels; with a larger friction_speed it is seen at 1 mm too"),
}
# And where a quantity has not come to first order at these widths: {scene: {quantity: (error at the last width at most, why)}}.
SLOW = {
    "ball-rubbing": {"gradient": (0.03, "of the gradient by the ball's velocity along x about 1 % is friction at nodes that stick or slip by as "
                                        "little as they settle in the layer; thinner layers come nearer until steps are split")},
}


def told(program, *arguments):
    done = subprocess.run([program, *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, arguments))}: {done.stderr.strip()}")
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
    """rad between two orientations: twice the angle between their quaternions, which mean the same with either sign."""
    chord = min(math.dist(a, b), math.dist(a, [-x for x in b]))
    return 4 * math.asin(min(1.0, 0.5 * chord))


def state_errors(now, then):
    """[m, m/s, rad] that the bodies are off."""
    errors = [0.0, 0.0, 0.0]
    for name, body in then.items():
        place = "position" if "position" in body else "centroid"
        errors[0] = max(errors[0], most(now[name][place], body[place]))
        errors[1] = max(errors[1], most(now[name]["velocity"], body["velocity"]))
        if "quaternion" in body:
            errors[2] = max(errors[2], turned(now[name]["quaternion"], body["quaternion"]))
    return errors


def gradient_error(now, record):
    """How much the objective changes by it, relative, when a parameter changes by its own size, or by 1 where that is less."""
    worst = 0.0
    for name, then in record["gradient"].items():
        size = max(1.0, *map(abs, record["value"][name])) if len(then) > 1 else abs(record["value"][name][0])
        worst = max(worst, most(now[name], then) * size / record["objective"])
    return worst


def measure(program, record, width, room):
    """The error of each of QUANTITIES, the largest over bodies, times and parameters."""
    path = Path(room) / "scene.json"
    path.write_text(json.dumps(with_layer(record, width)))
    errors = [0.0] * 3
    for state in record["states"]:
        run = told(program, "run", path, "--steps", state["steps"], "--threads", 1)
        errors = [max(a, b) for a, b in zip(errors, state_errors(run["final"], state["bodies"]))]
    gradient = {p["name"]: p["gradient"] for p in told(program, "grad", path)["parameters"]}
    return errors + [gradient_error(gradient, record)]


def complaints(name, errors):
    """What of the scene does not come to its limit. errors: by width."""
    found = []
    for k, quantity in enumerate(QUANTITIES):
        first, before, last = errors[0][k], errors[-2][k], errors[-1][k]
        if quantity in SLOW.get(name, {}):
            good = last <= SLOW[name][quantity][0]
        else:
            good = last <= FLOOR or (last <= LAST * before and last <= ALL * first)
        if not good:
            found.append(f"{name}: {quantity}: {', '.join(f'{e[k]:.3g}' for e in errors)}")
    return found


def page_lines(results):
    """The section of the page. results: [(name, what, widths, errors)]."""
    lines = ["## The limit of no width", "",
             "Written by `tests/limit/limit.py build/carom --table docs/accuracy.md`. Scenes of `tests/data/hard_law/`, recorded with a law "
             "whose contacts give way nearly at once, run with `contact` `barrier` and a layer between two bodies of width w, w/2, w/4, w/8 "
             "around the same shapes. Largest error over bodies and four times, with w and with w/8; *order*: of the last halving, 1 being "
             "the first. The gradient's error is the relative change of the objective when a parameter changes by its own size. An error "
             f"below {FLOOR:g} is 0 for this.", "",
             "| scene | w mm | place m | order | velocity m/s | order | turn rad | order | gradient | order |", "|" + "---|" * 10]
    for name, what, widths, errors in results:
        cells = []
        for k in range(len(QUANTITIES)):
            first, before, last = errors[0][k], errors[-2][k], errors[-1][k]
            cells += [f"{first:.1e} to {last:.1e}", f"{math.log2(before / last):.2f}"] if max(first, last) > FLOOR and last > 0 else ["0", ""]
        lines.append(f"| `{name}`: {what} | {1e3 * widths[0]:g} | " + " | ".join(cells) + " |")
    lines += ["", "What is not seen at the usual widths:", ""]
    lines += [f"- `{name}` begins at {1e3 * width:g} mm: {why}." for name, (width, why) in BEGINS.items()]
    lines += [f"- `{name}`, {quantity.split()[0]}: {why}." for name, by in SLOW.items() for quantity, (_, why) in by.items()]
    lines += ["- Sheets that are hit at many times the width of a layer a step: below about 1/200 of that way the step is split, and parts of "
              "a step damp less than a whole one; the limit is then that of the shorter step.", ""]
    return lines


def write_page(path, lines):
    """Puts the section where it was, or at the end."""
    text = path.read_text() if path.exists() else "# Accuracy\n\n"
    section = "\n".join(lines)
    pattern = re.compile(r"## The limit of no width\n.*?(?=\n## |\Z)", re.S)
    path.write_text(pattern.sub(lambda _: section.rstrip("\n") + "\n", text) if pattern.search(text) else text + section)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--table", type=Path)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    only, results, bad = options.only.split(",") if options.only else [], [], []
    with tempfile.TemporaryDirectory() as room:
        for path in sorted(RECORDS.glob("*.json")):
            if only and path.stem not in only:
                continue
            record = json.loads(path.read_text())
            widths = [BEGINS.get(path.stem, (WIDE,))[0] * 0.5**k for k in range(HALVINGS + 1)]
            errors = [measure(options.program, record, width, room) for width in widths]
            results.append((path.stem, record["what"], widths, errors))
            bad += complaints(path.stem, errors)
            print(f"{path.stem}: " + "; ".join(" ".join(f"{e[k]:.1e}" for e in errors) for k in range(len(QUANTITIES))), flush=True)
    for line in bad:
        print(f"does not come to its limit: {line}")
    if options.table:
        write_page(options.table, page_lines(results))
    print(f"{len(results)} scenes, {len(bad)} errors that do not vanish with the width")
    return bool(bad) or not results


if __name__ == "__main__":
    sys.exit(main())
