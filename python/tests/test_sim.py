"""Scenes, simulations, runs and their derivatives."""
import html.parser
import json
import pathlib
import subprocess
import sys

import numpy as np
import pytest

import carom


def test_import_is_quick_and_needs_neither_torch_nor_jax():
    code = ("import time, numpy; t = time.perf_counter(); import carom, sys;"
            "print(time.perf_counter() - t, 'torch' in sys.modules, 'jax' in sys.modules)")
    best = 9.0
    for _ in range(5):
        out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True,
                             check=True, env={"PYTHONPATH": ":".join(sys.path), "PATH": "/usr/bin"})
        seconds, torch, jax = out.stdout.split()
        assert (torch, jax) == ("False", "False")
        best = min(best, float(seconds))
    assert best < 0.2


def test_scene_is_built_edited_and_saved(tmp_path):
    scene = carom.Scene(world={"dt": 0.005})
    scene.add_body("ground", type="fixed", mesh={"sheet": {"width": 4}})
    scene.add_body("ball", sphere={"radius": np.float64(0.1)}, position=np.array([0, 0, 1.0]))
    scene["bodies.ball.velocity"] = [1, 0, 0]
    scene.add_parameter("ball.velocity").add_term("position", of="ball", target=[1, 0, 0.1])
    assert scene["bodies.ball.velocity"] == [1, 0, 0] and scene["bodies[1].sphere.radius"] == 0.1
    scene.save(tmp_path / "s.json")
    again = carom.Scene.load(tmp_path / "s.json")
    assert again.dict() == scene.dict() == carom.Scene(scene).dict()
    with pytest.raises(carom.SceneError, match="density"):
        scene["bodies.ball.density"] = -1
    with pytest.raises(carom.SceneError, match="sphere"):
        scene.add_body("x", spere={"radius": 1})
    with pytest.raises(KeyError):
        scene["bodies.nobody.mass"]
    with pytest.raises(carom.FileError):
        carom.Scene.load(tmp_path / "none.json")
    assert carom.Problem(scene, steps=10).size == 3


def test_names_units_and_texts_are_the_library_s():
    kinds = carom.parameter_kinds()
    assert kinds["mass"].about.startswith("kg") and kinds["mass"].who == ("rigid",)
    assert "restitution" in carom.parameter_kinds.__doc__
    assert "center_of_mass" in carom.Scene.add_body.__doc__
    assert "m/s^2" in carom.describe("world")


def test_run_is_the_program_s_run_to_the_bit(examples):
    from carom.trajectory import find_program
    path = str(examples / "throw.json")
    sim = carom.Sim(path)
    sim.run(50)
    said = subprocess.run([find_program(), "run", path, "--steps", "50", "--json"],
                          capture_output=True, text=True, check=True)
    assert f"{sim.hash:016x}" in said.stdout
    final = json.loads(said.stdout)["final"]["box"]
    assert final["position"] == pytest.approx(sim.positions[sim.body("box").index], abs=1e-12)


def test_step_run_and_rollout_agree(slide):
    sim = carom.Sim(slide)
    run = sim.rollout(steps=20)
    sim.reset()
    assert np.array_equal(sim.run(20), run.states[-1])
    sim.reset()
    for t in range(20):
        assert np.array_equal(sim.step(), run.states[t + 1])
    assert sim.steps == 20 and sim.time == pytest.approx(0.2)
    assert np.array_equal(run.positions[-1], sim.positions)
    assert sim.energy["kinetic"] > 0 and len(sim.vertices) == 12
    at = np.array([run.forces[t, 1] for t in range(20)])
    assert at[:, 2].max() > 1 and len(run.contacts[-1]) == len(sim.contacts)
    # free fall plus contact: m dv = h (F - m g)
    dv = np.diff(run.velocities[:, 1], axis=0)
    m = sim.body("box").mass
    assert np.allclose(m * dv / sim.dt + [0, 0, m * 9.81], at, atol=1e-6 * m * 9.81)


def test_saved_run_has_the_bits(slide, tmp_path):
    from carom.trajectory import find_program
    sim = carom.Sim(slide, parameters=["box.mass"])
    run = sim.rollout(steps=5, theta=[7.0])
    run.save(tmp_path / "run.carom")
    out = subprocess.run([find_program(), "info", str(tmp_path / "run.carom"), "--json"],
                         capture_output=True, text=True, check=True)
    assert json.loads(out.stdout)["frames"] in (6, {"count": 6}) or "6" in out.stdout


