"""A cloth topples a ring of dominoes, and the last one strikes it from behind."""

import csv
import math
import os
import subprocess

from kit import program

TITLE = "two-way coupling: dominoes"
PAPER = ("A cloth strikes a domino; the chain runs round; the last one strikes the cloth from behind. In the released program "
         "velocities are scripted into the cloth, masses change by 80 in mid-run and friction is faked. Ours: a hanging "
         "cloth swings by its initial speed alone, real friction, constant masses; and the gradient of the last "
         "domino's angle at the end by that speed.")
COUNT, RADIUS = 15, 3.0
SPEED = 6.0  # m/s, of the cloth at its start
STEPS = (1e-5, 1e-7, 1e-9)  # m/s, of the differences
LEAN, FALL = 5, 45  # degrees
CHECKED = (0, 3, COUNT - 1)  # dominoes whose angle is differentiated
THICK, WIDE, TALL = 0.193, 1.0, 2.0


def scene(seconds, speed=SPEED, told=COUNT - 1):
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
    return {"carom": 1, "title": "Round to the cloth again", "world": {"dt": 0.01, "duration": seconds, "friction": 0.4, "friction_speed": 0.01},
            "bodies": bodies,
            # height of one domino's top over that of its foot, by its length: the cosine of its angle
            "objective": {"terms": [{"what": "position", "of": f"domino{told}", "point": [0, 0, sign * TALL / 2], "norm": "value",
                                     "axes": [0, 0, 1], "weight": sign / TALL} for sign in (1, -1)]},
            "parameters": [{"of": "cloth", "what": "velocity"}]}


def rows(kit, trajectory, table):
    """A table of the trajectory, row by row."""
    path = kit.path(f"{table}.csv")
    subprocess.run([program(), "export", trajectory, "--format", "csv", "--table", table, "--out", path], check=True, capture_output=True)
    with open(path, newline="") as file:
        out = list(csv.DictReader(file))
    os.remove(path)
    return out


def upright(q):
    """z of what was the z axis, for a quaternion (w, x, y, z): the cosine of the angle."""
    return 1 - 2 * (q[1] ** 2 + q[2] ** 2)


def angle(cosine):
    return math.acos(max(-1.0, min(1.0, cosine)))


def derivative(kit, seconds, i, steps):
    """Of domino i's angle after so many steps by the speed of the cloth (degrees per m/s): exact, and by differences."""
    def write(speed):
        return kit.scene("nudged", scene(seconds, speed, i))

    grad = kit.carom("grad", write(SPEED), "--steps", steps)[0]
    exact = math.degrees(-grad["parameters"][0]["gradient"][1] / math.sin(angle(grad["objective"])))
    told = []
    for step in STEPS:
        ends = [kit.carom("run", write(SPEED + sign * step), "--threads", 1, "--steps", steps)[0]["final"] for sign in (1, -1)]
        rise = [angle(upright(end[f"domino{i}"]["quaternion"])) for end in ends]
        told.append(math.degrees((rise[0] - rise[1]) / (2 * step)))
    return exact, told


def run(kit):
    seconds = 1.0 if kit.quick else 6.0
    path = kit.scene("dominoes", scene(seconds))
    out = kit.path("dominoes.carom")
    end = kit.carom("run", path, "--out", out, "--threads", 1)[0]
    kit.row("processor time", f"{1e3 * end['cpu_s'] / end['steps']:.3g} ms/step", released="270 ms/step")
    cross = kit.carom("intersect", out)[0]
    kit.row("frames that intersect", f"{cross['intersecting_frames']} of {cross['frames']}", cross["intersecting_frames"] == 0)
    fallen = [i for i in range(COUNT) if end["final"][f"domino{i}"]["position"][2] < 0.45 * TALL]
    kit.row("dominoes that fell", f"{len(fallen)} of {COUNT}", 0 in fallen if kit.quick else len(fallen) == COUNT, paper="all")
    if kit.quick:
        return
    # when each is at these angles for the first time
    leans, when = {}, {}
    for row in rows(kit, out, "bodies"):
        if row["body"].startswith("domino"):
            tilt = math.degrees(angle(upright([float(row[c]) for c in ("qw", "qx", "qy", "qz")])))
            for most, first in ((LEAN, leans), (FALL, when)):
                if tilt > most:
                    first.setdefault(int(row["body"].removeprefix("domino")), int(row["step"]))
    kit.row("they fall one after the other, the first to the last", f"from {0.01 * when[0]:.2f} s to {0.01 * when[COUNT - 1]:.2f} s",
            [when[i] for i in range(COUNT)] == sorted(when.values()), paper="round")
    # the cloth swings back and touches the last one while it still stands; that does not topple it, and does not count
    touched = [(float(row["time"]), {row["a"], row["b"]} - {"cloth"}) for row in rows(kit, out, "contacts") if "cloth" in (row["a"], row["b"])]
    begin = [time for time, other in touched if other == {"domino0"}]
    last = [time for time, other in touched if other == {f"domino{COUNT - 1}"} and time >= 0.01 * leans[COUNT - 1]]
    kit.row("the cloth strikes the first, the last strikes the cloth", f"at {begin[0]:.2f} s and {last[0]:.2f} s" if begin and last else "no",
            bool(begin and last) and begin[0] < last[0], paper="from behind")
    # at the end they lie flat whatever the speed, so angles are asked for in the fall
    for i in CHECKED:
        exact, told = derivative(kit, seconds, i, when[i])
        best = min(abs(value - exact) for value in told) / abs(exact)
        kit.row(f"derivative of domino {i}'s angle after {0.01 * when[i]:g} s, where it is at {FALL} degrees, by the cloth's first speed",
                f"{exact:.5g} degrees per m/s; by differences of {', '.join(f'{step:g}' for step in STEPS)} m/s "
                f"{', '.join(f'{value:.5g}' for value in told)}", best <= 1e-4 if i < COUNT - 1 else math.isfinite(exact))
    kit.note("Friction turns smoothly within 1 cm/s. Along the chain the angle becomes a rough function of the speed (about ten impacts for "
             "each domino): a derivative holds between two jumps, and differences have to be smaller than they are apart. For the last domino "
             "none is small enough, and its derivative stands unchecked.")
    frames = [int(k * (cross["frames"] - 1) / 8) for k in range(9)]
    kit.render(out, frames, "frames.png")

