#!/usr/bin/env python3
"""All experiments of the paper, or some, and one report.

    experiments/run.py                 the full runs; results beside each experiment, REPORT.md, REPORT.html
    experiments/run.py --quick         minutes: smaller sizes, results in build/experiments
    experiments/run.py --only 3,11     some of them
"""

import argparse
import datetime
import html
import importlib.util
import json
import subprocess
import sys
import time
import traceback

from kit import HERE, ROOT, Kit, Missing, machine, program, table_text


def load(folder):
    spec = importlib.util.spec_from_file_location(f"experiment_{folder.name[:2]}", folder / "experiment.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def section(kit, module, seconds):
    """The experiment's part of the report, as kept in result.json."""
    return dict(name=kit.name, title=module.TITLE, paper=module.PAPER, rows=kit.rows, notes=kit.notes,
                pictures=kit.pictures, tables=[[n, h, r] for n, h, r in kit.tables], seconds=round(seconds, 1),
                seed=kit.seed, date=datetime.date.today().isoformat(), machine=machine(),
                version=subprocess.run([program(), "--version"], capture_output=True, text=True).stdout.strip())


def report(sections):
    holds = [row["holds"] for part in sections for row in part["rows"] if row["holds"] is not None]
    text = ["# The paper's experiments, run with carom", "",
            f"{sum(map(bool, holds))} of {len(holds)} claims hold. Written by `make experiments`; every table is beside "
            "it as CSV. Columns: the paper's figure, that of the authors' released program on a machine like "
            "this one, and ours. Where the last column says no, the text below says why.", ""]
    for part in sections:
        text += [f"## {part['name']}: {part['title']}", "", part["paper"], "",
                 table_text(["", "paper", "released program", "carom", "holds"],
                            [[r["what"], r["paper"], r["released"], r["ours"],
                              {None: "", True: "yes", False: "no"}[r["holds"]]] for r in part["rows"]]), ""]
        text += [f"{note}\n" for note in part["notes"]]
        text += [f"![{picture}]({part['name']}/{picture})\n" for picture in part["pictures"]]
        for name, header, rows in part["tables"]:
            if len(rows) <= 16:
                text += [f"{name}:\n", table_text(header, rows), ""]
            else:
                text += [f"{name}: [{name}.csv]({part['name']}/{name}.csv), {len(rows)} rows.", ""]
        text += [f"{part['version']}, {part['machine']}, {part['date']}, seed {part['seed']}, {part['seconds']:g} s.", ""]
    return "\n".join(text)


def page(markdown):
    """The same as HTML: headings, tables, pictures and paragraphs are all there is in it."""
    out, table = [], []

    def flush():
        if table:
            rows = [[html.escape(c.strip()) for c in line.strip("|").split("|")] for line in table if not line.startswith("|---")]
            out.append("<table>" + "".join(
                "<tr>" + "".join(f"<{'td' if i else 'th'}>{c}</{'td' if i else 'th'}>" for c in row) + "</tr>"
                for i, row in enumerate(rows)) + "</table>")
            table.clear()

    for line in markdown.splitlines():
        if line.startswith("|"):
            table.append(line)
            continue
        flush()
        if line.startswith("#"):
            level = len(line) - len(line.lstrip("#"))
            out.append(f"<h{level}>{html.escape(line.lstrip('# '))}</h{level}>")
        elif line.startswith("!["):
            out.append(f'<img src="{html.escape(line.split("](")[1].rstrip(")"))}" alt="">')
        elif line:
            out.append(f"<p>{html.escape(line)}</p>")
    flush()
    style = ("body{font:15px/1.5 sans-serif;max-width:60em;margin:2em auto;padding:0 1em;color:#222}"
             "table{border-collapse:collapse}td,th{border:1px solid #ddd;padding:.3em .6em;text-align:left}img{max-width:100%}")
    return f'<!doctype html><meta charset="utf-8"><title>carom: experiments</title><style>{style}</style>' + "\n".join(out)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="", help="numbers, with commas")
    parser.add_argument("--seeds", type=int, help="how often what hangs on chance is done (5, quick 1)")
    parser.add_argument("--baseline-seeds", default="", help="of DDPG in 9 and 10, with commas (the same as ours)")
    parser.add_argument("--resume", action="store_true", help="trainings that were kept with the same settings are not done again")
    parser.add_argument("--report", action="store_true", help="only write the report of what was run before")
    options = parser.parse_args()
    sys.path.insert(0, str(HERE))
    wanted = {int(n) for n in options.only.split(",") if n}
    base = ROOT / "build" / "experiments" if options.quick else HERE
    good = True
    folders = sorted(f for f in HERE.iterdir() if (f / "experiment.py").exists())
    for folder in folders if not options.report else []:
        if wanted and int(folder.name[:2]) not in wanted:
            continue
        module = load(folder)
        print(f"{folder.name}: {module.TITLE}", flush=True)
        kit = Kit(folder.name, base / folder.name, options.quick, seeds=options.seeds,
                  baseline_seeds=[int(n) for n in options.baseline_seeds.split(",") if n], resume=options.resume)
        try:
            module.run(kit)
        except Missing as missing:
            kit.note(f"not run: {missing}")
        except Exception:
            traceback.print_exc()
            kit.row("the experiment ran to its end", "no", False)
        good &= all(row["holds"] is not False for row in kit.rows)
        (kit.out / "result.json").write_text(json.dumps(section(kit, module, time.time() - kit.began), indent=1))
    results = [base / folder.name / "result.json" for folder in folders]
    text = report([json.loads(path.read_text()) for path in results if path.exists()])
    (base / "REPORT.md").write_text(text)
    (base / "REPORT.html").write_text(page(text))
    print(f"report: {base / 'REPORT.md'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
