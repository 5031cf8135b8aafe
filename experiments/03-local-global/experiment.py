"""Table 1: local zones against one global system, and against a global LCP."""

import importlib.util
import json
import os
import subprocess
from pathlib import Path

from kit import blas, program, slope

TITLE = "local against global collision handling"
PAPER = ("N cubes fall on a plane; backward time per step with local impact zones and with a global LCP (Table 1). Ours: the "
         "same cubes (0.1 m, spacing 0.18 m, bases up to 0.4 m high, h = 0.04 s), the first step alone and the whole fall to rest (25 "
         "steps): with zones; with everything in one global zone, sparse; with that zone's KKT system solved densely; and with a "
         "global LCP of our own on the same cubes.")
LOCAL = {100: 0.56, 200: 1.11, 300: 1.65}
LCP = {100: 0.73, 200: 2.87, 300: 8.42}
RELEASED = {100: (0.375, 0.0124), 200: (0.82, 0.032), 300: (1.77, 0.063)}
WAYS = {"zones": (), "global": ("--set", "world.zones=\"global\""),
        "global, dense": ("--set", "world.zones=\"global\"", "--method", "dense-kkt")}
REST = 25  # steps: 1 s, the highest cube falls for 0.3 s


def bench(kit, n, steps, runs, *more):
    """The least processor time of some runs: (s/step there, s/step back)."""
    lines = [kit.carom("bench", "falling-cubes", "--n", n, "--steps", steps, *more)[0] for _ in range(runs)]
    return tuple(min(line[f"{way}_cpu_s_per_step"] for line in lines) for way in ("forward", "backward"))


def load_lcp():
    """lcp.py beside this file, NumPy on one thread as the others are; None where there is no NumPy."""
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    spec = importlib.util.spec_from_file_location("lcp", Path(__file__).with_name("lcp.py"))
    module = importlib.util.module_from_spec(spec)
    try:
        spec.loader.exec_module(module)
    except ImportError:
        return None
    return module


def places(n):
    """Of the cubes of the bench, [N, 3]."""
    text = subprocess.run([program(), "bench", "falling-cubes", "--n", str(n), "--scene"], capture_output=True, text=True, check=True).stdout
    return [body["position"] for body in json.loads(text)["bodies"] if body["name"].startswith("cube")]


def run(kit):
    sizes = [30, 60] if kit.quick else [100, 200, 300]
    lcp = load_lcp()
    rows, at_rest = [], []
    for n in sizes:
        for what, steps, runs in (("one step", 1, 5), ("fall to rest", REST, 3)):
            row = [n, what]
            for more in WAYS.values():
                dense = "dense-kkt" in more
                row += bench(kit, n, steps, 1 if dense and steps > 1 else runs, *more)
            if lcp:
                told = min((lcp.measure(places(n), 0.04, steps, True) for _ in range(1 if steps > 1 else runs)), key=lambda t: t[0])
                row += [*told[:4]]
                at_rest.append(float(abs(told[4].speeds).max()))
            else:
                row += [""] * 4
            rows.append(row + ([LOCAL.get(n, ""), LCP.get(n, "")]))
    kit.table("table1", ["cubes", "what", "zones: forward s/step", "zones: backward", "global zone: forward", "global zone: backward",
                         "global zone, dense: forward", "global zone, dense: backward", "LCP: forward", "LCP: backward",
                         "LCP, whole KKT matrix: backward", "LCP: contacts", "paper, zones: backward", "paper, LCP: backward"], rows)
    fall = [row for row in rows if row[1] == "fall to rest"]
    curves = {"zones": 3, "global zone, sparse": 5, "global zone, dense": 7}
    if lcp:
        curves |= {"LCP": 9, "LCP, whole KKT matrix": 10}
    if not kit.quick:
        curves |= {"paper, zones": 12, "paper, LCP": 13}
    kit.plot("table1", {k: (sizes, [row[c] for row in fall]) for k, c in curves.items()}, "cubes", "backward, s per step",
             True, "falling cubes, to rest")
    for row in rows[-2:]:
        tell(kit, row, *row[:2], lcp)
    n = sizes[-1]
    for label, column in (("zones", 3), ("LCP", 9)) if lcp else ():
        s = slope(sizes, [row[column] for row in fall])
        kit.row(f"log-log slope of backward over the cubes, {label}", f"{s:.2f}", None if kit.quick or column != 3 else s <= 1.2,
                paper=f"{slope(list(LOCAL), list((LOCAL if column == 3 else LCP).values())):.2f}")
    if lcp:
        error = lcp.check()
        kit.row("the LCP's own gradient against differences", f"{error:.1e}", error <= 1e-6)
        kit.note("The LCP has one dense system for all contacts of all cubes, solved by an interior point method and differentiated at its "
                 "solution; NumPy and LAPACK, one thread (lcp.py). Its way back is measured twice: reduced to the contacts' forces, and with "
                 f"speeds and forces in one matrix. Its cubes end at rest, {max(at_rest[1::2]):.0e} m/s. In the first step only the cubes that "
                 "start within 16 mm of the ground touch it: the LCP is then small.")
    else:
        kit.note("the LCP was not run: NumPy is not here")
    kit.note("Processor seconds of one thread, the least of five runs of one step and of three of the fall (of one for the dense ones). "
             f"The dense ones and the LCP use {blas()}.")


def tell(kit, row, n, what, lcp):
    forth, back, whole_forth, whole_back, _, dense, lcp_forth, lcp_back, lcp_whole = row[2:11]
    first = what == "one step"  # what the paper and the released program measure
    kit.row(f"backward with zones, {n} cubes, {what}", f"{1e3 * back:.3g} ms/step",
            None if kit.quick else LOCAL[n] / back >= 1000, paper=f"{LOCAL[n]} s" if n in LOCAL else "",
            released=f"{RELEASED[n][1]} s" if n in RELEASED and first else "")
    kit.row(f"forward with zones, {n} cubes, {what}", f"{1e3 * forth:.3g} ms/step",
            None if kit.quick else RELEASED[n][0] / forth >= 500, released=f"{RELEASED[n][0]} s" if n in RELEASED and first else "")
    kit.row(f"one global zone over zones, forward + backward, {what}", f"{(whole_forth + whole_back) / (forth + back):.2f} times the time",
            paper="local wins")
    kit.row(f"global zone, dense over zones, backward, {what}", f"{dense / back:.3g} times the time", dense >= back, paper="local wins")
    if lcp:
        ratio = f"{LCP[n] / LOCAL[n]:.1f} times" if n in LCP else "local wins"
        kit.row(f"global LCP over zones, backward, {what}", f"{lcp_back / back:.3g} times the time, {lcp_whole / back:.3g} with the whole KKT "
                "matrix", None if first else lcp_back >= back, paper=ratio)
        kit.row(f"global LCP over zones, forward, {what}", f"{lcp_forth / forth:.3g} times the time", None if first else lcp_forth >= forth)