def directional(sim, run, grad, rng, h):
    """dL along a chance direction by central differences, and by the gradient; L = w . states."""
    w = rng.normal(size=run.states.shape)
    frames = sim._built.frames
    for b in sim.bodies:  # the spin of what does not move freely is not felt
        if b.kind in ("fixed", "kinematic"):
            spin = 10 * frames + 3 * b.frame
            w[:, spin:spin + 3] = 0
    g = run.vjp(w)
    ds, dc = rng.normal(size=run.states.shape[1]), rng.normal(size=run.controls.shape)
    for b in sim.bodies:
        if b.kind == "fixed":
            for first, width in ((0, 3), (3 * frames, 4)):
                at = first + width * b.frame
                ds[at:at + width] = 0
    exact = (g.state * ds).sum() + (g.controls * dc).sum()
    # quaternions leave the sphere: L uses the given first state as it is
    f = [(w * sim.rollout(run.controls + s * h * dc, state=run.states[0] + s * h * ds,
                          keep=False).states).sum() for s in (1, -1, 0.5, -0.5)]
    return exact, (4 * (f[2] - f[3]) / h - (f[0] - f[1]) / (2 * h)) / 3


@pytest.mark.parametrize("controls", [["box.force", "box.torque.z"]])
def test_vjp_through_sliding_contact(slide, controls):
    sim = carom.Sim(slide, controls=controls)
    rng = np.random.default_rng(1)
    start = sim.state
    run = sim.rollout(rng.normal(size=(15, 4)), state=start)
    exact, difference = directional(sim, run, None, rng, 1e-5)
    assert exact == pytest.approx(difference, rel=2e-6)


def test_vjp_of_driven_bodies_and_nodes(sheet):
    sim = carom.Sim(sheet, controls=["hand.velocity", "hand.angular_velocity", "ball.force.xy",
                                     "sheet.nodes[0,15]", "sheet.nodes[5]"])
    rng = np.random.default_rng(2)
    controls = 0.3 * rng.normal(size=(15, sim.control_size))
    controls[:, 0] += 0.8
    run = sim.rollout(controls, state=sim.state)
    hand = run.positions[:, sim.body("hand").index]
    assert np.allclose(np.diff(hand, axis=0) / sim.dt, controls[:, :3])
    assert len(sim.contacts) > 0
    exact, difference = directional(sim, run, None, rng, 1e-5)
    assert exact == pytest.approx(difference, rel=2e-6)


def test_theta_by_name(slide):
    sim = carom.Sim(slide, parameters=["box.mass", "world.gravity", "box.velocity"], controls=[])
    run = sim.rollout(steps=12, theta={"box.mass": 5})
    assert run.theta[0] == 5 and sim.theta[0] == 5
    bars = run.zeros()
    bars.positions[-1, 1] = [1, 2, 3]
    g = run.vjp(bars)
    h = 1e-5
    for name in sim.parameters:
        for i in range(sim.parameters[name].stop - sim.parameters[name].start):
            value = []
            for s in (h, -h):
                theta = run.theta.copy()
                theta[sim.parameters[name].start + i] += s
                moved = sim.rollout(steps=12, theta=theta, keep=False)
                value.append(moved.positions[-1, 1] @ [1, 2, 3])
            assert g.parameters[name][i] == pytest.approx((value[0] - value[1]) / (2 * h),
                                                          rel=1e-5, abs=1e-7)


def test_jvp_is_the_transpose_of_vjp(slide):
    sim = carom.Sim(slide, parameters=["box.mass", "box.velocity"], controls=["box.force"])
    rng = np.random.default_rng(3)
    run = sim.rollout(rng.normal(size=(20, 3)))
    u = rng.normal(size=sim.state_size), rng.normal(size=(20, 3)), rng.normal(size=4)
    w = rng.normal(size=run.states.shape)
    moved = run.jvp(*u)
    left = (moved * w).sum()
    right = sum((a * b).sum() for a, b in zip(u, run.vjp(w)))
    # as far as both sides can be known: against the lengths of what is multiplied
    assert abs(left - right) <= 1e-10 * np.linalg.norm(moved) * np.linalg.norm(w)
    jacobian = run.jacobian()
    last = (jacobian.state @ u[0] + np.einsum("stc,tc", jacobian.controls, u[1])
            + jacobian.theta @ u[2])
    assert np.allclose(last, moved[-1], rtol=1e-9, atol=1e-9 * np.abs(moved[-1]).max())
    # and against differences of the run itself
    h = 1e-6
    f = [sim.rollout(run.controls + s * h * u[1], theta=run.theta + s * h * u[2],
                     keep=False).states for s in (1, -1)]
    along = run.jvp(controls=u[1], theta=u[2])
    assert np.allclose((f[0] - f[1]) / (2 * h), along, rtol=1e-5, atol=1e-5)
    step = run.jacobian(step=4)
    assert np.allclose(step.state.T @ w[5], carom_step_vjp(run, 4, w[5]), atol=1e-9)


