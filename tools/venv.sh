#!/bin/sh
# venv.sh [PACKAGE...]: prints the name of an interpreter that has NumPy and, where they can be had, these
# packages. They go into an environment of their own, build/venv; what cannot be had is told, and no failure.
set -u
cd "$(dirname "$0")/.." || exit 1
venv=build/venv
python=python3
for candidate in ${PYTHON:-} /usr/bin/python3 python3; do
    if "$candidate" -c 'import numpy' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ $# != 0 ] && [ ! -x $venv/bin/python ]; then
    "$python" -m venv --system-site-packages $venv >/dev/null 2>&1 ||
        echo "venv: no virtual environment (is python3-venv installed?); what is compared with will be missing" >&2
fi
[ -x $venv/bin/python ] && python=$venv/bin/python
for package in "$@"; do
    "$python" -c "import $package" >/dev/null 2>&1 || { [ "$python" = $venv/bin/python ] &&
        timeout 300 "$python" -m pip install -q "$package" >/dev/null 2>&1; } ||
        echo "venv: $package could not be installed; what needs it is reported as not run" >&2
done
echo "$python"
