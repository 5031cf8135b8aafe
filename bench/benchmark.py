#!/usr/bin/env python3
"""The figures of docs/benchmarks.md, all of them in one run: benchmark.py [--quick] [--out FOLDER] [--only NAME,...]

Writes benchmarks.md, benchmarks.csv (every figure, one a line) and the curves as SVG. Needs build/carom and
build/bench/bench_factor (make benchmark sees to it). MuJoCo and CHOLMOD stand beside carom where they are
here, and are told as not run where they are not. --quick takes seconds and shows that all of it works. --only
measures some parts anew and leaves the others of the page as they are.
"""

import argparse
import csv
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "experiments"))
import cases  # noqa: E402
import kit  # noqa: E402  curves, tables and the machine, as the experiments show them
import mjcf  # noqa: E402

LIMIT = 240  # s of processor time that one run of a program may take
MEMORY = 8 << 30  # bytes that it may take
SCENE_LIMIT = 60  # s of processor time after which an ordinary scene takes no further step


class Page:
    """What is written in the end: text and tables in order, and every figure as a line of CSV."""

    def __init__(self, out, quick):
        self.out, self.quick, self.text, self.figures, self.failures = out, quick, [], [], []

    def say(self, *lines):
        self.text += [*lines, ""]

    def table(self, header, rows):
        print(kit.table_text(header, rows), flush=True)
        self.text += [kit.table_text(header, rows), ""]

    def figure(self, part, case, size, quantity, value, unit=""):
        self.figures.append([part, case, size, quantity, f"{value:.6g}" if isinstance(value, float) else value, unit])

    def plot(self, name, lines, x, y, title, legend="right"):
        (self.out / f"{name}.svg").write_text(kit.svg(lines, x, y, True, title, legend=legend) + "\n")
        self.text += [f"![{title}]({name}.svg)", ""]

    def failed(self, what, why):
        self.failures.append((what, why))
        print(f"failed: {what}: {why}", file=sys.stderr, flush=True)


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (LIMIT, LIMIT))


