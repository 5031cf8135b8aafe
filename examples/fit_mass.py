"""fit_mass.py - two cubes meet head-on: which mass of the first makes the momentum (3, 0, 0)?"""
import pathlib

import carom

path = str(pathlib.Path(__file__).with_name("two_cubes.json"))

# the scene states the objective and the parameter: one call solves it
report = carom.optimize(path)
print(f"L-BFGS: {report.iterations} iterations, mass {report.parameters['first.mass'][0]:.6f} kg")

# the same by hand, with a loss of one's own
sim = carom.Sim(path, parameters=["first.mass", "second.mass"])
mass = sim.theta
for i in range(40):
    run = sim.rollout(theta=mass)
    velocities = run.velocities[-1]
    miss = mass @ velocities - [3, 0, 0]
    bars = run.zeros()
    bars.velocities[-1] = 2 * mass[:, None] * miss
    gradient = run.vjp(bars).parameters["first.mass"][0] + 2 * velocities[0] @ miss
    mass[0] -= 0.2 * gradient
print(f"gradient descent: {i + 1} steps, mass {mass[0]:.6f} kg, loss {miss @ miss:.2g}")
assert abs(mass[0] - 4) < 1e-4 and abs(report.parameters["first.mass"][0] - 4) < 1e-6
