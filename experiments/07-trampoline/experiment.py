"""A ball, or a box, falls on a trampoline: here, and in MuJoCo."""

import csv
import subprocess

from kit import program

TITLE = "trampoline, against MuJoCo"
PAPER = ("A ball falls on a trampoline and bounces; MuJoCo's falls through. In the released program masses and stiffness are "
         "switched at step 13. Ours: constant numbers, and nothing passes whatever the grid, the mass, the height and the step.")

RADIUS, THICKNESS, SECONDS = 0.1, 1e-3, 1.5
LIMIT = 60          # s that one run may take
SHORT = 0.002       # s, MuJoCo's usual step: its springs do not bear ours


def stretch(mass):
    """N/m: a trampoline for its load, so that 50 kg does not hang below the floor."""
    return 2000.0 * max(1.0, mass / 0.5)


def scene(shape, nodes, mass, drop, h):
    falling = {"name": "falling", "mass": mass, "position": [0.03, 0.02, drop + 0.19]}
    falling.update({"sphere": {"radius": RADIUS}} if shape == "ball" else
                   {"mesh": {"box": {"size": [2 * RADIUS] * 3}}, "euler_degrees": [20, 15, 0]})
    return {"carom": 1, "title": f"A {shape} on a trampoline", "world": {"dt": h, "duration": SECONDS},
            "bodies": [{"name": "sheet", "type": "cloth",
                        "mesh": {"sheet": {"width": 1, "height": 1, "nx": nodes - 1, "ny": nodes - 1}}, "density": 0.374,
                        "stretch": stretch(mass), "bend": 1e-4, "damping": 1e-3, "thickness": THICKNESS,
                        "pins": [{"nodes": "border"}]}, falling]}


def cases(quick):
    """shape, nodes along a side, mass, drop, step: one of them changes at a time, then all together."""
    usual = dict(nodes=9, mass=0.5, drop=1.0, h=0.01)
    series = [dict(nodes=3), dict(nodes=5), dict(), dict(nodes=17), dict(nodes=33, h=1 / 24), dict(mass=0.05), dict(mass=5.0),
              dict(mass=50.0), dict(drop=0.2), dict(drop=5.0), dict(h=1 / 240), dict(h=1 / 24),
              dict(nodes=3, mass=50.0, drop=5.0, h=1 / 24), dict(mass=50.0, drop=5.0, h=1 / 24)]
    if quick:
        series = [dict(nodes=5), dict(), dict(mass=50.0, drop=5.0, h=1 / 24)]
    return [{"shape": shape, **usual, **one} for one in series for shape in ("ball", "box")]


def heights(trajectory):
    """z of what falls, frame by frame."""
    text = subprocess.run([program(), "export", trajectory, "--format", "csv"], capture_output=True, text=True, check=True).stdout
    return [float(row["z"]) for row in csv.DictReader(text.splitlines()) if row["body"] == "falling"]


def rebound(z):
    """By how much it rose again from its lowest place before it came down (m)."""
    low = next((i for i in range(1, len(z) - 1) if z[i] <= z[i - 1] and z[i] < z[i + 1]), len(z) - 1)
    return max(z[low:]) - z[low]


def ours(kit, case):
    """None: not done in time. Else what came of it."""
    path, out = kit.scene("scene", scene(**case)), kit.path("scene.carom")
    try:
        end = kit.carom("run", path, "--out", out, timeout=LIMIT)[0]
    except subprocess.TimeoutExpired:
        return None
    cross, z = kit.carom("intersect", out, check=False)[0], heights(out)
    below = min(end["final"]["sheet"]["centroid"][2], 0.0) - 0.5
    return dict(held=cross["intersecting_frames"] == 0 and z[-1] > below, crossing=cross["intersecting_frames"], lowest=min(z),
                rebound=rebound(z), ms=1e3 * end["cpu_s"] / end["steps"])


