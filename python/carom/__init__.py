"""carom: differentiable physics of rigid bodies and cloth that touch without passing through.

    import carom

    sim = carom.Sim("examples/throw.json", parameters=["box.velocity"])
    run = sim.rollout(steps=100)                 # a Trajectory: run.positions[T, body, 3], ...
    bar = run.zeros()                            # dL/d(every state); L is yours
    bar.positions[-1, 2] = 1                     # L = x + y + z of where the box ends
    run.vjp(bar).parameters["box.velocity"]      # dL/d(its velocity at the start)

Scene     a description: load, build in code with the names of scene files, edit, save
Sim       a scene in motion: step, run, rollout
Trajectory, Batch, Tape    runs, many runs at once, long runs in bounded memory
gradcheck, optimize        of the objective that a scene states
carom.torch, carom.jax     the same as functions of PyTorch and JAX (imported when asked for)
carom.envs                 tasks to learn, with the interface of Gymnasium

Everything is SI; arrays are float64. Whatever is refused is an exception (carom.Error) that says
what was found and what would be accepted.
"""
from ._errors import (ArgumentError, ClosedError, Error, FileError, FormatError, IntersectingError,
                      InterruptedError, MeshError, MisuseError, NoConvergenceError, NotFiniteError,
                      SceneError)
from ._library import library_path, version
from .batch import Batch, BatchRun
from .scene import Scene, describe, parameter_kinds
from .sim import Body, Gradient, Sim, State
from .problem import CheckReport, OptimizeReport, Problem, gradcheck, optimize
from .tape import Tape
from .trajectory import Trajectory

__version__ = version()

__all__ = ["Scene", "Sim", "Body", "State", "Gradient", "Trajectory", "Tape", "Batch", "BatchRun",
           "Problem",
           "gradcheck", "optimize", "CheckReport", "OptimizeReport", "describe", "parameter_kinds",
           "library_path", "version", "Error", "ArgumentError", "ClosedError", "FileError",
           "FormatError", "IntersectingError", "InterruptedError", "MeshError", "MisuseError",
           "NoConvergenceError", "NotFiniteError", "SceneError"]


def __getattr__(name):
    # torch and jax take seconds to import, so they wait until someone asks
    if name in ("torch", "jax", "envs"):
        import importlib
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'carom' has no attribute {name!r}")


def __dir__():
    return sorted(__all__ + ["torch", "jax", "envs", "__version__"])