def run(page, *command):
    """What it prints; None when it fails, which the page then tells."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True, preexec_fn=limited)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        words = [Path(part).name if isinstance(part, Path) else str(part) for part in command[1:]]
        page.failed(" ".join(words), said[-1] if said else f"not done within {LIMIT} s")
        return None
    return done.stdout


def carom(page, *arguments):
    """The objects that `carom ... --json` prints."""
    text = run(page, kit.program(), *arguments, "--json")
    return [json.loads(line) for line in (text or "").splitlines() if line.strip()]


def scene_file(room, name, scene):
    path = Path(room) / f"{name}.json"
    path.write_text(json.dumps(scene))
    return path


# ---- gradients against differences

GROUND = {"name": "ground", "type": "fixed", "mesh": {"sheet": {"width": 8, "height": 6, "nx": 1, "ny": 1}}}


def box(name, size, position, **more):
    return {"name": name, "mesh": {"box": {"size": size}}, "position": position, **more}


def question(seconds, bodies, of, parameters, friction=0.4, dt=0.01):
    """A scene that asks where `of` ends, by these parameters."""
    return {"carom": 1, "world": {"dt": dt, "duration": seconds, "friction": friction, "friction_speed": 0.01}, "bodies": bodies,
            "objective": {"terms": [{"what": "position", "of": of, "target": [0.1, 0, 0]}]},
            "parameters": [dict(zip(("of", "what"), p.split("."))) for p in parameters]}


def gradient_scenes():
    """{what touches what: scene}. Meshes on meshes, so that faces, edges and vertices change roles."""
    tumbling = dict(euler_degrees=[30, 40, 10], velocity=[0.5, 0, -1], angular_velocity=[1, 2, 0])
    sheet = {"name": "sheet", "type": "cloth", "density": 0.3, "stretch": 300, "bend": 1e-3, "damping": 0.01, "thickness": 0.002,
             "mesh": {"sheet": {"width": 0.6, "height": 0.6, "nx": 6, "ny": 6}}}
    figurine = {"name": "figurine", "mesh": {"figurine": {"resolution": 10}}, "scale": 0.3, "origin": "center", "density": 300}
    ball = {"mesh": {"sphere": {"radius": 0.15, "subdivisions": 2}}, "density": 300}
    return {
        "box tumbling along the ground": question(0.6, [GROUND, box("box", [0.3, 0.25, 0.2], [0, 0, 0.4], **tumbling)], "box",
                                                  ["box.velocity", "box.rotation", "box.mass", "box.friction"]),
        "the same, bouncing": question(0.6, [GROUND, box("box", [0.3, 0.25, 0.2], [0, 0, 0.4], restitution=0.5, **tumbling)], "box",
                                       ["box.velocity", "box.rotation", "box.mass", "box.restitution"]),
        "box sliding on a box": question(0.15, [GROUND, box("low", [0.4, 0.3, 0.2], [0, 0, 0.1003], force=[1, 0, 0]),
                                                box("high", [0.2, 0.25, 0.2], [0.03, 0.02, 0.30065], velocity=[0.4, 0.2, 0])], "high",
                                         ["high.velocity", "low.force", "low.mass", "high.mass", "high.friction"]),
        "two boxes meeting edge on edge": question(
            0.4, [box("one", [0.3, 0.2, 0.25], [0, 0, 0], euler_degrees=[20, 35, 15], velocity=[0.8, 0, 0]),
                  box("two", [0.25, 0.3, 0.2], [0.4, 0.03, 0.02], euler_degrees=[-30, 25, 50], velocity=[-0.8, 0, 0])], "one",
            ["one.velocity", "one.rotation", "two.mass", "two.angular_velocity"]),
        "figurine falling on a ball of 320 faces": question(
            0.35, [GROUND, dict(ball, name="ball", type="fixed", position=[0, 0, 0.2]),
                   dict(figurine, position=[0.02, 0.03, 0.6], euler_degrees=[25, 10, 40], velocity=[0, 0, -1])], "figurine",
            ["figurine.velocity", "figurine.rotation", "figurine.mass"]),
        "box thrown on a held sheet": question(
            0.2, [dict(sheet, pins=[{"nodes": "border"}]),
                  box("box", [0.12, 0.1, 0.08], [0.03, 0.02, 0.12], density=400, euler_degrees=[25, 35, 10], velocity=[0.3, 0, -1])],
            "box", ["box.velocity", "box.rotation", "box.mass", "sheet.stretch", "sheet.density"]),
        "sheet falling over a ball of 320 faces": question(
            0.2, [dict(sheet, position=[0.013, 0.008, 0.17], euler_degrees=[3, 5, 10]), dict(ball, name="ball", type="fixed")],
            "sheet", ["sheet.velocity", "sheet.density", "sheet.stretch", "sheet.friction"]),
    }


GOOD = 1e-6  # relative; differences of stiff runs are hardly better


def gradients(page, room):
    page.say("## Gradient error on mesh-mesh contact", "",
             "`carom gradcheck`: the gradient against extrapolated central differences of whole runs, relative to the largest entry of "
             "the same parameter. A number is a kink when the differences have no limit there; it is counted and not judged.")
    rows, every = [], list(gradient_scenes().items())
    for i, (name, scene) in enumerate(every[:2] if page.quick else every):
        told = carom(page, "gradcheck", scene_file(room, f"gradient{i}", scene), "--most", 2 if page.quick else 24, "--tolerance", 1)
        if told:
            told = told[0]
            checked = sum(p["checked"] for p in told["parameters"])
            rows.append([name, told["steps"], checked, told["max_relative_error"], told["kinks"], told["contact_switches"]])
            page.figure("gradient", name, checked, "largest relative error", told["max_relative_error"])
            page.figure("gradient", name, checked, "kinks", told["kinks"])
    page.table(["scene", "steps", "numbers checked", "largest relative error", "kinks", "steps where a moved run touched otherwise"], rows)
    above = [row[0] for row in rows if not row[3] <= GOOD]
    page.say(f"A smooth point has to agree to {GOOD:g}" + (f"; not reached: {', '.join(above)}." if above else ", and all do."))


# ---- speed over the number of bodies and nodes

SIZES = {"falling-cubes": [10, 30, 100, 300, 1000], "stacked-cubes": [10, 30, 100, 300, 1000],
         "many-objects": [20, 50, 100, 200, 500, 1000], "sheet-ball": [9, 17, 33, 49]}
ENOUGH = 0.5  # s of processor time that a figure is made of
STEPS = {"stacked-cubes": 10, "cloth-scale": 4}  # the rest as long as the scene says


def processor(r):
    """s of processor time of a step there and back; a clock that stood still counts as its least tick."""
    return [max(r[f"{way}_cpu_s_per_step"], 1e-6) for way in ("forward", "backward")]


def bench_once(page, name, n, *options):
    steps = 2 if page.quick else STEPS.get(name)
    told = carom(page, "bench", name, "--n", n, *(["--steps", steps] if steps else []), *options)
    if told and told[0]["error"]:
        page.failed(f"bench {name} {n}", told[0]["error"])
    return told[0] if told and not told[0]["error"] else None


def bench(page, name, n, *options):
    """The mean of as many runs as take ENOUGH together: the clock of short ones is too coarse."""
    runs, taken = [], 0.0
    while taken < ENOUGH and len(runs) < (1 if page.quick else 100):
        r = bench_once(page, name, n, *options)
        if not r:
            return None
        runs.append(r)
        taken += r["steps"] * sum(r[f"{way}_cpu_s_per_step"] for way in ("forward", "backward"))
    times = [key for key in runs[0] if key.endswith("s_per_step")]
    return {**runs[0], **{key: sum(r[key] for r in runs) / len(runs) for key in times}}


def speed(page, room):
    del room
    page.say("## Steps and gradients per second", "",
             "`carom bench`, one thread. A gradient counts as one step there, with a tape, and back: of a loss that feels where everything "
             "ends, by all of the start, forces and masses. *unknowns*: of the largest zone.")
    rows, there, back = [], {}, {}
    for name, sizes in SIZES.items():
        for n in sizes[:1] if page.quick else sizes:
            r = bench(page, name, n)
            if not r:
                continue
            forward, backward = processor(r)
            rows.append([name, n, r["steps"], r["max_zone_dofs"], r["max_contacts"], 1 / forward, 1 / (forward + backward),
                         backward / forward, r["tape_bytes_per_step"], r["peak_rss_bytes"] / 2**20])
            for lines, value in ((there, 1 / forward), (back, 1 / (forward + backward))):
                lines.setdefault(name, ([], []))[0].append(n)
                lines[name][1].append(value)
            page.figure("speed", name, n, "steps", 1 / forward, "1/s")
            page.figure("speed", name, n, "gradients", 1 / (forward + backward), "1/s")
            page.figure("speed", name, n, "backward/forward", backward / forward)
            page.figure("speed", name, n, "tape", r["tape_bytes_per_step"], "bytes/step")
            page.figure("speed", name, n, "memory", r["peak_rss_bytes"], "bytes")
    page.table(["scene", "N", "steps", "unknowns", "contacts", "steps/s", "gradients/s", "back / there", "tape bytes a step", "memory MB"],
               rows)
    page.plot("benchmarks_steps", there, "N", "steps/s", "Steps per second of processor time")
    page.plot("benchmarks_gradients", back, "N", "gradients/s", "Gradients per second of processor time")


def coupled(page, room):
    del room
    page.say("## Back against there, cloth and rigid bodies together", "",
             "The same measure where a body and a sheet are one zone. *of it*: the way back as a part of the way there.")
    rows = []
    for name, n in [("sheet-ball", 9)] if page.quick else [("sheet-ball", 17), ("sheet-ball", 33), ("cloth-scale", 5),
                                                           ("cloth-scale", 10)]:
        r = bench(page, name, n)
        if r:
            forward, backward = processor(r)
            rows.append([f"{name} {n}", r["max_zone_dofs"], r["max_zone_contacts"], 1e3 * forward, 1e3 * backward, backward / forward,
                         r["tape_bytes_per_step"]])
            page.figure("coupled", name, n, "backward/forward", backward / forward)
            page.figure("coupled", name, n, "tape", r["tape_bytes_per_step"], "bytes/step")
    page.table(["scene", "unknowns", "contacts", "there ms", "back ms", "of it", "tape bytes a step"], rows)


# ---- the factorisation beside CHOLMOD and conjugate gradients

def bench_scene(page, room, name, n, dt=None, close=False, friction=0):
    """A scene of carom bench as a file; `close` puts sheet-ball's ball just above touching."""
    text = run(page, kit.program(), "bench", name, "--n", n, "--scene")
    text = re.sub(r'"dt": [0-9.]+', f'"dt": {dt}', text) if dt else text
    text = text.replace("0.02, 0.11]", "0.02, 0.10105]") if close else text
    text = text.replace('"friction": 0', f'"friction": {friction}')
    path = Path(room) / f"{name} {n}{' rubbed' if friction else ''}.json"
    path.write_text(text)
    return path


