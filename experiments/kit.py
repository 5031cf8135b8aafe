"""What every experiment shares: running the program, tables, curves, and the rows of the report.

Only the standard library is needed here. An experiment is a module `experiment.py` in a folder of
its own with `TITLE`, `PAPER` (what the paper says) and `run(kit)`; kit.quick asks for minutes, not hours.
"""

import csv
import html
import json
import math
import os
import platform
import shutil
import subprocess
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
SERIES = ["#3b6fb6", "#c8553d", "#5b8c5a", "#8a6bb1", "#b8860b", "#4a4a4a", "#00a3a3", "#d46aa0"]


def program():
    """The carom program: CAROM_PROGRAM, else the release build."""
    path = Path(os.environ.get("CAROM_PROGRAM", ROOT / "build" / "carom"))
    if not path.exists():
        raise SystemExit(f"there is no {path}: run `make build` first, or set CAROM_PROGRAM")
    return str(path)


def machine():
    """One line about where the figures come from."""
    model = platform.processor() or platform.machine()
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.split(":", 1)[1].strip()
                break
    except OSError:
        pass
    return f"{model}, {os.cpu_count()} cores, {platform.system()}"


def blas():
    """Which BLAS the dense methods that are compared with find: the reference is several times slower than a tuned one."""
    ldconfig = shutil.which("ldconfig", path=os.environ.get("PATH", "") + ":/sbin:/usr/sbin")
    libraries = subprocess.run([ldconfig, "-p"], capture_output=True, text=True).stdout if ldconfig else ""
    for line in libraries.splitlines():
        if line.strip().startswith("libblas.so.3 "):
            path = os.path.realpath(line.split("=>")[-1].strip()).lower()
            tuned = [name for name in ("OpenBLAS", "BLIS", "MKL", "ATLAS") if name.lower() in path]
            return tuned[0] if tuned else "the reference BLAS, which is several times slower than a tuned one"
    return "a BLAS of unknown make"


def slope(sizes, values):
    """Of a straight line through log(values) over log(sizes)."""
    x = [math.log(s) for s in sizes]
    y = [math.log(v) for v in values]
    mx, my = sum(x) / len(x), sum(y) / len(y)
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


def mean_sd(values):
    m = sum(values) / len(values)
    return m, math.sqrt(sum((v - m) ** 2 for v in values) / max(1, len(values) - 1))


class Missing(Exception):
    """A baseline or a mesh that is not to be had here: reported as not run."""


class Kit:
    """Handed to an experiment; collects what the report shows."""

    def __init__(self, name, out, quick=False, seed=0, seeds=None, baseline_seeds=None, resume=False):
        self.name, self.quick, self.seed, self.resume = name, quick, seed, resume
        self.seeds = seeds or (1 if quick else 5)  # how often what hangs on chance is done; the paper's is 5
        self.baseline_seeds = baseline_seeds or list(range(self.seeds))  # of a learner that ours is compared with
        self.out = Path(out)
        self.out.mkdir(parents=True, exist_ok=True)
        self.rows, self.notes, self.pictures, self.tables = [], [], [], []
        self.began = time.time()

    # ---- what is shown

    def row(self, what, ours, holds=None, paper="", released=""):
        """One line of the report. holds: None when there is nothing to hold."""
        self.rows.append(dict(what=what, paper=paper, released=released, ours=ours, holds=None if holds is None else bool(holds)))
        mark = {None: " ", True: "+", False: "-"}[self.rows[-1]["holds"]]
        print(f"  {mark} {what}: {ours}" + (f"   (paper: {paper})" if paper else ""), flush=True)

    def note(self, text):
        self.notes.append(text)
        print(f"    {text}", flush=True)

    def table(self, name, header, rows):
        path = self.out / f"{name}.csv"
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(header)
            writer.writerows(rows)
        self.tables.append((name, header, rows))

    def plot(self, name, lines, x="", y="", log=False, title="", legend="right"):
        """lines: {label: (xs, ys)} or {label: (xs, ys, spread)}; an SVG beside the table."""
        path = self.out / f"{name}.svg"
        path.write_text(svg(lines, x, y, log, title, legend=legend))
        self.pictures.append(path.name)

    # ---- the program

    def carom(self, *arguments, check=True, timeout=None):
        """Runs `carom ...  --json`; the objects it prints."""
        command = [program(), *map(str, arguments), "--json"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
        if check and done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]

    def scene(self, name, description):
        """Writes a scene file among the results; its path."""
        path = self.out / f"{name}.json"
        path.write_text(json.dumps(description, indent=1))
        return str(path)

    def path(self, name):
        return str(self.out / name)

    def render(self, trajectory, frames, picture, *options):
        """A sheet of frames, if a browser is here."""
        done = subprocess.run(
            [program(), "render", trajectory, "--frames", ",".join(map(str, frames)), "--out", self.path(picture), *options],
            capture_output=True, text=True)
        if done.returncode == 0:
            self.pictures.append(picture)
        else:
            self.note(f"no picture: {done.stderr.strip().splitlines()[-1] if done.stderr.strip() else 'render failed'}")


