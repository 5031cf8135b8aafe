#!/bin/sh
# Runs the paper's experiments: experiments.sh [--quick] [--only N,N]. Fetches what they compare with
# (MuJoCo and CMA-ES as packages, scanned figures) into build/; what cannot be had is reported as not run.
set -u
cd "$(dirname "$0")/.." || exit 1
tools/fetch_meshes.sh || true
python=$(tools/venv.sh mujoco cma)
PYTHONPATH=python${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH
exec "$python" experiments/run.py "$@"
