#!/bin/sh
# All checks, the quick ones first; goes on after a failure and ends with "N passed, N failed".
#   tools/test.sh            everything
#   tools/test.sh tidy dev   some stages: format release dev clang tidy
set -u
cd "$(dirname "$0")/.." || exit 1
workers=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
passed=0
failed=0
failures=""
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT

begin() {
    stage=$1
    since=$(date +%s)
    echo "== $stage: $2"
}
# end STATUS: the stage itself is one thing that passes or fails
end() {
    if [ "$1" = 0 ]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        failures="$failures $stage"
    fi
    echo "== $stage: $([ "$1" = 0 ] && echo good || echo FAILED), $(($(date +%s) - since)) s"
}

sources() { # every C file of the tree
    find include src tests bench examples -name '*.[ch]' | sort
}

format() {
    begin format "clang-format finds nothing to change"
    sources | xargs clang-format --dry-run -Werror
    end $?
}

# The number that stands in attribute $2 of the summary $1 that ctest wrote.
count() {
    sed -n "s/.*[[:space:]]$2=\"\([0-9]*\)\".*/\1/p;/<testcase/q" "$1" | head -n 1
}

# suite PRESET [CTEST ARGUMENTS...]: builds it, warnings being errors, and runs its tests. Each test
# counts as one.
suite() {
    preset=$1
    shift
    begin "$preset" "built and tested"
    report=$room/$preset.xml
    cmake --preset "$preset" >"$room/log" 2>&1 && cmake --build --preset "$preset" >"$room/log" 2>&1
    if [ $? != 0 ]; then
        tail -n 40 "$room/log"
        end 1
        return
    fi
    ctest --preset "$preset" -j "$workers" "$@" --output-junit "$report"
    status=$?
    if [ -s "$report" ]; then
        bad=$(count "$report" failures)
        passed=$((passed + $(count "$report" tests) - bad - $(count "$report" skipped) -
            $(count "$report" disabled)))
        failed=$((failed + bad))
        [ "$bad" = 0 ] || failures="$failures $preset/ctest"
    else
        status=1
    fi
    end $status
}

tidy() {
    begin tidy "clang-tidy has nothing to say"
    find src -name '*.c' | sort |
        xargs -P "$workers" -n 4 clang-tidy -p build --quiet >"$room/tidy" 2>"$room/log"
    status=$?
    grep -E 'warning:|error:' "$room/tidy" | sort -u
    end $status
}

if [ $# = 0 ]; then
    set -- format release dev clang tidy
fi
for stage in "$@"; do
    case $stage in
    format) format ;;
    release) suite release ;;
    dev) suite dev ;;
    clang) suite clang ;;
    tidy) tidy ;;
    *)
        echo "there is no stage $stage; there are: format release dev clang tidy" >&2
        exit 2
        ;;
    esac
done
[ -z "$failures" ] || echo "failed:$failures"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
