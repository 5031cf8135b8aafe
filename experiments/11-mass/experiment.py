"""Which mass gives this momentum?"""

import math

TITLE = "parameter estimation"
PAPER = ("Two cubes with opposite speeds collide inelastically; find m1 so that the total momentum is (3, 0, 0). The paper finds "
         "5.4 in 90 gradient steps. That value is 1 + 3/exp(-0.396): the released program damps every rigid velocity by "
         "exp(-0.99 h) each step without saying so. Without damping the answer is 4.")


def scene(damping):
    def cube(name, x, mass, damped):
        body = {"name": name, "mesh": {"box": {"size": [1, 1, 1]}}, "mass": mass, "position": [x, 0, 0],
                "velocity": [1 if x < 0 else -1, 0, 0]}
        return dict(body, linear_damping=0.99) if damped else body
    return {"carom": 1, "world": {"dt": 0.04, "duration": 0.4 if damping else 1.6, "gravity": [0, 0, 0], "friction": 0},
            "bodies": [cube("first", -0.6, 1.5, damping), cube("second", 0.6, 1.0, damping)],
            "objective": {"terms": [{"what": "momentum", "target": [3, 0, 0]}]},
            "parameters": [{"of": "first", "what": "mass", "min": 0.01}]}


RATE = 0.4  # of gradient descent: the momentum's derivative is 1, so that the error falls to a fifth in each step


def find(kit, path, *options):
    """m1, and how many iterations it took."""
    done = kit.carom("optimize", path, *options)[0]
    value = done["parameters"][0]["value"]
    return value[0] if isinstance(value, list) else value, done["iterations"]


def run(kit):
    path = kit.scene("mass", scene(False))
    mass, iterations = find(kit, path, "--method", "lbfgs", "--iterations", 10)
    kit.row("m1 without damping, by L-BFGS", f"{mass:.9f} kg", abs(mass - 4) <= 1e-6, paper="5.4", released="5.458")
    kit.row("L-BFGS iterations", iterations, iterations <= 10, paper="90 gradient steps")
    mass, iterations = find(kit, path, "--method", "gd", "--rate", RATE, "--iterations", 90, "--tolerance", 1e-7)
    kit.row("m1 without damping, by gradient descent", f"{mass:.9f} kg in {iterations} gradient steps", abs(mass - 4) <= 1e-6 and iterations <= 90,
            paper="5.4 in 90 gradient steps")
    check = kit.carom("gradcheck", path)[0]
    kit.row("largest error of the gradient against differences", f"{check['max_relative_error']:.1e}",
            check["max_relative_error"] <= 1e-6, released="0.078 where 0.673 is right")
    damped, iterations = find(kit, kit.scene("mass-damped", scene(True)), "--method", "lbfgs", "--iterations", 20)
    right = 1 + 3 / math.exp(-0.99 * 0.4)
    kit.row("m1 with the released program's damping switched on openly", f"{damped:.6f} kg in {iterations} iterations",
            abs(damped - right) <= 1e-5, paper="5.4", released=f"{right:.6f}")
