"""Ordinary scenes as dictionaries in carom's format: what a newcomer builds first. The benchmark times them."""

import math
import random

WALL = 0.1  # m, thickness of a bin's walls
WIDTH = 1e-3  # m, depth of the contact layer between two bodies


def world(h, seconds, **more):
    return {"dt": h, "duration": seconds, "contact": "barrier", "friction": 0.5, "thickness": 0.05 * WIDTH, "contact_width": 0.45 * WIDTH, **more}


def box_mesh(x, y, z):
    return {"box": {"x": x, "y": y, "z": z}}


def bin_of(half, height):
    """A floor and four walls, all of them fixed boxes, around the square from -half to half."""
    far, long = half + 0.5 * WALL, 2 * half + 2 * WALL
    walls = [(far, 0, WALL, long), (-far, 0, WALL, long), (0, far, long, WALL), (0, -far, long, WALL)]
    bodies = [{"name": "floor", "type": "fixed", "position": [0, 0, -0.05], "mesh": box_mesh(long + 1, long + 1, 0.1)}]
    bodies += [{"name": f"wall{k}", "type": "fixed", "position": [x, y, 0.5 * height + 0.01], "mesh": box_mesh(w, d, height)}
               for k, (x, y, w, d) in enumerate(walls)]
    return bodies


def apart(bodies):
    """Fixed bodies that overlap are told to leave each other alone."""
    fixed = [b["name"] for b in bodies if b.get("type") == "fixed"]
    return [{"between": [a, b], "contact": False} for i, b in enumerate(fixed) for a in fixed[:i]]


def columns_of(n, wide):
    return max(2, round(math.sqrt(n / 6.0))) if wide else 3


