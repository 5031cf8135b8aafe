#!/bin/sh
# The shipped inverse problems are solved by carom optimize as it comes, and the scene it writes
# does what was asked for.
. tests/kit.sh

# solve NAME ITERATIONS CHECK: optimises examples/NAME.json within so many iterations. CHECK is
# Python that sees r (what optimize says), end (the bodies after a run of the scene found) and value
# (of a parameter by its name), and has to be true.
solve() {
    "$carom" optimize "examples/$1.json" --iterations "$2" --out "$room/$1.json" --json \
        >"$room/said" 2>"$room/error" &&
        "$carom" run "$room/$1.json" --json >"$room/ran" 2>>"$room/error" &&
        python3 - "$room/said" "$room/ran" "$3" <<'CHECK' || {
import json, sys
from math import hypot
r, ran = (json.load(open(path)) for path in sys.argv[1:3])
end = ran["final"]
value = {p["name"]: p["value"] for p in r["parameters"]}
print("%-10s %s in %d iterations, %d runs, %.1f s: objective %.3g -> %.3g" % (
    r["scene"].split("/")[-1][:-5], r["end"], r["iterations"], r["evaluations"], r["seconds"],
    r["objective_start"], r["objective_end"]))
if not eval("(" + sys.argv[3] + ")"):
    print("  not so:", sys.argv[3], value, end)
    sys.exit(1)
CHECK
            cat "$room/error"
            fail "examples/$1.json is solved"
        }
}

# the mass that gives the momentum
solve two_cubes 10 'abs(value["first.mass"][0] - 4) < 1e-6'
# at the place, a centimetre or two off for want of iterations
solve marble 20 'hypot(end["marble"]["position"][0] - 0.2, end["marble"]["position"][1] - 0.15) < 0.02
    and r["objective_end"] < 0.1 * r["objective_start"]'
# at the target, and behind the wall
solve throw 100 'max(abs(a - b) for a, b in zip(end["box"]["position"], [1.5, 0.2, 0.35])) < 1e-6'
# the cloth that was recorded
solve curtain 100 'abs(value["strip.stretch"][0] - 40) < 1e-4 and
    abs(value["strip.bend"][0] - 1e-3) < 1e-8'
# flat: half its thickness above the ground, at rest
solve domino 100 'r["objective_end"] < 1e-9 and abs(end["domino"]["position"][2] - 0.01) < 1e-3
    and max(map(abs, end["domino"]["angular_velocity"])) < 1e-6'
finish "all are solved"
