"""Every example runs, and what it prints is right."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve()


def run(examples, name, *arguments, prefix=()):
    env = dict(os.environ, PYTHONPATH=os.pathsep.join(p for p in sys.path if p))
    done = subprocess.run([*prefix, sys.executable, str(examples / name), *arguments], env=env,
                          capture_output=True, text=True, timeout=600, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def test_hello(examples):
    out = run(examples, "hello.py")
    assert "the ground carries 117.72 N of the box's 117.72 N" in out


def test_fit_mass(examples):
    assert run(examples, "fit_mass.py").count("mass 4.000000 kg") == 2


def test_marble(examples):
    last = run(examples, "marble.py").strip().splitlines()[-1]
    assert float(re.search(r"off by ([0-9.]+)", last)[1]) < 0.02


def test_cloth_sysid(examples):
    assert "stretch 95.00" in run(examples, "cloth_sysid.py")


def test_train_sticks(examples):
    pytest.importorskip("torch", reason="PyTorch is not here (python3-torch)")
    out = run(examples, "train_sticks.py", "40")
    before, after = (float(x) for x in re.findall(r": ([0-9.]+) m off", out))
    assert after < 0.7 * before


def test_mpi_gives_the_gradients_of_one_process(examples):
    pytest.importorskip("torch", reason="PyTorch is not here (python3-torch)")
    if not shutil.which("mpirun"):
        pytest.skip("there is no mpirun here (openmpi-bin)")
    if subprocess.run([sys.executable, "-c", "import mpi4py"], capture_output=True,
                      check=False).returncode:
        pytest.skip("there is no mpi4py here (python3-mpi4py)")
    root = ("--allow-run-as-root",) if hasattr(os, "geteuid") and os.geteuid() == 0 else ()
    out = [run(examples, "mpi_sticks.py", "2", prefix=("mpirun", *root, "--oversubscribe", "-n", n))
           for n in ("1", "2")]
    one, two = (re.findall(r"loss ([0-9.]+), gradient ([0-9.]+)", o) for o in out)
    assert len(one) == len(two) == 2
    for a, b in zip(one, two):
        assert [float(x) for x in a] == pytest.approx([float(x) for x in b], rel=1e-8)
