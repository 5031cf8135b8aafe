"""Nothing that is done from Python crashes: it raises, and the object goes on working."""
import gc
import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import carom


@pytest.fixture
def sim(slide):
    return carom.Sim(slide, parameters=["box.mass"], controls=["box.force"])


BAD = [np.zeros(4), np.zeros((2, 5)), np.zeros((0, 3)), "controls", object(), [[1, 2, "x"]],
       np.zeros((3, 3), complex), np.full((3, 3), np.nan), np.full((3, 3), np.inf), [[1, 2], [3]],
       np.zeros((3, 3, 3)), {"box.torque": [1, 2, 3]}, {"box.force": [[1, 2]]}, 7,
       np.array([["a", "b", "c"]]), {"box.force": np.full((3, 3), np.nan)}]


@pytest.mark.parametrize("controls", BAD, ids=range(len(BAD)))
def test_controls(sim, controls):
    with pytest.raises((carom.Error, TypeError)):
        sim.rollout(controls)
    with pytest.raises((carom.Error, TypeError)):
        sim.step(controls if not isinstance(controls, dict) else {"box.torque": 1})
    assert len(sim.rollout(steps=2)) == 2


def test_states_and_parameters(sim):
    good = sim.state
    for bad in (good[:-1], good[None], "state", good.astype(complex), np.full_like(good, np.nan),
                np.zeros_like(good), None.__class__):
        with pytest.raises((carom.Error, TypeError)):
            sim.place(bad)
    for bad in ([-1.0], [np.nan], [1.0, 2.0], "theta", {"box.density": 1}, {"box.mass": [1, 2]}):
        with pytest.raises((carom.Error, TypeError)):
            sim.rollout(steps=2, theta=bad)
    for steps in (-1, 0, 1.5, "x", 2**40):
        with pytest.raises((carom.Error, TypeError)):
            sim.rollout(steps=steps)
    with pytest.raises(carom.Error):
        sim.place(good, step=-1)
    run = sim.rollout(steps=3)
    for bad in (np.zeros((3, 5)), np.full((4, 26), np.nan), "w", {"positionz": 1}, None):
        with pytest.raises((carom.Error, TypeError)):
            run.vjp(bad)
    with pytest.raises(carom.Error):
        sim.rollout(steps=3, keep=False).vjp(np.zeros((4, 26)))
    assert np.array_equal(sim.reset().state, good)


def test_strided_readonly_and_other_types_are_read_right(sim):
    wide = np.random.default_rng(0).normal(size=(10, 6))
    controls = wide[::2, ::2]
    locked = controls.copy()
    locked.setflags(write=False)
    want = sim.rollout(np.ascontiguousarray(controls)).states
    for given in (controls, locked, np.asfortranarray(controls), controls.tolist(),
                  controls[::-1][::-1]):
        assert np.array_equal(sim.rollout(given).states, want)
    small = controls.astype(np.float32)
    assert np.allclose(sim.rollout(small).states, want, atol=1e-5)
    ones = np.ones((4, 3), int)
    assert np.array_equal(sim.rollout(ones).states, sim.rollout(ones.astype(float)).states)
    big = controls.astype(">f8")
    assert np.array_equal(sim.rollout(big).states, want)


def test_names(slide):
    for bad in (["box.mss"], ["bx.mass"], ["mass"], [3], ["ground.mass"], ["box.forces"]):
        with pytest.raises(carom.Error):
            carom.Sim(slide, parameters=bad)
    for bad in (["box.velocity"], ["ground.force"], ["box"], [1], ["box.force", "box.force.x"],
                ["box.nodes[0]"], ["box.force[1]"], ["nobody.force"]):
        with pytest.raises(carom.Error):
            carom.Sim(slide, controls=bad)
    for bad in (3, None.__class__, {"bodies": 3}, "{", "nowhere.json", {"bodies": [{"x": object()}]},
                {"world": {"dt": float("nan")}, "bodies": []}):
        with pytest.raises((carom.Error, TypeError)):
            carom.Sim(bad)
    with pytest.raises(carom.Error):
        carom.Sim(slide).body("nobody")
    for workers in (0, -3, "x", 2.5):
        with pytest.raises(carom.Error):
            carom.Sim(slide, workers=workers)


