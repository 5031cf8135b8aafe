"""Table 2: three ways back through one large zone."""

from kit import blas, slope

TITLE = "fast differentiation"
PAPER = ("N cubes in two layers, one connected component; backward time per step with the paper's QR and without (Table 2). "
         "The released scene falls into 35 zones; ours is one, and the table shows its unknowns and contacts. dense-kkt "
         "solves the whole KKT system, dense-qr is the paper's method made rank-revealing, sparse is ours.")
PAPER_QR = {100: 0.41, 200: 0.86, 300: 1.30}
PAPER_KKT = {100: 1.43, 200: 7.76, 300: 21.88}
FEW, MANY = 2, 25  # steps: those in which the bricks land, and 1 s


def measure(kit, n, method, steps, runs):
    """What the bench says, and the least processor time of some runs (s/step, back)."""
    lines = [kit.carom("bench", "stacked-cubes", "--n", n, "--steps", steps, "--method", method)[0] for _ in range(runs)]
    return lines[0], min(line["backward_cpu_s_per_step"] for line in lines)


def run(kit):
    sizes = [30, 60] if kit.quick else [100, 200, 300]
    rows = []
    for n in sizes + ([] if kit.quick else [1000, 3000]):
        line, mean = measure(kit, n, "sparse", MANY, 3)
        dense = n in sizes
        rows.append([n, mean, measure(kit, n, "sparse", FEW, 3)[1] if dense else "",
                     *(measure(kit, n, method, FEW, 1)[1] if dense else "" for method in ("dense-qr", "dense-kkt")),
                     line["max_zone_dofs"], line["max_zone_contacts"], PAPER_QR.get(n, ""), PAPER_KKT.get(n, "")])
    tell(kit, rows)


def tell(kit, rows):
    kit.table("table2", ["bricks", f"sparse: backward s/step, {MANY} steps", f"sparse, first {FEW} steps", f"dense-qr, first {FEW} steps",
                         f"dense-kkt, first {FEW} steps", "unknowns", "contacts", "paper, QR", "paper, without"], rows)
    small = [row for row in rows if row[2] != ""]
    sizes = [row[0] for row in small]
    lines = {"sparse": ([r[0] for r in rows], [r[1] for r in rows]), f"sparse, first {FEW} steps": (sizes, [r[2] for r in small]),
             "dense-qr": (sizes, [r[3] for r in small]), "dense-kkt": (sizes, [r[4] for r in small])}
    if not kit.quick:
        lines["paper, QR"] = (sizes, [r[7] for r in small])
        lines["paper, without"] = (sizes, [r[8] for r in small])
    kit.plot("table2", lines, "bricks", "backward, s per step", True, "one zone, three ways back")
    n, mean, first, qr, kkt, unknowns, contacts = small[-1][:7]
    paper, released = f"{PAPER_QR[n]} s" if n in PAPER_QR else "", "0.124 s" if n == 300 else ""
    kit.row(f"{n} bricks are one zone", f"{unknowns} unknowns, {contacts} contacts", unknowns == 6 * n)
    kit.row(f"sparse, {n} bricks, mean of {MANY} steps", f"{1e3 * mean:.3g} ms/step", None if kit.quick else PAPER_QR[n] / mean >= 100,
            paper=paper, released=released)
    kit.row(f"sparse, {n} bricks, the first {FEW} steps alone", f"{1e3 * first:.3g} ms/step", paper=paper, released=released)
    kit.row(f"dense-kkt over sparse, the first {FEW} steps", f"{kkt / first:.3g} times", None if kit.quick else kkt / first >= 100,
            paper=f"{PAPER_KKT[n] / PAPER_QR[n]:.0f} times (over QR)" if n in PAPER_KKT else "")
    kit.row(f"dense-qr over sparse, the first {FEW} steps", f"{qr / first:.3g} times", None if kit.quick else qr / first >= 20)
    s = slope([r[0] for r in rows], [r[1] for r in rows])
    kit.row("log-log slope of sparse", f"{s:.2f}", None if kit.quick else s <= 1.4)
    for method, column, others in (("dense-qr", 3, PAPER_QR), ("dense-kkt", 4, PAPER_KKT)):
        kit.row(f"log-log slope of {method}", f"{slope(sizes, [r[column] for r in small]):.2f}",
                paper=f"{slope(list(others), list(others.values())):.2f} ({'QR' if column == 3 else 'without'})")
    kit.note(f"Processor seconds of one thread; sparse: the least of three runs; dense: one run. In the first {FEW} steps the bricks land, with "
             f"impacts; later ones, at rest, are cheaper. The dense ones use {blas()}.")
