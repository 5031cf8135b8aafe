"""Learning to control: by derivatives of whole episodes, and by DDPG, on the tasks of carom.envs.

All see the same (offset to the target, speed, time that remains), act alike, are paid the same (the
rewards of an episode add up to the squared distance at its start minus the loss) and have the same
number of episodes, the same targets in the same order and the same network. They are tested on targets
that none was trained on.
"""

import dataclasses
import json
import math
import time

from kit import Missing, mean_sd

HIDDEN = (50, 200)  # the paper's
EFFORT = 1e-3       # weight of the mean squared action in the loss
DDPG = ("actor rate 1e-4, critic rate 1e-3, noise 0.1 falling to 0, rewards times 10, a batch of 64 for each decision; two "
        "settings were tried, on the sticks with one seed for 40 to 60 episodes, fewer than for the gradient: this, and actor rate 1e-3 "
        "with noise 0.3, which ended farther off")
UNSEEN = 1234       # seed of the targets for the test
BASES = (2, 3, 5)   # of the Halton sequence, one for each axis of a target


@dataclasses.dataclass
class Settings:
    """Chosen on other seeds and other test targets than those of the report; the same for both tasks but for `longest`."""
    scale: float = 2.0            # offsets to the target are multiplied by this first
    # Gauss-Newton
    damping: tuple = (0.1, 0.005)  # of its steps at the start and at the end, over the mean square of a row
    window: int = 30              # episodes that it remembers
    forget: float = 0.93          # weight of an episode over that of the next one
    longest: float = math.inf     # that an episode's rows may be, over the median of those that it remembers
    # Adam
    rate: float = 5e-3            # at the start; falls as a cosine
    betas: tuple = (0.9, 0.95)
    clip: float = 0.5             # length that a gradient may have


def packages():
    """carom, numpy and torch, or Missing."""
    try:
        import numpy
        import torch
        import carom
        import carom.envs
    except ImportError as error:
        raise Missing(str(error)) from error
    torch.set_num_threads(1)
    return carom, numpy, torch


def halton(i, base):
    """Number i of the sequence with this base, in [0, 1)."""
    part, out = 1.0, 0.0
    while i > 0:
        part /= base
        out += part * (i % base)
        i //= base
    return out


def targets(env, number, seed):
    """[number, G] for training: a Halton sequence shifted by chance, which fills the box more evenly than chance alone."""
    import numpy
    shift = numpy.random.default_rng(1000 + seed).random(len(env.goal_low))
    unit = numpy.array([[halton(i + 1, base) for base in BASES[:len(shift)]] for i in range(number)])
    return env.goal_low + (unit + shift) % 1.0 * (env.goal_high - env.goal_low)


def network(env, seed, scale):
    """The policy; offsets to the target are multiplied by scale first, which of metres makes numbers near 1."""
    import torch
    import carom

    class Scale(torch.nn.Module):
        def forward(self, seen):
            count = len(env.goal_low)
            return torch.cat([scale * seen[..., :count], seen[..., count:]], -1)

    return torch.nn.Sequential(Scale(), *carom.envs.mlp(env, HIDDEN, seed=seed))


class Test:
    """Mean distance at the end over unseen targets, by that at the start."""

    def __init__(self, env, number):
        import numpy
        self.env, self.goals, self.failed = env, env.sample_goals(number, UNSEEN), 0
        self.start = float(numpy.linalg.norm(env.measure(env.start[None]) - self.goals, axis=1).mean())

    def end(self, policy, goal):
        """[1] distance at the end of one episode; where a step cannot be taken, that at its start."""
        import numpy
        import torch
        import carom
        try:
            return self.env.losses(policy, goal[None]).sqrt()
        except carom.NoConvergenceError:
            self.failed += 1
            return torch.tensor([float(numpy.linalg.norm(self.env.measure(self.env.start) - goal))])

    def __call__(self, policy):
        import torch
        effort, self.env.effort = self.env.effort, 0.0
        try:
            with torch.no_grad():
                return float(torch.cat([self.end(policy, goal) for goal in self.goals]).mean()) / self.start
        finally:
            self.env.effort = effort