def test_use_after_close(sim, slide):
    run = sim.rollout(steps=3)
    bars = run.zeros()
    sim.close()
    sim.close()
    for use in (lambda: sim.step(), lambda: sim.state, lambda: sim.rollout(steps=1),
                lambda: run.vjp(bars), lambda: sim.contacts, lambda: sim.theta_range()):
        with pytest.raises(carom.ClosedError):
            use()
    assert run.states.shape == (4, 26) and "closed" in repr(sim)
    batch = carom.Batch(slide, 2)
    batch.close()
    with pytest.raises(carom.ClosedError):
        batch.step()
    scene = carom.Scene(slide)
    scene.close()
    with pytest.raises(carom.ClosedError):
        scene.text()


def test_threads_that_share_a_sim_are_told(sim):
    told, good, stop = [], [], time.monotonic() + 1.5

    def work():
        while time.monotonic() < stop:
            try:
                run = sim.rollout(steps=50)
                run.vjp(run.zeros())
                good.append(1)
            except carom.MisuseError as error:
                told.append(error)
                time.sleep(0)
    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert told and good and "another thread" in str(told[0])
    assert len(sim.rollout(steps=2)) == 2


def test_threads_with_their_own_sims_agree(slide):
    out = [None] * 4

    def work(i):
        out[i] = carom.Sim(slide).rollout(steps=60).states
    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert all(np.array_equal(o, out[0]) for o in out)


@pytest.mark.parametrize("what", ["sim.run(10**7)", "sim.rollout(steps=10**5)",
                                  "carom.Batch(sim, 2).rollout(steps=10**5)",
                                  "problem.value()"])
def test_ctrl_c(what):
    code = f"""
import signal, sys
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job begins with it ignored
sys.path[:0] = {sys.path!r}
import carom
scene = {{"world": {{"duration": 1e6}}, "bodies": [
    {{"name": "ground", "type": "fixed", "mesh": {{"sheet": {{"width": 9}}}}}},
    {{"name": "box", "mesh": {{"box": {{}}}}, "position": [0, 0, 0.52]}}],
    "objective": {{"terms": [{{"what": "position", "of": "box"}}]}},
    "parameters": [{{"of": "box", "what": "mass"}}]}}
sim = carom.Sim(scene)
problem = carom.Problem(scene, steps=10**7)
print("ready", flush=True)
try:
    {what}
except KeyboardInterrupt:
    sim.reset().step()
    print("stopped", flush=True)
"""
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().strip() == "ready"
        time.sleep(0.7)
        process.send_signal(signal.SIGINT)
        began = time.monotonic()
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert out.strip() == "stopped", err
    assert time.monotonic() - began < 20


def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="there is no /proc here")
def test_ten_thousand_rollouts_leak_nothing(slide):
    sim = carom.Sim(slide, parameters=["box.mass"], controls=["box.force"])
    w = np.zeros((3, 26))
    w[-1] = 1

    def many(n):
        for i in range(n):
            run = sim.rollout(steps=2)
            run.vjp(w)
    many(1000)
    gc.collect()
    before = resident()
    many(10000)
    gc.collect()
    grown = resident() - before
    assert grown < 2 << 20, f"{grown} bytes more after 10,000 rollouts"


def test_making_and_dropping_objects_leaks_nothing(slide):
    def many(n):
        for _ in range(n):
            sim = carom.Sim(slide)
            run = sim.rollout(steps=2)
            del sim
            run.vjp(run.zeros())
    many(100)
    gc.collect()
    before = resident() if os.path.exists("/proc/self/statm") else 0
    many(400)
    gc.collect()
    if before:
        assert resident() - before < 4 << 20


def test_a_child_that_was_forked_off_goes_on():
    program = ("import os, signal, sys, carom\n"
               "def states(): return carom.Batch(sys.argv[1], 4, workers=2).rollout(steps=3).states\n"
               "mine = states()\n"
               "child = os.fork()\n"
               "if child == 0:\n"
               "    signal.alarm(60)\n"
               "    os._exit(0 if (states() == mine).all() else 3)\n"
               "sys.exit(os.waitpid(child, 0)[1] != 0)\n")
    root = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", program, os.path.join(root, "examples", "throw.json")],
                          env=dict(os.environ, PYTHONPATH=os.pathsep.join(sys.path)), timeout=120, check=False)
    assert done.returncode == 0


