#!/bin/sh
# Drives carom info from outside: what it prints, what it writes and how it ends.
. tests/kit.sh

# check STATUS TEXT ARGUMENTS...: expect, of carom info
check() {
    wanted=$1
    text=$2
    shift 2
    expect "$wanted" "$text" info "$@"
}

printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n' >"$room/good.obj"
check 0 "closed             yes" "$room/good.obj"
check 0 "rigid body         yes" "$room/good.obj"
check 0 "volume             0.1666667" "$room/good.obj"
check 0 "inertia            0.0125        0.002083333" "$room/good.obj"
check 0 "defects            none" "$room/good.obj"
check 0 "nothing to do" "$room/good.obj" --repair

# a face gone, a face turned, a face that names a vertex twice, a vertex nobody uses
printf 'v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nv 7 7 7\nf 1 3 2\nf 1 2 4\nf 1 3 4\nf 1 1 2\n' \
    >"$room/bad.obj"
check 0 "3 open edges in 1 hole, 1 face turned the wrong way, 1 face without area" "$room/bad.obj"
check 0 "face 3, vertices 0 0 1" "$room/bad.obj"
check 0 "vertex 4, at 7 7 7 m" "$room/bad.obj"
check 0 "1 hole filled" "$room/bad.obj" --repair
check 0 "nothing was written" "$room/bad.obj" --repair
check 0 "1 hole left open" "$room/bad.obj" --repair --fill 2
check 0 "written to" "$room/bad.obj" --repair --out "$room/mended.ply"
check 0 "rigid body         yes" "$room/mended.ply"
check 0 "volume             0.1666667" "$room/mended.ply"
check 1 "OBJ (.obj), PLY (.ply)" "$room/bad.obj" --repair --out "$room/mended.stl"
check 1 "cannot be written" "$room/bad.obj" --repair --out="$room/no/such/place.obj"

# what is refused, and how
check 2 "an argument is missing"
check 2 "unknown option \"--what\"" "$room/good.obj" --what
check 2 "too many arguments" "$room/good.obj" "$room/good.obj"
check 2 "a value should follow \"--out\"" "$room/good.obj" --repair --out
check 2 "go with --repair" "$room/good.obj" --out "$room/x.obj"
check 2 "--weld is \"-1\"" "$room/good.obj" --repair --weld -1
check 2 "--fill is \"many\"" "$room/good.obj" --repair --fill many
check 2 "No such file" "$room/none.obj"
check 2 "is a directory" "$room"
: >"$room/empty.obj"
check 2 "is empty" "$room/empty.obj"
: >"$room/empty.json"
check 2 "expected a value" "$room/empty.json"
echo "Dear diary" >"$room/diary.txt"
check 2 "OBJ (.obj), PLY (.ply), STL (.stl), OFF (.off)" "$room/diary.txt"
printf 'v 0 0 0\nv 1 0 zero\n' >"$room/word.obj"
check 2 'word.obj: line 2: z of a vertex is "zero"' "$room/word.obj"
check 0 "usage: carom info FILE" --help

# JSON: one object, whatever the file is called
name="$room/odd \"name\\ $(printf '\377').obj"
cp "$room/bad.obj" "$name"
if command -v python3 >/dev/null; then
    "$carom" info --json --repair -- "$name" >"$room/json" || fail "what Python looks at"
    python3 - "$room/json" <<'PYTHON' || fail "what Python looks at"
import json, sys
r = json.loads(open(sys.argv[1], encoding="utf-8").read())
assert r["kind"] == "mesh" and r["file"].endswith('odd "name\\ \ufffd.obj'), r["file"]
assert r["defects"]["open_edges"]["count"] == 3 and not r["rigid"] and "volume" not in r
assert r["defects"]["degenerate_faces"]["places"][0]["vertices"] == [0, 0, 1]
assert r["repair"]["filled_holes"] == 1 and r["repaired"]["rigid"]
assert abs(r["repaired"]["inertia"][1] - 1 / 480) < 1e-16
PYTHON
fi
finish "info holds"