def twin(shape, nodes, mass, drop, h):
    """The same in MuJoCo's words; the moduli are those of a plate of thickness 2 THICKNESS."""
    del h
    last = nodes - 1
    pins = "".join(f'<pin gridrange="{a} {b} {c} {d}"/>' for a, b, c, d in
                   ((0, 0, last, 0), (0, last, last, last), (0, 0, 0, last), (last, 0, last, last)))
    geom = (f'type="sphere" size="{RADIUS}"' if shape == "ball" else f'type="box" size="{RADIUS} {RADIUS} {RADIUS}" euler="20 15 0"')
    return (f'<mujoco><option timestep="{SHORT}" integrator="discrete"/><worldbody>'
            f'<flexcomp name="sheet" type="grid" dim="2" count="{nodes} {nodes} 1" spacing="{1 / last} {1 / last} 1" mass="0.374" '
            f'radius="{THICKNESS}"><elasticity young="{stretch(mass) / (2 * THICKNESS)}" poisson="0.3" '
            f'thickness="{2 * THICKNESS}" damping="1e-3" elastic2d="both"/><contact selfcollide="none"/>{pins}</flexcomp>'
            f'<body name="falling" pos="0.03 0.02 {drop + 0.19}"><freejoint/><geom {geom} mass="{mass}"/></body>'
            f'</worldbody></mujoco>')


def theirs(mujoco, case):
    """Whether MuJoCo's is held, how low it came, and how deep a ball was in the sheet's nodes (of its radius)."""
    model = mujoco.MjModel.from_xml_string(twin(**case))
    data = mujoco.MjData(model)
    lowest, deepest, body = 1e9, 0.0, model.body("falling").id
    while data.time < SECONDS:
        mujoco.mj_step(model, data)
        place = data.xpos[body]
        lowest = min(lowest, place[2])
        if case["shape"] == "ball":
            nearest = (((data.flexvert_xpos - place) ** 2).sum(1).min()) ** 0.5
            deepest = max(deepest, (RADIUS + THICKNESS - nearest) / RADIUS)
    below = data.xpos[body][2] < data.flexvert_xpos[:, 2].min() - RADIUS
    return dict(held=not below, lowest=float(lowest), deepest=float(deepest))


def run(kit):
    try:
        import mujoco
    except ImportError:
        mujoco = None
    rows, late = [], 0
    for case in cases(kit.quick):
        told, other = ours(kit, case), theirs(mujoco, case) if mujoco else None
        late += told is None
        rows.append([case["shape"], f"{case['nodes']}x{case['nodes']}", case["mass"], case["drop"], round(case["h"], 5),
                     *([f"not done in {LIMIT} s", "", "", "", ""] if told is None else
                       ["held" if told["held"] else "passed", told["crossing"], told["lowest"], told["rebound"], told["ms"]]),
                     *(["held" if other["held"] else "falls through", other["lowest"], other["deepest"]] if other else ["not run"] * 3)])
        print("   ", *rows[-1], flush=True)
    done = [row for row in rows if row[6] != ""]
    kit.row("runs in which it is held, without an intersecting frame", f"{sum(row[5] == 'held' for row in done)} of {len(done)}",
            all(row[5] == "held" for row in done), paper="bounces", released="bounces; masses and stiffness switched")
    kit.row("runs that bounce by at least 1 cm", f"{sum(row[8] >= 0.01 for row in done)} of {len(done)}")
    if late:
        kit.row(f"runs not done within {LIMIT} s", late, False)
    if mujoco:
        kit.row(f"the same in MuJoCo {mujoco.__version__} (steps of {SHORT} s): falls through",
                f"{sum(row[10] == 'falls through' for row in rows)} of {len(rows)}", paper="falls through")
        deep = [row[12] for row in rows if row[0] == "ball" and row[10] == "held"]
        if deep:
            kit.row("how deep a ball that MuJoCo holds is in the nodes of the sheet", f"{100 * min(deep):.0f} to {100 * max(deep):.0f} % "
                    "of its radius")
    else:
        kit.note("MuJoCo not run: the package is not here")
    kit.table("cases", ["shape", "nodes", "mass_kg", "drop_m", "dt_s", "carom", "intersecting_frames", "lowest_m", "rebound_m",
                        "ms_per_step", "mujoco", "mujoco_lowest_m", "mujoco_overlap_of_radius"], rows)
