#!/bin/sh
# view, plot, export to glTF, completion and the manual from outside, without npm and a browser: what
# they print, write and refuse. The page itself is tested in viewer/tests.
. tests/kit.sh

cat >"$room/aim.json" <<'END'
{"carom": 1, "world": {"dt": 0.01, "duration": 0.2}, "bodies": [
  {"name": "ground", "type": "fixed", "mesh": {"sheet": {"width": 4}}},
  {"name": "ball, \"one\"", "sphere": {"radius": 0.1}, "position": [0, 0, 0.3], "velocity": [1, 0, 2]},
  {"name": "sheet", "type": "cloth", "mesh": {"sheet": {"nx": 3, "ny": 3}},
   "position": [0, 0, 2], "pins": [{"nodes": "corners"}]}],
 "objective": {"terms": [{"what": "position", "of": "ball, \"one\"", "target": [2, 1, 0.5]}]},
 "parameters": [{"of": "ball, \"one\"", "what": "velocity"}]}
END
motion=$room/aim.carom

# a template of one's own: the data come in place of the mark
mkdir "$room/share"
echo '<html><!--data--></html>' >"$room/share/viewer.html"
expect 0 "frames" run "$room/aim.json" --out "$motion" --plot "$room/energy.svg"
grep -q '<svg.*' "$room/energy.svg" || fail "run --plot wrote no SVG"
export CAROM_SHARE="$room/share"
expect 0 "aim.html: 21 frames" view "$motion"
grep -q 'data-block="0.frames.0"' "$room/aim.html" || fail "the page holds no frames"
expect 0 "page.html: 6 frames" view "$motion" --every 4 --out "$room/page.html"
expect 0 "21 frames" view "$motion" "$motion" --out "$room/page.html"
grep -q 'data-block="1.frames.0"' "$room/page.html" || fail "the page holds no second run"
echo 'no mark' >"$room/share/viewer.html"
expect 1 "is not a template" view "$motion"
CAROM_SHARE="$room" expect 1 "make viewer" view "$motion" --out "$room/never.html"
[ -e "$room/never.html" ] && fail "a page without a template was written"
expect 2 "cannot be read as a trajectory" view "$room/aim.json"
head -c 3000 "$motion" >"$room/cut.carom"
CAROM_SHARE=$room/share expect 2 "" view "$room/cut.carom"

# plots
expect 0 "<svg" plot "$motion"
expect 0 "Least gap" plot "$motion" --what gap
expect 2 "it has to be energy, contacts or gap" plot "$motion" --what nothing
printf 'n,"a,b",c\n1,2,x\n10,20,y\n' >"$room/t.csv"
expect 0 "<circle" plot "$room/t.csv" --x n --y "a,b" --by c --log
expect 2 "the columns of $room/t.csv are: n a,b c" plot "$room/t.csv" --x m --y n
expect 2 "this is no trajectory" plot "$room/aim.json"
python3 -c "import xml.dom.minidom, sys; xml.dom.minidom.parse(sys.argv[1])" "$room/energy.svg" ||
    fail "the SVG is not well formed"

# an optimisation's history, and the gradient's file
expect 0 "history" optimize "$room/aim.json" --iterations 3 --history "$room/history" --plot "$room/o.svg"
[ "$(wc -l <"$room/history/objective.csv")" -ge 2 ] || fail "the history has no table"
expect 0 "21" info "$room/history/iteration_0000.carom"
expect 0 "<svg" plot "$room/history"
"$carom" run "$room/aim.json" --json >"$room/a"
"$carom" info "$room/history/iteration_0000.carom" --json >"$room/b"
python3 - "$room/a" "$room/b" <<'END' || fail "iteration 0 is not the scene's own run"
import json, sys
a, b = (json.load(open(f)) for f in sys.argv[1:])
sys.exit(a["state_hash"] != b["state_hash"])
END
expect 0 "the gradient as arrows" grad "$room/aim.json" --out "$room/grad.carom"
expect 0 "of 21 frames" info "$room/grad.carom"
expect 0 '"intersecting_frames": 0' intersect "$room/grad.carom" --json

# glTF
expect 0 "21 frames" export "$motion" --format gltf --out "$room/a.glb"
[ "$(head -c 4 "$room/a.glb")" = glTF ] || fail "a.glb is none"
expect 0 "frames" export "$motion" --format gltf --out "$room/a.gltf" --every 5
python3 - "$room/a.gltf" "$room/a.glb" <<'END' || fail "the two glTF files do not hold what they should"
import base64, json, os, struct, sys
d = json.load(open(sys.argv[1]))
data = base64.b64decode(d["buffers"][0]["uri"].split(",")[1])
assert len(data) == d["buffers"][0]["byteLength"]
assert [n["name"] for n in d["nodes"]] == ["ground", 'ball, "one"', "sheet", "world"]
assert len(d["meshes"][2]["primitives"][0]["targets"]) == 4
magic, version, length = struct.unpack("<4sII", open(sys.argv[2], "rb").read(12))
assert (magic, version, length) == (b"glTF", 2, os.path.getsize(sys.argv[2]))
END
expect 2 "glTF needs --out" export "$motion" --format gltf

# shells and the manual; nothing of it may reach stderr
for kind in bash zsh man; do
    expect 0 "gradcheck" completion $kind
    [ -s "$room/err" ] && fail "completion $kind complains: $(cat "$room/err")"
done
"$carom" completion bash >"$room/carom.bash"
if command -v bash >/dev/null; then
    words=$(bash -c '. "$0"; COMP_WORDS=(carom render --f); COMP_CWORD=2; _carom; echo "${COMPREPLY[*]}"' "$room/carom.bash")
    [ "$words" = "--frames" ] || fail "bash completes to \"$words\""
fi
if command -v zsh >/dev/null; then
    "$carom" completion zsh | zsh -n || fail "zsh does not take its script"
fi
expect 2 "there are bash, zsh and man" completion fish

# what goes into a pipe has neither colours nor progress
for line in "--help" "view --help" "run $room/aim.json"; do
    # shellcheck disable=SC2086 # words on purpose
    "$carom" $line >"$room/out" 2>&1
    grep -q "$(printf '\033')" "$room/out" && fail "carom $line writes control codes into a pipe"
done
if command -v script >/dev/null; then
    TERM=xterm script -qc "$carom --help" /dev/null >"$room/out" </dev/null
    grep -q "$(printf '\033')" "$room/out" || fail "a terminal gets no colours"
    TERM=xterm NO_COLOR=1 script -qc "$carom --help" /dev/null >"$room/out" </dev/null
    grep -q "$(printf '\033')" "$room/out" && fail "NO_COLOR is not respected"
fi
finish "views hold"
