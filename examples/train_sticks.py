"""train_sticks.py [UPDATES] - a network learns to carry a box on two sticks to any target in 1 s.

Every update is the exact gradient of whole episodes, through all of their contact.
"""
import sys
import time

import numpy as np
import torch

import carom.envs

updates = int(sys.argv[1]) if len(sys.argv) > 1 else 150
torch.set_num_threads(1)
env = carom.envs.make("sticks", seed=0)
policy = carom.envs.mlp(env, hidden=(50, 200))
unseen = env.sample_goals(16, 1234)


def test():
    with torch.no_grad():
        return float(env.losses(policy, unseen).sqrt().mean())


print(f"before: {test():.3f} m off, on average over 16 targets")
began, losses = time.time(), []


def progress(i, loss):
    losses.append(loss)
    if i % 10 == 9:
        print(f"update {i + 1:4}: loss {np.mean(losses[-10:]):.5f}, {time.time() - began:.0f} s")


carom.envs.train(env, policy, updates=updates, number=2, rate=3e-3, progress=progress)
print(f"after: {test():.3f} m off, on targets it has not seen")