def carom_step_vjp(run, t, w):
    one = run.sim.rollout(run.controls[t:t + 1], state=run.states[t], step=t)
    return one.vjp(w).state


SCENES = ["slide", "sheet"]


@pytest.mark.parametrize("name", SCENES)
def test_many_directions_at_once(name, request):
    """<Ju, w> = <u, J'w> for every direction, and each has the bits it has alone."""
    what = {"slide": ["box.mass", "box.friction", "ground.position", "world.gravity"],
            "sheet": ["ball.mass", "sheet.stretch", "sheet.bend", "sheet.pins", "sheet.rest"]}
    drive = {"slide": ["box.force", "box.torque.z"], "sheet": ["ball.force", "hand.velocity",
                                                               "hand.angular_velocity"]}
    sim = carom.Sim(request.getfixturevalue(name), parameters=what[name], controls=drive[name])
    rng = np.random.default_rng(7)
    run = sim.rollout(0.1 * rng.normal(size=(15, sim.control_size)))
    u = [rng.normal(size=(6,) + shape) for shape in ((sim.state_size,), run.controls.shape,
                                                     (sim.theta_size,))]
    w = rng.normal(size=run.states.shape)
    moved, back = run.jvp(*u), run.vjp(w)
    assert moved.shape == (6,) + run.states.shape
    for i in range(6):
        left = (moved[i] * w).sum()
        right = sum((a[i] * b).sum() for a, b in zip(u, back))
        assert abs(left - right) <= 1e-10 * np.linalg.norm(moved[i]) * np.linalg.norm(w)
        assert np.array_equal(moved[i], run.jvp(*(a[i] for a in u)))
    # an input without the axis is the same for all directions
    assert np.array_equal(run.jvp(u[0], u[1][0], u[2][0])[3], run.jvp(u[0][3], u[1][0], u[2][0]))
    full = run.jacobian()
    last = (full.state @ u[0][0] + np.einsum("stc,tc", full.controls, u[1][0])
            + full.theta @ u[2][0])
    assert np.linalg.norm(last - moved[0, -1]) <= 1e-10 * np.linalg.norm(moved[0, -1])
    assert set(full.parameters) == set(sim.parameters)


def test_one_call_derivatives(slide):
    sim = carom.Sim(slide, parameters=["box.mass"], controls=["box.force"])
    rng = np.random.default_rng(2)
    controls, state = rng.normal(size=(9, 3)), sim.state
    run = sim.rollout(controls, state=state)
    w, u = rng.normal(size=run.states.shape), rng.normal(size=controls.shape)
    states, grad = sim.vjp(w, controls, state=state)
    assert np.array_equal(states, run.states)
    assert all(np.array_equal(a, b) for a, b in zip(grad, run.vjp(w)))
    states, grad = sim.vjp(lambda r: 2 * r.states, controls, state=state)
    assert np.array_equal(grad.state, run.vjp(2 * run.states).state)
    states, moved = sim.jvp(controls, dcontrols=u, dtheta={"box.mass": 1.0}, state=state)
    assert np.array_equal(moved, run.jvp(controls=u, theta=[1.0]))
    states, full = sim.jacobian(controls[:1], state=state)
    step = run.jacobian(step=0)
    assert all(np.array_equal(a.reshape(b.shape), b) for a, b in zip(full, step))


def test_directions_of_the_wrong_shape(slide):
    sim = carom.Sim(slide, parameters=["box.mass"], controls=["box.force"])
    run = sim.rollout(steps=4)
    s = sim.state_size
    for bad in (dict(state=np.zeros(s - 1)), dict(state=np.zeros((2, 3, s))), dict(state="x"),
                dict(controls=np.zeros((3, 3))), dict(theta={"box.size": 1}),
                dict(state=np.zeros((2, s)), theta=np.zeros((3, 1))),
                dict(state=np.full(s, np.nan)), dict(theta=[1j])):
        with pytest.raises(carom.Error):
            run.jvp(**bad)
    assert run.jvp(state=np.zeros((0, s))).shape == (0, 5, s)
    run.close()
    with pytest.raises(carom.Error):
        run.jvp()
    with pytest.raises(carom.Error):
        run.jacobian()


