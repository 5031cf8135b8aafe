"""carom as a function of JAX: under grad, jit and vmap.

    states = carom.jax.rollout(sim, controls)        # [T, C] -> [T+1, S]

The library computes in float64 on the CPU whatever the inputs are; results have JAX's default
type, float32 unless jax_enable_x64 is set. The way back runs the forward pass once more, so that
the function is pure. Under vmap the items run one after another; a carom.Batch, whose arrays have
the batch as their first axis, runs them over threads.
"""
from __future__ import annotations

import functools
import threading
import weakref

import jax
import jax.numpy as jnp
import numpy as np

from . import _errors
from .batch import Batch
from .sim import Sim

__all__ = ["rollout", "step"]

_locks: "weakref.WeakKeyDictionary" = weakref.WeakKeyDictionary()


def _callback(function, shapes, *arguments):
    """pure_callback, whose word for "one after another under vmap" has changed."""
    try:
        return jax.pure_callback(function, shapes, *arguments, vmap_method="sequential")
    except TypeError:
        return jax.pure_callback(function, shapes, *arguments, vectorized=False)


def _run(sim, first, keep, controls, state, theta):
    return sim.rollout(np.asarray(controls), state=None if state is None else np.asarray(state),
                       theta=None if theta is None else np.asarray(theta), step=first, keep=keep)


def _type():
    return jnp.zeros(()).dtype


@functools.partial(jax.custom_vjp, nondiff_argnums=(0, 1))
def _rollout(sim, first, controls, state, theta):
    dtype, lock = _type(), _locks.setdefault(sim, threading.Lock())
    many = controls.shape[:-2] + (controls.shape[-2] + 1, sim.state_size)

    def forward(controls, state, theta):
        with lock:  # XLA may call from threads of its own
            return _run(sim, first, False, controls, state, theta).states.astype(dtype)
    return _callback(forward, jax.ShapeDtypeStruct(many, dtype), controls, state, theta)


def _forward(sim, first, controls, state, theta):
    return _rollout(sim, first, controls, state, theta), (controls, state, theta)


def _backward(sim, first, kept, bars):
    controls, state, theta = kept
    lock = _locks.setdefault(sim, threading.Lock())
    shapes = tuple(None if a is None else jax.ShapeDtypeStruct(a.shape, a.dtype)
                   for a in (controls, state, theta))

    def back(controls, state, theta, bars):
        with lock:
            run = _run(sim, first, True, controls, state, theta)
            grad = run.vjp(np.asarray(bars))
            run.close()
        out = []
        for shape, value in zip(shapes, (grad.controls, grad.state, grad.theta)):
            if shape is None:
                out.append(None)
                continue
            value = value.sum(axis=0) if value.ndim > len(shape.shape) else value
            out.append(value.astype(shape.dtype))
        return tuple(out)
    return _callback(back, shapes, controls, state, theta, bars)


_rollout.defvjp(_forward, _backward)


def _fits(shape: tuple, wanted: tuple) -> bool:
    return len(shape) == len(wanted) and all(w in (None, n) for n, w in zip(shape, wanted))


def rollout(sim: "Sim | Batch", controls, state=None, theta=None, *, first: int = 0):
    """All states [T+1, S] of a run with controls [T, C].

    state  [S] to begin in, after `first` steps; None: the start of the scene, at theta
    theta  [P] parameters; None: as the sim has them
    """
    if not isinstance(sim, (Sim, Batch)):
        raise _errors.ArgumentError(f"sim is {type(sim).__name__}; it has to be a carom.Sim or a "
                                    "carom.Batch")
    if controls is None:
        raise _errors.ArgumentError("controls is None; they say how many steps: jnp.zeros((T, "
                                    "sim.control_size)) is none at all")
    dtype, lead = _type(), sim._lead
    arrays = [None if a is None else jnp.asarray(a, dtype) for a in (controls, state, theta)]
    wanted = (("controls", lead + (None, sim.control_size)), ("state", lead + (sim.state_size,)),
              ("theta", lead + (sim.theta_size,)))
    for (name, shape), array in zip(wanted, arrays):  # here, for from inside XLA it is hard to read
        shapes = [shape] if name == "controls" else [shape, shape[len(lead):]]
        if array is not None and not any(_fits(array.shape, s) for s in shapes):
            raise _errors.ArgumentError(f"{name} has the shape {array.shape}; it has to be "
                                        + str(shape).replace("None", "T"))
    return _rollout(sim, int(first), *arrays)


def step(sim: "Sim | Batch", state, control, theta=None, *, step: int = 0):
    """The state [S] after one step from a state [S] with controls [C]: a pure function."""
    control = jnp.asarray(control, _type())
    return rollout(sim, control[..., None, :], state, theta, first=step)[..., 1, :]
