#!/bin/sh
# carom run, intersect, info, export and bench from outside: what they print, write and refuse.
. tests/kit.sh

# member KEY...: prints a member of the JSON object in $room/out
member() {
    python3 - "$room/out" "$@" <<'PY'
import json, sys
value = json.loads(open(sys.argv[1]).read())
for key in sys.argv[2:]:
    value = value[int(key)] if isinstance(value, list) else value[key]
print(json.dumps(value))
PY
}

# holds EXPRESSION: a Python expression over the JSON object r
holds() {
    python3 - "$room/out" "$1" <<'PY' || fail "$1"
import json, math, sys
lines = open(sys.argv[1]).read().splitlines()
assert len(lines) == 1, lines
r = json.loads(lines[0])
sys.exit(not eval(" ".join(sys.argv[2].split())))
PY
}
command -v python3 >/dev/null || exit 77

cat >"$room/ball.json" <<'END'
{"carom": 1, "world": {"dt": 0.01, "duration": 0.4, "thickness": 0.001, "contact_width": 1e-6},
 "bodies": [
  {"name": "ground", "type": "fixed", "mesh": {"box": {"x": 4, "y": 4, "z": 0.2}},
   "position": [0, 0, -0.1]},
  {"name": "ball", "sphere": {"radius": 0.1}, "position": [0, 0, 0.2], "density": 1000},
  {"name": "other", "sphere": {"radius": 0.1}, "position": [1, 0, 0.15], "density": 1000},
  {"name": "sheet", "type": "cloth", "mesh": {"sheet": {"nx": 3, "ny": 3}},
   "position": [0, 0, 1], "pins": [{"nodes": "corners"}]}]}
END

# what a run tells
expect 0 "contacts  up to" run "$room/ball.json"
expect 0 '"steps": 40' run "$room/ball.json" --json
holds "{'steps', 'dt', 'forward_s', 'peak_rss_bytes', 'max_contacts', 'max_zone_dofs', 'min_gap',
        'energy_start', 'energy_end', 'state_hash', 'final', 'events', 'max_parts',
        'total_iterations', 'retries', 'eased'} <= set(r)"
holds "set(r['final']) == {'ground', 'ball', 'other', 'sheet'}"
holds "set(r['final']['ball']) == {'position', 'quaternion', 'velocity', 'angular_velocity'}"
holds "len(r['final']['sheet']['centroid']) == 3"
holds "abs(r['final']['ball']['position'][2] - 0.102) < 0.0011" # it rests on the ground
holds "r['max_contacts'] >= 2 and -1e-6 < r['min_gap'] < 1e-3"
holds "r['energy_end'] < r['energy_start'] and r['peak_rss_bytes'] > 1e5 and r['error'] is None"
holds "len(r['state_hash']) == 16 and int(r['state_hash'], 16) >= 0"
hash=$(member state_hash)

# the same bits whatever the number of threads
for threads in 1 2 7; do
    expect 0 "$hash" run "$room/ball.json" --json --threads $threads
done

# how long, how fine, and changes of the scene
expect 0 '"steps": 7' run "$room/ball.json" --json --steps 7
expect 0 '"steps": 0' run "$room/ball.json" --json --steps 0
holds "r['energy_start'] == r['energy_end'] and r['min_gap'] is None"
expect 0 '"steps": 20' run "$room/ball.json" --json --seconds 0.2
expect 0 '"steps": 40' run "$room/ball.json" --json --dt 0.005 --seconds=0.2
holds "r['dt'] == 0.005"
expect 0 '"steps": 1,' run "$room/ball.json" --json --steps 1 --set world.gravity=[0,0,0] \
    --set 'bodies.ball.velocity=[1, 0, 0]'
holds "r['final']['ball']['velocity'] == [1, 0, 0]"
holds "abs(r['final']['ball']['position'][0] - 0.01) < 1e-15"

# what is refused
expect 2 "an argument is missing" run
expect 2 "cannot both be given" run "$room/ball.json" --steps 1 --seconds 1
expect 2 "--steps is \"many\"" run "$room/ball.json" --steps many
expect 2 "--steps is \"1.5\"; it has to be a whole number" run "$room/ball.json" --steps 1.5
expect 2 "--threads is \"0\"" run "$room/ball.json" --threads 0
expect 2 "--dt is \"-1\"" run "$room/ball.json" --dt -1
expect 2 "--every is \"0\"" run "$room/ball.json" --every 0
expect 2 "it has to be PATH=VALUE" run "$room/ball.json" --set world.dt
expect 2 "bodies.bal" run "$room/ball.json" --set bodies.bal.mass=1
expect 2 "unknown option" run "$room/ball.json" --jsno
expect 2 "none.json" run "$room/none.json"
echo '{"carom": 1, "bodies": [{"mass": "heavy"}]}' >"$room/bad.json"
expect 2 "bad.json:1" run "$room/bad.json"
expect 0 "usage: carom run" run --help