def test_derivatives_can_be_asked_for_late_and_often(slide):
    sim = carom.Sim(slide, parameters=["box.mass"])
    first = sim.rollout(steps=10)
    w = np.zeros(first.states.shape)
    w[-1, 3:6] = 1
    before = first.vjp(w)
    others = [sim.rollout(steps=10, theta=[m]) for m in (2.0, 3.0, 9.0)]
    sim.theta = [4.0]
    after = first.vjp(w)
    assert np.array_equal(before.theta, after.theta) and np.array_equal(before.state, after.state)
    assert sim.theta[0] == 4.0 and others[0].theta[0] == 2.0
    first.close()
    with pytest.raises(carom.ClosedError):
        first.vjp(w)


def test_problem_gradcheck_and_optimize(examples):
    report = carom.gradcheck(str(examples / "two_cubes.json"))
    assert report and report.max_relative_error < 1e-6
    seen = []
    done = carom.optimize(str(examples / "two_cubes.json"), progress=lambda r: seen.append(r))
    assert done.parameters["first.mass"][0] == pytest.approx(4, abs=1e-6) and seen
    with pytest.raises(ZeroDivisionError):
        carom.optimize(str(examples / "two_cubes.json"), progress=lambda r: 1 / 0)
    problem = carom.Problem(str(examples / "two_cubes.json"))
    scene, notes = problem.apply([3.0])
    assert scene["bodies.first.mass"] == 3 and notes == ""
    with pytest.raises(carom.ArgumentError):
        carom.optimize(str(examples / "two_cubes.json"), method="magic")


def test_three_bounds_hold_for_every_force(examples):
    text = json.loads((examples / "marble.json").read_text())
    text["parameters"][0].update(min=[-10, -9, 0], max=[10, 9, 0])
    _, least, most = carom.Problem(text, steps=7).theta_range()
    assert (least.reshape(-1, 3) == [-10, -9, 0]).all() and (most.reshape(-1, 3) == [10, 9, 0]).all()


def test_tape_in_little_memory_gives_the_bits(slide):
    last = {"positions": [[0, 0, 0], [1, 2, 3]]}
    out = []
    for memory in (None, 1 << 15):
        tape = carom.Tape(slide, memory=memory)
        for t in range(40):
            tape.step(forces={"box": [0.1 * t, 0, 0]})
        out.append(tape.backward(last=last))
    assert np.array_equal(out[0]["box"]["velocity"], out[1]["box"]["velocity"])
    sim = carom.Sim(slide, controls=["box.force"])
    run = sim.rollout(np.array([[0.1 * t, 0, 0] for t in range(40)]))
    bars = run.zeros()
    bars.positions[-1, 1] = [1, 2, 3]
    g = run.vjp(bars)
    assert np.allclose(sim.split(g.state).velocities[1], out[0]["box"]["velocity"], rtol=1e-9)
    assert np.allclose(g.controls, out[0]["forces"][:, 1], rtol=1e-9, atol=1e-12)


class Frame(html.parser.HTMLParser):
    """What a browser makes of a cell's output: the attributes of its frame."""

    def __init__(self, text):
        super().__init__()
        self.frames, self.others = [], []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        (self.frames if tag == "iframe" else self.others).append(dict(attrs))


@pytest.fixture
def viewer(tmp_path, monkeypatch):
    """A template with everything in it that has to be escaped; the real one takes npm to build."""
    (tmp_path / "viewer.html").write_text(
        "<!doctype html><html><body title=\"a 'b' &amp; <c>\"><!--data--><script>if (1 < 2 && 3 > 2)"
        " {}</script></body></html>")
    monkeypatch.setenv("CAROM_SHARE", str(tmp_path))


def test_notebook_shows_the_viewer(slide, viewer):
    run = carom.Sim(slide).rollout(steps=7)
    cell = Frame(run._repr_html_())
    assert len(cell.frames) == 1 and not cell.others  # nothing of the page leaks into the notebook
    page = cell.frames[0]["srcdoc"]
    assert page == run.page()
    assert page.startswith("<!doctype html>") and 'data-block="0.frames.0"' in page
    assert "if (1 < 2 && 3 > 2)" in page


