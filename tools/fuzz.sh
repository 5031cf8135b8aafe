#!/bin/sh
# fuzz.sh [--runs N] [NAME...]: builds the fuzzers and gives each N runs (a million) in one count, one after
# the other; NAME is one of tests/fuzz/fuzz_NAME.c. What they learn is kept in build-fuzz/new and taken up
# again; an input that breaks something is left in build-fuzz/found and ends that fuzzer. Ends with a line
# for each, and with status 1 when something was found.
set -u
cd "$(dirname "$0")/.." || exit 1
runs=1000000
if [ "${1:-}" = --runs ]; then
    runs=${2:?fuzz: --runs wants a number}
    shift 2
fi
if [ $# = 0 ]; then # the quick ones first
    set -- off stl obj ply trajectory import scene api
fi
targets=""
for name in "$@"; do
    [ -f "tests/fuzz/fuzz_$name.c" ] || {
        echo "fuzz: there is no tests/fuzz/fuzz_$name.c" >&2
        exit 2
    }
    targets="$targets fuzz_$name"
done
mkdir -p build-fuzz/found
# shellcheck disable=SC2086 # one word per target
{ cmake --preset fuzz && cmake --build --preset fuzz --target $targets; } >build-fuzz/log 2>&1 || {
    tail -n 20 build-fuzz/log >&2
    exit 1
}
# where every byte of memory is watched, a short memory of what was freed and by whom is quicker
export ASAN_OPTIONS="quarantine_size_mb=16:malloc_context_size=8${ASAN_OPTIONS:+:$ASAN_OPTIONS}"
bad=0
for name in "$@"; do
    # its own options stand in the first line of its source: // fuzz_NAME OPTIONS NEW CORPUS
    options=$(sed -n "1s|^// fuzz_$name \(.*\) NEW .*|\1|p" "tests/fuzz/fuzz_$name.c")
    mkdir -p "build-fuzz/new/$name"
    # shellcheck disable=SC2086 # one word per option
    "build-fuzz/tests/fuzz/fuzz_$name" ${options:--max_len=4096} -rss_limit_mb=2048 -timeout=60 \
        -artifact_prefix="build-fuzz/found/${name}_" -print_final_stats=1 -runs="$runs" \
        "build-fuzz/new/$name" "tests/fuzz/corpus/$name" >"build-fuzz/$name.log" 2>&1
    status=$?
    count=$(sed -n 's/^stat::number_of_executed_units: *//p' "build-fuzz/$name.log")
    if [ $status = 0 ]; then
        echo "$name: ${count:-0} runs, nothing found"
    else
        bad=1
        echo "$name: ended with status $status after ${count:-?} runs: build-fuzz/$name.log"
    fi
done
exit $bad
