#!/bin/sh
# Drives carom grad, gradcheck and optimize from outside: what they print and how they end.
set -u
carom=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0

# expect STATUS TEXT COMMAND ARGUMENTS...: the exit status, and a piece of what was printed
expect() {
    wanted=$1
    text=$2
    shift 2
    "$carom" "$@" >"$dir/out" 2>&1
    status=$?
    if [ "$status" != "$wanted" ] || ! grep -qF -- "$text" "$dir/out"; then
        echo "carom $*: status $status, wanted $wanted and \"$text\":"
        cat "$dir/out"
        bad=1
    fi
}

cat >"$dir/throw.json" <<'SCENE'
{"carom": 1, "world": {"dt": 0.01, "duration": 0.5},
 "bodies": [{"name": "ball", "sphere": {"radius": 0.1}, "velocity": [1, 0, 2], "mass": 2}],
 "objective": {"terms": [{"what": "position", "of": "ball", "target": [2, 1, 0]}]},
 "parameters": [{"of": "ball", "what": "velocity", "max": [10, 1.5, 10]},
                {"of": "ball", "what": "forces", "min": 0, "max": 0}, {"what": "gravity"}]}
SCENE
cat >"$dir/plain.json" <<'SCENE'
{"carom": 1, "bodies": [{"name": "ball", "sphere": {"radius": 0.1}}]}
SCENE
cat >"$dir/aim.json" <<'SCENE'
{"carom": 1, "world": {"dt": 0.01, "duration": 0.5},
 "bodies": [{"name": "ball", "sphere": {"radius": 0.1}, "velocity": [1, 0, 2]}],
 "objective": {"terms": [{"what": "position", "of": "ball", "target": [2, 1, 0.5]}]},
 "parameters": [{"of": "ball", "what": "velocity"}]}
SCENE

cat >"$dir/floor.json" <<'SCENE'
{"carom": 1, "bodies": [{"name": "floor", "type": "fixed", "sphere": {"radius": 1}}],
 "objective": {"terms": [{"what": "contact_force", "of": "floor"}]}}
SCENE

expect 0 '"objective"' grad "$dir/throw.json" --json
for key in parameters gradient forward_s backward_s tape_bytes; do
    expect 0 "\"$key\"" grad "$dir/throw.json" --json
done
for key in max_relative_error contact_switches weakly_active count gradient; do
    expect 0 "\"$key\"" gradcheck "$dir/throw.json" --json --most 4
done
for key in iterations objective_start objective_end parameters; do
    expect 0 "\"$key\"" optimize "$dir/aim.json" --json
done
expect 0 'ball.velocity' grad "$dir/throw.json"
expect 0 'good' gradcheck "$dir/throw.json" --most 4
expect 1 'off by' gradcheck "$dir/throw.json" --most 4 --tolerance 0
expect 0 'objective 4.63' grad "$dir/throw.json" --steps 10 --tape-memory 0.01
expect 2 'no objective' grad "$dir/plain.json"
expect 2 'lists no parameters' gradcheck "$dir/plain.json" --set 'objective={"terms":[{"what":"energy"}]}'
expect 2 '--method is "newton"' optimize "$dir/aim.json" --method newton
expect 2 'contact force on "floor"' grad "$dir/floor.json"

# A tape with little memory: the same bits within it, and no more than twice the steps again.
"$carom" grad examples/marble.json --steps 100 --json >"$dir/whole.json" &&
    "$carom" grad examples/marble.json --steps 100 --tape-memory 0.4 --json >"$dir/small.json" &&
    python3 - "$dir/whole.json" "$dir/small.json" <<'CHECK' || bad=1
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
cp examples/curtain.json "$dir/curtain.json"
expect 2 'follows the recording "curtain.carom", which is not there' grad "$dir/curtain.json"
expect 0 'steps     12' run "$dir/curtain.json" --steps 12 --every 4 --out "$dir/curtain.carom"
expect 0 'objective 0 over 12' grad "$dir/curtain.json" --set world.duration=0.12
expect 0 'objective 0 over 12' grad "$dir/curtain.json" --set world.duration=0.12 \
    --set 'objective.terms[0].at=[0.04,0.12]'
expect 2 'no frame at a time' grad "$dir/curtain.json" --set 'objective.terms[0].at=[0.05]'
expect 2 'does not last' grad "$dir/curtain.json" --set 'objective.terms[0].at=[0.4]'
expect 2 'no such body' grad "$dir/curtain.json" --set bodies.strip.name=sail \
    --set 'objective.terms[0].of=sail' --set 'parameters=[]'
expect 2 'another number of nodes' grad "$dir/curtain.json" --set bodies.strip.mesh.sheet.nx=5
expect 0 'good' gradcheck examples/curtain.json
expect 2 'follows a recording' grad "$dir/curtain.json" --set 'objective.terms[0].what=velocity'

# The number found, in the scene written: running it leads to the target.
for method in lbfgs gd adam; do
    expect 0 'objective' optimize "$dir/aim.json" --method $method --iterations 400 \
        --out "$dir/found.json" --trajectory "$dir/found.trj"
    "$carom" run "$dir/found.json" --json >"$dir/end.json"
    python3 - "$dir/end.json" <<'CHECK' || bad=1
import json, sys
at = json.load(open(sys.argv[1]))["final"]["ball"]["position"]
off = max(abs(a - b) for a, b in zip(at, [2, 1, 0.5]))
if off > 1e-2:
    print("the scene found ends at", at)
sys.exit(off > 1e-2)
CHECK
    [ -s "$dir/found.trj" ] || { echo "no trajectory"; bad=1; }
done
exit $bad
