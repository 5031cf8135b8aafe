"""An ordinary scene as MuJoCo takes it: the same bodies, masses, friction and step, with MuJoCo's own shapes."""

PASCALS = 910.0  # N/m, Young's modulus times thickness of the moduli that a sheet has when it gives none


def numbers(values):
    return " ".join(f"{v:.12g}" for v in values)


def geom(body):
    """The attributes of a body's only geom; None for a shape that MuJoCo would take for its convex hull."""
    weight = f'mass="{body["mass"]}"' if "mass" in body else f'density="{body.get("density", 1000)}"'
    if "sphere" in body:
        return f'type="sphere" size="{body["sphere"]["radius"]}" {weight}'
    if "capsule" in body:
        return f'type="capsule" size="{body["capsule"]["radius"]} {0.5 * body["capsule"]["length"]}" {weight}'
    box = body["mesh"].get("box")
    if box:
        return f'type="box" size="{0.5 * box["x"]} {0.5 * box["y"]} {0.5 * box["z"]}" {weight}'
    return None


def place(body):
    return f'pos="{numbers(body.get("position", [0, 0, 0]))}" euler="{numbers(body.get("euler_degrees", [0, 0, 0]))}"'


def pinned(body, nx, ny):
    """The ranges of the grid that stay; None for pins that are no whole lines or corners of it."""
    ranges = []
    for pin in body.get("pins", []):
        if pin["nodes"] == "corners":
            ranges += [(i, j, i, j) for i in (0, nx) for j in (0, ny)]
        elif pin["nodes"] == "border":
            ranges += [(0, 0, nx, 0), (0, ny, nx, ny), (0, 0, 0, ny), (nx, 0, nx, ny)]
        else:
            return None
    return "".join(f'<pin gridrange="{a} {b} {c} {d}"/>' for a, b, c, d in ranges)


def cloth(body):
    """A plate of the same stiffness and thickness, which touches itself too; None where that cannot be said."""
    sheet = body["mesh"].get("sheet")
    pins = sheet and pinned(body, sheet["nx"], sheet["ny"])
    if pins is None or "drag_normal" in body or "rest" in body:
        return None
    nx, ny = sheet["nx"], sheet["ny"]
    step = min(sheet["width"] / nx, sheet["height"] / ny)
    thick = min(5e-4 * max(sheet["width"], sheet["height"]), 0.2 * step)
    mass = body.get("density", 0.2) * sheet["width"] * sheet["height"]
    return (f'<flexcomp name="{body["name"]}" type="grid" dim="2" count="{nx + 1} {ny + 1} 1" '
            f'spacing="{sheet["width"] / nx} {sheet["height"] / ny} 1" mass="{mass}" radius="{thick}" {place(body)}>'
            f'<elasticity young="{body.get("stretch", PASCALS) / (2 * thick)}" poisson="0.3" thickness="{2 * thick}" elastic2d="both"/>'
            f'<contact selfcollide="auto"/>{pins}</flexcomp>')


def part(body):
    kind = body.get("type", "rigid")
    if kind == "cloth":
        return cloth(body)
    shape = None if kind == "kinematic" or "lock" in body else geom(body)
    if not shape:
        return None
    if kind == "fixed":
        return f"<geom {shape} {place(body)}/>"
    return f'<body name="{body["name"]}" {place(body)}><freejoint/><geom {shape}/></body>'


def mjcf(scene):
    """The text of the scene; None where MuJoCo has no such thing. The second: the velocities that bodies start with."""
    world, parts = scene["world"], [part(body) for body in scene["bodies"]]
    if None in parts:
        return None
    sheets = any(body.get("type") == "cloth" for body in scene["bodies"])
    return (f'<mujoco><compiler angle="degree" eulerseq="XYZ"/><option timestep="{world["dt"]}" '
            f'integrator="{"discrete" if sheets else "implicitfast"}"/><size memory="1G"/>'
            f'<default><geom friction="{world["friction"] if "friction" in world else 0.5}"/></default>'
            f'<worldbody>{"".join(parts)}</worldbody></mujoco>')


def throw(mujoco, model, data, scene):
    """Gives the bodies of the scene the velocities that they start with."""
    for body in scene["bodies"]:
        if "velocity" in body and body.get("type", "rigid") == "rigid":
            first = model.jnt_dofadr[model.body_jntadr[mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body["name"])]]
            data.qvel[first:first + 3] = body["velocity"]