# trajectories
expect 0 "run.trj: 41 frames" run "$room/ball.json" --out "$room/run.trj"
[ -e "$room/run.trj.part" ] && fail "the preliminary file was left behind"
expect 0 "0 of 41 frames intersect" intersect "$room/run.trj"
expect 0 '"intersecting_frames": 0' intersect "$room/run.trj" --json
holds "r['frames'] == 41 and 0.0009 < r['min_distance'] < 0.0021 and r['first'] is None"
expect 0 "41, every 1 steps" info "$room/run.trj"
expect 0 '"kind": "trajectory"' info "$room/run.trj" --json
holds "r['end'] == 'whole' and r['last_step'] == 40 and '\"' + r['state_hash'] + '\"' == '$hash'"
holds "[b['name'] for b in r['bodies']] == ['ground', 'ball', 'other', 'sheet']"
expect 0 "run.trj: 7 frames" run "$room/ball.json" --out "$room/run.trj" --every 7 # 0 7 ... 35 40
expect 0 "steps 0 to 40" info "$room/run.trj"

# a file that was cut off, and one that is none
head -c 12000 "$room/run.trj" >"$room/cut.trj"
expect 0 "the frames before it are good" info "$room/cut.trj"
expect 0 "not whole" intersect "$room/cut.trj"
head -c 100 "$room/run.trj" >"$room/short.trj"
expect 2 "it ends before its first frame" info "$room/short.trj"
expect 2 "does not begin with" intersect "$room/ball.json"
expect 2 "cannot be opened" intersect "$room/none.trj"
expect 2 "an argument is missing" intersect

# an old file stays when the new one cannot be written; a full disk and a closed pipe are told
cp "$room/run.trj" "$room/old.trj"
expect 2 "bad.json" run "$room/bad.json" --out "$room/old.trj"
cmp -s "$room/run.trj" "$room/old.trj" || fail "a refused run touched the old file"
expect 1 "cannot be written: No such file" run "$room/ball.json" --out "$room/no/such/run.trj"
if [ -e /dev/full ]; then
    expect 1 "/dev/full cannot be written: No space left" run "$room/ball.json" --out /dev/full
    "$carom" run "$room/ball.json" --steps 1 >/dev/full 2>"$room/err" && fail "stdout was full"
    grep -q "could not be written" "$room/err" || fail "a full stdout: $(cat "$room/err")"
fi
# what is no file is written to, not replaced; a link stays one
mkfifo "$room/line"
for command in "plot $room/run.trj" "export $room/run.trj --format csv"; do
    timeout 20 cat "$room/line" >"$room/through" &
    reader=$!
    # shellcheck disable=SC2086
    "$carom" $command --out "$room/line" >/dev/null 2>&1
    [ -p "$room/line" ] || fail "$command replaced a pipe"
    wait $reader
    [ -s "$room/through" ] || fail "nothing came through the pipe: $command"
done
: >"$room/real.svg"
ln -s real.svg "$room/link.svg"
"$carom" plot "$room/run.trj" --out "$room/link.svg" >/dev/null || fail "a link was refused"
[ -L "$room/link.svg" ] && [ -s "$room/real.svg" ] || fail "a link was replaced"
expect 1 "has no name" run "$room/ball.json" --out ""
# a file that was cut is used as far as it goes, and that is said
size=$(wc -c <"$room/run.trj")
head -c $((size - 100)) "$room/run.trj" >"$room/cut.trj"
for command in "plot $room/cut.trj --out $room/cut.svg" "export $room/cut.trj --format csv --out $room/cut.csv"; do
    # shellcheck disable=SC2086
    "$carom" $command >/dev/null 2>"$room/err" || fail "$command"
    grep -q "frames before it" "$room/err" || fail "$command did not say that the file was cut"
done
mkfifo "$room/pipe"
head -c 10 "$room/pipe" >/dev/null &
reader=$!
expect 1 "Broken pipe" run "$room/ball.json" --set world.duration=10 --out "$room/pipe"
kill $reader 2>/dev/null # it would wait for ever had the run not opened the pipe
wait $reader

# stopped by hand: what is there is kept
"$carom" run "$room/ball.json" --steps 1000000000 --out "$room/stop.trj" >"$room/out" 2>"$room/err" &
job=$!
tries=0
while [ ! -s "$room/stop.trj.part" ] && [ $tries -lt 100 ]; do
    sleep 0.05
    tries=$((tries + 1))
done
sleep 0.2
kill -TERM $job
wait $job
[ $? = 1 ] || fail "a stopped run should end with status 1"
grep -q "stopped by hand" "$room/err" || fail "a stopped run: $(cat "$room/err")"
expect 0 "the run was stopped" info "$room/stop.trj"