def shortened(a, b, count, longest):
    """Rows and right sides, `count` of them an episode, with no episode's rows longer than `longest` times the median.

    Near a state in which the cloth buckles the Jacobian is exact and large, and true of a thousandth of a step
    only. As damping goes by the mean square of all rows, one such episode would stop learning while it is remembered.
    """
    import numpy
    lengths = numpy.sqrt((a ** 2).sum(1).reshape(-1, count).mean(1))
    factors = numpy.minimum(1, longest * numpy.median(lengths) / lengths).repeat(count)
    return a * factors[:, None], b * factors


def by_gauss_newton(env, test, episodes, probes, seed, settings):
    """One update for each episode: the least-squares step over the last episodes. [(episode, share of the start)]

    The loss of episode k is |r_k|^2 with residuals r_k (offset at the end, root of the effort) and their
    exact Jacobian J_k by the weights p of the network at its time, p_k. From p the step d is that of least

        sum_k w_k |r_k + J_k (p - p_k + d)|^2 + c |d|^2,   w_k = forget^(age of k),

    that is d = -A^T (A A^T + c W^-1)^-1 b with the rows A = J_k and b = r_k + J_k (p - p_k): a system of a
    few rows for each episode that is remembered, whatever the size of the network. Both are made shorter where
    an episode's rows are far longer than those of others, see shortened().
    """
    import numpy
    import torch
    import carom
    policy = network(env, seed, settings.scale)
    weights = list(policy.parameters())
    memory, failed, curve = [], 0, [(0, test(policy))]
    for episode, goal in enumerate(targets(env, episodes, seed)):
        try:
            r = env.residuals(policy, goal[None])[0]
        except carom.NoConvergenceError:
            failed += 1
        else:
            rows = [torch.autograd.grad(part, weights, retain_graph=True) for part in r]
            jacobian = numpy.array([torch.cat([g.reshape(-1) for g in row]).numpy() for row in rows])
            p = torch.nn.utils.parameters_to_vector(weights).detach().numpy()
            memory = [*memory[1 - settings.window:], (jacobian, r.detach().numpy(), p)]
            a = numpy.concatenate([j for j, _, _ in memory])
            b = numpy.concatenate([past + j @ (p - then) for j, past, then in memory])
            ages = numpy.repeat(numpy.arange(len(memory))[::-1], len(r))
            a, b = shortened(a, b, len(r), settings.longest)
            square = a @ a.T
            first, last = settings.damping
            c = first * (last / first) ** (episode / episodes) * square.diagonal().mean()
            d = -a.T @ numpy.linalg.solve(square + c * numpy.diag(settings.forget ** -ages.astype(float)), b)
            with torch.no_grad():
                torch.nn.utils.vector_to_parameters(torch.from_numpy(p + d), weights)
        if episode + 1 in probes:
            curve.append((episode + 1, test(policy)))
    return curve, failed


def by_adam(env, test, episodes, probes, seed, settings):
    """One update of Adam for each episode; the rate falls as a cosine. [(episode, share of the start)]"""
    import torch
    import carom
    policy = network(env, seed, settings.scale)
    optimizer = torch.optim.Adam(policy.parameters(), lr=settings.rate, betas=settings.betas)
    failed, curve = 0, [(0, test(policy))]
    for episode, goal in enumerate(targets(env, episodes, seed)):
        for group in optimizer.param_groups:
            group["lr"] = settings.rate * 0.5 * (1 + math.cos(math.pi * episode / episodes))
        try:
            loss = env.losses(policy, goal[None]).mean()
        except carom.NoConvergenceError:
            failed += 1
        else:
            optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), settings.clip)
            optimizer.step()
        if episode + 1 in probes:
            curve.append((episode + 1, test(policy)))
    return curve, failed