def heap(n, h=0.005, seconds=3.0, wide=True, shapes=("box",), ratio=1.0, seed=0, pitch=0.2, **more):
    """n bodies of 5 to 10 cm fall into a bin: about six layers of them in a wide one, columns of 3 x 3 in a tall one. ratio: of
    the largest density to the least."""
    rng = random.Random(seed)
    m = columns_of(n, wide)
    half = 0.5 * m * pitch + 0.025
    layers = -(-n // (m * m))
    bodies = bin_of(half, pitch * layers + 0.5)
    for i in range(n):
        layer, j = divmod(i, m * m)
        shape = shapes[i % len(shapes)]
        place = [pitch * (j % m - 0.5 * (m - 1)) + rng.uniform(-0.004, 0.004), pitch * (j // m - 0.5 * (m - 1)) + rng.uniform(-0.004, 0.004),
                 0.13 + pitch * layer]
        size = [rng.uniform(0.05, 0.1) for _ in range(3)]
        turn = [rng.uniform(0, 360) for _ in range(3)]
        body = {"name": f"b{i}", "density": 500 * ratio ** rng.uniform(-0.5, 0.5), "position": place}
        if shape == "box":
            body.update(mesh=box_mesh(*size), euler_degrees=turn)
        elif shape == "sphere":
            body.update(sphere={"radius": 0.5 * size[0]})
        elif shape == "capsule":
            body.update(capsule={"radius": 0.4 * size[0], "length": size[1]}, euler_degrees=turn)
        else:
            body.update(mesh=shape, euler_degrees=turn, scale=1.0)
        bodies.append(body)
    return {"carom": 1, "world": world(h, seconds, **more), "bodies": bodies, "pairs": apart(bodies)}


def stack(n, h=1 / 60, seconds=2.0):
    side = 0.1
    bodies = [{"name": "floor", "type": "fixed", "position": [0, 0, -0.05], "mesh": box_mesh(2, 2, 0.1)}]
    bodies += [{"name": f"b{i}", "density": 500, "mesh": box_mesh(side, side, side),
                "position": [0.002 * math.sin(3 * i), 0.002 * math.cos(2 * i), 0.5 * side + 0.9 * WIDTH + i * (side + 0.9 * WIDTH)]} for i in range(n)]
    return {"carom": 1, "world": world(h, seconds), "bodies": bodies}


def wall(n, ball, h=0.005, seconds=2.0):
    """A wall of n x n bricks, hit by a ball of 20 kg."""
    length, height = 0.2, 0.1
    bodies = [{"name": "floor", "type": "fixed", "position": [0, 0, -0.05], "mesh": box_mesh(8, 8, 0.1)}]
    for r in range(n):
        for c in range(n):
            bodies.append({"name": f"b{r}_{c}", "density": 1000, "mesh": box_mesh(length, 0.1, height),
                           "position": [(c - 0.5 * (n - 1)) * (length + 2 * WIDTH) + (r % 2) * 0.5 * length, 0,
                                        0.9 * WIDTH + 0.5 * height + r * (height + 0.9 * WIDTH)]})
    if ball:
        bodies.append({"name": "ball", "mass": 20, "sphere": {"radius": 0.15}, "position": [0.07, -1.0, 0.6], "velocity": [0, 10, 0]})
    return {"carom": 1, "world": world(h, seconds), "bodies": bodies}


def drape(n, h=1 / 60, seconds=1.5, on="ball", **more):
    """A sheet of 1.6 m and n x n nodes falls over a ball, or a box with sharp edges."""
    thing = ({"sphere": {"radius": 0.35}} if on == "ball" else {"mesh": box_mesh(0.5, 0.5, 0.5)})
    bodies = [{"name": "thing", "type": "fixed", "position": [0, 0, 0], **thing},
              {"name": "sheet", "type": "cloth", "position": [0, 0, 0.45], "mesh": {"sheet": {"width": 1.6, "height": 1.6, "nx": n - 1, "ny": n - 1}},
               **more}]
    return {"carom": 1, "world": {"dt": h, "duration": seconds, "contact": "barrier", "friction": 0.5}, "bodies": bodies}


def flag(n=41, h=1 / 60, seconds=2.0, **more):
    """A flag in the wind, held along its pole; nothing else touches."""
    m = n * 27 // 41
    e, nu = 500.0, 0.3
    c = e / (1 - nu * nu)
    bodies = [{"name": "flag", "type": "cloth", "mesh": {"sheet": {"width": 0.9, "height": 0.6, "nx": n - 1, "ny": m - 1}}, "density": 0.15,
               "c11": c, "c22": c, "c12": nu * c, "c33": e / (2 + 2 * nu), "drag_normal": 0.6, "drag_tangent": 0.05,
               "position": [0.45, 0, 1.6], "euler_degrees": [90, 0, 0],
               "pins": [{"nodes": {"box": [[-0.01, -1, 0], [0.01, 1, 3]]}}], **more}]
    return {"carom": 1, "world": {"dt": h, "duration": seconds, "contact": "barrier", "wind": [6, 1, 0]}, "bodies": bodies}


def free_fall(n, h=1 / 60, seconds=0.5):
    return {"carom": 1, "world": {"dt": h, "duration": seconds, "contact": "barrier"}, "bodies": [
        {"name": "sheet", "type": "cloth", "position": [0, 0, 0.45], "mesh": {"sheet": {"width": 1.6, "height": 1.6, "nx": n - 1, "ny": n - 1}}}]}


# ---- meshes that no generator makes

def tube(radius, length, around, along):
    """An open tube along x, as cloth wants it."""
    places = [[length * (i / along - 0.5), radius * math.cos(2 * math.pi * j / around), radius * math.sin(2 * math.pi * j / around)]
              for i in range(along + 1) for j in range(around)]
    faces = []
    for i in range(along):
        for j in range(around):
            a, b = i * around + j, i * around + (j + 1) % around
            faces += [[a, a + around, b], [b, a + around, b + around]]
    return {"vertices": places, "faces": faces}


def folded(width, depth, layers, gap, n, rows):
    """A sheet folded back and forth along x, its layers `gap` apart; each fold is half a circle of `rows` rows of nodes."""
    line, step = [], width / n
    for k in range(layers):
        way = [i * step for i in range(n + 1)]
        line += [(x if k % 2 == 0 else width - x, k * gap) for x in way]
        if k + 1 < layers:
            x, turn = (width, 1) if k % 2 == 0 else (0, -1)
            angles = [math.pi * (r / (rows + 1) - 0.5) for r in range(1, rows + 1)]
            line += [(x + turn * 0.5 * gap * math.cos(a), (k + 0.5) * gap + 0.5 * gap * math.sin(a)) for a in angles]
    across = max(2, round(depth / step))
    places = [[x, depth * (j / across - 0.5), z] for x, z in line for j in range(across + 1)]
    # where each node lies on the sheet laid flat, so that its rest shape knows no fold
    flat, s = [], 0.0
    for i, (x, z) in enumerate(line):
        s += math.dist(line[i - 1], (x, z)) if i else 0.0
        flat += [[s, depth * (j / across - 0.5)] for j in range(across + 1)]
    faces = []
    for i in range(len(line) - 1):
        for j in range(across):
            a, b = i * (across + 1) + j, (i + 1) * (across + 1) + j
            faces += [[a, b, a + 1], [a + 1, b, b + 1]]
    return {"vertices": places, "faces": faces, "uv": flat}


def gear(teeth, root, tip, width):
    """A spur gear around z: straight flanks between a root circle and a tip circle, closed and one piece."""
    rim = []
    for k in range(teeth):
        pitch = 2 * math.pi / teeth
        for part, r in ((-0.30, root), (-0.14, tip), (0.14, tip), (0.30, root)):
            rim.append((r * math.cos((k + part) * pitch), r * math.sin((k + part) * pitch)))
    n = len(rim)
    places = [[x, y, z] for z in (-0.5 * width, 0.5 * width) for x, y in rim] + [[0, 0, -0.5 * width], [0, 0, 0.5 * width]]
    faces = []
    for i in range(n):
        j = (i + 1) % n
        faces += [[i, j, n + j], [i, n + j, n + i], [2 * n, j, i], [2 * n + 1, n + i, n + j]]
    return {"vertices": places, "faces": faces}


# ---- more heaps

TORUS = {"torus": {"major": 0.04, "minor": 0.016, "segments": 16, "rings": 16}}  # 512 triangles


def funnel(n, h=0.005, seconds=3.0, **more):
    """n boxes and balls fall through a funnel of four leaning plates."""
    rng = random.Random(3)
    bodies = [{"name": "floor", "type": "fixed", "position": [0, 0, -0.55], "mesh": box_mesh(4, 4, 0.1)}]
    lean, long = 50.0, 1.2
    for k, (x, y, rx, ry) in enumerate(((1, 0, 0, -lean), (-1, 0, 0, lean), (0, 1, lean, 0), (0, -1, -lean, 0))):
        out = 0.12 + 0.5 * long * math.cos(math.radians(lean))
        bodies.append({"name": f"plate{k}", "type": "fixed", "mesh": box_mesh(long if x else 2, long if y else 2, 0.04),
                       "position": [out * x, out * y, 0.1 + 0.5 * long * math.sin(math.radians(lean))], "euler_degrees": [rx, ry, 0]})
    m = max(2, round((n / 4) ** (1 / 3) * 1.6))
    for i in range(n):
        layer, j = divmod(i, m * m)
        shape = {"mesh": box_mesh(*(rng.uniform(0.05, 0.09) for _ in range(3)))} if i % 3 else {"sphere": {"radius": rng.uniform(0.03, 0.045)}}
        bodies.append({"name": f"b{i}", "density": 500, "euler_degrees": [rng.uniform(0, 360) for _ in range(3)],
                       "position": [0.15 * (j % m - 0.5 * (m - 1)), 0.15 * (j // m - 0.5 * (m - 1)), 0.75 + 0.15 * layer], **shape})
    return {"carom": 1, "world": world(h, seconds, **more), "bodies": bodies, "pairs": apart(bodies)}


def pyramid(n, h=0.005, seconds=2.0):
    """Bricks of a heap at rest: rows of n, n - 1, ... each laid on two, n times over across."""
    side = [0.2, 0.1, 0.08]
    bodies = [{"name": "floor", "type": "fixed", "position": [0, 0, -0.05], "mesh": box_mesh(8, 8, 0.1)}]
    for r in range(n):
        for c in range(n - r):
            bodies.append({"name": f"b{r}_{c}", "density": 500, "mesh": box_mesh(*side),
                           "position": [(c - 0.5 * (n - r - 1)) * (side[0] + 2 * WIDTH), 0, 0.9 * WIDTH + 0.5 * side[2] + r * (side[2] + 0.9 * WIDTH)]})
    return {"carom": 1, "world": world(h, seconds), "bodies": bodies}


# ---- more sheets

def sheet_world(h, seconds, **more):
    return {"dt": h, "duration": seconds, "contact": "barrier", "friction": 0.5, **more}


def unroll(layers=4, n=20, h=1 / 60, seconds=1.5):
    """A sheet folded in layers, held by its upper edge, falls open."""
    mesh = folded(0.4, 0.4, layers, 0.03, n, 4)
    top = max(p[2] for p in mesh["vertices"])
    start = 0.0 if layers % 2 == 0 else 0.4
    return {"carom": 1, "world": sheet_world(h, seconds), "bodies": [
        {"name": "floor", "type": "fixed", "position": [0, 0, -0.3], "mesh": box_mesh(4, 4, 0.1)},
        {"name": "sheet", "type": "cloth", "mesh": mesh, "rest": "uv", "position": [0, 0, 0.6],
         "pins": [{"nodes": {"box": [[start - 0.001, -1, 0.6 + top - 0.001], [start + 0.001, 1, 0.6 + top + 0.001]]}}]}]}


def garment(around=24, along=8, h=1 / 60, seconds=1.0, resolution=16):
    """A tube a little too wide around the trunk of an animal, which it settles on."""
    return {"carom": 1, "world": sheet_world(h, seconds), "bodies": [
        {"name": "animal", "type": "fixed", "mesh": {"figurine": {"resolution": resolution}}},
        {"name": "garment", "type": "cloth", "mesh": tube(0.24, 0.3, around, along), "position": [-0.03, 0, 0.0], "rest_scale": 0.95}]}


def bag(n=31, things=30, h=1 / 60, seconds=2.0):
    """Boxes, balls and capsules fall on a sheet that is held by its corners."""
    rng = random.Random(5)
    bodies = [{"name": "sheet", "type": "cloth", "density": 0.3, "stretch": 2000, "bend": 1e-4,
               "mesh": {"sheet": {"width": 1, "height": 1, "nx": n - 1, "ny": n - 1}}, "pins": [{"nodes": "corners"}]}]
    for i in range(things):
        layer, j = divmod(i, 9)
        shape = ({"mesh": box_mesh(*(rng.uniform(0.05, 0.09) for _ in range(3)))}, {"sphere": {"radius": rng.uniform(0.025, 0.045)}},
                 {"capsule": {"radius": 0.025, "length": 0.06}})[i % 3]
        bodies.append({"name": f"b{i}", "density": 300, "position": [0.15 * (j % 3 - 1), 0.15 * (j // 3 - 1), 0.1 + 0.14 * layer],
                       "euler_degrees": [rng.uniform(0, 360) for _ in range(3)], **shape})
    return {"carom": 1, "world": sheet_world(h, seconds), "bodies": bodies}


# ---- mechanisms

def chain(links=12, h=0.005, seconds=2.0):
    """Links of a chain, each a torus through the next, the first one fixed, let go as it lies straight to the side."""
    major, minor = 0.05, 0.012
    pitch = 2 * (major - minor) - 0.004
    mesh = {"torus": {"major": major, "minor": minor, "segments": 24, "rings": 12}}
    bodies = [{"name": f"link{i}", "mesh": mesh, "density": 2000, "position": [pitch * i, 0, 0], "euler_degrees": [90 * (i % 2), 0, 0],
               **({"type": "fixed"} if i == 0 else {})} for i in range(links)]
    return {"carom": 1, "world": world(h, seconds), "bodies": bodies}


def gears(count=3, h=0.005, seconds=2.0, teeth=16):
    """A train of gears: the first one is driven, the others turn about axes that are held."""
    root, tip = 0.085, 0.112
    pitch = root + tip + 0.004
    wheels = []
    for i in range(count):
        turn = (180.0 / teeth if i % 2 else 0.0)
        body = {"name": f"gear{i}", "mesh": gear(teeth, root, tip, 0.04), "position": [pitch * i, 0, 0], "euler_degrees": [0, 0, turn]}
        if i == 0:
            body.update(type="kinematic", script={"angular_velocity": [0, 0, 3.0]})
        else:
            body.update(density=1000, lock=["x", "y", "z", "rx", "ry"])
        wheels.append(body)
    return {"carom": 1, "world": world(h, seconds), "bodies": wheels}


def dominoes(n=20, h=0.005, seconds=2.0):
    """A row of dominoes, the first one pushed over."""
    bodies = [{"name": "floor", "type": "fixed", "position": [0, 0, -0.05], "mesh": box_mesh(8, 8, 0.1)}]
    bodies += [{"name": f"d{i}", "density": 600, "mesh": box_mesh(0.02, 0.1, 0.2), "position": [0.08 * (i - 0.5 * n), 0, 0.1 + 0.9 * WIDTH],
                **({"angular_velocity": [0, 2.0, 0], "velocity": [0.2, 0, 0]} if i == 0 else {})} for i in range(n)]
    return {"carom": 1, "world": world(h, seconds), "bodies": bodies}
