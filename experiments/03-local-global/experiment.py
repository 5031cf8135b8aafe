"""Table 1: local zones against one global system."""

TITLE = "local against global collision handling"
PAPER = ("N cubes fall on a plane; backward time per step with local impact zones and with a global LCP (Table 1). Ours: the "
         "same cubes (0.1 m, spacing 0.18 m, bases up to 0.4 m high, h = 0.04 s), the whole fall to rest, with zones; with "
         "everything in one global zone, sparse; and with that zone's KKT system solved densely, as global methods do.")
LOCAL = {100: 0.56, 200: 1.11, 300: 1.65}
LCP = {100: 0.73, 200: 2.87, 300: 8.42}
RELEASED = {100: (0.375, 0.0124), 200: (0.82, 0.032), 300: (1.77, 0.063)}


def bench(kit, n, steps, *more):
    return kit.carom("bench", "falling-cubes", "--n", n, "--steps", steps, *more)[0]


def run(kit):
    sizes = [30, 60] if kit.quick else [100, 200, 300]
    steps = 10 if kit.quick else 25
    rows = []
    for n in sizes:
        local = bench(kit, n, steps)
        whole = bench(kit, n, steps, "--set", "world.zones=\"global\"")
        row = [n, local["forward_s_per_step"], local["backward_s_per_step"], whole["forward_s_per_step"],
               whole["backward_s_per_step"]]
        try:
            dense = bench(kit, n, steps, "--set", "world.zones=\"global\"", "--method", "dense-kkt")
            row.append(dense["backward_s_per_step"])
        except RuntimeError as error:
            kit.note(f"the dense global system was not run: {error}")
            row.append(float("nan"))
        rows.append(row + [LOCAL.get(n, ""), LCP.get(n, "")])
    kit.table("table1", ["cubes", "zones: forward s/step", "zones: backward", "global: forward", "global: backward",
                         "global, dense: backward", "paper, zones", "paper, LCP"], rows)
    n, local_f, local_b, whole_f, whole_b, dense_b = rows[-1][:6]
    curves = {"zones": 2, "global, sparse": 4, "global, dense": 5, "paper, zones": 6, "paper, LCP": 7}
    if kit.quick:
        curves = {k: v for k, v in curves.items() if v < 6}
    kit.plot("table1", {k: (sizes, [row[c] for row in rows]) for k, c in curves.items()}, "cubes", "backward, s per step",
             True, "falling cubes")
    paper = f"{LOCAL[n]} s" if n in LOCAL else ""
    kit.row(f"backward with zones, {n} cubes", f"{1e3 * local_b:.3g} ms/step", None if kit.quick else LOCAL[n] / local_b >= 1000,
            paper=paper, released=f"{RELEASED[n][1]} s" if n in RELEASED else "")
    kit.row(f"forward with zones, {n} cubes", f"{1e3 * local_f:.3g} ms/step",
            None if kit.quick else RELEASED[n][0] / local_f >= 500, released=f"{RELEASED[n][0]} s" if n in RELEASED else "")
    kit.row("global, dense over zones, backward", f"{dense_b / local_b:.3g} times slower", dense_b >= local_b,
            paper=f"{LCP[n] / LOCAL[n]:.1f} times slower" if n in LCP else "local wins")
    kit.row("global, sparse over zones, forward + backward", f"{(whole_f + whole_b) / (local_f + local_b):.2f} times the time",
            paper="local wins")