def by_ddpg(env, test, episodes, probes, seed, settings, actor_rate=1e-4, critic_rate=1e-3, noise=0.1, pay=10.0):
    """DDPG: replay, target networks, noise that falls; an update for each decision. The same curve."""
    import copy
    import numpy
    import torch
    import carom
    rng = numpy.random.default_rng(2000 + seed)
    actor = network(env, seed, settings.scale).float()
    torch.manual_seed(seed)
    size, count = env.observation_space.shape[0], env.action_size
    critic = torch.nn.Sequential(torch.nn.Linear(size + count, 200), torch.nn.ReLU(), torch.nn.Linear(200, 200),
                                 torch.nn.ReLU(), torch.nn.Linear(200, 1))
    slow = copy.deepcopy(actor), copy.deepcopy(critic)
    steps = (torch.optim.Adam(actor.parameters(), lr=actor_rate), torch.optim.Adam(critic.parameters(), lr=critic_rate))
    room = episodes * env.horizon
    seen, acted, paid, then, over = (numpy.zeros((room, n), numpy.float32) for n in (size, count, 1, size, 1))
    held, failed, curve = 0, 0, [(0, test(actor))]

    def learn():
        pick = rng.integers(held, size=64)
        s, a, r, n, d = (torch.from_numpy(x[pick]) for x in (seen, acted, paid, then, over))
        with torch.no_grad():
            worth = pay * r + (1 - d) * slow[1](torch.cat([n, slow[0](n)], 1))
        loss = torch.nn.functional.mse_loss(critic(torch.cat([s, a], 1)), worth)
        steps[1].zero_grad()
        loss.backward()
        steps[1].step()
        gain = -critic(torch.cat([s, actor(s)], 1)).mean()
        steps[0].zero_grad()
        gain.backward()
        steps[0].step()
        with torch.no_grad():
            for quick, late in zip((actor, critic), slow):
                for p, q in zip(quick.parameters(), late.parameters()):
                    q.lerp_(p, 0.01)

    for episode, goal in enumerate(targets(env, episodes, seed)):
        now, _ = env.reset(options={"goal": goal})
        wild = noise * (1 - episode / episodes)
        for _ in range(env.horizon):
            with torch.no_grad():
                action = actor(torch.from_numpy(now).float()).numpy()
            action = numpy.clip(action + wild * rng.normal(size=count), -1, 1)
            try:
                new, reward, ended, cut, _ = env.step(action)
            except carom.NoConvergenceError:
                failed += 1
                break
            seen[held], acted[held], paid[held], then[held], over[held] = now, action, reward, new, ended or cut
            held, now = held + 1, new
            if held >= 200:
                learn()
            if ended or cut:
                break
        if episode + 1 in probes:
            curve.append((episode + 1, test(actor)))
    return curve, failed


LEARNERS = {"Gauss-Newton": by_gauss_newton, "Adam": by_adam, "DDPG": by_ddpg}
# what each of them hangs on
FIELDS = {"Gauss-Newton": ("scale", "damping", "window", "forget", "longest"), "Adam": ("scale", "rate", "betas", "clip"), "DDPG": ("scale",)}


def train(kit, name, method, seed, settings):
    """One training with its tests, or what was kept of the same one: dict(curve, failed, untested, seconds, start)."""
    import carom
    path = kit.path(f"{method}-{seed}.json")
    asked = {field: getattr(settings, field) for field in FIELDS[method]} | dict(quick=kit.quick, method=method, seed=seed)
    asked = json.loads(json.dumps(asked))  # as it comes back from a file
    if kit.resume:
        try:
            with open(path) as file:
                kept = json.load(file)
            if kept["asked"] == asked:
                kit.began -= kept["seconds"]
                return kept
        except (OSError, ValueError, KeyError):
            pass
    began = time.process_time()
    env = carom.envs.make(name, seed=0, effort=EFFORT, workers=1)
    test = Test(env, 4 if kit.quick else 16)
    episodes = 40 if kit.quick else 200
    probes = [episodes] if kit.quick else [25, 50, 100, 150, 200]
    curve, failed = LEARNERS[method](env, test, episodes, probes, seed, settings)
    env.close()
    done = dict(asked=asked, curve=[list(point) for point in curve], failed=failed, untested=test.failed,
                seconds=time.process_time() - began, start=test.start)
    with open(path, "w") as file:
        json.dump(done, file)
    print(f"    {method}, seed {seed}: {100 * curve[-1][1]:.2f} %, {done['seconds']:.0f} s", flush=True)
    return done


