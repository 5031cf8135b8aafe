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
CHECKED = (0, 3)  # dominoes whose angle is differentiated from the start to 45 degrees
STRETCH, NUDGES = 20, (1e-5, 1e-6, 1e-7)  # steps of a stretch, and by how much its start is moved (m, m/s, 1/s)
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


def derivative_by_stretches(kit, seconds, i, steps):
    """Of the same angle: by the way back, and forward from one stretch of the run to the next; and how far the change of the
    whole state in each stretch is from that of two runs of the stretch alone, relative to its largest number, at the worst.

    The derivative of a run is the product of those of its stretches, so all of it is checked where none of it can be jumped over.
    """
    import numpy as np
    import carom
    grad = kit.carom("grad", kit.scene("told", scene(seconds, SPEED, i)), "--steps", steps)[0]
    sim = carom.Sim(scene(seconds))
    with sim.rollout(steps=steps) as went:
        changes = went.jvp(theta={"cloth.velocity": [0, 1, 0]})
    worst = 0.0
    for k in range(0, steps, STRETCH):
        count, size = min(STRETCH, steps - k), np.abs(changes[k]).max()
        told = []
        for nudge in NUDGES:
            ends = [sim.rollout(steps=count, state=went.states[k] + sign * nudge / size * changes[k], step=k, keep=False).states[-1]
                    for sign in (1, -1)]
            change = (ends[0] - ends[1]) * size / (2 * nudge)
            told.append(np.abs(change - changes[k + count]).max() / np.abs(changes[k + count]).max())
        worst = max(worst, min(told))
    q, dq = (sim.split(states[-1]).quaternions[i + 1] for states in (went.states, changes))  # the ground is the first
    slope = math.degrees(1.0 / math.sin(angle(upright(q))))
    return -slope * grad["parameters"][0]["gradient"][1], slope * 4 * (q[1] * dq[1] + q[2] * dq[2]), worst


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
    def asked(i):
        return f"derivative of domino {i}'s angle after {0.01 * when[i]:g} s, where it is at {FALL} degrees, by the cloth's first speed"

    for i in CHECKED:
        exact, told = derivative(kit, seconds, i, when[i])
        best = min(abs(value - exact) for value in told) / abs(exact)
        kit.row(asked(i), f"{exact:.5g} degrees per m/s; by differences of {', '.join(f'{step:g}' for step in STEPS)} m/s "
                f"{', '.join(f'{value:.5g}' for value in told)}", best <= 1e-4)
    back, there, worst = derivative_by_stretches(kit, seconds, COUNT - 1, when[COUNT - 1])
    kit.row(asked(COUNT - 1), f"{back:.8g} degrees per m/s, forward {there:.8g}; the change of the state in every {0.01 * STRETCH:g} s "
            f"against differences of that stretch: within {worst:.1e}", abs(back - there) <= 1e-6 * abs(back) and worst <= 1e-5)
    kit.note("Friction turns smoothly within 1 cm/s. Along the chain the angle becomes a rough function of the speed (about ten impacts for "
             "each domino): a derivative holds between two jumps, and differences have to be smaller than they are apart. For the last domino "
             "none over the whole run is small enough. Its derivative is the product of those of stretches of the run, and these are "
             "checked one by one: each begins where the run is, moved along the change that the speed has made of the state by then.")
    frames = [int(k * (cross["frames"] - 1) / 8) for k in range(9)]
    kit.render(out, frames, "frames.png")