def test_view_writes_a_page_and_opens_it(slide, viewer, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    run = carom.Sim(slide).rollout(steps=7)
    path = pathlib.Path(run.view())
    try:
        assert opened == ["file://" + str(path)] and path.suffix == ".html"
        assert path.read_text() == run.page()
    finally:
        path.unlink()


def test_notebook_without_the_viewer(slide, tmp_path, monkeypatch):
    """No program, or no template: the cell says so, and nothing is raised."""
    run = carom.Sim(slide).rollout(steps=3)
    monkeypatch.setenv("CAROM_SHARE", str(tmp_path))
    said = run._repr_html_()
    assert said.startswith("<pre>") and "&lt;carom.Trajectory of 3 steps" in said
    assert "make viewer" in said
    with pytest.raises(carom.Error, match="make viewer"):
        run.page()

    def missing():
        raise carom.Error("the program <carom> is not there")
    monkeypatch.setattr("carom.trajectory.find_program", missing)
    assert "&lt;carom&gt; is not there" in run._repr_html_()


def test_reference_page_has_every_name(examples):
    page = (examples.parent / "docs" / "python_api.md").read_text()
    for name in carom.__all__:
        assert name in page
        thing = getattr(carom, name)
        if not isinstance(thing, type) or issubclass(thing, (BaseException, tuple)):
            continue
        for part in dir(thing):
            if not part.startswith("_") and callable(getattr(thing, part)):
                assert f".{part}(" in page, f"{name}.{part}: run tools/update_docs.sh"


def test_mass_and_inertia_are_what_is_said(slide):
    """Together, too: moments go with the mass only where nobody asks for them."""
    sim = carom.Sim(slide, parameters=["box.mass", "box.inertia"], controls=["box.torque", "box.force"])
    mass, moments = 16.0, np.array([0.10, 0.11, 0.12])
    theta = np.array([mass, *moments])
    turn = {"box.torque": [0.0, 0.0, 0.3], "box.force": [0.0, 0.0, 400.0]}
    free = dict(slide, bodies=[dict(slide["bodies"][1], position=[0, 0, 5], euler_degrees=[0, 0, 0])])
    sim = carom.Sim(free, parameters=["box.mass", "box.inertia"], controls=list(turn))
    run = sim.rollout(turn, steps=3, theta=theta)
    by_hand = dict(free, bodies=[dict(free["bodies"][0], mass=mass, inertia=list(moments))])
    other = carom.Sim(by_hand, controls=list(turn)).rollout(turn, steps=3)
    order = np.argsort(sim.body("box").inertia)  # of the mesh; by hand they are those of the axes
    if np.array_equal(order, [0, 1, 2]):
        assert np.allclose(run.states, other.states, rtol=0, atol=1e-12)
    w = np.random.default_rng(0).normal(size=run.states.shape)
    grad = run.vjp(w).theta
    for i in range(4):
        h = 1e-6 * theta[i]
        d = [np.vdot(w, sim.rollout(turn, steps=3, theta=theta + s * h * np.eye(4)[i], keep=False).states) for s in (1, -1)]
        assert abs((d[0] - d[1]) / (2 * h) - grad[i]) < 1e-5 * np.abs(grad).max()
    direction = np.array([1.0, 0.01, -0.02, 0.03])
    run = sim.rollout(turn, steps=3, theta=theta)
    assert np.isclose(np.vdot(w, run.jvp(theta=direction)), grad @ direction, rtol=1e-10)
    scene, notes = carom.Problem(dict(free, objective={"terms": [{"what": "position", "of": "box"}]},
                                      parameters=[{"of": "box", "what": "mass"}, {"of": "box", "what": "inertia"}])).apply(theta)
    assert not notes and np.allclose(carom.Sim(scene).body("box").inertia, moments, rtol=1e-12)


def test_applied_numbers_give_the_same_value(sheet):
    """What apply writes is the scene that theta means."""
    goal = {"terms": [{"what": "position", "of": "sheet"}, {"what": "position", "of": "ball"}]}
    for what, value in (("poisson", 0.1), ("stretch", 500.0), ("bend", 2e-3)):
        for body in ({}, {"c11": 350.0, "c22": 350.0, "c12": 105.0, "c33": 122.5}):
            if body and what == "bend":
                continue
            scene = dict(sheet, bodies=[dict(sheet["bodies"][0], **body), *sheet["bodies"][1:]], objective=goal,
                         parameters=[{"of": "sheet", "what": what}])
            problem = carom.Problem(scene, steps=8)
            applied, notes = problem.apply([value])
            assert not notes
            assert np.isclose(problem.value([value]), carom.Problem(applied, steps=8).value(problem.theta_scene * 0 + value), rtol=1e-12)
            assert np.isclose(carom.Problem(applied, steps=8).theta_scene[0], value, rtol=1e-12)


def test_check_says_what_it_saw(examples):
    report = carom.gradcheck(str(examples / "two_cubes.json"))
    assert report and set(report.noise) == set(report.worst) == set(report.judged) == set(report.errors)
    assert "good" in str(report)
