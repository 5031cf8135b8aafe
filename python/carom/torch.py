"""carom as functions of PyTorch: gradients flow through contact.

    states = carom.torch.rollout(sim, controls)                  # [T, C] -> [T+1, S]
    state = carom.torch.step(sim, state, control, step=t)        # a policy in the loop

sim is a carom.Sim, or a carom.Batch, and then every tensor has the batch as its first axis:
controls [K, T, C], states [K, T+1, S]. Any of state, controls and theta may require gradients.
Inputs may be float32 or float64 and on any device; the library computes in float64 on the CPU, and
results have the type and device of the inputs. Sim.split and Batch.split show the parts of a state.
Forward mode (torch.autograd.forward_ad) goes the library's own way forward, as Trajectory.jvp.
"""
from __future__ import annotations

import numpy as np
import torch

from . import _errors
from .batch import Batch
from .sim import Sim

__all__ = ["rollout", "step"]


def _array(tensor):
    return None if tensor is None else tensor.detach().to("cpu", torch.float64).numpy()


class _Rollout(torch.autograd.Function):
    """controls, state, theta (the last two or None) to states."""

    @staticmethod
    def forward(ctx, sim, first, controls, state, theta):
        given = [t for t in (controls, state, theta) if t is not None]
        # dual numbers need the steps too, and nobody says so beforehand
        ctx.kept = any(ctx.needs_input_grad[2:]) or torch.autograd.forward_ad._current_level >= 0
        ctx.run = sim.rollout(_array(controls), state=_array(state), theta=_array(theta),
                              step=first, keep=ctx.kept)
        ctx.like = [None if t is None else (t.dtype, t.device, t.shape)
                    for t in (controls, state, theta)]
        like = given[0]
        for t in given[1:]:  # the wider type, as torch has it
            like = t if torch.promote_types(like.dtype, t.dtype) != like.dtype else like
        ctx.out = (like.device, like.dtype)
        return torch.from_numpy(ctx.run.states.copy()).to(*ctx.out)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, bars):
        grad = ctx.run.vjp(_array(bars))
        out = []
        for like, value in zip(ctx.like, (grad.controls, grad.state, grad.theta)):
            if like is None:
                out.append(None)
                continue
            dtype, device, shape = like
            if value.ndim > len(shape):  # one theta or state for all of a batch
                value = value.sum(axis=0)
            out.append(torch.from_numpy(value).to(device, dtype))
        return (None, None, *out)


    @staticmethod
    def jvp(ctx, _sim, _first, dcontrols, dstate, dtheta):
        run, given = ctx.run, {}
        for name, d, whole in (("controls", dcontrols, run.controls.shape),
                               ("state", dstate, run.states.shape[:-2] + run.states.shape[-1:]),
                               ("theta", dtheta, run.theta.shape)):
            if d is not None:  # one theta or state for all of a batch
                given[name] = np.broadcast_to(_array(d), whole)
        return torch.from_numpy(run.jvp(**given)).to(*ctx.out)


def _check(sim, tensors):
    if not isinstance(sim, (Sim, Batch)):
        raise _errors.ArgumentError(f"sim is {type(sim).__name__}; it has to be a carom.Sim or a "
                                    "carom.Batch")
    for name, tensor in tensors.items():
        if tensor is not None and not isinstance(tensor, torch.Tensor):
            raise _errors.ArgumentError(f"{name} is {type(tensor).__name__}; it has to be a tensor")
        if tensor is not None and not tensor.is_floating_point():
            raise _errors.ArgumentError(f"{name} is {tensor.dtype}; it has to be float32 or "
                                        "float64")


def rollout(sim: "Sim | Batch", controls: torch.Tensor, state: "torch.Tensor | None" = None,
            theta: "torch.Tensor | None" = None, *, first: int = 0) -> torch.Tensor:
    """All states [T+1, S] of a run with controls [T, C].

    state  [S] to begin in, after `first` steps; None: the start of the scene, at theta
    theta  [P] parameters; None: as the sim has them
    """
    if controls is None:
        raise _errors.ArgumentError("controls is None; they say how many steps: torch.zeros(T, "
                                    "sim.control_size, dtype=torch.float64) is none at all")
    _check(sim, {"controls": controls, "state": state, "theta": theta})
    return _Rollout.apply(sim, first, controls, state, theta)


def step(sim: "Sim | Batch", state: torch.Tensor, control: torch.Tensor,
         theta: "torch.Tensor | None" = None, *, step: int = 0) -> torch.Tensor:
    """The state [S] after one step from a state [S] with controls [C].

    A pure function: what the sim did before has no influence. step is how many steps there were
    before this one; only scripts and forces per step go by it.
    """
    if control is None or state is None:
        raise _errors.ArgumentError("state and control are needed; zeros are no control at all")
    _check(sim, {"state": state, "control": control, "theta": theta})
    states = _Rollout.apply(sim, step, control.unsqueeze(-2), state, theta)
    return states.select(-2, 1)
