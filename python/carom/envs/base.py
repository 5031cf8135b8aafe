"""What all tasks share: episodes, and their loss with its gradient by a policy."""
from __future__ import annotations

import math
from typing import Any, Callable

import numpy as np

from .. import _errors
from .._library import count as whole, numbers
from ..batch import Batch
from ..sim import Sim


class Box:
    """Bounds of actions and observations; Gymnasium's own where it is installed."""

    def __init__(self, low, high, shape, seed=None):
        self.low, self.high = np.full(shape, low), np.full(shape, high)
        self.shape, self.dtype = tuple(shape), np.dtype(np.float64)
        self._rng = np.random.default_rng(seed)

    def sample(self) -> np.ndarray:
        """A vector of chance within the bounds (normal where there are none)."""
        if np.isfinite(self.low).all():
            return self._rng.uniform(self.low, self.high)
        return self._rng.normal(size=self.shape)

    def seed(self, seed=None):
        self._rng = np.random.default_rng(seed)

    def contains(self, x) -> bool:
        return np.shape(x) == self.shape and bool((x >= self.low).all() and (x <= self.high).all())


def box(low, high, shape, seed=None):
    try:
        import gymnasium
        return gymnasium.spaces.Box(low, high, shape, np.float64, seed=seed)
    except ImportError:
        return Box(low, high, shape, seed)


def cat(parts):
    """Along the last axis, of NumPy or PyTorch."""
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts, axis=-1)
    import torch
    return torch.cat(parts, dim=-1)


