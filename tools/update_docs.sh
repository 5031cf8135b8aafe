#!/bin/sh
# Writes the parts of docs/ that the tables of the program make. Needs a built program.
set -eu
program=${1:-build/carom}
"$program" schema > docs/scene.schema.json.part
mv docs/scene.schema.json.part docs/scene.schema.json
sed '/^## Reference$/,$d' docs/scene.md > docs/scene.md.part
"$program" schema --markdown >> docs/scene.md.part
mv docs/scene.md.part docs/scene.md
# The reference of the Python package, where an interpreter has NumPy.
for python in ${PYTHON:-} /usr/bin/python3 python3; do
    if "$python" -c 'import numpy' 2>/dev/null; then
        "$python" tools/python_reference.py > docs/python_api.md.part
        mv docs/python_api.md.part docs/python_api.md
        break
    fi
done
