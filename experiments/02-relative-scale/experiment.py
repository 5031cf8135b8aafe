"""Figure 3, bottom: a figure thrown at a cloth that is 1 to 10 times as large."""

from figures import figure

TITLE = "relative scale"
PAPER = ("A rigid bunny strikes a cloth; cloth : bunny from 1:1 to 10:1 at the same number of nodes; time and memory stay "
         "constant (Figure 3, bottom). In the released scene nothing moves; with the bunny really thrown it takes 19 to 22 s "
         "forward and 17 to 18 s backward for 20 steps, 1.5 GB.")


def scene(kit, ratio, cells, mesh):
    size = 0.3
    side = size * ratio
    return {
        "carom": 1,
        "world": {"dt": 0.02, "duration": 0.4, "thickness": 5e-4, "friction": 0.3},
        "bodies": [
            {"name": "sheet", "type": "cloth", "density": 0.374, "stretch": 1000, "damping": 0.005,
             "mesh": {"sheet": {"width": side, "height": side, "nx": cells, "ny": cells}},
             "rotation": {"axis": [0, 1, 0], "degrees": 90},
             "pins": [{"nodes": {"box": [[-1, -side, side / 2 - 1e-6], [1, side, side / 2 + 1e-6]]}}]},
            {"name": "figure", "density": 300, "origin": "center", "mesh": dict(mesh, size=[size] * 3),
             "position": [-0.22, 0, 0], "velocity": [3, 0, 0.5]},
        ],
        "objective": {"terms": [{"what": "position", "of": "figure"}]},
        "parameters": [{"of": "figure", "what": "velocity"}],
    }


def measure(kit, name, ratio, cells, mesh):
    path = kit.scene(name, scene(kit, ratio, cells, mesh))
    grad = kit.carom("grad", path)[0]
    run = kit.carom("run", path, "--threads", 1)[0]
    steps = run["steps"]
    return [ratio, cells, (cells + 1) ** 2, run["cpu_s"] / steps, grad["backward_s"] / steps,
            grad["tape_bytes"] / steps, run["peak_rss_bytes"] / 1e6, run["max_contacts"]]


HEADER = ["cloth : figure", "cells a side", "nodes", "forward s/step", "backward s/step", "tape bytes/step", "peak MB",
          "contacts"]


def run(kit):
    mesh, what = figure("bunny", 500)
    kit.note(f"The figure is {what}. Forward times are processor seconds of one thread. A small cloth is dragged along and "
             "crumpled, and takes more parts of a step than a large one that is only dented: so the cost is not constant.")
    cells = 12 if kit.quick else 20
    ratios = [1, 3] if kit.quick else [1, 2, 3, 5, 7, 10]
    rows = [measure(kit, "same-nodes", ratio, cells, mesh) for ratio in ratios]
    kit.table("same-nodes", HEADER, rows)
    total = [row[3] + row[4] for row in rows]
    kit.plot("same-nodes", {"forward": (ratios, [row[3] for row in rows]), "backward": (ratios, [row[4] for row in rows])},
             "cloth : figure", "s per step", False, "the same nodes on a larger cloth")
    spread = (max(total) - min(total)) / (sum(total) / len(total))
    kit.row("forward + backward, mean", f"{1e3 * sum(total) / len(total):.3g} ms/step", paper="constant",
            released="about 1.9 s/step")
    kit.row("spread of time over the ratios, (max - min) / mean", f"{100 * spread:.0f} %",
            None if kit.quick else spread <= 0.2, paper="constant")
    memory = [row[6] for row in rows]
    kit.row("spread of memory", f"{100 * (max(memory) - min(memory)) / min(memory):.0f} %, at most {max(memory):.0f} MB",
            None if kit.quick else (max(memory) - min(memory)) / min(memory) <= 0.2, released="1.5 GB")
    # the same element size: more nodes, the same cost for each
    ratios = [1, 2] if kit.quick else [1, 2, 3, 4]
    rows = [measure(kit, "same-elements", ratio, 8 * ratio, mesh) for ratio in ratios]
    kit.table("same-elements", HEADER, rows)
    per_node = [(row[3] + row[4]) / row[2] for row in rows]
    kit.row("time per node at one element size, largest over smallest cloth", f"{per_node[-1] / per_node[0]:.2f}",
            None if kit.quick else per_node[-1] / per_node[0] <= 1.5)