class Env:
    """An episode: `horizon` decisions, each held for `hold` steps of the simulation.

    The policy sees the offset of the object to its target, the object's velocity and the time that
    remains, and gives numbers of about -1 to 1. The loss of an episode is the squared distance to
    the target at its end, plus `effort` times the mean of the squared actions. Rewards add up to
    the squared distance at the start minus the loss, so that both kinds of learner seek the same.
    """

    metadata: dict = {"render_modes": []}
    name = "env"
    controls: "list[str]" = []   #: as for Sim
    hold = 1                     #: steps of the simulation for one action
    seconds = 1.0                #: of an episode
    effort = 1e-3                #: weight of the actions in the loss
    goal_low = np.zeros(3)       #: least target
    goal_high = np.zeros(3)      #: most target

    def __init__(self, *, seed: "int | None" = None, effort: "float | None" = None,
                 workers: "int | None" = None):
        self.sim = Sim(self.scene(), controls=self.controls)
        self.effort = self.effort if effort is None else float(effort)
        self.horizon = max(1, round(self.seconds / (self.hold * self.sim.dt)))  #: decisions
        self.action_size = len(np.atleast_1d(self.action_scale()))
        self.action_space = box(-1.0, 1.0, (self.action_size,), seed)
        self._workers, self._batches = workers, {}
        self._rng = np.random.default_rng(seed)
        self.start = self.sim.rollout(steps=1, keep=False).states[0]
        self.goal = self.sample_goals(1)[0]
        size = self.observe(self.start[None], self.goal[None], 0).shape[-1]
        self.observation_space = box(-np.inf, np.inf, (size,), seed)
        self._state, self._t, self._over = self.start.copy(), 0, True

    # ---- what a task says

    def scene(self) -> dict:
        """The scene."""
        raise NotImplementedError

    def action_scale(self) -> np.ndarray:
        """[A] what an action of 1 means."""
        raise NotImplementedError

    def control(self, state, action):
        """Controls [K, C] of the next step for scaled actions [K, A] in states [K, S]."""
        return action

    def measure(self, state):
        """[K, G] what the target is about."""
        raise NotImplementedError

    def motion(self, state):
        """[K, G] its velocity."""
        raise NotImplementedError

    # ---- what follows

    def sample_goals(self, number: int, rng=None) -> np.ndarray:
        """Targets [K, G] by chance."""
        rng = self._rng if rng is None else np.random.default_rng(rng)
        return rng.uniform(self.goal_low, self.goal_high, size=(number, len(self.goal_low)))

    def observe(self, state, goal, t: int):
        """[K, O] what a policy sees of states [K, S] before decision t."""
        left = 1.0 - t / self.horizon
        offset = goal - self.measure(state)
        return cat([offset, self.motion(state), offset[..., :1] * 0.0 + left])

    def _distance(self, state, goal):
        return ((self.measure(state) - goal) ** 2).sum(-1)

    def reset(self, *, seed: "int | None" = None, options: "dict | None" = None):
        """A new episode; options may give the "goal"."""
        if seed is not None:
            self._rng = np.random.default_rng(seed)
            self.action_space.seed(seed)
        goal = (options or {}).get("goal")
        self.goal = self.sample_goals(1)[0] if goal is None else \
            numbers(goal, (len(self.goal_low),), "goal")
        self._state, self._t, self._over = self.start.copy(), 0, False
        self.sim.place(self._state)
        return self.observe(self._state[None], self.goal[None], 0)[0], {"goal": self.goal.copy()}

    def step(self, action):
        """One decision: observation, reward, terminated, truncated, info."""
        if self._over:
            raise _errors.MisuseError("the episode is over; reset the environment")
        action = numbers(action, (self.action_size,), "action")
        before = self._distance(self._state, self.goal)
        scaled = action * self.action_scale()
        for _ in range(self.hold):
            self._state = self.sim.step(self.control(self._state[None], scaled[None])[0])
        self._t += 1
        reward = float(before - self._distance(self._state, self.goal)
                       - self.effort * (action ** 2).mean() / self.horizon)
        self._over = self._t >= self.horizon
        seen = self.observe(self._state[None], self.goal[None], self._t)[0]
        return seen, reward, False, self._over, {
            "distance": float(np.sqrt(self._distance(self._state, self.goal)))}

    def render(self):
        """Nothing; rollout(policy).view() shows an episode."""

    def close(self) -> None:
        """Gives the memory back."""
        self.sim.close()
        for batch in self._batches.values():
            batch.close()

    # ---- gradients

    def _batch(self, number: int) -> Batch:
        if number not in self._batches:
            self._batches[number] = Batch(self.sim, number, workers=self._workers)
        return self._batches[number]

    def _goals(self, goals, number, seed) -> np.ndarray:
        if goals is None:
            return self.sample_goals(whole(number, "number", 1), seed)
        return numbers(goals, (None, len(self.goal_low)), "goals")

    def _episodes(self, policy, goals, number, seed):
        """Episodes as PyTorch knows them: last states [K, S], mean squared actions [K], goals."""
        import torch
        from .. import torch as flow
        goals = torch.from_numpy(self._goals(goals, number, seed))
        batch = self._batch(len(goals))
        state = torch.from_numpy(np.tile(self.start, (len(goals), 1)))
        scale, cost = torch.from_numpy(np.asarray(self.action_scale(), float)), 0.0
        like = next(iter(policy.parameters()), None) if hasattr(policy, "parameters") else None
        dtype = torch.float64 if like is None else like.dtype
        for t in range(self.horizon):
            action = policy(self.observe(state, goals, t).to(dtype)).to(torch.float64)
            if tuple(action.shape) != (len(goals), self.action_size):
                raise _errors.ArgumentError(f"the policy gave the shape {tuple(action.shape)}; it "
                                            f"has to be {(len(goals), self.action_size)}")
            cost = cost + (action ** 2).mean(-1) / self.horizon
            for k in range(self.hold):
                state = flow.step(batch, state, self.control(state, action * scale),
                                  step=t * self.hold + k)
        return state, cost, goals

    def losses(self, policy: Callable, goals=None, *, number: int = 1, seed=None):
        """[K] losses of K episodes, as a PyTorch tensor that knows where it came from.

        policy  from observations [K, O] to actions [K, A], of PyTorch
        goals   [K, G]; None: `number` targets by chance (seed)
        """
        state, cost, goals = self._episodes(policy, goals, number, seed)
        return self._distance(state, goals) + self.effort * cost

    def residuals(self, policy: Callable, goals=None, *, number: int = 1, seed=None):
        """[K, G + 1] what the losses are the squares of: offsets to the target at the end, and
        the root of what the actions cost. For methods of least squares; as losses otherwise.
        """
        state, cost, goals = self._episodes(policy, goals, number, seed)
        # where no action costs anything the root has no slope: 0, as what it is least at
        acted = cost > 0
        root = cost.where(acted, 1 + cost).sqrt() * acted
        return cat([self.measure(state) - goals, math.sqrt(self.effort) * root[:, None]])

    def loss_and_grad(self, policy, goals=None, *, number: int = 1, seed=None):
        """The mean loss of episodes, and its gradient by every parameter of a policy
        (torch.nn.Module): (loss, [gradient of each of policy.parameters()])."""
        import torch
        parameters = [p for p in policy.parameters() if p.requires_grad]
        loss = self.losses(policy, goals, number=number, seed=seed).mean()
        return float(loss.detach()), list(torch.autograd.grad(loss, parameters, allow_unused=True))

    def rollout(self, policy, goal=None, *, seed=None):
        """One episode as a Trajectory, to look at."""
        import torch
        goal = self._goals(None if goal is None else np.asarray(goal)[None], 1, seed)
        like = next(iter(policy.parameters()), None) if hasattr(policy, "parameters") else None
        state, controls = self.start[None], []
        self.sim.place(self.start)
        with torch.no_grad():
            for t in range(self.horizon):
                seen = torch.from_numpy(self.observe(state, goal, t))
                action = policy(seen if like is None else seen.to(like.dtype)).double().numpy()
                for _ in range(self.hold):
                    controls.append(self.control(state, action * self.action_scale())[0])
                    state = self.sim.step(controls[-1])[None]
        return self.sim.rollout(np.array(controls), state=self.start, keep=False)


