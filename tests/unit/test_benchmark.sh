#!/bin/sh
# make benchmark in its quick form: every part is measured and written, so that the script cannot rot.
. tests/kit.sh
if grep -q '^CAROM_SANITIZE:STRING=.' "$(dirname "$carom")/CMakeCache.txt"; then
    echo "not run: sanitizers are not what is measured"
    exit 77
fi
python=$(tools/venv.sh)
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' || exit 77

CAROM_PROGRAM=$carom "$python" bench/benchmark.py --quick --out "$room" || exit 1
for part in gradient speed coupled factor beside heaps sheets mechanisms threads; do
    grep -q "^$part," "$room/benchmarks.csv" || fail "benchmarks.csv has figures of $part"
done
for picture in $(sed -n 's/^!\[.*\](\(.*\))$/\1/p' "$room/benchmarks.md"); do
    grep -q '</svg>' "$room/$picture" || fail "$picture is a picture"
done
finish "every part is measured"