def test_scenes_can_be_pickled_and_copied_and_nothing_else(slide, sim):
    import copy
    import pickle
    scene = carom.Scene(slide)
    for again in (pickle.loads(pickle.dumps(scene)), copy.copy(scene), copy.deepcopy(scene)):
        assert again.text() == scene.text()
    run = sim.rollout(steps=2)
    for thing in (sim, run, carom.Batch(slide, 2)):
        with pytest.raises(carom.MisuseError, match="cannot be pickled"):
            pickle.dumps(thing)
    with pytest.raises(carom.MisuseError):
        copy.copy(run)
    other = copy.copy(sim)
    other.close()
    assert np.array_equal(sim.rollout(steps=2).states, run.states)


def test_numbers_of_memory(slide):
    carom.Tape(slide, memory=4 << 30).close()
    for bad in (-1, "64", 1.5):
        with pytest.raises(carom.ArgumentError):
            carom.Tape(slide, memory=bad)
    with pytest.raises(carom.ArgumentError):
        carom.Tape(dict(slide, bodies=[dict(slide["bodies"][0], name="gravity")]))


def test_parameters_that_say_the_same_twice(slide):
    for names in (["box.mass", "box.mass"], ["box.mass", "box.density"], ["world.gravity", "world.gravity"]):
        with pytest.raises(carom.Error, match="twice|follows from"):
            carom.Sim(slide, parameters=names)
    sim = carom.Sim(slide, parameters=["box.inertia"])
    for bad, said in (([1, 1, 5], r"inertia\[2\] of \"box\" is 5; it has to be no larger"),
                      ([1, 1, -5], r"inertia\[2\] of \"box\" is -5; it has to be above 0")):
        with pytest.raises(carom.Error, match=said):
            sim.rollout(steps=1, theta=bad)


def test_moduli_have_to_go_together(sheet):
    sim = carom.Sim(sheet, parameters=["sheet.c12"])
    with pytest.raises(carom.Error, match="release energy"):
        sim.rollout(steps=1, theta=[5000.0])
    assert len(sim.rollout(steps=1)) == 1


def test_options_of_an_optimisation(examples):
    problem = carom.Problem(str(examples / "two_cubes.json"))
    for bad in (dict(tolerance=float("nan")), dict(method="gd", rate=-1), dict(method="gd", momentum=5)):
        with pytest.raises(carom.ArgumentError):
            problem.optimize(**bad)
    scene = carom.Scene(str(examples / "two_cubes.json")).dict()
    del scene["parameters"]
    with pytest.raises(carom.ArgumentError, match="no parameters"):
        carom.optimize(scene)


def test_theta_may_not_put_bodies_into_each_other(slide):
    flat = dict(slide, bodies=[slide["bodies"][0], dict(slide["bodies"][1], euler_degrees=[0, 0, 0], position=[0, 0, 0.3])])
    sim = carom.Sim(flat, parameters=["box.position", "box.thickness"])
    good = sim.rollout(steps=3, theta=[0, 0, 0.2, 1e-3]).states
    for bad in ([0, 0, 0.02, 1e-3], [0, 0, -0.01, 1e-3]):
        with pytest.raises(carom.IntersectingError, match="with these parameters"):
            sim.rollout(steps=3, theta=bad)
    assert np.array_equal(sim.rollout(steps=3).states, good)  # theta is what it was
    assert np.array_equal(sim.theta, [0, 0, 0.2, 1e-3])
    goal = {"terms": [{"what": "position", "of": "box", "target": [0, 0, 0.02], "at": [0]}]}
    problem = carom.Problem(dict(flat, objective=goal, parameters=[{"of": "box", "what": "position"}]), steps=2)
    end, _ = problem.apply(problem.optimize().theta)
    carom.Sim(end)  # where it ends bodies are apart


def test_what_is_wrong_is_named(slide):
    with pytest.raises(carom.SceneError, match=r"bodies\[1\]\.velocity\[2\] is nan"):
        carom.Scene(dict(slide, bodies=[slide["bodies"][0], dict(slide["bodies"][1], velocity=[0, 1, float("nan")])]))
    for controls, said in ((["ground.force"], "is fixed"), (["box.force", "box.force.x"], "before it")):
        with pytest.raises(carom.ArgumentError, match=said):
            carom.Sim(slide, controls=controls)
