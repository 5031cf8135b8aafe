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
