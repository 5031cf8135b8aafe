"""cloth_sysid.py - watch a cloth swing, and find out how stiff and how heavy it is."""
import numpy as np

import carom

scene = carom.Scene(world={"dt": 0.01})
scene.add_body("cloth", type="cloth", mesh={"sheet": {"width": 0.6, "height": 0.6, "nx": 6,
                                                       "ny": 6}},
               density=0.2, stretch=60, bend=1e-3, damping=0.01, pins=[{"nodes": [0, 6]}])
scene.add_body("ball", sphere={"radius": 0.06}, mass=0.05, position=[0, -0.25, 0.08])

sim = carom.Sim(scene, parameters=["cloth.stretch", "cloth.density"], controls=[])
truth = np.array([95.0, 0.33])
seen = sim.rollout(steps=40, theta=truth, keep=False).nodes  # what a camera would have seen


def loss_and_gradient(log_theta):
    """Mean squared distance to what was seen; by the logarithms, for all stay positive."""
    theta = np.exp(log_theta)
    run = sim.rollout(steps=40, theta=theta)
    miss = run.nodes - seen
    bars = run.zeros()
    bars.nodes[:] = 2 * miss / len(miss)
    return (miss ** 2).sum() / len(miss), run.vjp(bars).theta * theta


# Gauss-Newton would do it in three steps; this is plain descent with a step that finds itself
x = np.log([60.0, 0.2])
value, gradient = loss_and_gradient(x)
start, rate = value, 0.05 / np.abs(gradient).max()
for i in range(60):
    trial = x - rate * gradient
    new, other = loss_and_gradient(trial)
    if new < value:
        # the step of Barzilai and Borwein: the curvature that was just seen
        s, y = trial - x, other - gradient
        x, value, gradient = trial, new, other
        rate = min(abs((s @ s) / (s @ y)), 0.3 / np.abs(gradient).max())
    else:
        rate *= 0.3
    if value < 1e-10 * start:
        break
print(f"after {i + 1} runs: stretch {np.exp(x[0]):.3f} N/m (truth {truth[0]}), "
      f"density {np.exp(x[1]):.4f} kg/m^2 (truth {truth[1]}), loss {start:.2g} -> {value:.2g}")
assert np.allclose(np.exp(x), truth, rtol=0.02)
