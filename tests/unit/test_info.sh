#!/bin/sh
# Drives carom info from outside: what it prints, what it writes and how it ends.
set -u
carom=$1
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
bad=0

# expect STATUS TEXT ARGUMENTS...: the exit status, and a piece of what was printed
expect() {
    wanted=$1
    text=$2
    shift 2
    "$carom" info "$@" >"$dir/out" 2>&1
    status=$?
    if [ "$status" != "$wanted" ] || ! grep -qF -- "$text" "$dir/out"; then
        echo "carom info $*: status $status, wanted $wanted and \"$text\":"
        cat "$dir/out"
        bad=1
    fi
}

printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >"$dir/good.obj"
expect 0 "closed             yes" "$dir/good.obj"
expect 0 "rigid body         yes" "$dir/good.obj"
expect 0 "volume             0.1666667" "$dir/good.obj"
expect 0 "inertia            0.0125        0.002083333" "$dir/good.obj"
expect 0 "defects            none" "$dir/good.obj"
expect 0 "nothing to do" "$dir/good.obj" --repair

# a face gone, a face turned, a face that names a vertex twice, a vertex nobody uses
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 7 7 7\nf 1 3 2\nf 1 2 4\nf 1 3 4\nf 1 1 2\n' \
    >"$dir/bad.obj"
expect 0 "3 open edges in 1 hole, 1 face turned the wrong way, 1 face without area" "$dir/bad.obj"
expect 0 "face 3, vertices 0 0 1" "$dir/bad.obj"
expect 0 "vertex 4, at 7 7 7 m" "$dir/bad.obj"
expect 0 "1 hole filled" "$dir/bad.obj" --repair
expect 0 "nothing was written" "$dir/bad.obj" --repair
expect 0 "1 hole left open" "$dir/bad.obj" --repair --fill 2
expect 0 "written to" "$dir/bad.obj" --repair --out "$dir/mended.ply"
expect 0 "rigid body         yes" "$dir/mended.ply"
expect 0 "volume             0.1666667" "$dir/mended.ply"
expect 1 "OBJ (.obj), PLY (.ply)" "$dir/bad.obj" --repair --out "$dir/mended.stl"
expect 1 "cannot be written" "$dir/bad.obj" --repair --out="$dir/no/such/place.obj"

# what is refused, and how
expect 2 "an argument is missing"
expect 2 "unknown option \"--what\"" "$dir/good.obj" --what
expect 2 "too many arguments" "$dir/good.obj" "$dir/good.obj"
expect 2 "a value should follow \"--out\"" "$dir/good.obj" --repair --out
expect 2 "go with --repair" "$dir/good.obj" --out "$dir/x.obj"
expect 2 "--weld is \"-1\"" "$dir/good.obj" --repair --weld -1
expect 2 "--fill is \"many\"" "$dir/good.obj" --repair --fill many
expect 2 "No such file" "$dir/none.obj"
expect 2 "is a directory" "$dir"
: >"$dir/empty.obj"
expect 2 "is empty" "$dir/empty.obj"
echo "Dear diary" >"$dir/diary.txt"
expect 2 "OBJ (.obj), PLY (.ply), STL (.stl), OFF (.off)" "$dir/diary.txt"
printf 'v 0 0 0\nv 1 0 zero\n' >"$dir/word.obj"
expect 2 'word.obj: line 2: z of a vertex is "zero"' "$dir/word.obj"
expect 0 "usage: carom info FILE" --help

# JSON: one object, whatever the file is called
name="$dir/odd \"name\\ $(printf '\377').obj"
cp "$dir/bad.obj" "$name"
if command -v python3 >/dev/null; then
    "$carom" info --json --repair -- "$name" >"$dir/json" || bad=1
    python3 - "$dir/json" <<'PYTHON' || bad=1
import json, sys
r = json.loads(open(sys.argv[1], encoding="utf-8").read())
assert r["kind"] == "mesh" and r["file"].endswith('odd "name\\ \ufffd.obj'), r["file"]
assert r["defects"]["open_edges"]["count"] == 3 and not r["rigid"] and "volume" not in r
assert r["defects"]["degenerate_faces"]["places"][0]["vertices"] == [0, 0, 1]
assert r["repair"]["filled_holes"] == 1 and r["repaired"]["rigid"]
assert abs(r["repaired"]["inertia"][1] - 1 / 480) < 1e-16
PYTHON
fi
exit $bad
