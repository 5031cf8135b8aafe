#!/bin/sh
# demo.sh PROGRAM: solves an inverse problem, has the motion found judged by the independent exact
# test, and says what to open.
set -u
carom=$1
scene=examples/marble.json
found=build/marble_found.json
motion=build/marble_found.carom
curve=build/marble_found.svg

next() { # COMMAND WHAT
    printf '  %-56s %s\n' "$1" "$2"
}

echo "A marble lies on a sheet that is held by its corners. Which forces, step by step, bring it to"
echo "another place within two seconds? 150 numbers, found by the gradient of whole simulations:"
echo
echo "\$ $carom optimize $scene --iterations 25"
"$carom" optimize "$scene" --iterations 25 --out "$found" --trajectory "$motion" --plot "$curve" || exit 1
echo
echo "\$ $carom intersect $motion"
"$carom" intersect "$motion" || exit 1
echo
echo "look at it:"
next "$curve" "how the objective went down; any browser shows it"
[ -f viewer/dist/viewer.html ] || next "make viewer" "once, needs node and npm (Debian: nodejs npm)"
next "$carom view $motion" "a page that plays the motion found"
next "$carom export $motion --format gltf --out build/marble.glb" "without npm: for Blender and others"
echo "further:"
next "$carom gradcheck $scene --most 8" "the gradient against differences of whole runs"
next "$carom optimize examples/throw.json" "another one: over a wall, with one bounce"
next "$carom run examples/bag.json --out build/bag.carom" "a simulation without a question"
next "$carom --help" "all commands"
next "docs/gradients.md" "how it works"
