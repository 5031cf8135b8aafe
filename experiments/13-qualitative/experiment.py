"""Frames of figures in a cloth, with the zones in red."""

import importlib.util
import subprocess

from kit import HERE, Missing

TITLE = "qualitative comparison: the zones"
PAPER = ("The paper's appendix shows a bunny and an armadillo on cloth, where other differentiable programs fail in their ways, and its "
         "Figure 2 the contact zones in red. Those programs are not run here; these are our frames, with the zones as the solver had them.")
LIMIT = 400  # s


def run(kit):
    spec = importlib.util.spec_from_file_location("figurines", HERE / "05-figurines" / "experiment.py")
    figurines = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(figurines)
    description, said = figurines.scene(6 if kit.quick else 10, 0.3 if kit.quick else 2.4)
    kit.note("The figures are " + " and ".join(said) + ".")
    path, out = kit.scene("figures", description), kit.path("figures.carom")
    try:
        end = kit.carom("run", path, "--out", out, timeout=60 if kit.quick else LIMIT)[0]
    except subprocess.TimeoutExpired as error:
        raise Missing(f"the run was not done in {error.timeout:g} s") from error
    cross = kit.carom("intersect", out, check=False)[0]
    kit.row("frames that intersect", f"{cross['intersecting_frames']} of {cross['frames']}", cross["intersecting_frames"] == 0,
            paper="none of ours; the others' do")
    kit.row("the largest zone", f"{end['max_zone_contacts']} contacts, {end['max_zone_dofs']} degrees of freedom")
    last = cross["frames"] - 1
    kit.render(out, [last * k // 3 for k in range(4)], "zones.png", "--show", "contacts,zones", "--size", "480x300")
