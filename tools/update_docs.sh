#!/bin/sh
# Writes the parts of docs/ that the tables of the program make. Needs a built program.
set -eu
program=${1:-build/carom}
"$program" schema > docs/scene.schema.json.part
mv docs/scene.schema.json.part docs/scene.schema.json
sed '/^## Reference$/,$d' docs/scene.md > docs/scene.md.part
"$program" schema --markdown >> docs/scene.md.part
mv docs/scene.md.part docs/scene.md
