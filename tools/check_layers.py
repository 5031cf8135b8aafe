#!/usr/bin/env python3
"""Fails when a file under src/ includes a room it may not see. The order is the architecture."""
import pathlib
import re
import sys

ORDER = ("core | math | mesh | collision bodies | dynamics contact | sim"
         " | adjoint scene io | api | cli")
RANK = {room: i for i, rooms in enumerate(ORDER.split(" | ")) for room in rooms.split()}


def trouble(path):
    here = path.parts[1]
    for n, line in enumerate(path.read_text().splitlines(), 1):
        seen = re.match(r'\s*#include "(\w+)/(\w+)', line)
        if not seen:
            continue
        room, stem = seen[1], seen[2]
        if room == "carom":
            if stem != "base" and here not in ("api", "cli"):
                yield f"{path}:{n}: {here} may see carom/base.h only, not carom/{stem}.h"
        elif room not in RANK:
            yield f"{path}:{n}: {room} is no room of this house"
        elif here == "cli" and room != "cli":
            yield f"{path}:{n}: the program reads include/carom alone"
        elif room != here and RANK[room] >= RANK[here]:
            yield f"{path}:{n}: {here} may not include {room}"


bad = [t for path in sorted(pathlib.Path("src").rglob("*.[ch]")) for t in trouble(path)]
print("\n".join(bad) or "layers hold")
sys.exit(bool(bad))
