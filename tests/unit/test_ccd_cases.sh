#!/bin/sh
# carom ccd-check on the recorded queries of $CAROM_CASES: no hit missed, none late, and few near
# misses taken for hits: 2 % of the misses among ordinary queries, 5 % among chosen near ones.
set -u
carom=$1
if [ -z "${CAROM_CASES:-}" ] || ! ls "$CAROM_CASES"/ccd_*.csv.gz >/dev/null 2>&1; then
    echo "not run: CAROM_CASES does not name a folder with ccd_*.csv.gz"
    exit 77
fi

# the number that stands after "key": in $report
value() {
    echo "$report" | sed -n "s/.*\"$1\": \([-+.e0-9]*\).*/\1/p"
}

failures=0
for file in "$CAROM_CASES"/ccd_*.csv.gz; do
    report=$("$carom" ccd-check "$file" --json)
    status=$?
    echo "$(basename "$file"): $report"
    allowed=2
    case $file in *near_misses*) allowed=5 ;; esac
    if [ $status != 0 ] || [ "$(value false_negatives)" != 0 ] || [ "$(value late_toi)" != 0 ]; then
        echo "does not hold: no false negative and no late time (exit status $status)"
        failures=$((failures + 1))
    fi
    misses=$(($(value queries) - $(value positives)))
    if [ $((100 * $(value false_positives))) -gt $((allowed * misses)) ]; then
        echo "does not hold: at most $allowed % of $misses misses called a hit"
        failures=$((failures + 1))
    fi
    if ! awk "BEGIN { exit !($(value worst_gap) <= 1e-6) }"; then
        echo "does not hold: no gap over 1e-6 of the size called a hit"
        failures=$((failures + 1))
    fi
done
[ $failures = 0 ]
