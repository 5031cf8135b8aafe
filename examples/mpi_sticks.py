"""mpi_sticks.py [UPDATES] - the sticks on several machines: data-parallel training over MPI.

    mpirun -n 2 python3 examples/mpi_sticks.py

Every process runs its share of the episodes; the gradients are summed by Allreduce, in the order of
the processes, so that all of them keep the same network. One process with the same number of
episodes gives the same gradient.
"""
import sys

import numpy as np
import torch
from mpi4py import MPI

import carom.envs

world = MPI.COMM_WORLD
updates = int(sys.argv[1]) if len(sys.argv) > 1 else 3
episodes = 4  # of all processes together
torch.set_num_threads(1)
env = carom.envs.make("sticks", workers=1)
policy = carom.envs.mlp(env, hidden=(16,), seed=0)
optimizer = torch.optim.SGD(policy.parameters(), lr=0.02)
for i in range(updates):
    goals = env.sample_goals(episodes, 100 + i)  # the same everywhere
    mine = np.array_split(goals, world.size)[world.rank]
    loss, gradients = env.loss_and_grad(policy, mine)
    flat = np.concatenate([g.numpy().ravel() for g in gradients] + [[loss]])
    total = np.zeros_like(flat)
    world.Allreduce(flat * len(mine) / episodes, total)
    at = 0
    for p in policy.parameters():
        p.grad = torch.from_numpy(total[at:at + p.numel()].reshape(tuple(p.shape)).copy())
        at += p.numel()
    optimizer.step()
    if world.rank == 0:
        print(f"update {i}: loss {total[-1]:.12f}, gradient {np.linalg.norm(total[:-1]):.12f}",
              flush=True)
