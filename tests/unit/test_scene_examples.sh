#!/bin/sh
# The schema accepts every example and refuses what the program refuses.
set -u
cd "$(dirname "$0")/../.."
python3 - <<'PY'
import glob, json, sys
try:
    import jsonschema
except ImportError:
    sys.exit(77)
schema = json.load(open("docs/scene.schema.json"))
check = jsonschema.Draft202012Validator(schema)
check.check_schema(schema)
bad = 0
for path in sorted(glob.glob("examples/*.json")):
    for error in check.iter_errors(json.load(open(path))):
        print(path, list(error.absolute_path), error.message)
        bad += 1
drop = json.load(open("examples/drop.json"))
for edit in ({"carom": 2}, {"bodies": 3}, {"bodis": []}, {"world": {"dt": 0}},
             {"world": {"gravity": [0, 1]}}, {"bodies": [{"mass": "1"}]}):
    if check.is_valid({**drop, **edit}):
        print("the schema accepts", edit)
        bad += 1
sys.exit(bad > 0)
PY
