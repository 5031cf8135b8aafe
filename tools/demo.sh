#!/bin/sh
# demo.sh PROGRAM: simulates the example scene, has the result judged by the independent exact test,
# and says what to do next.
set -u
carom=$1
scene=examples/bag.json
[ -e "$scene" ] || scene=examples/drop.json
result=build/$(basename "$scene" .json).carom

next() { # COMMAND WHAT
    printf '  %-52s %s\n' "$1" "$2"
}

echo "\$ $carom run $scene --out $result"
"$carom" run "$scene" --out "$result" || exit 1
echo
echo "\$ $carom intersect $result"
"$carom" intersect "$result" || exit 1
echo
echo "further:"
next "$carom view $result" "a page that plays it (make viewer builds it)"
next "$carom run $scene --set world.dt=0.005" "the same with smaller steps"
next "$carom --help" "all commands"
next "docs/scene.md" "how scenes are written"
next "docs/README.md" "how it works"
