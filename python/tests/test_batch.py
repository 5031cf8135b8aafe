"""Batches: the bits of single runs, for any number of workers."""
import numpy as np
import pytest

import carom
import throughput


def test_batch_is_many_sims(slide):
    sim = carom.Sim(slide, parameters=["box.mass", "box.velocity"], controls=["box.force"])
    rng = np.random.default_rng(0)
    controls, theta = rng.normal(size=(5, 12, 3)), np.tile(sim.theta, (5, 1))
    theta[:, 0] += np.arange(5)
    w = rng.normal(size=(5, 13, sim.state_size))
    out = []
    for workers in (1, 2, 7):
        batch = carom.Batch(sim, 5, workers=workers)
        run = batch.rollout(controls, theta=theta)
        out.append((run.states, *run.vjp(w)))
    for other in out[1:]:
        assert all(np.array_equal(a, b) for a, b in zip(out[0], other))
    for i in range(5):
        run = sim.rollout(controls[i], theta=theta[i])
        assert np.array_equal(run.states, out[0][0][i])
        for a, b in zip(run.vjp(w[i]), out[0][1:]):
            assert np.array_equal(a, b[i])


def test_forward_mode(slide):
    sim = carom.Sim(slide, parameters=["box.mass"], controls=["box.force"])
    rng = np.random.default_rng(1)
    controls = rng.normal(size=(3, 9, 3))
    u, dtheta = rng.normal(size=(3, 2, 9, 3)), rng.normal(size=(3, 2, 1))
    out = [carom.Batch(sim, 3, workers=w).rollout(controls).jvp(controls=u, theta=dtheta)
           for w in (1, 3)]
    assert out[0].shape == (3, 2, 10, sim.state_size) and np.array_equal(*out)
    for i in range(3):
        assert np.array_equal(out[0][i], sim.rollout(controls[i]).jvp(controls=u[i],
                                                                      theta=dtheta[i]))


def test_jacobian(slide):
    """Of one step the bits of single runs; of a run, whose pieces are multiplied, up to round-off."""
    sim = carom.Sim(slide, parameters=["box.mass", "box.velocity"], controls=["box.force"])
    rng = np.random.default_rng(4)
    controls, theta = rng.normal(size=(3, 9, 3)), np.tile(sim.theta, (3, 1))
    theta[:, 0] += np.arange(3)
    s = sim.state_size
    for start in (None, np.tile(sim.state, (3, 1))):
        for workers in (1, 3):
            runs = carom.Batch(sim, 3, workers=workers).rollout(controls, theta=theta, state=start)
            full, step = runs.jacobian(), runs.jacobian(step=-2)
            assert full.state.shape == (3, s, s) and full.controls.shape == (3, s, 9, 3)
            assert full.theta.shape == (3, s, 4) and step.controls.shape == (3, s, 3)
            assert full.parameters["box.mass"].shape == (3, s, 1)
            for i in range(3):
                run = sim.rollout(controls[i], theta=theta[i],
                                  state=None if start is None else start[i])
                for a, b in zip(run.jacobian(step=7), step):
                    assert np.array_equal(a, b[i])
                for a, b in zip(run.jacobian(), full):
                    assert np.abs(a).max() > 0
                    assert np.linalg.norm(a - b[i]) <= 1e-12 * np.linalg.norm(a)
    moved = runs.jvp(theta=np.tile(np.eye(4)[1], (3, 1)))
    assert np.allclose(full.theta[..., 1], moved[:, -1], rtol=1e-10, atol=1e-12)
    with pytest.raises(carom.Error):
        runs.jacobian(step=9)
    runs.close()
    with pytest.raises(carom.Error):
        runs.jacobian()


