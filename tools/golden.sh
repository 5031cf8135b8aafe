#!/bin/sh
# golden.sh: the same bits, whoever built the library and however it is run. Builds the program
# `golden` by every preset below, runs it in fresh processes with 1, 2, 7 and 16 workers, straight
# and through checkpoints, and compares what is said about states and gradients line by line.
#   tools/golden.sh [PRESET...]          compare with each other, and with the record if there is one
#   tools/golden.sh record [PRESET...]   the same, and if all agree write the record anew
# Presets: release debug clang dev, those whose compiler is here.
set -u
cd "$(dirname "$0")/.." || exit 1
kept=tests/determinism/golden.txt
record=
[ "${1:-}" = record ] && { record=yes; shift; }
if [ $# = 0 ]; then
    set -- release debug dev
    command -v clang >/dev/null && set -- "$@" clang
fi
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
failures=0

# hear WHAT COMMAND...: what it prints is what the first one printed
hear() {
    what=$1
    shift
    "$@" >"$room/now" 2>"$room/errors" || {
        echo "golden: $what failed: $(head -n 3 "$room/errors")"
        failures=$((failures + 1))
    }
    if [ ! -e "$room/first" ]; then
        cp "$room/now" "$room/first"
        cat "$room/first"
    elif ! diff "$room/first" "$room/now" >"$room/difference"; then
        echo "golden: $what gives other bits:"
        sed 's/^/    /' "$room/difference"
        failures=$((failures + 1))
        return
    fi
    echo "golden: $what: same bits"
}

for preset in "$@"; do
    { cmake --preset "$preset" && cmake --build --preset "$preset" --target golden; } \
        >"$room/log" 2>&1 || {
        tail -n 20 "$room/log"
        echo "golden: $preset does not build"
        failures=$((failures + 1))
        continue
    }
    folder=build
    [ "$preset" = release ] || folder=build-$preset
    golden=$folder/tests/golden
    hear "$preset" "$golden"
    [ "$preset" = dev ] && continue # sanitizers are slow, and the workers are the same ones
    hear "$preset, 2 workers" "$golden" --workers 2
    hear "$preset, 7 workers, tape of 40 kB" "$golden" --workers 7 --memory 40000
    hear "$preset, 16 workers" "$golden" --workers 16
    # memory that is not zero, another layout of the stack, and a libm told to be an old one's
    hear "$preset, other surroundings" env MALLOC_PERTURB_=165 FILLER="$(printf '%04000d' 0)" \
        GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX2,-FMA,-FMA4,-AVX512F "$golden"
done

if [ -n "$record" ] && [ $failures = 0 ]; then
    cp "$room/first" $kept
    echo "golden: written to $kept"
elif [ -e $kept ]; then
    if diff $kept "$room/first" >"$room/difference"; then
        echo "golden: as recorded in $kept"
    else
        echo "golden: not as recorded in $kept; if the change is meant, run tools/golden.sh record:"
        sed 's/^/    /' "$room/difference"
        failures=$((failures + 1))
    fi
fi
[ $failures = 0 ] && echo "the bits hold"
[ $failures = 0 ]
