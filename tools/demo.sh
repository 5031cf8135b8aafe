#!/bin/sh
# demo.sh PROGRAM: simulates the example scene, has the result judged by the independent exact test,
# and says what to do next.
set -u
carom=$1
scene=examples/bag.json
result=build/bag.carom
[ -e "$scene" ] || scene=examples/drop.json

if ! "$carom" --help | grep -q '^  run '; then # a carom that cannot run scenes yet
    build/examples/hello 2>/dev/null ||
        { cmake --build --preset release --target example_hello >/dev/null && build/examples/hello; }
    exit
fi
echo "carom run $scene --out $result"
"$carom" run "$scene" --out "$result" || exit 1
echo
echo "carom intersect $result"
"$carom" intersect "$result" || exit 1
cat <<END_OF_DEMO

Next:
  $carom info $result                            what the recording holds
  $carom run $scene --set world.dt=0.005    the same with smaller steps
  $carom --help                                      all commands
  docs/README.md                                          how it works, how scenes are written
END_OF_DEMO
