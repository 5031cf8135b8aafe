#!/bin/sh
# What happens to a file when the program is killed, the disk is full, the folder is read-only, a
# file may not grow or another program writes the same one; and that signals end the other commands.
. tests/kit.sh
trap 'umount "$room/small" 2>/dev/null; rm -rf "$room"' EXIT
command -v python3 >/dev/null || exit 77

# member KEY FILE: of the JSON object in FILE
member() {
    python3 -c 'import json, sys; print(json.load(open(sys.argv[2]))[sys.argv[1]])' "$1" "$2"
}
# told STATUS TEXT: how the last command ended, and what it said to $room/err
told() {
    [ "$status" = "$1" ] || fail "$what: status $status, expected $1: $(head -n 2 "$room/err")"
    grep -qF -- "$2" "$room/err" || fail "$what: \"$2\" is not in: $(head -n 2 "$room/err")"
}
# until_there FILE: waits for it to have something in it
until_there() {
    tries=0
    while [ ! -s "$1" ] && [ $tries -lt 400 ]; do
        sleep 0.02
        tries=$((tries + 1))
    done
}
# same_run FILE: its last frame has the bits of an undisturbed run up to there, and none intersects
same_run() {
    "$carom" info "$1" --json >"$room/info" 2>"$room/err" || {
        fail "$what: the file cannot be read: $(cat "$room/err")"
        return
    }
    last=$(member last_step "$room/info")
    "$carom" run "$room/ball.json" --json --threads 1 --steps "$last" >"$room/straight"
    [ "$(member state_hash "$room/info")" = "$(member state_hash "$room/straight")" ] ||
        fail "$what: step $last of the file is not what a run gives"
    "$carom" intersect "$1" >/dev/null || fail "$what: frames intersect"
}

cat >"$room/ball.json" <<'END'
{"carom": 1, "world": {"dt": 0.01, "duration": 1e6}, "bodies": [
  {"name": "ground", "type": "fixed", "mesh": {"box": {"x": 4, "y": 4, "z": 0.2}},
   "position": [0, 0, -0.1]},
  {"name": "box", "mesh": {"box": {"x": 0.2, "y": 0.2, "z": 0.1}}, "position": [0, 0, 0.2],
   "rotation": [0.3, 0.2, 0]},
  {"name": "sheet", "type": "cloth", "mesh": {"sheet": {"nx": 4, "ny": 4}},
   "position": [0, 0, 1], "pins": [{"nodes": "corners"}]}],
 "objective": {"terms": [{"what": "position", "of": "box"}]},
 "parameters": [{"of": "box", "what": "velocity"}]}
END

# killed at a moment of chance
for round in 1 2 3 4; do
    what="killed, round $round"
    "$carom" run "$room/ball.json" --threads 1 --out "$room/kill.carom" >/dev/null 2>&1 &
    job=$!
    until_there "$room/kill.carom.part"
    sleep "0.$(od -An -N1 -tu1 /dev/urandom | awk '{printf "%03d", 100 + $1 * 2}')"
    kill -9 $job
    wait $job 2>/dev/null
    [ -e "$room/kill.carom" ] && fail "$what: an unfinished file has the name of a whole one"
    same_run "$room/kill.carom.part"
done

# read while it is written; a second run to the same file is refused and does not disturb the first
what="two runs on one file"
"$carom" run "$room/ball.json" --threads 1 --steps 400 --out "$room/two.carom" >/dev/null 2>&1 &
job=$!
until_there "$room/two.carom.part"
"$carom" info "$room/two.carom.part" >"$room/out" 2>"$room/err" ||
    grep -q "before its first frame" "$room/err" || fail "a file being written can be looked at"
if kill -0 $job 2>/dev/null && [ -e "$room/two.carom.part" ]; then
    "$carom" run "$room/ball.json" --steps 2 --out "$room/two.carom" >/dev/null 2>"$room/err"
    status=$?
    # the first may have ended in the meantime; then the second one is free to run
    [ $status = 0 ] || told 1 "is being written by another run"
    second=$status
