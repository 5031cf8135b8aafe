"""MuJoCo moves the cubes and says how far apart they are; carom says what to change."""

from kit import Missing

TITLE = "interoperability with MuJoCo"
PAPER = ("Three cubes lie apart on smooth ground. The loss is computed in MuJoCo, its gradient by the engine; after 10 gradient "
         "steps the cubes stick together. The released program cannot run this.")

SIZE, MASS, DT, STEPS = 0.2, 1.0, 0.01, 100
INNER = 4       # of MuJoCo's steps in one of ours: its contacts are springs, and stiffer ones need shorter steps
PLACES = {"left": (-0.5, 0.02, 0.1), "middle": (0.05, 0.0, 0.1), "right": (0.6, -0.03, 0.1)}
EFFORT = 1e-4   # m^2/N^2: weight of the mean squared force
CLOSE = 0.95    # of SIZE: the distance that is asked for; that less than touching cannot be had, contact sees to
RATE = 60.0     # N^2/m^2; tried 20, 60, 100


def scene():
    cube = {"mesh": {"box": {"size": [SIZE] * 3}}, "mass": MASS, "inset": True}
    return {"carom": 1, "title": "Three cubes on smooth ground", "world": {"dt": DT, "duration": STEPS * DT, "friction": 0},
            "bodies": [{"name": "ground", "type": "fixed", "mesh": {"sheet": {"width": 8, "height": 8, "nx": 1, "ny": 1}}}]
            + [dict(cube, name=name, position=list(place)) for name, place in PLACES.items()]}


def twin(mujoco):
    """The same scene in MuJoCo's words."""
    cubes = "".join(f'<body name="{name}" pos="{x} {y} {z}"><freejoint name="{name}"/><geom name="{name}" type="box" condim="1" '
                    f'size="{SIZE / 2} {SIZE / 2} {SIZE / 2}" mass="{MASS}"/></body>' for name, (x, y, z) in PLACES.items())
    return mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{DT / INNER}" integrator="implicitfast"/>'
        f'<default><geom solref="{2 * DT / INNER} 1"/></default><worldbody>'
        f'<geom name="ground" type="plane" size="4 4 1" condim="1"/>{cubes}</worldbody></mujoco>')


class Loop:
    """Both programs, joined by names: controls {body: [T, 2] N}, states {body: [T+1, 3] m}."""

    def __init__(self, mujoco, np, carom):
        self.mujoco, self.np = mujoco, np
        self.model = twin(mujoco)
        self.names = list(PLACES)
        self.sim = carom.Sim(scene(), controls=[f"{name}.force.xy" for name in self.names])
        self.next = np.array([[-1.0, 1.0, 0.0], [0.0, -1.0, 1.0]])  # from places to those of neighbours as seen from each

    def theirs(self, forces):
        """MuJoCo's run: states [T+1, 3 cubes] as position, quaternion, velocity, spin, and its end."""
        mujoco, np = self.mujoco, self.np
        data = mujoco.MjData(self.model)
        mujoco.mj_forward(self.model, data)
        states = np.zeros((STEPS + 1, 3, 13))

        def keep(t):
            for k, name in enumerate(self.names):
                joint = data.joint(name)
                turn = np.zeros(9)
                mujoco.mju_quat2Mat(turn, joint.qpos[3:])
                states[t, k] = np.concatenate([joint.qpos, joint.qvel[:3], turn.reshape(3, 3) @ joint.qvel[3:]])
        keep(0)
        for t in range(STEPS):
            for k, name in enumerate(self.names):
                data.body(name).xfrc_applied[:2] = forces[t, 2 * k:2 * k + 2]
            mujoco.mj_step(self.model, data, nstep=INNER)
            keep(t + 1)
        mujoco.mj_forward(self.model, data)
        return states, data

    def gaps(self, data):
        """Distances between neighbours as MuJoCo measures them (m)."""
        number = [self.model.geom(name).id for name in self.names]
        return [self.mujoco.mj_geomDistance(self.model, data, a, b, 1.0, None) for a, b in zip(number, number[1:])]

    def loss(self, places, forces):
        """How far neighbours are from side by side (squared), and effort; its derivative by the places."""
        away = self.next @ places[:, :2] - [CLOSE * SIZE, 0.0]
        return (away ** 2).sum() + EFFORT * (forces ** 2).mean(), 2 * self.next.T @ away

    def back(self, run, bar):
        """dL/d(controls) from dL/d(last places), through carom's own run."""
        bars = run.zeros()
        for k, name in enumerate(self.names):
            bars.positions[-1, self.sim.body(name).index, :2] = bar[k, :2]
        return run.vjp(bars).controls

    def back_along(self, states, forces):
        """In reverse: the loss here, where carom's last step ends, and dL/d(controls) through carom's steps taken from
        each of MuJoCo's states, last to first."""
        np, sim = self.np, self.sim
        grad, state_bar, loss = np.zeros_like(forces), None, None
        for t in reversed(range(STEPS)):
            state = sim.rollout(steps=1, keep=False).states[0].copy()
            parts = sim.split(state)
            for k, name in enumerate(self.names):
                f = sim.body(name).frame
                parts.positions[f], parts.quaternions[f] = states[t, k, :3], states[t, k, 3:7]
                parts.velocities[f], parts.angular_velocities[f] = states[t, k, 7:10], states[t, k, 10:]
                # MuJoCo's contacts are soft and may lie a little inside the ground
                parts.positions[f][2] = max(parts.positions[f][2], SIZE / 2)
            run = sim.rollout(forces[t:t + 1], state=state, step=t)
            if state_bar is None:
                bars, index = run.zeros(), [sim.body(name).index for name in self.names]
                loss, bar = self.loss(run.positions[-1, index], forces)
                bars.positions[-1, index, :2] = bar
                done = run.vjp(bars)
            else:
                whole = np.zeros_like(run.states)
                whole[-1] = state_bar
                done = run.vjp(whole)
            grad[t], state_bar = done.controls[0], done.state
        return grad, loss


