"""The baseline of the paper's Figure 3: a differentiable material point method, particles on a grid, in Taichi.

Solids are elastic (neo-Hookean), for the method knows no rigid ones; they are filled with particles, eight to a cell.
Every step moves what particles carry to the grid, lets the grid feel gravity and walls, and moves particles with it
(MLS-MPM: affine velocities, quadratic weights). The way back does the step again from the particles that were kept
and goes through Taichi's derivatives of the three kernels. As the paper's, the grid is dense.

    mpm.py <spec.json    a line of JSON for each case: seconds of so many steps there and back, one thread
    mpm.py --check       its derivative of a ball's mean height, in the air and on the ground, against differences

Needs the packages taichi and numpy. Status 3: they are not here.
"""

import json
import math
import subprocess
import sys
import time
from pathlib import Path

PER_CELL = 2   # particles along each side of a cell
MARGIN = 3     # cells of wall around the domain
COURANT = 0.3  # of a cell that sound or a particle may go in a step
BYTES = 4      # of a number: single precision, as usual with it
CARRIED = 24   # numbers of a particle and step: place, velocity, its gradient, deformation
ON_GRID = 7    # numbers of a cell: momentum, mass, velocity


def step_length(dx, stiffness, density, speed):
    """s; sound in a solid with Poisson's ratio 0.3 is 1.16 sqrt(E / rho)."""
    return COURANT * dx / (1.16 * math.sqrt(stiffness / density) + speed)


def grid_bytes(cells):
    """Of a dense grid and its derivatives."""
    return 2 * BYTES * ON_GRID * math.prod(cells)


def whole(found, seconds, dt):
    """What was found of a few steps, for so many seconds there and back: s, and bytes of the grid and of what every step leaves."""
    steps = seconds / dt
    return steps * (found["forward_s"] + found["backward_s"]), grid_bytes(found["cells"]) + steps * BYTES * CARRIED * found["particles"]