def factor(page, room):
    page.say("## A zone's matrix, factored and solved, beside CHOLMOD", "",
             "Matrices that steps of stacked-cubes and sheet-ball have factored, caught on their way (`bench/bench_factor.c`): the last "
             "of the largest. Milliseconds of one thread, best of many; CHOLMOD with the ordering it chooses itself and with one thread of "
             f"its BLAS ({kit.blas()}). Of one matrix of a pattern *analyse* is done once, *factor* and *solve* often. CG: conjugate gradients with the "
             "diagonal blocks solved for in each iteration, to 1e-12, which need no factor but do all of it again for every right-hand side. "
             "*rubbed*: with friction, which makes a matrix unsymmetric where it touches; LU takes all of it as that, mixed (which is what "
             "steps use) the rest as symmetric.")
    program = Path(kit.program()).parent / "bench" / "bench_factor"
    if not program.exists():
        page.say(f"Not run: there is no {program.name}.")
        return
    small = page.quick
    scenes = [(bench_scene(page, room, "stacked-cubes", n), 1) for n in ([20] if small else [167, 500, 1667, 5000, 16667])]
    scenes += [(bench_scene(page, room, "sheet-ball", n, 0.004 if n < 100 else 0.002, True), 1)
               for n in ([9] if small else [18, 33, 58, 100, 183])]
    scenes += [(bench_scene(page, room, "sheet-ball", n, 0.004 if n < 100 else 0.002, True, 0.3), 10) for n in ([] if small else [33, 58, 100])]
    rows, lines, fastest = [], {}, {}
    for path, steps in scenes:
        text = run(page, program, "--csv", "--seconds", 0.01 if small else 1, path, steps) or ""
        for r in csv.DictReader(text.splitlines()):
            ms = [float(r[k]) for k in ("analyse ms", "factor ms", "solve ms")]
            rows.append([r["matrix"], r["method"], int(r["unknowns"]), *ms, int(r["nnz(L)"]), float(r["GFlop/s"]), float(r["residual"])])
            method = r["method"].split(" (")[0]  # the iterations of CG left out
            label = f"{r['matrix'].split('-')[0]}, {method.split()[-1]}"
            lines.setdefault(label, ([], []))[0].append(int(r["unknowns"]))
            lines[label][1].append(ms[2] if method == "CG" else ms[1])
            fastest.setdefault(r["matrix"], {})[method] = ms[1] + ms[2]
            for quantity, value in zip(("analyse", "factor", "solve"), ms):
                page.figure("factor", f"{r['matrix']}, {method}", int(r["unknowns"]), quantity, value, "ms")
    page.table(["matrix", "method", "unknowns", "analyse", "factor", "solve", "numbers in L", "GFlop/s", "residual"], rows)
    if not any("CHOLMOD" in row[1] for row in rows):
        page.say("CHOLMOD: not run, it was not there when the benchmark was built (Debian: libsuitesparse-dev).")
    else:
        against = [(matrix, min(t for method, t in of.items() if "CHOLMOD" in method) / of["carom"]) for matrix, of in fastest.items()
                   if len(of) > 1 and "carom" in of]
        slower = [matrix for matrix, times in against if times < 1]
        page.say(f"Factor and one solve together, carom against the faster of both CHOLMODs: {min(t for _, t in against):.2g} to "
                 f"{max(t for _, t in against):.2g} times as fast" + (f"; slower on {', '.join(slower)}." if slower else "."))
    slower = {matrix: of["CG"] / of["carom"] for matrix, of in fastest.items() if "CG" in of and "carom" in of}
    if slower:
        least, most = min(slower, key=slower.get), max(slower, key=slower.get)
        page.say(f"CG takes {slower[least]:.2g} ({least}) to {slower[most]:.2g} ({most}) times as long as carom's factor and one solve.")
    page.plot("benchmarks_factor", lines, "unknowns", "ms", "Factorisation of a zone's matrix", legend="left")


