# kit.sh - what the shell tests share. A test begins with `. tests/kit.sh`; its first argument is the program.
#   $carom                           the program
#   $room                            an empty folder, gone at the end
#   fail WHAT                        says that something does not hold, and goes on
#   holds WHAT COMMAND...            the command succeeds; if not, what it said is shown
#   expect STATUS TEXT ARGUMENTS...  carom ARGUMENTS ends so and says TEXT somewhere; output in $room/out and
#                                    $room/err. What is refused (2) writes nothing to stdout
#   finish WHAT                      the end: says that WHAT holds, or fails the test
# shellcheck shell=sh
set -u
carom=$1
failures=0
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT

fail() {
    echo "does not hold: $1"
    failures=$((failures + 1))
}

holds() {
    what=$1
    shift
    "$@" >"$room/log" 2>&1 || {
        cat "$room/log"
        fail "$what"
    }
}

expect() {
    status=$1
    text=$2
    shift 2
    "$carom" "$@" >"$room/out" 2>"$room/err"
    found=$?
    [ $found = "$status" ] || fail "$*: exit status $found, expected $status: $(cat "$room/err")"
    cat "$room/out" "$room/err" | grep -qF -- "$text" ||
        fail "$*: \"$text\" is missing in: $(head -c 1000 "$room/out") $(cat "$room/err")"
    if [ "$status" = 2 ] && [ -s "$room/out" ]; then
        fail "$*: a refusal wrote to stdout"
    fi
}

finish() {
    [ $failures = 0 ] && echo "$1"
    exit $((failures != 0))
}
