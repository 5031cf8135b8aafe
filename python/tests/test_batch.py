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
