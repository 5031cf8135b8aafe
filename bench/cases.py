"""Which ordinary scenes the benchmark times, by table: {part: [(name, N, scene)]}; tiny ones where it is to be quick."""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import kit
import scenes as s

MIXED = ("box", "sphere", "capsule")
FRAME = 1 / 60  # s, a step as games and films take it


def heaps(quick):
    if quick:
        return [("boxes, wide bin", 4, s.heap(4, seconds=0.3)), ("stack", 3, s.stack(3, seconds=0.1))]
    cases = [("boxes, wide bin", n, s.heap(n)) for n in (30, 60, 200, 600)]
    cases += [("boxes, wide bin, h 1/60 s", n, s.heap(n, h=FRAME)) for n in (60, 200)]
    cases += [("boxes, tall bin", 200, s.heap(200, wide=False)), ("boxes, tall bin, h 1/60 s", 200, s.heap(200, wide=False, h=FRAME))]
    cases += [("boxes, balls, capsules", 150, s.heap(150, shapes=MIXED)), ("tori of 512 triangles", 60, s.heap(60, shapes=(s.TORUS,)))]
    cases += [(f"boxes, friction {mu}", 60, s.heap(60, friction=mu)) for mu in (0.1, 1.0, 1.5)]
    cases += [(f"boxes, masses over {ratio:.0e}", 60, s.heap(60, ratio=ratio)) for ratio in (1e3, 1e6)]
    cases += [("funnel", 60, s.funnel(60)), ("wall at rest", 144, s.wall(12, False)), ("wall hit by a ball", 144, s.wall(12, True)),
              ("stack", 20, s.stack(20)), ("pyramid", 55, s.pyramid(10)), ("boxes, settled", 200, s.heap(200, seconds=6.0))]
    return cases


def sheets(quick):
    if quick:
        return [("drape over a ball", 8, s.drape(8, seconds=0.3)), ("flag", 9, s.flag(9, seconds=0.1)), ("bag", 7, s.bag(7, 2, seconds=0.2))]
    cases = [("drape over a ball", n, s.drape(n)) for n in (20, 40, 60, 100)]
    cases += [("drape over a box", n, s.drape(n, on="box")) for n in (20, 40, 60, 100)]
    cases += [("drape over a ball, h 5 ms", 40, s.drape(40, h=0.005)), ("folded sheet unrolls", 20, s.unroll()),
              ("garment on an animal", 24, s.garment()), ("bag with 30 bodies", 31, s.bag()), ("flag", 41, s.flag()),
              ("free fall", 100, s.free_fall(100))]
    return cases


def mechanisms(quick):
    if quick:
        return [("chain", 3, s.chain(3, seconds=0.1)), ("dominoes", 3, s.dominoes(3, seconds=0.1))]
    return [("chain", 12, s.chain()), ("gears", 3, s.gears()), ("dominoes", 20, s.dominoes()), *foreign()]


def foreign():
    """Scenes of others that stand in the folder CAROM_CASES, if there is one, with this law of contact."""
    found = []
    folder = Path(os.environ.get("CAROM_CASES", "-")) / "rigid-ipc" / "fixtures"
    for path in sorted(folder.rglob("*.json")):
        with tempfile.TemporaryDirectory() as room:
            out = Path(room) / "scene.json"
            done = subprocess.run([kit.program(), "import", path, "--format", "rigid-ipc", "--out", out], capture_output=True)
            if done.returncode == 0:
                scene = json.loads(out.read_text())
                scene["world"]["contact"] = "barrier"
                found.append((path.stem, len(scene["bodies"]), scene))
    return found


def threaded(quick):
    """What is run over a number of workers."""
    if quick:
        return [("boxes, wide bin", 4, s.heap(4, seconds=0.1))]
    return [("boxes, wide bin", 200, s.heap(200)), ("wall hit by a ball", 144, s.wall(12, True)), ("drape over a ball", 40, s.drape(40)),
            ("bag with 30 bodies", 31, s.bag())]


TABLES = {"heaps": heaps, "sheets": sheets, "mechanisms": mechanisms}
