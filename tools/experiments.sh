#!/bin/sh
# Runs the paper's experiments: experiments.sh [--quick] [--only N,N]. Fetches what they compare with
# (MuJoCo, CMA-ES and Taichi as packages, scanned figures) into build/ and, for full runs, installs a tuned BLAS;
# what cannot be had is reported as not run.
set -u
cd "$(dirname "$0")/.." || exit 1
tools/fetch_meshes.sh || true
case " $* " in
*" --quick "*) python=$(tools/venv.sh mujoco cma) ;;
*)
    tools/setup.sh compare || true
    python=$(tools/venv.sh mujoco cma taichi)
    ;;
esac
PYTHONPATH=python${PYTHONPATH:+:$PYTHONPATH}
export PYTHONPATH
exec "$python" experiments/run.py "$@"
