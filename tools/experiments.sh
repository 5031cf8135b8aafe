#!/bin/sh
# Runs the paper's experiments: experiments.sh [--quick] [--only N,N]. Fetches what they compare with
# (MuJoCo and CMA-ES as packages, scanned figures) into build/; what cannot be had is reported as not run.
set -u
cd "$(dirname "$0")/.." || exit 1
venv=build/venv
tools/fetch_meshes.sh || true
python=python3
for candidate in /usr/bin/python3 python3; do
    if "$candidate" -c 'import numpy' 2>/dev/null; then
        python=$candidate
        break
    fi
done
if [ ! -x $venv/bin/python ]; then
    "$python" -m venv --system-site-packages $venv >/dev/null 2>&1 ||
        echo "experiments: no virtual environment (is python3-venv installed?); baselines will be missing" >&2
fi
if [ -x $venv/bin/python ]; then
    python=$venv/bin/python
    for package in mujoco cma; do
        "$python" -c "import $package" 2>/dev/null || timeout 300 "$python" -m pip install -q $package >/dev/null 2>&1 ||
            echo "experiments: $package could not be installed; what needs it is reported as not run" >&2
    done
fi
PYTHONPATH=python${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH
exec "$python" experiments/run.py "$@"
