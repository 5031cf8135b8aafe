"""Table 2: three ways back through one large zone."""

from kit import slope

TITLE = "fast differentiation"
PAPER = ("N cubes in two layers, one connected component; backward time per step with the paper's QR and without (Table 2). "
         "The released scene falls into 35 zones; ours is one, and the table shows its unknowns and contacts. dense-kkt "
         "solves the whole KKT system, dense-qr is the paper's method made rank-revealing, sparse is ours.")
PAPER_QR = {100: 0.41, 200: 0.86, 300: 1.30}
PAPER_KKT = {100: 1.43, 200: 7.76, 300: 21.88}


STEPS = {"sparse": 25, "dense-qr": 2, "dense-kkt": 2}  # the stack rests from the first on, so that all are alike


def measure(kit, n, method, runs):
    """What the bench says, and the least processor time of some runs (s/step, back)."""
    lines = [kit.carom("bench", "stacked-cubes", "--n", n, "--steps", STEPS[method], "--method", method)[0] for _ in range(runs)]
    return lines[0], min(line["backward_cpu_s_per_step"] for line in lines)


def run(kit):
    sizes = [30, 60] if kit.quick else [100, 200, 300]
    more = [] if kit.quick else [1000, 3000]
    rows = []
    for n in sizes + more:
        line, least = measure(kit, n, "sparse", 3)
        row = [n, least]
        for method in ("dense-qr", "dense-kkt"):
            row.append(measure(kit, n, method, 1)[1] if n in sizes else "")
        row += [line["max_zone_dofs"], line["max_zone_contacts"], PAPER_QR.get(n, ""), PAPER_KKT.get(n, "")]
        rows.append(row)
    kit.table("table2", ["bricks", "sparse: backward s/step", "dense-qr", "dense-kkt", "unknowns", "contacts", "paper, QR",
                         "paper, without"], rows)
    small = rows[:len(sizes)]
    lines = {"sparse": ([r[0] for r in rows], [r[1] for r in rows]),
             "dense-qr": (sizes, [r[2] for r in small]), "dense-kkt": (sizes, [r[3] for r in small])}
    if not kit.quick:
        lines["paper, QR"] = (sizes, [r[6] for r in small])
        lines["paper, without"] = (sizes, [r[7] for r in small])
    kit.plot("table2", lines, "bricks", "backward, s per step", True, "one zone, three ways back")
    n, sparse, qr, kkt, unknowns, contacts = small[-1][:6]
    kit.row(f"{n} bricks are one zone", f"{unknowns} unknowns, {contacts} contacts", unknowns == 6 * n)
    kit.row(f"sparse, {n} bricks", f"{1e3 * sparse:.3g} ms/step", None if kit.quick else PAPER_QR[n] / sparse >= 100,
            paper=f"{PAPER_QR[n]} s" if n in PAPER_QR else "", released="0.124 s" if n == 300 else "")
    kit.row("dense-kkt over sparse", f"{kkt / sparse:.3g} times", None if kit.quick else kkt / sparse >= 100,
            paper=f"{PAPER_KKT[n] / PAPER_QR[n]:.0f} times (over QR)" if n in PAPER_KKT else "")
    kit.row("dense-qr over sparse", f"{qr / sparse:.3g} times", None if kit.quick else qr / sparse >= 20)
    s = slope([r[0] for r in rows], [r[1] for r in rows])
    kit.row("log-log slope of sparse", f"{s:.2f}", None if kit.quick else s <= 1.4)
    for method, column, paper in (("dense-qr", 2, PAPER_QR), ("dense-kkt", 3, PAPER_KKT)):
        kit.row(f"log-log slope of {method}", f"{slope(sizes, [r[column] for r in small]):.2f}",
                paper=f"{slope(list(paper), list(paper.values())):.2f}{' (QR)' if column == 2 else ' (without)'}")
    kit.note("Processor seconds of one thread; sparse: the least of three runs of 25 steps; dense: one run of 2 steps.")
