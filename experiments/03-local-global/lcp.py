"""A global LCP for cubes over a plane: one dense system for all contacts of all bodies, there and back.

What the paper compares its zones with, as programs of that kind do it (NumPy and LAPACK, one thread):
semi-implicit Euler; a contact for every corner whose free motion would end at the plane; inelastic, without
friction. With M the masses, J the contacts' rows, v* the free velocities and g the gaps, a step finds

    w = J M^-1 J^T f + J v* + g / h,   w >= 0, f >= 0, w f = 0,   v+ = v* + M^-1 J^T f

by a primal-dual interior point method (Mehrotra's), which factors the dense matrix A + diag(w / f), where
A = J M^-1 J^T, in each iteration. Back: the same conditions, differentiated at the solution. With D = w / f,

    (A + D) y = J M^-1 v_bar,   v*_bar = v_bar - J^T y,   g_bar = -y / h,
    J_bar = f (M^-1 v_bar)^T - y v+^T - f (M^-1 J^T y)^T

Cubes have one moment of inertia about every axis, so M is constant and the spin has no term of its own.
Their bounding spheres do not overlap at a spacing of more than sqrt(3) of their side; contacts between
cubes cannot occur, and are not looked for.
"""

import time

import numpy as np

SIDE, MASS = 0.1, 0.08     # m, kg
TOLERANCE = 1e-12          # of the complementarity w f, against its start; below it v+ no longer changes
MOST = 60                  # iterations; 8 to 15 are usual
CORNERS = 0.5 * SIDE * np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
INVERSE = np.array([1 / MASS] * 3 + [6 / (MASS * SIDE ** 2)] * 3)  # diagonal of M^-1 for one cube


def cross_matrix(a):
    """[N, 3, 3] matrices with [a] b = a x b."""
    out = np.zeros((len(a), 3, 3))
    out[:, 0, 1], out[:, 0, 2], out[:, 1, 2] = -a[:, 2], a[:, 1], -a[:, 0]
    return out - out.transpose(0, 2, 1)


def turn_of(a):
    """[N, 3, 3] rotations by the vectors a, and their left Jacobians."""
    k, angle = cross_matrix(a), np.linalg.norm(a, axis=1)[:, None, None]
    small = angle < 1e-4  # then the series, whose next term is below 1e-18
    safe = np.where(small, 1.0, angle)
    s = np.where(small, 1 - angle ** 2 / 6, np.sin(safe) / safe)
    c = np.where(small, 0.5 - angle ** 2 / 24, (1 - np.cos(safe)) / safe ** 2)
    b = np.where(small, 1 / 6 - angle ** 2 / 120, (safe - np.sin(safe)) / safe ** 3)
    one = np.eye(3)
    return one + s * k + c * k @ k, one + c * k + b * k @ k


def cholesky_solve(low, b):
    """x with low low^T x = b. NumPy has no triangular solve, so block by block."""
    x, size = np.array(b), 64
    cuts = [slice(i, i + size) for i in range(0, len(x), size)]
    for c in cuts:
        x[c] = np.linalg.solve(low[c, c], x[c] - low[c, :c.start] @ x[:c.start])
    for c in reversed(cuts):
        x[c] = np.linalg.solve(low[c, c].T, x[c] - low[c.stop:, c].T @ x[c.stop:])
    return x


def interior(a, b):
    """f >= 0 with w = a f + b >= 0 and w f = 0: (f, w, iterations)."""
    m = len(b)
    size = max(1.0, abs(b).max())
    f = np.full(m, size / a.diagonal().max())
    w = np.full(m, size)
    least = TOLERANCE * size * f[0]
    for count in range(MOST):
        away = a @ f + b - w
        gap = f @ w / m
        if gap <= least and abs(away).max() <= 1e-10 * size:
            break
        low = np.linalg.cholesky(a + np.diag(w / f))

        def move(aim):
            df = cholesky_solve(low, -away - w + aim / f)
            return df, aim / f - w - w / f * df

        def room(x, dx):
            return min(1.0, 0.995 * np.min(-x[dx < 0] / dx[dx < 0], initial=np.inf))

        df, dw = move(0.0)
        t = min(room(f, df), room(w, dw))
        centre = ((f + t * df) @ (w + t * dw) / (m * gap)) ** 3
        df, dw = move(centre * gap - df * dw)
        t = min(room(f, df), room(w, dw))
        f, w = f + t * df, w + t * dw
    return f, w, count