# a step that cannot be taken: a message, status 1, the file up to there
expect 1 '"error": "' run "$room/ball.json" --json --out "$room/failed.trj" \
    --set world.max_iterations=1 --set world.max_halvings=0
holds "0 <= r['steps'] < 40 and r['out'].endswith('failed.trj')"
expect 0 "the run was stopped" info "$room/failed.trj"

# a file with bodies in each other: the judge has to see it
python3 - "$room/run.trj" "$room/crossed.trj" <<'PY'
import struct, sys, zlib
data = bytearray(open(sys.argv[1], "rb").read())
at, frames = 16, 0
while at < len(data):
    kind, size = data[at:at + 4], struct.unpack_from("<Q", data, at + 8)[0]
    if kind == b"FRAM":
        frames += 1
        if frames == 3: # the ball's centre goes to where the other one is
            t = at + 16 + 112
            data[t + 24:t + 48] = data[t + 48:t + 72]
            crc = zlib.crc32(data[at + 8:at + 16 + size], zlib.crc32(kind))
            struct.pack_into("<I", data, at + 4, crc)
    at += 16 + size
open(sys.argv[2], "wb").write(data)
PY
expect 1 "first: frame 2, step 14" intersect "$room/crossed.trj"
expect 1 '"intersecting_frames": 1' intersect "$room/crossed.trj" --json
holds "r['first']['bodies'] == ['ball', 'other'] and r['min_distance'] <= 0"

# scenes told
expect 0 "ball.json: a scene" info "$room/ball.json"
expect 0 '"kind": "scene"' info "$room/ball.json" --json
holds "[b['type'] for b in r['bodies']] == ['fixed', 'rigid', 'rigid', 'cloth']"
holds "abs(r['bodies'][1]['mass'] - 4000 / 3 * math.pi * 0.001) < 1e-12"
holds "r['bodies'][3]['pinned'] == 4"
expect 2 "--repair is for meshes" info "$room/ball.json" --repair

# export
expect 0 "frame,step,time,body,x,y,z" export "$room/run.trj" --format csv
[ "$(wc -l <"$room/out")" = 29 ] || fail "7 frames of 4 bodies and a head are 29 lines"
"$carom" export "$room/run.trj" --format csv --table contacts --out "$room/contacts.csv" ||
    fail "a table of contacts"
grep -q '"ground","ball"' "$room/contacts.csv" || fail "contacts.csv has no contact of the ball"
expect 0 "kinetic,gravity" export "$room/run.trj" --format csv --table energies
expect 0 "3 files" export "$room/run.trj" --format obj --out "$room/frames" --every 4
expect 0 "components         4" info "$room/frames/frame_000006.obj"
expect 2 "it has to be gltf, obj or csv" export "$room/run.trj" --format gif
expect 2 "need --out FOLDER" export "$room/run.trj" --format obj
expect 2 "--table is" export "$room/run.trj" --format csv --table all
expect 1 "No such file" export "$room/run.trj" --format csv --out "$room/no/such.csv"
expect 1 "No such file" export "$room/run.trj" --format obj --out "$room/no/such"

# bench
expect 0 '"bench": "falling-cubes"' bench falling-cubes --n 3 --steps 1 --json
holds "{'bench', 'n', 'method', 'steps', 'forward_s_per_step', 'backward_s_per_step',
        'peak_rss_bytes', 'tape_bytes_per_step', 'zones', 'max_zone_dofs',
        'max_zone_contacts'} <= set(r)
        and r['backward_s_per_step'] > 0 and r['tape_bytes_per_step'] > 0"
expect 0 '"backward_s_per_step": null' bench falling-cubes --n 3 --steps 1 --forward --json
expect 0 '"zones": 1,' bench stacked-cubes --n 6 --steps 3 --json
holds "r['max_zone_dofs'] == 36 and r['max_zone_contacts'] > 6"
expect 0 '"zones": 1,' bench stacked-cubes --n 7 --steps 3 --json
holds "r['max_zone_dofs'] == 42"
expect 0 "many-objects" bench many-objects --n 4,5 --steps 2
[ "$(wc -l <"$room/out")" = 4 ] || fail "two sizes are two lines below two of a head"
expect 0 '"max_zone_dofs": 237' bench sheet-ball --n 9 --steps 4 --json
expect 0 '"n": 3' bench cloth-scale --n 3 --steps 1 --json
"$carom" bench sheet-ball --n 5 --scene >"$room/bench.json"
expect 0 '"steps": 2' run "$room/bench.json" --steps 2 --json
expect 2 "falling-cubes" bench rolling-cubes
expect 2 "whole numbers from 1" bench falling-cubes --n 1,x
expect 2 "--method is" bench falling-cubes --method magic

finish "run, intersect, info, export and bench hold"