def measure(cases, dx, dt, steps):
    """In a process of its own. A case: {"cells": of the grid along x, y, z, "solids": [{"ball": radius or "box": sizes, "at",
    "velocity", "stiffness", "density"}]}, with a corner of the grid at the origin. None: taichi is not to be had."""
    spec = dict(cases=cases, dx=dx, dt=dt, steps=steps)
    done = subprocess.run([sys.executable, __file__], input=json.dumps(spec), capture_output=True, text=True)
    if done.returncode == 3:
        return None
    if done.returncode != 0:
        raise RuntimeError(f"mpm.py ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]


# ---- in that process

def fill(np, solid, dx):
    """Places of a solid's particles."""
    size = solid.get("box") or [2 * solid["ball"]] * 3
    axes = [(np.arange(max(1, round(s * PER_CELL / dx))) + 0.5) * dx / PER_CELL for s in size]
    axes = [a - 0.5 * (a[0] + a[-1]) for a in axes]
    p = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    p = p[(p ** 2).sum(1) < solid["ball"] ** 2] if "ball" in solid else p
    return (p + solid["at"]).astype(np.float32)


class Method:
    """Fields for the largest case, and kernels that are told how much of them is used: they are compiled once."""

    def __init__(self, ti, np, most, room, dx, dt, steps):
        self.ti, self.np, self.steps = ti, np, steps
        ti.init(arch=ti.cpu, cpu_max_num_threads=1, default_fp=ti.f32, random_seed=0, offline_cache=False, log_level=ti.ERROR,
                advanced_optimization=False, cfg_optimization=False)  # or compiling takes four minutes instead of one
        vector, matrix, one, volume = ti.math.vec3, ti.math.mat3, 1.0 / dx, (dx / PER_CELL) ** 3
        x, v = (ti.Vector.field(3, ti.f32, (steps + 1, most), needs_grad=True) for _ in range(2))
        affine, deform = (ti.Matrix.field(3, 3, ti.f32, (steps + 1, most), needs_grad=True) for _ in range(2))
        mass, young = ti.field(ti.f32, most), ti.field(ti.f32, most)
        momentum, moved = (ti.Vector.field(3, ti.f32, room, needs_grad=True) for _ in range(2))
        weight = ti.field(ti.f32, room, needs_grad=True)
        goal = ti.field(ti.f32, (), needs_grad=True)
        self.v, self.goal = v, goal

        @ti.func
        def around(place):  # the first of the 27 cells, and how far from it
            base = ti.cast(place * one - 0.5, ti.i32)
            return base, place * one - ti.cast(base, ti.f32)

        @ti.func
        def weights(fx):
            return [0.5 * (1.5 - fx) ** 2, 0.75 - (fx - 1.0) ** 2, 0.5 * (fx - 0.5) ** 2]

        @ti.kernel
        def to_grid(f: ti.i32, n: ti.i32, ny: ti.i32, nz: ti.i32):
            for p in range(n):
                base, fx = around(x[f, p])
                w = weights(fx)
                new = (ti.Matrix.identity(ti.f32, 3) + dt * affine[f, p]) @ deform[f, p]
                deform[f + 1, p] = new
                mu, la = young[p] / 2.6, young[p] * 0.3 / (1.3 * 0.4)  # Poisson's ratio 0.3
                stress = mu * (new @ new.transpose()) + ti.Matrix.identity(ti.f32, 3) * (la * ti.log(new.determinant()) - mu)
                carried = -(dt * volume * 4 * one * one) * stress + mass[p] * affine[f, p]
                for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                    at = ((base[0] + i) * ny + base[1] + j) * nz + base[2] + k
                    away = (vector(i, j, k) - fx) * dx
                    share = w[i][0] * w[j][1] * w[k][2]
                    momentum[at] += share * (mass[p] * v[f, p] + carried @ away)
                    weight[at] += share * mass[p]

        @ti.kernel
        def on_grid(nx: ti.i32, ny: ti.i32, nz: ti.i32):
            for at in range(nx * ny * nz):
                u = momentum[at] / (weight[at] + 1e-12) - dt * vector(0.0, 0.0, 9.81)
                place, size = ti.Vector([at // (ny * nz), at // nz % ny, at % nz]), ti.Vector([nx, ny, nz])
                for d in ti.static(range(3)):
                    if place[d] < MARGIN and u[d] < 0.0:
                        u[d] = 0.0
                    if place[d] >= size[d] - MARGIN and u[d] > 0.0:
                        u[d] = 0.0
                moved[at] = u

        @ti.kernel
        def from_grid(f: ti.i32, n: ti.i32, ny: ti.i32, nz: ti.i32):
            for p in range(n):
                base, fx = around(x[f, p])
                w = weights(fx)
                u, b = vector(0.0), matrix(0.0)
                for i, j, k in ti.static(ti.ndrange(3, 3, 3)):
                    at = ((base[0] + i) * ny + base[1] + j) * nz + base[2] + k
                    share = w[i][0] * w[j][1] * w[k][2]
                    u += share * moved[at]
                    b += 4 * one * share * moved[at].outer_product(vector(i, j, k) - fx)
                v[f + 1, p] = u
                x[f + 1, p] = x[f, p] + dt * u
                affine[f + 1, p] = b

        @ti.kernel
        def look(n: ti.i32):
            for p in range(n):
                goal[None] += x[steps, p][2] / n

        @ti.kernel
        def clear(count: ti.i32):
            for at in range(count):
                momentum[at], moved[at], weight[at] = vector(0.0), vector(0.0), 0.0

        @ti.kernel
        def clear_slopes(count: ti.i32):
            for at in range(count):
                momentum.grad[at], moved.grad[at], weight.grad[at] = vector(0.0), vector(0.0), 0.0

        @ti.kernel
        def begin(n: ti.i32, place: ti.types.ndarray(), velocity: ti.types.ndarray(), heavy: ti.types.ndarray(), stiff: ti.types.ndarray()):
            goal[None] = 0.0
            for p in range(n):
                mass[p], young[p] = heavy[p], stiff[p]
                x[0, p] = vector(place[p, 0], place[p, 1], place[p, 2])
                v[0, p] = vector(velocity[p, 0], velocity[p, 1], velocity[p, 2])
                affine[0, p], deform[0, p] = matrix(0.0), ti.Matrix.identity(ti.f32, 3)
                for f in range(steps + 1):
                    x.grad[f, p], v.grad[f, p] = vector(0.0), vector(0.0)
                    affine.grad[f, p], deform.grad[f, p] = matrix(0.0), matrix(0.0)

        self.to_grid, self.on_grid, self.from_grid, self.look = to_grid, on_grid, from_grid, look
        self.clear, self.clear_slopes, self.begin = clear, clear_slopes, begin

    def there(self, n, cells):
        for f in range(self.steps):
            self.clear(math.prod(cells))
            self.to_grid(f, n, *cells[1:])
            self.on_grid(*cells)
            self.from_grid(f, n, *cells[1:])
        self.look(n)

    def back(self, n, cells):
        self.goal.grad[None] = 1
        self.look.grad(n)
        for f in reversed(range(self.steps)):
            self.clear(math.prod(cells))
            self.clear_slopes(math.prod(cells))
            self.to_grid(f, n, *cells[1:])
            self.on_grid(*cells)
            self.from_grid.grad(f, n, *cells[1:])
            self.on_grid.grad(*cells)
            self.to_grid.grad(f, n, *cells[1:])

    def time(self, places, velocity, heavy, stiff, cells):
        n = len(places)
        self.begin(n, places, velocity, heavy, stiff)
        marks = [time.process_time()]
        for way in (self.there, self.back):
            way(n, cells)
            self.ti.sync()
            marks.append(time.process_time())
        # the mean height's derivative by a speed upwards of all
        slope = float(self.v.grad.to_numpy()[0, :n, 2].sum())
        return dict(forward_s=(marks[1] - marks[0]) / self.steps, backward_s=(marks[2] - marks[1]) / self.steps, particles=n,
                    cells=cells, height=self.goal[None], slope=slope)


def check():
    dx, dt, steps, speed = 0.02, 2e-4, 60, 0.1
    cells, ball = [32, 32, 44], {"ball": 0.1, "stiffness": 1e5, "density": 300}
    places = {"in the air": 0.4, "on the ground": MARGIN * dx + 0.1}
    found = measure([{"cells": cells, "solids": [dict(ball, at=[0.32, 0.32, z], velocity=[0, 0, v - 1])]}
                     for z in places.values() for v in (0, speed, -speed)], dx, dt, steps)
    if found is None:
        return 3
    for i, where in enumerate(places):
        at, up, down = found[3 * i:3 * i + 3]
        print(f"{where}: {at['slope']:.6g} m per m/s, by differences {(up['height'] - down['height']) / (2 * speed):.6g}")
    return 0


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    try:
        import numpy as np
        import taichi as ti
    except ImportError:
        return 3
    spec = json.load(sys.stdin)
    dx, cases = spec["dx"], []
    for case in spec["cases"]:
        parts = [fill(np, s, dx) for s in case["solids"]]
        counts = [len(p) for p in parts]

        def each(values):
            return np.repeat(np.asarray(values, np.float32), counts, 0)
        cases.append((np.concatenate(parts), each([s["velocity"] for s in case["solids"]]),
                      each([s["density"] * (dx / PER_CELL) ** 3 for s in case["solids"]]),
                      each([s["stiffness"] for s in case["solids"]]), case["cells"]))
    method = Method(ti, np, max(len(c[0]) for c in cases), max(math.prod(c[4]) for c in cases), dx, spec["dt"], spec["steps"])
    method.time(*min(cases, key=lambda c: math.prod(c[4])))  # compiles
    for case in cases:
        print(json.dumps(method.time(*case)), flush=True)
    return 0


if __name__ == "__main__":
    sys.path.remove(str(Path(__file__).resolve().parent))
    sys.exit(main())
