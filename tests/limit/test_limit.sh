#!/bin/sh
# Contacts with a layer of ever less width come to the motion and the gradients of contacts that have none.
set -u
if grep -q '^CAROM_SANITIZE:STRING=.' "$(dirname "$1")/CMakeCache.txt"; then
    echo "not run: the same runs are made without sanitizers, and errors are what is looked at"
    exit 77
fi
python=$(tools/venv.sh)
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 8))' || exit 77
exec "$python" tests/limit/limit.py "$1"
