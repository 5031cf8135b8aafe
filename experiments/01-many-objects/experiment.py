"""Figure 3, top: time and memory against the number of objects."""

import json
import math
import subprocess
from pathlib import Path
from statistics import median

import mpm
from kit import program, slope

TITLE = "many objects"
PAPER = ("20 to 1000 objects fall, hit the ground and settle, 2 s; time and memory grow linearly (Figure 3, top). Ours are "
         "boxes, spheres of 42 and 162 vertices and figurines in turn, at h = 1/100 s; the released program's are "
         "tetrahedra without gravity, 20 steps. A material point method on a grid, the paper's baseline, grows cubically and runs out "
         "of memory at 200 objects and 640^3 cells.")
RELEASED = {20: (1.15, 0.070, 265), 50: (3.08, 0.237, 295), 100: (5.27, 0.37, 346), 200: (11.5, 0.88, 459),
            500: (33.4, 3.4, 764), 1000: (70.6, 7.45, 1278)}  # s forward, s backward of 20 steps, MB


STILL = 1e-3  # m/s, what counts as rest
ROLLING = 10.0  # 1/s, by which spins decay where rolling is resisted
# Of the particles: cells from object to object (the paper's grid has 640 / 15 = 43), and how stiff they are for want of rigid ones.
STRIDE, CELLS, YOUNG, SPEED = 0.3, 16, 1e5, 3.5


