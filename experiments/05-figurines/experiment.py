"""Two figures are lifted in a cloth."""

import csv
import subprocess

from figures import figure, upright
from kit import program

TITLE = "two-way coupling: figurines"
PAPER = ("A bunny and an armadillo stand on a cloth that is lifted by its corners, wraps them and lifts them. In the released "
         "program the corners are pulled for ever and the two bodies interpenetrate from frame 27 on, at 1.2 s a step.")
LIFT, SIDE = 1.4, 1.2  # m
MASS = 1.0  # kg, each
GRAVITY = 9.81
STILL = 1e-3  # m/s, what counts as rest
SHOWN = (0, 50, 80, 110, 130, 150, 180, 300)  # frames, most of them of the lift


def corner(x, y):
    """Drawn together and up, from rest to rest, then held."""
    shift = [-0.55 * x, -0.55 * y, LIFT]
    return {"nodes": {"nearest": [x, y, 0.003]},
            "script": {"smooth": True, "keys": [{"time": 0.3}, {"time": 2.5, "shift": shift}]}}


def scene(cells, seconds):
    half = SIDE / 2
    bodies = [
        {"name": "ground", "type": "fixed", "mesh": {"sheet": {"width": 4, "height": 4, "nx": 1, "ny": 1}}},
        {"name": "cloth", "type": "cloth", "mesh": {"sheet": {"width": SIDE, "height": SIDE, "nx": cells, "ny": cells}},
         "position": [0, 0, 0.003], "density": 0.3, "stretch": 3000, "bend": 1e-4, "damping": 0.02, "bend_damping": 0.02,
         "drag_normal": 0.6, "drag_tangent": 0.05, "thickness": 0.002,
         "pins": [corner(x, y) for x in (-half, half) for y in (-half, half)]},
    ]
    said = []
    for name, x, z, triangles in (("bunny", -0.17, 0.19, 500), ("armadillo", 0.17, 0.25, 600)):
        mesh, what = figure(name, triangles)
        said.append(what)
        height = 0.27 if name == "bunny" else 0.38
        bodies.append({"name": name, "mesh": dict(mesh, size=[0.27, height, 0.22] if "file" in mesh else [0.27, 0.2, height]),
                       "euler_degrees": upright(name), "origin": "center", "position": [x, 0, z], "mass": MASS,
                       "thickness": 0.001})
    return {"carom": 1, "title": "Figures lifted in a cloth",
            "world": {"dt": 0.01, "duration": seconds, "friction": 0.4}, "bodies": bodies}, said


def pushes(kit, trajectory, frames, dt):
    """Forces of the cloth on each figure in the last step: {name: [3] N}."""
    table = kit.path("contacts.csv")
    subprocess.run([program(), "export", trajectory, "--format", "csv", "--table", "contacts", "--every", str(frames), "--out", table],
                   check=True, capture_output=True)
    with open(table, newline="") as file:
        rows = list(csv.DictReader(file))
    out = {}
    for row in rows:
        # the impulse is that on b; the last frame is the only one here but the first, which has no contacts
        for other, sign in ((row["b"], 1.0), (row["a"], -1.0)) if "cloth" in (row["a"], row["b"]) else ():
            if other != "cloth":
                force = out.setdefault(other, [0.0] * 3)
                for i, axis in enumerate(("jx", "jy", "jz")):
                    force[i] += sign * float(row[axis]) / dt
    return out


def run(kit):
    seconds = 2.4 if kit.quick else 12.0
    description, said = scene(10 if kit.quick else 16, seconds)
    kit.note("The figures are " + " and ".join(said) + ".")
    path = kit.scene("lift", description)
    out = kit.path("lift.carom")
    start = {body["name"]: body for body in description["bodies"]}
    end = kit.carom("run", path, "--out", out, "--threads", 1)[0]
    kit.row("processor time", f"{1e3 * end['cpu_s'] / end['steps']:.3g} ms/step", released="1.2 s/step")
    cross = kit.carom("intersect", out)[0]
    kit.row("frames that intersect", f"{cross['intersecting_frames']} of {cross['frames']}",
            cross["intersecting_frames"] == 0, paper="0", released="all from 27 on")
    for name in ("bunny", "armadillo"):
        rise = end["final"][name]["position"][2] - start[name]["position"][2]
        height = 0.27 if name == "bunny" else 0.38
        kit.row(f"the {name} is carried up by", f"{rise:.2f} m, it is {height} m tall", None if kit.quick else rise >= height)
        if not kit.quick:
            speed = sum(v * v for v in end["final"][name]["velocity"]) ** 0.5
            kit.row(f"the {name} comes to rest", f"{1e3 * speed:.2g} mm/s after {seconds:g} s", speed < STILL)
    if not kit.quick:
        forces = pushes(kit, out, cross["frames"], description["world"]["dt"])
        up, weight = sum(force[2] for force in forces.values()), 2 * MASS * GRAVITY
        kit.row("contact force on the cloth at rest", f"{up:.5f} N ({', '.join(f'{name} {f[2]:.3f}' for name, f in sorted(forces.items()))}); "
                f"the figures weigh {weight:.5f} N", abs(up - weight) <= 1e-3 * weight)
    last = cross["frames"] - 1
    frames = [int(k * last / 8) for k in range(9)] if kit.quick else [*SHOWN, last]
    kit.note("The corners go up from rest to rest in 2.2 s and are held from then on; what damps the swing are the constants of the cloth "
             "(damping 0.02 s along the sheet and in bending, drag of air 0.6 kg/m^3) and friction, the same throughout.")
    kit.render(out, frames, "frames.png")
