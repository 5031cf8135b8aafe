"""Tasks to learn, with the interface of Gymnasium (which need not be there) and exact gradients.

    env = carom.envs.make("sticks", seed=0)
    observation, info = env.reset()
    observation, reward, terminated, truncated, info = env.step(env.action_space.sample())

    policy = carom.envs.mlp(env)                   # a torch.nn.Module
    loss, gradients = env.loss_and_grad(policy)    # through all of an episode's contact
    carom.envs.train(env, policy, updates=50)

sticks      two sticks carry a box to a target within 1 s
cloth       a cloth, moved by its corners, carries a ball to a target within 1 s
marble      forces along the ground bring a marble on a sheet to a target in 2 s
trampoline  forces along the ground steer a ball that bounces off a sheet
domino      a hand topples the first of a row; the last has to fall by a given angle
"""
from .base import Env, mlp, train
from .tasks import Cloth, Domino, Marble, Sticks, Trampoline

TASKS = {"sticks": Sticks, "cloth": Cloth, "marble": Marble, "trampoline": Trampoline,
         "domino": Domino}

__all__ = ["Env", "Sticks", "Cloth", "Marble", "Trampoline", "Domino", "TASKS", "make", "mlp",
           "train"]


def make(name: str, **options) -> Env:
    """A task by its name."""
    if name not in TASKS:
        from .. import _errors
        raise _errors.ArgumentError(f"there is no task {name!r}; there are: {', '.join(TASKS)}")
    return TASKS[name](**options)
