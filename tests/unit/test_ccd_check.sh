#!/bin/sh
# carom ccd-check: what it prints, and how it refuses what it cannot use.
. tests/kit.sh

# check STATUS TEXT ARGUMENTS...: expect, of carom ccd-check
check() {
    wanted=$1
    text=$2
    shift 2
    expect "$wanted" "$text" ccd-check "$@"
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
check 0 "fall" "$room/good.csv"
check 0 '"queries": 3, "positives": 2, "false_negatives": 0, "false_positives": 0, "late_toi": 0' \
    "$room/good.csv" --json
grep -q '"ns_per_query": [0-9]' "$room/out" || fail "--json has no ns_per_query"
[ "$(wc -l <"$room/out")" = 1 ] || fail "--json prints more than one line"
gzip -k "$room/good.csv"
check 0 '"queries": 3' --json "$room/good.csv.gz"
sed 's/$/\r/' "$room/good.csv" >"$room/dos.csv"
check 0 '"queries": 3' "$room/dos.csv" --json
printf 'vf,%s,1,0.5,fall,a' "$points_hit" >"$room/no_end.csv"
check 0 '"queries": 1' "$room/no_end.csv" --json

# answers that the program has to disagree with
printf 'vf,%s,1,,wrong,a\n' "$points_miss" >"$room/wrong.csv"
check 1 '"false_negatives": 1' "$room/wrong.csv" --json
printf 'vf,%s,1,0.25,wrong,a\n' "$points_hit" >"$room/wrong.csv"
check 1 '"late_toi": 1' "$room/wrong.csv" --json
printf 'vf,%s,0,,wrong,a\n' "$points_hit" >"$room/wrong.csv"
check 0 '"false_positives": 1' "$room/wrong.csv" --json

# usage
check 0 "usage: carom ccd-check" --help
check 2 "usage: carom ccd-check"
check 2 "--jsno" "$room/good.csv" --jsno
check 2 "too many arguments" "$room/good.csv" "$room/good.csv"

# files
check 2 "$room/none.csv: cannot be opened: No such file" "$room/none.csv"
check 2 "$room: cannot be read" "$room"
: >"$room/empty.csv"
check 2 "empty.csv: there is no query in it" "$room/empty.csv"
i=0
while [ $i -lt 200 ]; do # of different lines, so that half of the compressed file holds many
    printf 'vf,%s.%d%d,0,,many,%d\n' "$points_miss" $i $((i * 7919)) $((i * i * 104729))
    i=$((i + 1))
done >"$room/many.csv"
gzip -k "$room/many.csv"
check 0 '"queries": 200' "$room/many.csv.gz" --json
size=$(wc -c <"$room/many.csv.gz")
head -c $((size / 2)) "$room/many.csv.gz" >"$room/cut.csv.gz"
check 2 "the compressed file ends in the middle" "$room/cut.csv.gz"
head -c $((size - 4)) "$room/many.csv.gz" >"$room/cut.csv.gz"
check 2 "the compressed file ends in the middle" "$room/cut.csv.gz"
{ head -c $((size - 8)) "$room/many.csv.gz" && printf 'abcdefgh'; } >"$room/bad.csv.gz"
check 2 "the compressed data are damaged" "$room/bad.csv.gz"

# lines: each has to be refused with its number and what would do
refuse() { # LINE TEXT
    printf '# first\n%s\n' "$1" >"$room/line.csv"
    check 2 "line.csv:2: $2" "$room/line.csv"
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

finish "ccd-check holds"
