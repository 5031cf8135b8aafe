"""JAX: under grad, jit and vmap, in both widths."""
import numpy as np
import pytest

import carom

jax = pytest.importorskip("jax", reason="JAX is not here; `pip install jax` in a venv brings it")
import jax.numpy as jnp  # noqa: E402

import carom.jax  # noqa: E402


@pytest.fixture
def sim(slide):
    return carom.Sim(slide, parameters=["box.mass"], controls=["box.force"])


@pytest.fixture(params=[True, False], ids=["x64", "x32"])
def wide(request):
    jax.config.update("jax_enable_x64", request.param)
    yield request.param
    jax.config.update("jax_enable_x64", False)


def test_gradients_under_jit(sim, wide):
    controls = np.random.default_rng(0).normal(size=(10, 3))

    def loss(controls, state, theta):
        states = carom.jax.rollout(sim, controls, state, theta)
        return (sim.split(states).positions[-1, 1] ** 2).sum()
    state, theta = sim.state, sim.theta
    got = jax.jit(jax.grad(loss, argnums=(0, 1, 2)))(controls, state, theta)
    run = sim.rollout(controls, state=state, theta=theta)
    bars = run.zeros()
    bars.positions[-1, 1] = 2 * run.positions[-1, 1]
    want = run.vjp(bars)
    tolerance = 1e-12 if wide else 1e-4
    for a, b in zip(got, (want.controls, want.state, want.theta)):
        assert a.dtype == (jnp.float64 if wide else jnp.float32)
        assert np.allclose(a, b, rtol=tolerance, atol=tolerance * np.abs(b).max())


def test_vmap_and_batch_agree(sim, wide):
    controls = np.random.default_rng(1).normal(size=(3, 6, 3))
    one = jax.jit(jax.vmap(lambda c: carom.jax.rollout(sim, c)))(controls)
    batch = carom.Batch(sim, 3)
    other = carom.jax.rollout(batch, controls)
    assert np.allclose(one, other, rtol=1e-12 if wide else 1e-5)
    grads = jax.vmap(jax.grad(lambda c: carom.jax.rollout(sim, c)[-1, 3:6].sum()))(controls)
    assert grads.shape == controls.shape and np.isfinite(grads).all()


def test_step_in_scan(sim, wide):
    def body(state, control):
        state = carom.jax.step(sim, state, control)
        return state, state
    start = jnp.asarray(sim.state)
    last, states = jax.jit(lambda c: jax.lax.scan(body, start, c))(jnp.zeros((5, 3)))
    want = sim.rollout(steps=5).states
    assert np.allclose(states, want[1:], atol=1e-9 if wide else 1e-4)


def test_misuse(sim):
    with pytest.raises(carom.Error):
        carom.jax.rollout("sim", jnp.zeros((3, 3)))
    with pytest.raises(Exception, match="shape"):
        carom.jax.rollout(sim, jnp.zeros((3, 2))).block_until_ready()
