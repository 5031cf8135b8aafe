#!/bin/sh
# carom import and carom schema from outside: files, messages and exit status.
set -u
program=$1
folder=$(mktemp -d)
trap 'rm -r "$folder"' EXIT
bad=0
expect() { # wanted status, what is told, command...
    wanted=$1 told=$2
    shift 2
    "$@" >"$folder/out" 2>"$folder/err"
    got=$?
    if [ $got != "$wanted" ] || ! grep -q -- "$told" "$folder/out" "$folder/err"; then
        echo "status $got, wanted $wanted with \"$told\": $*"
        cat "$folder/err"
        bad=1
    fi
}
data=tests/data/arcsim/conf/sheet.json
expect 0 "magic is not carried over" "$program" import $data --format arcsim --out "$folder/s.json"
[ -s "$folder/s.json" ] || bad=1
expect 0 '"carom": 1' "$program" import $data --format arcsim
expect 2 "known: rigid-ipc, arcsim" "$program" import $data --format blend
expect 2 "this is not a rigid-ipc scene" "$program" import $data --format rigid-ipc --meshes tests
expect 2 "usage" "$program" import
expect 2 "cannot be read" "$program" import "$folder/none.json" --format arcsim
expect 2 "cannot be written" "$program" import $data --format arcsim --out "$folder/no/s.json"
expect 0 "usage" "$program" import --help
expect 0 "json-schema.org" "$program" schema
expect 0 "## Reference" "$program" schema --markdown
expect 2 "usage" "$program" schema --html
exit $bad
