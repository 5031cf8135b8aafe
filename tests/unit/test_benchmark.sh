#!/bin/sh
# make benchmark in its quick form: every part is measured and written, so that the script cannot rot.
set -u
carom=$1
if grep -q '^CAROM_SANITIZE:STRING=.' "$(dirname "$carom")/CMakeCache.txt"; then
    echo "not run: sanitizers are not what is measured"
    exit 77
fi
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
python=$(tools/venv.sh)
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' || exit 77

CAROM_PROGRAM=$carom "$python" bench/benchmark.py --quick --out "$room" || exit 1
failures=0
for part in gradient speed coupled factor beside threads; do
    grep -q "^$part," "$room/benchmarks.csv" || {
        echo "does not hold: benchmarks.csv has figures of $part"
        failures=$((failures + 1))
    }
done
for picture in $(sed -n 's/^!\[.*\](\(.*\))$/\1/p' "$room/benchmarks.md"); do
    grep -q '</svg>' "$room/$picture" || {
        echo "does not hold: $picture is a picture"
        failures=$((failures + 1))
    }
done
[ $failures = 0 ]
