#!/bin/sh
# Drives carom grad, gradcheck and optimize from outside: what they print and how they end.
. tests/kit.sh

cat >"$room/throw.json" <<'SCENE'
{"carom": 1, "world": {"dt": 0.01, "duration": 0.5},
 "bodies": [{"name": "ball", "sphere": {"radius": 0.1}, "velocity": [1, 0, 2], "mass": 2}],
 "objective": {"terms": [{"what": "position", "of": "ball", "target": [2, 1, 0]}]},
 "parameters": [{"of": "ball", "what": "velocity", "max": [10, 1.5, 10]},
                {"of": "ball", "what": "forces", "min": 0, "max": 0}, {"what": "gravity"}]}
SCENE
cat >"$room/plain.json" <<'SCENE'
{"carom": 1, "bodies": [{"name": "ball", "sphere": {"radius": 0.1}}]}
SCENE
cat >"$room/aim.json" <<'SCENE'
{"carom": 1, "world": {"dt": 0.01, "duration": 0.5},
 "bodies": [{"name": "ball", "sphere": {"radius": 0.1}, "velocity": [1, 0, 2]}],
 "objective": {"terms": [{"what": "position", "of": "ball", "target": [2, 1, 0.5]}]},
 "parameters": [{"of": "ball", "what": "velocity"}]}
SCENE

cat >"$room/floor.json" <<'SCENE'
{"carom": 1, "bodies": [{"name": "floor", "type": "fixed", "sphere": {"radius": 1}}],
 "objective": {"terms": [{"what": "contact_force", "of": "floor"}]}}
SCENE

expect 0 '"objective"' grad "$room/throw.json" --json
for key in parameters gradient forward_s backward_s tape_bytes; do
    expect 0 "\"$key\"" grad "$room/throw.json" --json
done
for key in max_relative_error contact_switches weakly_active count gradient; do
    expect 0 "\"$key\"" gradcheck "$room/throw.json" --json --most 4
done
for key in iterations objective_start objective_end parameters; do
    expect 0 "\"$key\"" optimize "$room/aim.json" --json
done
expect 0 'ball.velocity' grad "$room/throw.json"
expect 0 'good' gradcheck "$room/throw.json" --most 4
expect 1 'off by' gradcheck "$room/throw.json" --most 4 --tolerance 0
expect 0 'objective 4.63' grad "$room/throw.json" --steps 10 --tape-memory 0.01
expect 2 'no objective' grad "$room/plain.json"
expect 2 'lists no parameters' gradcheck "$room/plain.json" --set 'objective={"terms":[{"what":"energy"}]}'
expect 2 '--method is "newton"' optimize "$room/aim.json" --method newton
expect 2 'contact force on "floor"' grad "$room/floor.json"

# A tape with little memory: the same bits within it, and no more than twice the steps again.
"$carom" grad examples/marble.json --steps 100 --json >"$room/whole.json" &&
    "$carom" grad examples/marble.json --steps 100 --tape-memory 0.4 --json >"$room/small.json" &&
    python3 - "$room/whole.json" "$room/small.json" <<'CHECK' || fail "what Python looks at"
import json, sys
whole, small = (json.load(open(path)) for path in sys.argv[1:])
good = (whole["parameters"] == small["parameters"] and whole["replayed_steps"] == 0
        and whole["tape_bytes"] > 8e5 and small["tape_bytes"] <= 4e5
        and 0 < small["replayed_steps"] <= 200)
if not good:
    print("a small tape:", whole["tape_bytes"], small["tape_bytes"], small["replayed_steps"],
          "the same gradient:", whole["parameters"] == small["parameters"])
sys.exit(not good)
CHECK

# Targets from a recorded motion.
cp examples/curtain.json "$room/curtain.json"
expect 2 'follows the recording "curtain.carom", which is not there' grad "$room/curtain.json"
expect 0 'steps     12' run "$room/curtain.json" --steps 12 --every 4 --out "$room/curtain.carom"
expect 0 'objective 0 over 12' grad "$room/curtain.json" --set world.duration=0.12
expect 0 'objective 0 over 12' grad "$room/curtain.json" --set world.duration=0.12 \
    --set 'objective.terms[0].at=[0.04,0.12]'
expect 2 'no frame at a time' grad "$room/curtain.json" --set 'objective.terms[0].at=[0.05]'
expect 2 'does not last' grad "$room/curtain.json" --set 'objective.terms[0].at=[0.4]'
expect 2 'no such body' grad "$room/curtain.json" --set bodies.strip.name=sail \
    --set 'objective.terms[0].of=sail' --set 'parameters=[]'
expect 2 'another number of nodes' grad "$room/curtain.json" --set bodies.strip.mesh.sheet.nx=5
expect 0 'good' gradcheck examples/curtain.json
expect 2 'follows a recording' grad "$room/curtain.json" --set 'objective.terms[0].what=velocity'

# The number found, in the scene written: running it leads to the target.
for method in lbfgs gd adam; do
    expect 0 'objective' optimize "$room/aim.json" --method $method --iterations 400 \
        --out "$room/found.json" --trajectory "$room/found.trj"
    "$carom" run "$room/found.json" --json >"$room/end.json"
    python3 - "$room/end.json" <<'CHECK' || fail "what Python looks at"
import json, sys
at = json.load(open(sys.argv[1]))["final"]["ball"]["position"]
off = max(abs(a - b) for a, b in zip(at, [2, 1, 0.5]))
if off > 1e-2:
    print("the scene found ends at", at)
sys.exit(off > 1e-2)
CHECK
    [ -s "$room/found.trj" ] || fail "a trajectory is written"
done
finish "grad, gradcheck and optimize hold"