# ---- beside MuJoCo

def pen(n):
    """Places of n boxes in a pen: layers of 3 x 3, each turned a little, 5 mm of air between."""
    return [(0.15 * (k % 3 - 1), 0.15 * (k // 3 % 3 - 1), 0.06 + 0.115 * (k // 9), 7.0 * k) for k in range(n)]


def boxes_scene(n, piled, h, seconds):
    side = 0.1
    places = pen(n) if piled else [(0.2 * (k % 32), 0.2 * (k // 32), 0.1, 11.0 * k) for k in range(n)]
    bodies = [{"name": "ground", "type": "fixed", "position": [3, 3, 0], "mesh": {"sheet": {"width": 20, "height": 20, "nx": 1, "ny": 1}}}]
    walls = [(0.3, 0, 0.05, 0.7), (-0.3, 0, 0.05, 0.7), (0, 0.3, 0.5, 0.05), (0, -0.3, 0.5, 0.05)] if piled else []
    height = 0.15 * (n // 9 + 3)
    for k, (x, y, w, d) in enumerate(walls):
        bodies.append({"name": f"wall{k}", "type": "fixed", "position": [x, y, 0.5 * height + 0.01], "mesh": {"box": {"size": [w, d, height]}}})
    bodies += [{"name": f"b{k}", "density": 400, "mesh": {"box": {"size": [side] * 3}}, "position": [x, y, z], "euler_degrees": [0, 0, turn]}
               for k, (x, y, z, turn) in enumerate(places)]
    pairs = [{"between": [f"wall{a}", f"wall{b}"], "contact": False} for a in range(len(walls)) for b in range(a)]
    pairs += [{"between": ["ground", f"wall{a}"], "contact": False} for a in range(len(walls))]
    ours = {"carom": 1, "world": {"dt": h, "duration": seconds, "friction": 0.5, "thickness": 5e-4}, "bodies": bodies, "pairs": pairs}
    theirs = "".join(f'<geom type="box" pos="{x} {y} {0.5 * height}" size="{w / 2} {d / 2} {height / 2}"/>' for x, y, w, d in walls)
    theirs += "".join(f'<body pos="{x} {y} {z}" euler="0 0 {turn}"><freejoint/><geom type="box" size="{side / 2} {side / 2} {side / 2}" '
                      f'density="400"/></body>' for x, y, z, turn in places)
    return ours, (f'<mujoco><option timestep="{h}" integrator="implicitfast"/><default><geom friction="0.5"/></default><worldbody>'
                  f'<geom type="plane" size="20 20 1"/>{theirs}</worldbody></mujoco>')


def sheet_scene(n, h, seconds):
    """A ball of 0.5 kg falls 0.1 m on a sheet of n x n nodes that is held at its border; for MuJoCo a plate of the same stiffness."""
    thick, stretch, last = 1e-3, 2000.0, n - 1
    ours = {"carom": 1, "world": {"dt": h, "duration": seconds}, "bodies": [
        {"name": "sheet", "type": "cloth", "mesh": {"sheet": {"width": 1, "height": 1, "nx": last, "ny": last}}, "density": 0.374,
         "stretch": stretch, "bend": 1e-4, "damping": 1e-3, "thickness": thick, "pins": [{"nodes": "border"}]},
        {"name": "ball", "sphere": {"radius": 0.1}, "mass": 0.5, "position": [0.03, 0.02, 0.2]}]}
    pins = "".join(f'<pin gridrange="{a} {b} {c} {d}"/>' for a, b, c, d in
                   ((0, 0, last, 0), (0, last, last, last), (0, 0, 0, last), (last, 0, last, last)))
    return ours, (f'<mujoco><option timestep="{h}" integrator="discrete"/><worldbody>'
                  f'<flexcomp name="sheet" type="grid" dim="2" count="{n} {n} 1" spacing="{1 / last} {1 / last} 1" mass="0.374" '
                  f'radius="{thick}"><elasticity young="{stretch / (2 * thick)}" poisson="0.3" thickness="{2 * thick}" damping="1e-3" '
                  f'elastic2d="both"/><contact selfcollide="none"/>{pins}</flexcomp>'
                  f'<body pos="0.03 0.02 0.2"><freejoint/><geom type="sphere" size="0.1" mass="0.5"/></body></worldbody></mujoco>')


def beside(quick):
    """(what, N, h, ours, theirs)"""
    if quick:
        return [("boxes", 4, 0.005, *boxes_scene(4, False, 0.005, 0.05)), ("sheet", 5, 0.002, *sheet_scene(5, 0.002, 0.02))]
    cases = [("boxes", n, 0.005, *boxes_scene(n, False, 0.005, 1.0)) for n in (10, 100, 1000)]
    cases += [("pile", n, 0.005, *boxes_scene(n, True, 0.005, 1.0)) for n in (9, 27, 63)]
    return cases + [("sheet", n, 0.002, *sheet_scene(n, 0.002, 0.4)) for n in (9, 17, 33)]


def theirs(mujoco, text, steps):
    """s of processor time a step, the least of three runs; in another, looked at step by step, the deepest overlap (m); whether the
    numbers stayed finite."""
    model, seconds = mujoco.MjModel.from_xml_string(text), []
    for _ in range(3):
        data = mujoco.MjData(model)
        since = time.process_time()
        mujoco.mj_step(model, data, nstep=steps)
        seconds.append(max(time.process_time() - since, 1e-6) / steps)
    data, deepest = mujoco.MjData(model), 0.0
    for _ in range(steps):
        mujoco.mj_step(model, data)
        if data.ncon:
            deepest = max(deepest, -float(data.contact.dist.min()))
    warned = bool(data.warning.number[int(mujoco.mjtWarning.mjWARN_BADQACC)])
    return min(seconds), deepest, not warned


def side_by_side(page, room):
    page.say("## Forward, beside MuJoCo", "",
             "The same bodies, masses, friction and step h, in this run, one thread each, the least of three. The two do not solve the same problem: MuJoCo's boxes "
             "are ideal boxes held apart by springs, its sheet does not touch itself; carom's are triangle meshes that may never pass, its "
             "sheet does touch itself. *overlap*: the deepest that MuJoCo reports; carom's is the least gap over the run, 0 being the "
             "thickness away from touching.")
    try:
        import mujoco
    except ImportError:
        mujoco = None
        page.say("MuJoCo: not run, it is not here (`tools/venv.sh mujoco` fetches it where it can be had).")
    rows = []
    for what, n, h, ours, text in beside(page.quick):
        path = scene_file(room, f"{what}{n}", ours)
        runs = [carom(page, "run", path, "--threads", 1) for _ in range(3)]
        told = runs[0]
        mine = min(max(run[0]["cpu_s"], 1e-6) for run in runs) / told[0]["steps"] if all(runs) and told[0]["steps"] else None
        steps = round(ours["world"]["duration"] / h)
        other, deepest, finite = theirs(mujoco, text, steps) if mujoco else (None, None, True)
        rows.append([what, n, h, 1 / mine if mine else "failed", 1 / other if other else "not run",
                     mine / other if mine and other else "", 1e3 * told[0]["min_gap"] if told and told[0]["min_gap"] is not None else "",
                     ("" if deepest is None else 1e3 * deepest) if finite else "diverged"])
        if mine:
            page.figure("beside", what, n, "carom steps", 1 / mine, "1/s")
        if other:
            page.figure("beside", what, n, "MuJoCo steps", 1 / other, "1/s")
            page.figure("beside", what, n, "MuJoCo overlap", deepest, "m")
    version = f" {mujoco.__version__}" if mujoco else ""
    page.table(["scene", "N", "h s", "carom steps/s", f"MuJoCo{version} steps/s", "carom's time by MuJoCo's", "carom gap mm",
                "MuJoCo overlap mm"], rows)


# ---- ordinary scenes for their whole length

def bench_steps(page, room, name, n, scene, workers=1):
    """What bench_steps tells of the scene; of one that does not start or of a step that never ends, only why."""
    program = Path(kit.program()).parent / "bench" / "bench_steps"
    path = scene_file(room, re.sub(r"\W+", "-", f"{name}-{n}"), scene)
    done = subprocess.run([program, path, "--limit", str(1 if page.quick else SCENE_LIMIT), "--threads", str(workers)],
                          capture_output=True, text=True, preexec_fn=limited)
    if done.returncode != 0:
        said = done.stderr.strip().splitlines()
        return {"steps": 0, "error": said[-1] if said else f"a step took more than {LIMIT - SCENE_LIMIT} s"}
    return json.loads(done.stdout)


def outcome(told, steps):
    """How far the scene came, in words."""
    if not told["error"]:
        return "all"
    if told["error"] == "time limit":
        return f"{told['steps']} of {steps} in the time"
    return f"FAILED at {told['steps']} of {steps}"


def theirs_whole(mujoco, scene, limit):
    """{mean ms, worst ms, deepest overlap mm, in words what went wrong} of the scene in MuJoCo; None where it has no such shapes."""
    text = mujoco and mjcf.mjcf(scene)
    if not text:
        return None
    said = []
    mujoco.set_mju_user_warning(said.append)
    model = mujoco.MjModel.from_xml_string(text)
    data, taken, deepest = mujoco.MjData(model), [], 0.0
    mjcf.throw(mujoco, model, data, scene)
    for _ in range(round(scene["world"]["duration"] / scene["world"]["dt"])):
        since = time.process_time()
        mujoco.mj_step(model, data)
        taken.append(time.process_time() - since)
        deepest = max(deepest, -float(data.contact.dist.min())) if data.ncon else deepest
        if sum(taken) > limit:
            break
    mujoco.set_mju_user_warning(None)
    bad = "diverged" if data.warning.number[int(mujoco.mjtWarning.mjWARN_BADQACC)] else "warned" if said else ""
    return {"mean": 1e3 * sum(taken) / len(taken), "worst": 1e3 * max(taken), "deepest": 1e3 * deepest, "bad": bad}


def find_mujoco(page):
    try:
        import mujoco
        return mujoco
    except ImportError:
        page.say("MuJoCo: not run, it is not here (`tools/venv.sh mujoco` fetches it where it can be had).")
        return None


ORDINARY = ["scene", "N", "h s", "steps", "mean ms", "worst ms", "iterations", "most", "split", "most sub-steps", "relaxed", "gap mm",
            "MuJoCo mean ms", "worst ms", "overlap mm"]


def ordinary_row(page, part, name, n, scene, told, other):
    steps = round(scene["world"]["duration"] / scene["world"]["dt"])
    row = [name, n, f"{scene['world']['dt']:.3g}", outcome(told, steps)]
    if told["steps"]:
        row += [told["mean_ms"], told["worst_ms"], told["iterations"], told["worst_iterations"], told["split"], told["most_sub_steps"],
                told["relaxed"], 1e3 * told["least_gap_m"]]
        for quantity, key, unit in (("mean", "mean_ms", "ms/step"), ("worst", "worst_ms", "ms"), ("iterations", "iterations", "1/step"),
                                    ("split steps", "split", ""), ("relaxed steps", "relaxed", ""), ("least gap", "least_gap_m", "m")):
            page.figure(part, name, n, quantity, told[key], unit)
    else:
        row += [""] * 8
    if other:
        row += [other["mean"], other["worst"], f"{other['deepest']:.4g} {other['bad']}".strip()]
        page.figure(part, name, n, "MuJoCo mean", other["mean"], "ms/step")
        page.figure(part, name, n, "MuJoCo overlap", 1e-3 * other["deepest"], "m")
    else:
        row += [""] * 3
    return row


READ = ("Each scene runs for its whole length, the fall, the impact and the rest, with `contact` `barrier`, on one thread; after "
        f"{SCENE_LIMIT} s it takes no further step. *iterations*: Newton's, of all islands of a step together. *split*: steps taken in "
        "parts. *relaxed*: steps taken with less friction. *gap*: the least over the run beyond the layers, negative inside them. MuJoCo "
        "in the same run, with its default contacts; *overlap*: the deepest that it reports. It has no gears, links, garments or wind as "
        "they are here, and takes other meshes for their hulls: there it is left out.")


def ordinary(page, room, part, heading, *words):
    page.say(f"## {heading}", "", *words)
    mujoco, rows, bad = find_mujoco(page), [], []
    for name, n, scene in cases.TABLES[part](page.quick):
        told = bench_steps(page, room, name, n, scene)
        rows.append(ordinary_row(page, part, name, n, scene, told, theirs_whole(mujoco, scene, 1 if page.quick else SCENE_LIMIT)))
        bad += [f"- {name} {n}: {told['error']}"] if told["error"] not in (None, "time limit") else []
        print(" | ".join(f"{v:.3g}" if isinstance(v, float) else str(v) for v in rows[-1]), flush=True)
    page.table(ORDINARY, rows)
    if bad:
        page.say("What failed:", "", *bad)


def heaps(page, room):
    ordinary(page, room, "heaps", "Heaps, walls and stacks", "Boxes of 5 to 10 cm, and what else can be heaped.", "", READ)


def sheets(page, room):
    ordinary(page, room, "sheets", "Sheets", "N nodes along a side; the columns are those of the heaps.")


def mechanisms(page, room):
    ordinary(page, room, "mechanisms", "Mechanisms", "Bodies that hold each other by their shapes alone; the columns are those of the heaps.")


# ---- workers

def ordinary_threads(page, room):
    """Whole ordinary scenes: wall time of a step over workers, and that the scene came out alike."""
    several = [1, 2] if page.quick else sorted({1, 2, 4, 8, os.cpu_count() or 1} & set(range(1, (os.cpu_count() or 1) + 1)))
    rows = []
    for name, n, scene in cases.threaded(page.quick):
        told = {workers: bench_steps(page, room, name, n, scene, workers) for workers in several}
        if all(t["steps"] for t in told.values()):
            wall = [told[workers]["wall_ms"] for workers in several]
            rows.append([f"{name} {n}", *wall, wall[0] / min(wall)])
            for workers, ms in zip(several, wall):
                page.figure("threads", name, n, f"whole run, wall, {workers} workers", ms, "ms/step")
    page.say("Ordinary scenes for their whole length, forward, wall milliseconds a step:")
    page.table(["scene", *(f"{workers} workers" for workers in several), "times as fast"], rows)


def threads(page, room):
    page.say("## Over threads", "",
             "Wall time, the best of three runs taken in turn. Islands are shared among workers; a single zone is factored by one of them. "
             "The results are the same bits. On a machine that has other things to do (see its load above) these figures say nothing.")
    rows = []
    for name, n in [("falling-cubes", 10)] if page.quick else [("falling-cubes", 1000), ("many-objects", 500), ("stacked-cubes", 300),
                                                                ("sheet-ball", 33)]:
        wall, cpu = {}, {}
        for _ in range(1 if page.quick else 3):
            for workers in (1, 2):
                r = bench_once(page, name, n, "--threads", workers)
                if r:
                    there, back = r["forward_s_per_step"], r["backward_s_per_step"]
                    wall[workers] = [min(a, b) for a, b in zip(wall.get(workers, (1e9, 1e9)), (there, back))]
                    cpu[workers] = min(cpu.get(workers, 1e9), r["forward_cpu_s_per_step"])
        if len(wall) == 2:
            rows.append([f"{name} {n}", *(1e3 * wall[w][0] for w in (1, 2)), wall[1][0] / wall[2][0],
                         *(1e3 * wall[w][1] for w in (1, 2)), wall[1][1] / wall[2][1]])
            for w in (1, 2):
                page.figure("threads", name, n, f"forward wall, {w} workers", 1e3 * wall[w][0], "ms/step")
                page.figure("threads", name, n, f"forward processor, {w} workers", 1e3 * cpu[w], "ms/step")
                page.figure("threads", name, n, f"backward wall, {w} workers", 1e3 * wall[w][1], "ms/step")
    page.table(["scene", "there, 1 ms", "there, 2 ms", "times as fast", "back, 1 ms", "back, 2 ms", "times as fast"], rows)
    ordinary_threads(page, room)


PARTS = {"gradients": gradients, "speed": speed, "coupled": coupled, "factor": factor, "mujoco": side_by_side, "heaps": heaps,
         "sheets": sheets, "mechanisms": mechanisms, "threads": threads}


def sections(text):
    """{heading: text} of a page, what stands before the first heading under ""."""
    parts = ("\n" + text).split("\n## ")
    return {"": parts[0].strip(), **{part.splitlines()[0]: "## " + part.strip() for part in parts[1:]}}


def write(page, whole):
    """The page and its figures; of parts that were not measured now, what is there already."""
    new, path, table = sections("\n".join(page.text)), page.out / "benchmarks.md", page.out / "benchmarks.csv"
    header = ["part", "case", "size", "quantity", "value", "unit"]
    figures = page.figures
    if not whole and path.exists():
        new = {**sections(path.read_text()), **new}
        with open(table, newline="") as file:
            measured = {row[0] for row in figures}
            figures = [row for row in list(csv.reader(file))[1:] if row[0] not in measured] + figures
    path.write_text("\n\n".join(new.values()) + "\n")
    with open(table, "w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *figures])


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--quick", action="store_true", help="seconds: the smallest sizes, to see that it works")
    arguments.add_argument("--out", type=Path, help="where to write (docs; with --quick build/benchmark)")
    arguments.add_argument("--only", help="some of: " + ",".join(PARTS))
    options = arguments.parse_args()
    out = options.out or ROOT / ("build/benchmark" if options.quick else "docs")
    out.mkdir(parents=True, exist_ok=True)
    page = Page(out, options.quick)
    version = subprocess.run([kit.program(), "--version"], capture_output=True, text=True, check=True).stdout.split()[1]
    page.say("# Benchmarks", "",
             f"Made by `make benchmark` on {date.today().isoformat()}: carom {version}, {kit.machine()}. "
             + ("**Quick form: the figures mean nothing.** " if options.quick else "")
             + f"The load of the machine was {os.getloadavg()[0]:.1f} when it began. Seconds are processor time, which hardly depends on "
             "that, except under *over threads*. Figures of other machines differ; run it on yours. Every figure is a line of "
             "[benchmarks.csv](benchmarks.csv).")
    with tempfile.TemporaryDirectory() as room:
        for name in options.only.split(",") if options.only else PARTS:
            print(f"== {name}", flush=True)
            since = time.monotonic()
            PARTS[name](page, room)
            print(f"== {name}: {time.monotonic() - since:.0f} s", flush=True)
    if page.failures:
        page.say("## What failed", "", *(f"- `{what}`: {why}" for what, why in page.failures))
    write(page, not options.only)
    print(f"{out}/benchmarks.md is written" + (f"; {len(page.failures)} runs failed" if page.failures else ""))
    return bool(page.failures)


if __name__ == "__main__":
    sys.exit(main())