def report(kit, name, tried, settings=Settings()):
    """The whole experiment of one task."""
    packages()
    runs = {method: [train(kit, name, method, seed, settings) for seed in (kit.baseline_seeds if method == "DDPG" else range(kit.seeds))]
            for method in LEARNERS}
    ends = {method: mean_sd([run["curve"][-1][1] for run in some]) for method, some in runs.items()}
    episodes, start = runs["Adam"][0]["curve"][-1][0], runs["Adam"][0]["curve"][0][1]
    for method in ("Gauss-Newton", "Adam"):
        mean, sd = ends[method]
        worst = max(run["curve"][-1][1] for run in runs[method])
        held = None if method == "Adam" else mean < 0.25 * start if kit.quick else mean <= 0.05
        kit.row(f"distance on {4 if kit.quick else 16} unseen targets after {episodes} episodes, {method}, {len(runs[method])} seeds",
                f"{100 * mean:.2f} ± {100 * sd:.2f} % of the mean distance at the start ({runs[method][0]['start']:.3f} m), the worst seed "
                f"{100 * worst:.2f} %", held, paper="learns, a curve")
    longest = max(run["seconds"] for method in ("Gauss-Newton", "Adam") for run in runs[method])
    kit.row("processor time of one training with its tests", f"{longest:.0f} s", None if kit.quick else longest < 600)
    mean, sd = ends["DDPG"]
    kit.row(f"DDPG after as many, {len(runs['DDPG'])} seeds", f"{100 * mean:.0f} ± {100 * sd:.0f} %",
            None if kit.quick else mean > max(ends["Gauss-Newton"][0], ends["Adam"][0]), paper="does not learn it on that scale")
    shorter = "" if math.isinf(settings.longest) else (f" Rows of an episode that are longer than {settings.longest:g} times the median of those "
                                                       "remembered are shortened to that, with their residuals.")
    kit.note(f"One update for each episode. Gauss-Newton takes the least-squares step over the last {settings.window} episodes (an older one "
             f"counts {settings.forget:g} of the next, damping {settings.damping[0]:g} falling to {settings.damping[1]:g}) from the Jacobian of where the object ends by the weights, "
             f"which is exact.{shorter} Adam, as in the paper: rate {settings.rate:g} falling as a cosine, betas {settings.betas[0]:g} and "
             f"{settings.betas[1]:g}, gradients clipped at {settings.clip:g}. Both, and DDPG: network 50, 200 ReLU, offsets to the target times "
             f"{settings.scale:g}, targets from a Halton sequence that is shifted by chance.")
    kit.note(f"{tried} DDPG: {DDPG}.")
    kit.note("Episodes in which a step could not be taken and that were left out: " + ", ".join(
        f"{sum(run['failed'] for run in some)} of {method}'s" for method, some in runs.items())
        + f"; of the tests, which then count as not moved, {sum(run['untested'] for some in runs.values() for run in some)}.")
    if list(kit.baseline_seeds) != list(range(kit.seeds)):
        kit.note(f"DDPG was run with the seeds {', '.join(map(str, kit.baseline_seeds))} alone, for want of time.")
    kit.table("distance", ["method", "seed", "episode", "share_of_start"],
              [[method, run["asked"]["seed"], *point] for method, some in runs.items() for run in some for point in run["curve"]])
    lines = {}
    for method, some in runs.items():
        at = [mean_sd([run["curve"][i][1] for run in some]) for i in range(len(some[0]["curve"]))]
        lines[method] = ([n for n, _ in some[0]["curve"]], [100 * m for m, _ in at], [100 * s for _, s in at])
    kit.plot("distance", lines, "episodes", "distance to unseen targets (% of the start)", log=True, title=f"{name}: learning to control")