def table_text(header, rows):
    def cell(v):
        return f"{v:.4g}" if isinstance(v, float) else str(v)
    lines = ["| " + " | ".join(map(str, header)) + " |", "|" + "---|" * len(header)]
    lines += ["| " + " | ".join(cell(v) for v in row) + " |" for row in rows]
    return "\n".join(lines)


# ---- curves

def ticks(low, high, log):
    if log:
        return [10.0 ** k for k in range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)]
    span = (high - low) or 1.0
    step = 10 ** math.floor(math.log10(span / 4))
    step *= min((1, 2, 5, 10), key=lambda m: abs(span / (m * step) - 5))
    first = math.ceil(low / step - 1e-9)
    return [k * step for k in range(first, int(high / step + 1e-9) + 1)]


def svg(lines, x_label, y_label, log, title, width=640, height=400, legend="right"):
    left, right, top, bottom = 70, 20, 36, 50
    key = left + 12 if legend == "left" else width - 210
    clean = {}
    for label, line in lines.items():
        spread = line[2] if len(line) > 2 else [0.0] * len(line[0])
        kept = [(a, b, s) for a, b, s in zip(line[0], line[1], spread) if not log or (a > 0 and b > 0)]
        clean[label] = [list(column) for column in zip(*kept)] if kept else [[], [], []]
    xs = [v for line in clean.values() for v in line[0]] or [0.0, 1.0]
    ys = [b + k * s for line in clean.values() for b, s in zip(line[1], line[2]) for k in (-1, 1)] or [0.0, 1.0]
    if log:
        ys = [v for v in ys if v > 0] or [1.0]
    x0, x1, y0, y1 = min(xs), max(xs), min(ys), max(ys)
    if not log:
        y0 = min(0.0, y0)
    x1, y1 = (x1 if x1 > x0 else x0 + 1), (y1 if y1 > y0 else y0 + 1)
    f = math.log10 if log else float

    def px(v):
        return left + (f(v) - f(x0)) / (f(x1) - f(x0)) * (width - left - right)

    def py(v):
        v = max(v, y0) if log else v
        return height - bottom - (f(v) - f(y0)) / (f(y1) - f(y0)) * (height - top - bottom)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
           f'font-size="12"><rect width="{width}" height="{height}" fill="#fff"/>',
           f'<text x="{left}" y="22" font-size="14">{html.escape(title)}</text>']
    for v in ticks(x0, x1, log):
        if x0 * (1 - 1e-9) <= v <= x1 * (1 + 1e-9) or not log and x0 <= v <= x1:
            out.append(f'<line x1="{px(v):.1f}" x2="{px(v):.1f}" y1="{top}" y2="{height - bottom}" stroke="#e5e5e5"/>'
                       f'<text x="{px(v):.1f}" y="{height - bottom + 18}" text-anchor="middle">{v:g}</text>')
    for v in ticks(y0, y1, log):
        if y0 <= v <= y1:
            out.append(f'<line x1="{left}" x2="{width - right}" y1="{py(v):.1f}" y2="{py(v):.1f}" stroke="#e5e5e5"/>'
                       f'<text x="{left - 8}" y="{py(v) + 4:.1f}" text-anchor="end">{v:g}</text>')
    for i, (label, (lx, ly, ls)) in enumerate(clean.items()):
        colour = SERIES[i % len(SERIES)]
        if any(ls):
            up = [f"{px(a):.1f},{py(b + s):.1f}" for a, b, s in zip(lx, ly, ls)]
            down = [f"{px(a):.1f},{py(b - s):.1f}" for a, b, s in zip(lx, ly, ls)][::-1]
            out.append(f'<polygon points="{" ".join(up + down)}" fill="{colour}" opacity="0.18"/>')
        points = " ".join(f"{px(a):.1f},{py(b):.1f}" for a, b in zip(lx, ly))
        out.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        if len(lx) <= 12:
            out += [f'<circle cx="{px(a):.1f}" cy="{py(b):.1f}" r="3" fill="{colour}"/>' for a, b in zip(lx, ly)]
        out.append(f'<rect x="{key}" y="{top + 8 + 18 * i}" width="12" height="12" fill="{colour}"/>'
                   f'<text x="{key + 18}" y="{top + 19 + 18 * i}">{html.escape(label)}</text>')
    out.append(f'<text x="{(left + width - right) / 2}" y="{height - 12}" text-anchor="middle">{html.escape(x_label)}</text>'
               f'<text transform="translate(18 {(top + height - bottom) / 2}) rotate(-90)" text-anchor="middle">'
               f'{html.escape(y_label)}</text></svg>')
    return "\n".join(out)
