#!/bin/sh
# The API reference is made from the headers without a warning, and has what they declare.
set -u
room=$(mktemp -d) || exit 1
trap 'rm -rf "$room"' EXIT
tools/doxygen.sh "$room/docs" || exit $?
missing=0
for call in $(sed -n 's/^CAROM_API .*\(carom_[a-z_]*\)(.*/\1/p' include/carom/*.h); do
    grep -qr "\"memname\".*$call\|>$call<\|$call *(" "$room/docs/html" || {
        echo "does not hold: the reference has $call"
        missing=$((missing + 1))
    }
done
[ $missing = 0 ]