def mlp(env: Env, hidden=(50, 200), *, seed: int = 0, bounded: bool = True):
    """A network of float64 for a task: ReLU layers, the last one small, and bounded by tanh."""
    import torch
    state = torch.random.get_rng_state()
    torch.manual_seed(seed)
    sizes = [env.observation_space.shape[0], *hidden, env.action_size]
    layers: "list[Any]" = []
    for a, b in zip(sizes[:-1], sizes[1:]):
        layers += [torch.nn.Linear(a, b), torch.nn.ReLU()]
    layers[-1] = torch.nn.Tanh()
    with torch.no_grad():
        layers[-2].weight.mul_(0.1)
        layers[-2].bias.zero_()
    torch.random.set_rng_state(state)
    return torch.nn.Sequential(*(layers if bounded else layers[:-1])).double()


def train(env: Env, policy, *, updates: int = 50, rate: float = 1e-3, number: int = 1,
          seed: int = 0, clip: "float | None" = 1.0,
          progress: "Callable[[int, float], Any] | None" = None) -> "list[float]":
    """Adam on the gradient of whole episodes, `number` of them for one update; gives the losses.

    clip  length that a gradient may have; None: any. progress(update, loss): true stops.
    An update in which a step cannot be taken is left out; when that happens to more than a tenth
    of them, it raises."""
    import torch
    optimizer = torch.optim.Adam(policy.parameters(), lr=rate)
    rng = np.random.default_rng(seed)
    losses, failed = [], 0
    for i in range(updates):
        goals = env.sample_goals(number, rng.integers(2**31))
        try:
            loss, gradients = env.loss_and_grad(policy, goals)
        except _errors.NoConvergenceError:
            failed += 1
            if failed > max(1, updates // 10):
                raise
            continue
        if not math.isfinite(loss):
            raise _errors.NotFiniteError(f"the loss of update {i} is {loss}")
        for p, g in zip((p for p in policy.parameters() if p.requires_grad), gradients):
            p.grad = g
        if clip is not None:
            torch.nn.utils.clip_grad_norm_(policy.parameters(), clip)
        optimizer.step()
        losses.append(loss)
        if progress is not None and progress(i, loss):
            break
    return losses