def descend(loop, steps, along):
    """Gradient descent. MuJoCo's end and loss, carom's trajectory and derivative; or, along, MuJoCo's trajectory, carom's
    loss and derivative. [(loss, gaps, states)] by step, gaps and states MuJoCo's."""
    np = loop.np
    forces, told = np.zeros((STEPS, 6)), []
    for i in range(steps + 1):
        states, data = loop.theirs(forces)
        if along:
            grad, loss = loop.back_along(states, forces)
        else:
            loss, bar = loop.loss(states[-1, :, :3], forces)
            grad = loop.back(loop.sim.rollout(forces), bar)
        told.append((loss, loop.gaps(data), states))
        if i < steps:
            forces = forces - RATE * (grad + 2 * EFFORT * forces / forces.size)
    return told, forces


def run(kit):
    try:
        import mujoco
        import numpy as np
        import carom
    except ImportError as error:
        raise Missing(f"{error}") from error
    kit.scene("cubes", scene())
    loop = Loop(mujoco, np, carom)
    rows, lines = [], {}
    for title, along in (("loss in MuJoCo, trajectory and gradient in carom", False),
                         ("in reverse: trajectory in MuJoCo, loss and gradient in carom", True)):
        told, forces = descend(loop, 10, along)
        gaps = told[-1][1]
        kit.row(f"distances of the cubes in MuJoCo after 10 gradient steps, {title}",
                ", ".join(f"{1e3 * gap:.3f} mm" for gap in gaps), max(map(abs, gaps)) <= 1e-3,
                paper="stick together", released="cannot run")
        rows += [[title, i, loss, *gap] for i, (loss, gap, _) in enumerate(told)]
        lines[title] = (list(range(len(told))), [max(gap) for _, gap, _ in told])
        ours = loop.sim.rollout(forces, keep=False)
        apart = max(abs(ours.positions[-1, loop.sim.body(name).index, :2] - told[-1][2][-1, k, :2]).max()
                    for k, name in enumerate(loop.names))
        kit.row("the same controls in carom: largest difference of a place at the end", f"{1e3 * apart:.2f} mm")
    kit.note(f"MuJoCo {mujoco.__version__}. Names join the two: forces by body, states by joint. The first loop takes MuJoCo's end "
             "and loss with the derivative of carom's own run; the second goes along MuJoCo's states, differentiates carom's steps from each of "
             "them, and takes the loss where carom's last one ends. MuJoCo's contacts are soft: a negative distance is its overlap.")
    kit.table("distances", ["way", "step", "loss", "left_middle_m", "middle_right_m"], rows)
    kit.plot("distances", lines, "gradient step", "largest distance (m)", title="Three cubes: distance in MuJoCo")
