#!/bin/sh
# carom ccd-check: what it prints, and how it refuses what it cannot use.
set -u
carom=$1
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
failures=0

fail() {
    echo "does not hold: $1"
    failures=$((failures + 1))
}

# expect STATUS TEXT ARGUMENTS...: the exit status, and TEXT somewhere in the output
expect() {
    status=$1
    text=$2
    shift 2
    "$carom" ccd-check "$@" >"$room/out" 2>"$room/err"
    found=$?
    [ $found = "$status" ] || fail "ccd-check $*: exit status $found, expected $status"
    cat "$room/out" "$room/err" | grep -qF -- "$text" ||
        fail "ccd-check $*: \"$text\" is missing in: $(cat "$room/out" "$room/err")"
    if [ "$status" = 2 ] && [ -s "$room/out" ]; then
        fail "ccd-check $*: a refusal wrote to stdout"
    fi
}

# a point that falls through a triangle at t = 0.5, and one that passes beside it
points_hit=0.25,0.25,1,0,0,0,1,0,0,0,1,0,0.25,0.25,-1,0,0,0,1,0,0,0,1,0
points_miss=2,2,1,0,0,0,1,0,0,0,1,0,2,2,-1,0,0,0,1,0,0,0,1,0
cat >"$room/good.csv" <<END
#kind,x0,...
vf,$points_hit,1,0.5,fall,a

vf,$points_miss,0,,beside,b
ee,0,0,1,1,0,1,0.5,-1,0,0.5,1,0,0,0,-1,1,0,-1,0.5,-1,0,0.5,1,0,1,0.5,fall,c
END
expect 0 "fall" "$room/good.csv"
expect 0 '"queries": 3, "positives": 2, "false_negatives": 0, "false_positives": 0, "late_toi": 0' \
    "$room/good.csv" --json
grep -q '"ns_per_query": [0-9]' "$room/out" || fail "--json has no ns_per_query"
[ "$(wc -l <"$room/out")" = 1 ] || fail "--json prints more than one line"
gzip -k "$room/good.csv"
expect 0 '"queries": 3' --json "$room/good.csv.gz"
sed 's/$/\r/' "$room/good.csv" >"$room/dos.csv"
expect 0 '"queries": 3' "$room/dos.csv" --json
printf 'vf,%s,1,0.5,fall,a' "$points_hit" >"$room/no_end.csv"
expect 0 '"queries": 1' "$room/no_end.csv" --json

# answers that the program has to disagree with
printf 'vf,%s,1,,wrong,a\n' "$points_miss" >"$room/wrong.csv"
expect 1 '"false_negatives": 1' "$room/wrong.csv" --json
printf 'vf,%s,1,0.25,wrong,a\n' "$points_hit" >"$room/wrong.csv"
expect 1 '"late_toi": 1' "$room/wrong.csv" --json
printf 'vf,%s,0,,wrong,a\n' "$points_hit" >"$room/wrong.csv"
expect 0 '"false_positives": 1' "$room/wrong.csv" --json

# usage
expect 0 "usage: carom ccd-check" --help
expect 2 "usage: carom ccd-check"
expect 2 "--jsno" "$room/good.csv" --jsno
expect 2 "too many arguments" "$room/good.csv" "$room/good.csv"

# files
expect 2 "$room/none.csv: cannot be opened: No such file" "$room/none.csv"
expect 2 "$room: cannot be read" "$room"
: >"$room/empty.csv"
expect 2 "empty.csv: there is no query in it" "$room/empty.csv"
i=0
while [ $i -lt 200 ]; do # of different lines, so that half of the compressed file holds many
    printf 'vf,%s.%d%d,0,,many,%d\n' "$points_miss" $i $((i * 7919)) $((i * i * 104729))
    i=$((i + 1))
done >"$room/many.csv"
gzip -k "$room/many.csv"
expect 0 '"queries": 200' "$room/many.csv.gz" --json
size=$(wc -c <"$room/many.csv.gz")
head -c $((size / 2)) "$room/many.csv.gz" >"$room/cut.csv.gz"
expect 2 "the compressed file ends in the middle" "$room/cut.csv.gz"
head -c $((size - 4)) "$room/many.csv.gz" >"$room/cut.csv.gz"
expect 2 "the compressed file ends in the middle" "$room/cut.csv.gz"
{ head -c $((size - 8)) "$room/many.csv.gz" && printf 'abcdefgh'; } >"$room/bad.csv.gz"
expect 2 "the compressed data are damaged" "$room/bad.csv.gz"

# lines: each has to be refused with its number and what would do
refuse() { # LINE TEXT
    printf '# first\n%s\n' "$1" >"$room/line.csv"
    expect 2 "line.csv:2: $2" "$room/line.csv"
}
refuse "vf,1,2,3" "the line has 4 columns; it has to have 29"
refuse "vf,$points_hit,1,0.5,fall,a,b" "the line has 30 columns; it has to have 29"
refuse "fv,$points_hit,1,0.5,fall,a" 'kind is "fv"; it has to be vf'
refuse "vf,x${points_hit#?},1,0.5,fall,a" 'x0 is "x.25"; it has to be a finite number'
refuse "vf,0.25,0.25,${points_hit#0.25,0.25,1},1,0.5,fall,a" 'z0 is ""; it has to be a finite'
refuse "vf,${points_hit%0}nan,1,0.5,fall,a" 'z7 is "nan"; it has to be a finite number'
refuse "vf,${points_hit%0}1e999,1,0.5,fall,a" 'z7 is "1e999"; it has to be a finite number'
refuse "vf,$points_hit,yes,0.5,fall,a" 'truth is "yes"; it has to be 0 (miss) or 1 (hit)'
refuse "vf,$points_hit,1,1.5,fall,a" 'toi is "1.5"; it has to be a number from 0 to 1'
refuse "vf,$points_hit,1,soon,fall,a" 'toi is "soon"'
refuse "vf,$points_hit,0,0.5,fall,a" 'toi is "0.5"; it has to be empty'
refuse "vf,$points_hit,1,0.5,,a" 'subset is ""; it has to be a name'
long=$(head -c 9000 /dev/zero | tr '\0' 1)
refuse "vf,$long" "the line is longer than"

[ $failures = 0 ] && echo "ccd-check holds"
[ $failures = 0 ]
