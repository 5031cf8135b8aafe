#!/bin/sh
# Two processes over MPI find the gradients of one that runs all episodes itself, update by update.
set -u
program=$(dirname "$1")/examples/mpi_throw
[ -x "$program" ] || { echo "mpi_throw was not built: there is no mpicc here"; exit 77; }
command -v mpirun >/dev/null || { echo "there is no mpirun here"; exit 77; }
case $(nm -D "$program" 2>/dev/null) in
*__asan_init*) echo "MPI itself leaks, which AddressSanitizer tells of"; exit 77 ;;
esac
case $(ldd "$(dirname "$1")"/libcarom.so) in
*libmpi*) echo "the library links MPI"; exit 1 ;;
esac
root=
[ "$(id -u)" = 0 ] && root=--allow-run-as-root
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
for n in 1 2; do
    mpirun $root --oversubscribe -n $n "$program" 4 >"$dir/$n" 2>"$dir/error" || {
        cat "$dir/error"
        exit 1
    }
done
python3 - "$dir/1" "$dir/2" <<'CHECK'
import re, sys
one, two = ([[float(x) for x in re.findall(r"-?\d[\d.]*(?:e[-+]\d+)?", line)] for line in open(path)]
            for path in sys.argv[1:3])  # update, loss, six numbers of the gradient
assert len(one) == len(two) == 4 and all(len(line) == 8 for line in one + two), (one, two)
worst = 0.0
for a, b in zip(one, two):
    size = sum(x * x for x in a[2:]) ** 0.5
    assert size > 1e-3
    worst = max([worst] + [abs(x - y) / size for x, y in zip(a[1:], b[1:])])
print("loss %.6f -> %.6f, one process and two differ by %.1e of the gradient"
      % (one[0][1], one[-1][1], worst))
assert worst < 1e-12 and one[-1][1] < one[0][1]
CHECK
