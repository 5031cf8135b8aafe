#!/bin/sh
# Runs the paper's experiments: experiments.sh [--quick] [--only N,N]. Fetches what they compare with
# (MuJoCo, CMA-ES and Taichi as packages, scanned figures) into build/; what cannot be had is reported as not run.
set -u
cd "$(dirname "$0")/.." || exit 1
tools/fetch_meshes.sh || true
# shellcheck disable=SC2046 # particles on a grid are for the long form only
python=$(tools/venv.sh mujoco cma $(case " $* " in *" --quick "*) ;; *) echo taichi ;; esac))
PYTHONPATH=python${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH
exec "$python" experiments/run.py "$@"
