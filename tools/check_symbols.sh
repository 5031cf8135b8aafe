#!/bin/sh
# Every object exports symbols of its own stem only: zone.o gives cr_zone_*, api/mesh.o carom_mesh_*.
# The library exports carom_* only. The suffixes _adj, _jvp and _step of a file do not count. It asks
# libc for nothing that ends the program or prints (a failed assert aside, core/assert.c), and libm for
# nothing but what is rounded alike everywhere.
set -u
build=${1:-build}
bad=0
for object in $(find "$build/CMakeFiles/carom_objects.dir/src" -name '*.o' | sort); do
    stem=$(basename "$object" .c.o)
    stem=${stem%_adj}
    stem=${stem%_jvp}
    stem=${stem%_step}
    room=$(basename "$(dirname "$object")")
    prefix="cr_${stem}"
    if [ "$room" = api ]; then
        prefix="carom_"
    fi
    for symbol in $(nm -g --defined-only "$object" | awk '{print $3}' | grep -v '^__'); do
        case "$symbol" in
        "$prefix"*) ;;
        *)
            echo "$room/$stem: exports $symbol; its name should begin with $prefix"
            bad=1
            ;;
        esac
    done
done
library="$build/libcarom.so"
if [ -e "$library" ]; then
    for symbol in $(nm -D --defined-only "$library" | awk '{print $3}' | grep -vE '^(carom_|_init|_fini|__)'); do
        echo "libcarom.so exports $symbol; only carom_* may leave the library"
        bad=1
    done
fi
banned='printf|vprintf|puts|putchar|perror|exit|_exit|quick_exit|longjmp|setlocale|srand|rand'
banned="$banned|a?(sin|cos|tan)h?|atan2|exp|exp2|exp10|expm1|log|log2|log10|log1p|pow|cbrt|hypot|l?gamma|tgamma|erfc?"
calls=$(find "$build/CMakeFiles/carom_objects.dir/src" -name '*.o' | sort | xargs nm -u -A |
    awk '{print $1 " calls " $NF}' | grep -E " ($banned)$")
if [ -n "$calls" ]; then
    echo "$calls"
    bad=1
fi
[ $bad = 0 ] && echo "symbols hold"
exit $bad