else
    second=1
fi
wait $job || fail "the first of two runs ended badly"
[ "$second" = 0 ] || [ -e "$room/two.carom" ] || fail "the first of two runs left no file"
same_run "$room/two.carom"

# a file that may not grow any more
what="a limit on the size of files"
(
    ulimit -f 64 # blocks of 512 or 1024 bytes
    exec "$carom" run "$room/ball.json" --threads 1 --steps 2000 --out "$room/limit.carom"
) >/dev/null 2>"$room/err"
status=$?
told 1 "cannot be written: File too large; the"
same_run "$room/limit.carom.part"

# a disk that is full
what="a full disk"
mkdir "$room/small"
if mount -t tmpfs -o size=64k none "$room/small" 2>/dev/null; then
    "$carom" run "$room/ball.json" --threads 1 --steps 5 --out "$room/small/run.carom" >/dev/null
    cp "$room/small/run.carom" "$room/old.carom"
    "$carom" run "$room/ball.json" --threads 1 --steps 2000 --out "$room/small/run.carom" \
        >/dev/null 2>"$room/err"
    status=$?
    told 1 "cannot be written: No space left on device; the"
    cmp -s "$room/small/run.carom" "$room/old.carom" || fail "$what: the old file was touched"
    cp "$room/small/run.carom.part" "$room/full.carom"
    same_run "$room/full.carom"
    umount "$room/small"
else
    echo "not looked at: a full disk (no right to mount one)"
fi

# a folder that is read-only; root may write everywhere, so be somebody else
what="a read-only folder"
mkdir "$room/locked"
chmod 755 "$room"
chmod 555 "$room/locked"
as=
if [ "$(id -u)" = 0 ]; then
    as="setpriv --reuid 65534 --regid 65534 --clear-groups"
fi
if $as "$carom" --version >/dev/null 2>&1 && $as test -r "$room/ball.json"; then
    $as "$carom" run "$room/ball.json" --steps 2 --out "$room/locked/run.carom" \
        >/dev/null 2>"$room/err"
    status=$?
    told 1 "cannot be written: Permission denied"
else
    echo "not looked at: a read-only folder (no other user to be)"
fi

# what is no file at all where a mesh or a scene is expected: refused, not waited for
for place in /dev/zero /dev/null "$room"; do
    what="$place as a mesh"
    timeout 20 "$carom" info "$place" >/dev/null 2>"$room/err" </dev/null
    status=$?
    [ $status = 2 ] || [ $status = 1 ] || fail "$what: status $status"
    echo "{\"carom\": 1, \"bodies\": [{\"mesh\": \"$place\"}]}" >"$room/odd.json"
    timeout 20 "$carom" run "$room/odd.json" --steps 1 >/dev/null 2>"$room/err" </dev/null
    status=$?
    [ $status = 2 ] || [ $status = 1 ] || fail "$what, in a scene: status $status"
    timeout 20 "$carom" run "$place" --steps 1 >/dev/null 2>"$room/err" </dev/null
    status=$?
    [ $status = 2 ] || [ $status = 1 ] || fail "$place as a scene: status $status"
done

# a signal ends a gradient and an optimisation, too
for command in grad optimize; do
    for signal in INT TERM; do
        what="$command, $signal"
        # a shell ignores SIGINT for what it starts behind itself
        python3 - "$carom" $command "$room/ball.json" $signal >"$room/out" 2>"$room/err" <<'PY'
import signal, subprocess, sys, time
signal.signal(signal.SIGINT, signal.SIG_DFL)
job = subprocess.Popen([sys.argv[1], sys.argv[2], sys.argv[3], "--steps", "1000000"])
time.sleep(2)
job.send_signal(getattr(signal, "SIG" + sys.argv[4]))
try:
    status = job.wait(timeout=30)
except subprocess.TimeoutExpired:
    job.kill()
    status = 99
sys.exit(status if status >= 0 else 98)
PY
        status=$?
        told 1 "stopped by hand"
    done
done

finish "files hold"
