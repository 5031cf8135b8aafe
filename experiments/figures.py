"""The scanned figures, where a package has been unpacked, else the generated one."""

import os
from pathlib import Path

from kit import ROOT

FILES = {"bunny": "bunny00.off", "armadillo": "armadillo.off"}
# how each stands upright with its feet down
UPRIGHT = {"bunny": [90, 0, 0], "armadillo": [90, 0, 180], "figurine": [0, 0, 0]}


def folder():
    return Path(os.environ.get("CAROM_MESHES", ROOT / "build" / "meshes"))


def figure(name, triangles):
    """The "mesh" of a scene, and what it is in words. tools/fetch_meshes.sh gets the scans."""
    path = folder() / FILES[name]
    if path.exists():
        return {"file": str(path), "simplify": triangles}, f"the scanned {name}, {triangles} triangles"
    return ({"figurine": {"resolution": 12}, "simplify": triangles},
            f"the generated figurine, {triangles} triangles, in place of the {name} (tools/fetch_meshes.sh gets the scan)")


def upright(name):
    return UPRIGHT[name if (folder() / FILES[name]).exists() else "figurine"]