def runs_of(n):
    """How often a size is run: about the same time for each, and the median counts. The least of many short runs would be luckier
    than that of a few long ones."""
    return max(3, 480 // n)


def run(kit):
    sizes = [20, 50, 100] if kit.quick else list(RELEASED)
    steps = 60 if kit.quick else 200
    rows, least = [], []
    for n in sizes:
        lines = [kit.carom("bench", "many-objects", "--n", n, "--steps", steps, "--set", "world.friction=0.5")[0]
                 for _ in range(1 if kit.quick else runs_of(n))]
        forward, backward = (median(line[f"{way}_cpu_s_per_step"] for line in lines) for way in ("forward", "backward"))
        least.append(min(line["forward_cpu_s_per_step"] for line in lines))
        tape = lines[0]["tape_bytes_per_step"]
        there = min(line["peak_rss_bytes"] for line in lines)
        rows.append([n, forward, backward, there / 1e6, tape, (there + steps * tape) / 1e6, lines[0]["max_contacts"],
                     *(value / 20 for value in RELEASED[n][:2]), RELEASED[n][2]])
    kit.table("scaling", ["objects", "forward s/step", "backward s/step", "peak MB there", "tape bytes/step", "MB there and back",
                          "contacts", "released forward", "released backward", "released MB"], rows)
    n = [row[0] for row in rows]
    forward, backward, memory, both = ([row[i] for row in rows] for i in (1, 2, 3, 5))
    kit.plot("scaling", {"forward": (n, forward), "backward": (n, backward),
                         "released, forward": (n, [row[7] for row in rows]),
                         "released, backward": (n, [row[8] for row in rows])}, "objects", "s per step", True,
             "a step with many objects")
    largest = n[-1]
    ratio = RELEASED[largest][0] / 20 / forward[-1]
    kit.row(f"forward, {largest} objects, {steps * 0.01:g} s", f"{1e3 * forward[-1]:.3g} ms/step, {ratio:.0f} times faster",
            released=f"{1e3 * RELEASED[largest][0] / 20:.0f} ms/step")
    kit.row(f"backward, {largest} objects", f"{1e3 * backward[-1]:.3g} ms/step",
            released=f"{1e3 * RELEASED[largest][1] / 20:.0f} ms/step")
    kit.row(f"memory there and back, {largest} objects, the whole tape held", f"{both[-1]:.0f} MB for {steps} steps",
            released=f"{RELEASED[largest][2]} MB for 20 steps")
    # a small quick run is mostly start-up, so only the full one is held to the slope
    for what, values in (("forward time", forward), ("backward time", backward), ("memory there", memory), ("memory there and back", both)):
        s = slope(n, values)
        kit.row(f"log-log slope of {what}", f"{s:.2f}", None if kit.quick else s <= 1.1, paper="linear")
    kit.row("the same of forward time by the least of each size's runs", f"{slope(n, least):.2f}")
    over = [(neighbours(n[i]), forward[i]) for i in range(len(n))]
    kit.row("log-log slope of forward time over the pairs of neighbours", f"{slope(*zip(*over)):.2f}")
    kit.note("Objects at the border of the field have fewer neighbours, and a small field is mostly border: pairs of neighbours for each object "
             f"are {neighbours(n[0]) / n[0]:.1f} of {n[0]} and {neighbours(n[-1]) / n[-1]:.1f} of {n[-1]}; of 20 objects none lie against each "
             "other at the end, of 100 every eighth, of 1000 every sixth. Counted in instructions, an object and step are 231,000 of 20 and 305,000 of "
             "100: 45,000 more for impacts and zones of several bodies, 29,000 for the look around what is near. "
             "On a busy machine caches are shared, which slows the large fields more.")
    kit.note(f"Processor seconds of one thread; friction 0.5. Every size is run for about the same time, {1 if kit.quick else runs_of(20)} times 20 "
             f"objects and {1 if kit.quick else runs_of(1000)} times 1000, and the median counts: the least of many short runs is luckier than that of a few long "
             "ones, and would put the slope 0.02 to 0.04 higher, which says nothing about objects. Memory there and back is the "
             "program's peak on the way there and the tape of all steps.")
    if not kit.quick:
        particles(kit, steps, {row[0]: (row[1] + row[2], row[5]) for row in rows})
    for count in [20] if kit.quick else [100, 1000]:
        at_rest(kit, count)


def particle_case(n, cube):
    """The same field for the material point method: boxes, balls, and for each figurine a ball as large."""
    side = math.ceil(math.sqrt(n))
    dx = STRIDE / CELLS
    wide = CELLS * side + 2 * mpm.MARGIN
    solids = [{"ball": 0.08}, {"ball": 0.07}, {"ball": 0.1}, {"box": [0.2, 0.12, 0.08]}]
    return {"cells": [wide, wide, wide if cube else math.ceil(0.75 / dx) + 2 * mpm.MARGIN],
            "solids": [dict(solids[i % 4 - 1], at=[STRIDE * (i % side + 0.5) + mpm.MARGIN * dx, STRIDE * (i // side + 0.5) + mpm.MARGIN * dx,
                                                   0.3 + mpm.MARGIN * dx], velocity=[0, 0, -1], stiffness=YOUNG, density=300) for i in range(n)]}


def particles(kit, steps, ours):
    """The paper's baseline: a cube of cells as there, and a box of them that is only as high as the scene."""
    dx = STRIDE / CELLS
    dt = mpm.step_length(dx, YOUNG, 300, SPEED)
    sizes = [(n, cube) for cube in (True, False) for n in ours]
    found = mpm.measure([particle_case(n, cube) for n, cube in sizes], dx, dt, 2)
    if found is None:
        kit.row("material point method (Taichi)", "not run: there is no package taichi here", paper="cubic; out of memory at 200 objects")
        return
    seconds = 0.01 * steps
    table, curves = [], {"ours": (list(ours), [steps * v[0] for v in ours.values()])}
    for (n, cube), r in zip(sizes, found):
        time, memory = mpm.whole(r, seconds, dt)
        memory /= 1e6
        grid = "cube" if cube else "box"
        table.append([n, grid, " x ".join(map(str, r["cells"])), r["particles"], r["forward_s"], r["backward_s"], mpm.grid_bytes(r["cells"]) / 1e6,
                      time, memory, steps * ours[n][0], ours[n][1]])
        line = curves.setdefault(f"particles, {grid}", ([], []))
        line[0].append(n)
        line[1].append(time)
        if n in (20, 200, 1000):
            kit.row(f"material point method, {n} objects, {grid} of cells: {seconds:g} s there and back", f"{time:.3g} s, ours {steps * ours[n][0]:.3g} s: "
                    f"{time / (steps * ours[n][0]):.3g} times; {memory / 1e3:.3g} GB with the whole tape, ours {ours[n][1] / 1e3:.2g} GB",
                    (time >= 100 * steps * ours[n][0] and memory >= 100 * ours[n][1]) if n == 200 and cube else None,
                    paper="up to 100 times ours" if n == 200 and cube else "")
    kit.table("particles", ["objects", "grid", "cells", "particles", "forward s/step", "backward s/step", "grid MB", f"{seconds:g} s there and back, s",
                            "MB, grid and tape", "ours s", "ours MB"], table)
    kit.plot("particles", curves, "objects", f"s for {seconds:g} s there and back", True, "particles on a grid, and ours", "left")
    for cube in (True, False):
        mine = [(row[0], row[6]) for row in table if (row[1] == "cube") == cube]
        kit.row(f"log-log slope of the grid's memory over the objects, {'cube' if cube else 'box'} of cells", f"{slope(*zip(*mine)):.2f}",
                paper="cubic in the extent: 1.5" if cube else "")
    kit.note(f"The material point method is ours in Taichi (`experiments/mpm.py`; `--check` holds its derivative against differences), as "
             f"the paper's baseline is DiffTaichi's: single precision, one thread, no GPU, {CELLS} cells from object to object (the paper's "
             f"grid has 43), solids as stiff as {YOUNG:g} Pa, for it knows no rigid ones. That asks for steps of {1e6 * dt:.0f} us; two were "
             f"timed there and back after one run that compiles, and {seconds / dt:.0f} make {seconds:g} s. Its memory is counted, not measured: the "
             "grid with its derivatives and what every step leaves for the way back. Checkpoints would take less memory and more time.")


def neighbours(n):
    """Pairs of objects that start next to each other, along rows, columns and diagonals."""
    side = math.ceil(math.sqrt(n))
    taken = {(i % side, i // side) for i in range(n)}
    return sum((x + dx, y + dy) in taken for x, y in taken for dx, dy in ((1, 0), (0, 1), (1, 1), (-1, 1)))


def at_rest(kit, count):
    """What still moves after 2 s; no frame may intersect. Many-sided spheres rock and roll on for seconds, as nothing resists
    rolling, so the claim is asked of the same field with a resistance that is switched on openly."""
    text = subprocess.run([program(), "bench", "many-objects", "--n", str(count), "--scene"], capture_output=True,
                          text=True, check=True).stdout
    for damping, seconds in ((0, 2), (0, 4), (ROLLING, 2)):
        scene = json.loads(text)
        for body in scene["bodies"][1:]:
            body["angular_damping"] = damping
        path, out = kit.path("scene.json"), kit.path("trajectory.carom")
        Path(path).write_text(json.dumps(scene))
        end = kit.carom("run", path, "--seconds", seconds, "--set", "world.friction=0.5", "--threads", 1, "--out", out, "--every", 4)[0]["final"]
        moving = {name: sum(v * v for v in body["velocity"]) ** 0.5 for name, body in end.items() if name != "ground"}
        moving = {name: speed for name, speed in moving.items() if not speed < STILL}
        # objects come in turn: box, sphere of 42 vertices, figurine, sphere of 162
        balls = sum(int(name.removeprefix("object")) % 4 == 3 for name in moving)
        words = f"{count - len(moving)} are slower than 1 mm/s"
        if moving:
            words += f"; of the other {len(moving)}, which reach {max(moving.values()):.2g} m/s, {balls} are spheres of 162 vertices that roll on"
        what = f"spins decay by {damping:g} 1/s" if damping else "nothing resists rolling"
        kit.row(f"{count} objects after {seconds} s, {what}", words, not moving if damping and not kit.quick else None)
        cross = kit.carom("intersect", out)[0]
        kit.row("frames of that which intersect", f"{cross['intersecting_frames']} of {cross['frames']}",
                cross["intersecting_frames"] == 0)