class Fall:
    """N cubes: steps forward, each kept, then back."""

    def __init__(self, places, h, turns=None):
        self.places = np.array(places, float)                                      # [N, 3] m
        self.turns = np.tile(np.eye(3), (len(places), 1, 1)) if turns is None else np.array(turns)
        self.speeds = np.zeros((len(places), 6))                                   # m/s, rad/s
        self.h, self.kept, self.most = h, [], 0

    def step(self, gravity):
        free = self.speeds.copy()
        free[:, :3] += self.h * gravity
        arms = np.einsum("nij,cj->nci", self.turns, CORNERS)
        gaps = self.places[:, None, 2] + arms[:, :, 2]
        # the row of a corner at r: normal z, and r x z
        rows = np.zeros(arms.shape[:2] + (6,))
        rows[:, :, 2] = 1
        rows[:, :, 3], rows[:, :, 4] = arms[:, :, 1], -arms[:, :, 0]
        body, corner = np.nonzero(gaps + self.h * np.einsum("nci,ni->nc", rows, free) <= 0)
        m = len(body)
        force, slack, j = np.zeros(m), np.zeros(m), np.zeros((m, 6 * len(free)))
        new = free
        if m:
            j.reshape(m, -1, 6)[np.arange(m), body] = rows[body, corner]
            weight = np.tile(INVERSE, len(free))
            a = (j * weight) @ j.T
            force, slack, count = interior(a, j @ free.ravel() + gaps[body, corner] / self.h)
            self.most = max(self.most, count)
            new = free + (weight * (force @ j)).reshape(-1, 6)
        turn, left = turn_of(self.h * new[:, 3:])
        self.kept.append((body, arms[body, corner], j, force, slack, new, turn, left))
        self.places = self.places + self.h * new[:, :3]
        self.turns = turn @ self.turns
        self.speeds = new

    def back(self, places_bar, whole=False):
        """dL/d(gravity) from dL/d(last places). whole: by the KKT matrix of speeds, forces and slacks at
        once, not reduced to the contacts."""
        h, n = self.h, len(self.places)
        x_bar, turn_bar, v_bar, gravity_bar = np.array(places_bar, float), np.zeros((n, 3)), np.zeros((n, 6)), np.zeros(3)
        weight = np.tile(INVERSE, n)
        for body, arms, j, force, slack, new, turn, left in reversed(self.kept):
            # places + h v, and a turn by h w from the left
            v_bar[:, :3] += h * x_bar
            v_bar[:, 3:] += h * np.einsum("nji,nj->ni", left, turn_bar)
            turn_bar = np.einsum("nji,nj->ni", turn, turn_bar)
            if len(body):
                pushed = weight * v_bar.ravel()
                y = (self.solve_whole if whole else self.solve)(j, weight, force, slack, pushed)
                eased = weight * (y @ j)
                rows = np.arange(len(body))
                j_bar = (force[:, None] * (pushed - eased).reshape(n, 6)[body] - y[:, None] * new[body])
                v_bar = v_bar - (y @ j).reshape(n, 6)
                # a corner's arm turns with its cube: d(gap) = (r x z) . d(turn), d(r x z) = (d(turn) x r) x z
                np.add.at(x_bar[:, 2], body, -y / h)
                np.add.at(turn_bar, body, -y[:, None] / h * j.reshape(len(body), n, 6)[rows, body, 3:])
                np.add.at(turn_bar, body, np.cross(arms, np.cross([0, 0, 1.0], j_bar[:, 3:])))
            gravity_bar += h * v_bar[:, :3].sum(0)
        return gravity_bar

    @staticmethod
    def solve(j, weight, force, slack, pushed):
        low = np.linalg.cholesky((j * weight) @ j.T + np.diag(slack / force))
        return cholesky_solve(low, j @ pushed)

    @staticmethod
    def solve_whole(j, weight, force, slack, pushed):
        """The same y from [M J^T; J -D]: dense, as long as the cubes' speeds and the contacts together."""
        n, m = len(weight), len(force)
        kkt = np.zeros((n + m, n + m))
        kkt[np.arange(n), np.arange(n)] = 1 / weight
        kkt[:n, n:], kkt[n:, :n] = j.T, j
        kkt[np.arange(n, n + m), np.arange(n, n + m)] = -slack / force
        return np.linalg.solve(kkt, np.concatenate([pushed / weight, np.zeros(m)]))[n:]


def measure(places, h, steps, whole=False):
    """(CPU s/step there, back, back by the whole matrix or None, contacts, the fall)"""
    fall = Fall(places, h)
    began = time.process_time()
    for _ in range(steps):
        fall.step(np.array([0, 0, -9.81]))
    there = time.process_time()
    bar = np.zeros((len(places), 3))
    bar[:, 2] = 1 / len(places)
    reduced = fall.back(bar)
    back = time.process_time()
    full = None
    if whole:
        other = fall.back(bar, True)
        full = (time.process_time() - back) / steps
        if not np.allclose(other, reduced, rtol=1e-5, atol=1e-9):
            raise ValueError(f"two ways back of one LCP differ: {reduced} and {other}")
    return (there - began) / steps, (back - there) / steps, full, max(len(k[0]) for k in fall.kept), fall


def check():
    """Largest relative error of its gradient by gravity against differences: tilted cubes that strike and roll."""
    rng = np.random.default_rng(3)
    places = np.array([[0.18 * i, 0, 0.1 + 0.05 * rng.random()] for i in range(6)])
    turns = turn_of(rng.normal(size=(6, 3)) * 0.4)[0]
    bar = rng.normal(size=(6, 3))

    def end(gravity, back=False):
        fall = Fall(places, 0.01, turns)
        for _ in range(14):
            fall.step(gravity)
        return fall.back(bar) if back else (bar * fall.places).sum()

    at, e = np.array([0.3, -0.2, -9.81]), 1e-5
    ours = end(at, True)
    far = np.array([(end(at + e * d) - end(at - e * d)) / (2 * e) for d in np.eye(3)])
    return float(abs(ours - far).max() / abs(far).max())
