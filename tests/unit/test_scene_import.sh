#!/bin/sh
# carom import and carom schema from outside: files, messages and exit status.
. tests/kit.sh
data=tests/data/arcsim/conf/sheet.json
expect 0 "magic is not carried over" import $data --format arcsim --out "$room/s.json"
holds "the scene is written" test -s "$room/s.json"
expect 0 '"carom": 1' import $data --format arcsim
expect 2 "known: rigid-ipc, arcsim" import $data --format blend
expect 2 "this is not a rigid-ipc scene" import $data --format rigid-ipc --meshes tests
expect 2 "usage" import
expect 2 "cannot be read" import "$room/none.json" --format arcsim
expect 2 "cannot be written" import $data --format arcsim --out "$room/no/s.json"
expect 0 "usage" import --help
expect 0 "json-schema.org" schema
expect 0 "## Reference" schema --markdown
expect 2 "usage" schema --html
finish "imports and schemas"