def test_steps_in_a_loop(slide):
    batch = carom.Batch(slide, 3, controls=["box.force"])
    batch.place()
    states = [batch.step(np.ones((3, 3))) for _ in range(5)]
    run = batch.rollout(np.ones((3, 5, 3)))
    assert np.array_equal(states[-1], run.states[:, -1])
    new, back = batch.step_kept(run.states[:, 0], np.ones((3, 3)))
    assert np.array_equal(new, run.states[:, 1])
    ds, dc, dt = back(np.ones_like(new))
    assert ds.shape == new.shape and dc.shape == (3, 3) and dt.shape == (3, 0)


def test_misuse(slide):
    batch = carom.Batch(slide, 3, controls=["box.force"])
    for bad in (np.zeros((2, 4, 3)), np.zeros((3, 4, 2)), np.full((3, 4, 3), np.nan), "x",
                np.zeros((3, 0, 3))):
        with pytest.raises(carom.Error):
            batch.rollout(bad)
    for number in (0, -1, 1.5, "x"):
        with pytest.raises(carom.Error):
            carom.Batch(slide, number)
    controls = np.zeros((3, 4, 3))
    controls[1, 2, 0] = np.nan
    with pytest.raises(carom.NotFiniteError, match="item 1"):
        batch.rollout(controls)
    run = batch.rollout(np.zeros((3, 4, 3)))
    with pytest.raises(carom.Error):
        run.vjp(np.zeros((3, 4, 26)))
    assert np.isfinite(run.vjp(np.ones((3, 26))).state).all()


def test_batch_costs_what_its_steps_cost(slide):
    """Nine tenths of the throughput of the library's own loop, or more: steps, steps that are kept,
    and the way back. In processor time, the best of many; the machine may be busy."""
    # by one worker: what two cost each other is the machine's affair (throughput.py shows it)
    for what, (loop, batch) in throughput.measure(slide, enough=0.9).items():
        assert loop / batch > 0.9, (what, loop, batch)


def test_names_and_parts_as_of_one_run(sheet):
    sim = carom.Sim(sheet, parameters=["ball.mass", "ball.velocity"], controls=["ball.force"])
    batch = carom.Batch(sim, 3, parameters=["ball.mass", "ball.velocity"])
    rng = np.random.default_rng(2)
    force, velocity = rng.normal(size=(3, 3)), rng.normal(size=(3, 3))
    runs = batch.rollout({"ball.force": force}, steps=6, theta={"ball.velocity": velocity, "ball.mass": 0.4})
    bars = runs.zeros()
    bars.positions[:, -1] = rng.normal(size=bars.positions[:, -1].shape)
    bars.nodes[:, 2] = 1.0
    grad, d = runs.vjp(bars), runs.jvp(theta={"ball.mass": 1.0, "ball.velocity": velocity})
    whole = runs.vjp({"positions": bars.positions, "nodes": bars.nodes})
    assert np.array_equal(grad.theta, whole.theta) and np.array_equal(grad.state, whole.state)
    assert runs.positions.shape == (3, 7, len(sim.bodies), 3) and runs.times.shape == (7,)
    batch.reset().step({"ball.force": force})
    for i in range(3):
        run = sim.rollout({"ball.force": force[i]}, steps=6, theta={"ball.velocity": velocity[i], "ball.mass": 0.4})
        assert np.array_equal(run.states, runs.states[i]) and np.array_equal(run.positions, runs.positions[i])
        assert np.array_equal(run.velocities, runs.velocities[i]) and np.array_equal(run.nodes, runs.nodes[i])
        assert np.array_equal(run.vjp({"positions": bars.positions[i], "nodes": bars.nodes[i]}).theta, grad.theta[i])
        assert np.array_equal(run.jvp(theta={"ball.mass": 1.0, "ball.velocity": velocity[i]}), d[i])
        assert np.array_equal(run.states[1], batch.state[i])
    with pytest.raises(carom.ArgumentError, match=r"\(5, 3\); it has to be \(3,\) or \(3, 3\)"):
        batch.rollout(steps=2, theta={"ball.velocity": np.zeros((5, 3))})
