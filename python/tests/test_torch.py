"""PyTorch: gradients through contact."""
import numpy as np
import pytest

import carom

torch = pytest.importorskip("torch", reason="PyTorch is not here (python3-torch)")
import carom.torch  # noqa: E402


@pytest.fixture
def sim(slide):
    return carom.Sim(slide, parameters=["box.mass", "box.friction"], controls=["box.force"])


def tensor(value):
    return torch.tensor(np.asarray(value), dtype=torch.float64, requires_grad=True)


# While the box tumbles: at rest it stands 1e-8 m deep in its give, and the differences of a step that
# begins there reach beyond.
STEPS = 7


def test_gradcheck_rollout_with_contact(sim):
    controls = tensor(np.random.default_rng(0).normal(size=(STEPS, 3)))
    sim.run(STEPS, controls.detach().numpy())
    assert len(sim.contacts) > 0
    sim.reset()
    check = torch.autograd.gradcheck
    assert check(lambda c: carom.torch.rollout(sim, c), (controls,), eps=1e-6, atol=1e-6,
                 rtol=1e-5)
    assert check(lambda s, t, c: carom.torch.rollout(sim, c, s, t),
                 (tensor(sim.state), tensor(sim.theta), controls), eps=1e-7, atol=1e-4, rtol=1e-4)


def test_gradcheck_step(sim):
    state = tensor(sim.rollout(steps=STEPS - 1).states[-1])
    assert torch.autograd.gradcheck(
        lambda s, c, t: carom.torch.step(sim, s, c, t, step=STEPS - 1),
        (state, tensor([0.3, 0.2, 0.1]), tensor(sim.theta)), eps=1e-7, atol=1e-4, rtol=1e-4)


def test_forward_mode(sim):
    """Dual numbers through contact: the library's own way forward, of a Sim and of a Batch."""
    fwd = torch.autograd.forward_ad
    rng = np.random.default_rng(5)
    for runs, lead in ((sim, ()), (carom.Batch(sim, 2, workers=1), (2,))):
        controls, theta = rng.normal(size=lead + (STEPS, 3)), sim.theta
        u = rng.normal(size=controls.shape), rng.normal(size=theta.shape)
        with fwd.dual_level():
            duals = [fwd.make_dual(torch.from_numpy(x), torch.from_numpy(d))
                     for x, d in zip((controls, theta), u)]
            got = fwd.unpack_dual(carom.torch.rollout(runs, duals[0], theta=duals[1])).tangent
        want = runs.rollout(controls, theta=theta).jvp(
            controls=u[0], theta=np.broadcast_to(u[1], lead + u[1].shape))
        assert np.array_equal(got.numpy(), want) and np.abs(want).max() > 0
    state, control = tensor(sim.state), tensor([0.3, 0.2, 0.1])
    assert torch.autograd.gradcheck(
        lambda s, c: carom.torch.step(sim, s, c), (state, control), eps=1e-7, atol=1e-4, rtol=1e-4,
        check_forward_ad=True)


def test_gradcheck_batch(sim):
    batch = carom.Batch(sim, 2, workers=1)
    rng = np.random.default_rng(4)
    controls, theta = tensor(rng.normal(size=(2, 4, 3))), tensor(sim.theta)
    assert torch.autograd.gradcheck(lambda c, t: carom.torch.rollout(batch, c, theta=t),
                                    (controls, theta), eps=1e-6, atol=1e-6, rtol=1e-5)


def test_policy_in_the_loop_is_the_rollout(sim):
    """A linear policy fed back each step against differences, and steps against the rollout."""
    torch.manual_seed(0)
    start = sim.state
    gain = (0.1 * torch.randn(3, sim.state_size, dtype=torch.float64)).requires_grad_()

    def loss(gain):
        state, total = torch.from_numpy(start.copy()), 0.0
        for t in range(12):
            state = carom.torch.step(sim, state, gain @ state, step=t)
            total = total + (sim.split(state).positions[1] ** 2).sum()
        return total
    value = loss(gain)
    value.backward()
    direction = torch.randn_like(gain)
    h = 1e-6
    with torch.no_grad():
        difference = (loss(gain + h * direction) - loss(gain - h * direction)) / (2 * h)
    assert float((gain.grad * direction).sum()) == pytest.approx(float(difference), rel=1e-5)


def test_float32_comes_out_as_float32(sim):
    controls = torch.zeros(5, 3, dtype=torch.float32, requires_grad=True)
    states = carom.torch.rollout(sim, controls)
    assert states.dtype == torch.float32
    states[-1, :6].sum().backward()
    assert controls.grad.dtype == torch.float32 and float(controls.grad.abs().max()) > 0
    double = carom.torch.rollout(sim, controls.double())
    assert torch.allclose(double.float(), states)


def test_steps_are_let_go(sim):
    """Slots of steps go back when the graph does."""
    state = torch.from_numpy(sim.state).requires_grad_()
    for _ in range(200):
        out = state
        for t in range(5):
            out = carom.torch.step(sim, out, torch.zeros(3, dtype=torch.float64), step=t)
        out.sum().backward()
    slots = sim.rollout(steps=1)._slots
    assert slots.max() < 100


def test_misuse(sim):
    good = torch.zeros(5, 3, dtype=torch.float64)
    for bad in (torch.zeros(5, 2), torch.zeros(5), np.zeros((5, 3)), torch.zeros(5, 3).int(),
                torch.full((5, 3), float("nan"))):
        with pytest.raises(carom.Error):
            carom.torch.rollout(sim, bad)
    with pytest.raises(carom.Error):
        carom.torch.rollout("sim", good)
    with pytest.raises(carom.Error):
        carom.torch.step(sim, torch.zeros(7), torch.zeros(3))
