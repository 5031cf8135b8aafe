"""Scenes: what there is, how it starts, what acts on it and what should come out."""
from __future__ import annotations

import ctypes as C
import dataclasses
import functools
import json
import math
import os
from typing import Any

from . import _errors
from ._library import ParameterKindInfo, Handle, call, lib, make, take_text


@dataclasses.dataclass(frozen=True)
class ParameterKind:
    """Something that gradients can be asked for by."""
    name: str      #: as in scene files and in "body.name"
    who: tuple     #: who has it: "world", "rigid", "kinematic", "fixed", "cloth"
    numbers: int   #: of one body; 0: it depends
    about: str     #: unit, and what it is


_WHO = {"W": "world", "R": "rigid", "K": "kinematic", "F": "fixed", "C": "cloth"}


@functools.lru_cache(maxsize=None)
def parameter_kinds() -> dict[str, ParameterKind]:
    kinds = {}
    for i in range(lib.carom_parameter_kind_count()):
        row = ParameterKindInfo()
        lib.carom_parameter_kind_at(i, C.byref(row))
        name = row.name.decode()
        kinds[name] = ParameterKind(name, tuple(_WHO[w] for w in row.who.decode()), row.numbers,
                                    row.about.decode())
    return kinds


parameter_kinds.__doc__ = (
    "Every parameter that gradients can be asked for by, by name: {name: ParameterKind}.\n\n"
    + "\n".join(f"{k.name:18}{k.about} ({', '.join(k.who)})" for k in parameter_kinds().values()))


@functools.lru_cache(maxsize=None)
def _schema() -> dict:
    pointer = C.c_void_p()
    call(lib.carom_scene_schema, C.byref(pointer))
    return json.loads(take_text(pointer))["$defs"]


def _kind(row: dict) -> str:
    if "$ref" in row:
        return row["$ref"].rsplit("/", 1)[1]
    if "enum" in row:
        return " | ".join(json.dumps(e) for e in row["enum"])
    if row.get("type") == "array":
        many = row.get("minItems") if row.get("minItems") == row.get("maxItems") else None
        return f"list of {many or ''} {_kind(row.get('items', {}))}".replace("  ", " ")
    if "anyOf" in row or "oneOf" in row:
        return " or ".join(_kind(r) for r in row.get("anyOf", row.get("oneOf", [])))
    return row.get("type", "any")


def describe(name: str = "scene") -> str:
    """What an object of a scene file may hold, from the tables that read it.

    name: "scene", "world", "body", "material", "mesh", "script", "pin", "pair", "objective",
    "term", "parameter" and so on.
    """
    table = _schema()
    if name not in table:
        raise _errors.ArgumentError(f"there is no {name!r}; there are: {', '.join(table)}")
    lines = [f"{name}: {table[name].get('description', '')}"]
    for key, row in table[name].get("properties", {}).items():
        default = f"; else {json.dumps(row['default'])}" if "default" in row else ""
        lines.append(f"  {key}: {_kind(row)}{default}\n      {row.get('description', '')}")
    return "\n".join(lines)


def _plain(value):
    """NumPy arrays and numbers as what JSON has."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, dict):
        return {str(k): _plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(v) for v in value]
    return value


def _json(value, what: str) -> bytes:
    try:
        return json.dumps(_plain(value), allow_nan=False).encode()
    except (TypeError, ValueError) as error:
        where = _not_finite(_plain(value), "")
        raise _errors.SceneError(f"{what} cannot be written as JSON: " + (
            f"{where.lstrip('.')} has to be finite" if where else str(error))) from None


def _not_finite(value, path: str) -> "str | None":
    """Where in it the first number stands that is not finite."""
    if isinstance(value, float):
        return f"{path} is {value}; it" if not math.isfinite(value) else None
    items = value.items() if isinstance(value, dict) else \
        enumerate(value) if isinstance(value, list) else ()
    for key, part in items:
        name = key if isinstance(value, list) else f".{key}"
        found = _not_finite(part, path + (f"[{name}]" if isinstance(value, list) else name))
        if found:
            return found
    return None


def _unpickled(text: str, folder: str, name) -> "Scene":
    scene = Scene(json.loads(text), folder=folder)
    scene._name = name
    return scene


class Scene:
    """An editable description of a world, its bodies and what is asked of them.

        scene = carom.Scene(world={"dt": 0.01})
        scene.add_body(name="ground", type="fixed", mesh={"sheet": {"width": 4}})
        scene.add_body(name="ball", sphere={"radius": 0.1}, position=[0, 0, 1])
        scene["bodies.ball.velocity"] = [1, 0, 0]
        scene.save("drop.json")

    Keys are those of scene files (docs/scene.md; carom.describe("body") lists them). Whatever is
    not a good scene is refused when it is said, and the scene stays as it was.
    """

    def __init__(self, source: "str | os.PathLike | dict | Scene | None" = None, *,
                 folder: "str | os.PathLike | None" = None, **keys: Any):
        """A scene from a file (its path), from JSON text, from a dict, or from keys of the file
        format alone: Scene(world={...}, bodies=[...]). Files that it names are looked for in
        folder (else beside the file, or in the working directory)."""
        self._name = ""
        if isinstance(source, Scene):
            folder = source._folder if folder is None else folder
            source = source.dict()
        if source is None:
            source = {"carom": 1, "bodies": []}
        if isinstance(source, dict):
            source = {"carom": 1, **source, **keys}
            keys = {}
            source = _json(source, "the scene").decode()
        elif not isinstance(source, (str, os.PathLike)):
            raise _errors.ArgumentError(f"a scene comes from a path, a text or a dict, not from "
                                        f"{type(source).__name__}")
        path = os.fspath(source)
        if isinstance(path, str) and path.lstrip()[:1] in ("{", "/*"[:2]) and "{" in path:
            self._folder = os.fspath(folder) if folder is not None else "."
            self._parse(path.encode())
        else:
            self._name = path
            self._folder = os.fspath(folder) if folder is not None else os.path.dirname(path) or "."
            self._handle = make(lib.carom_scene_load, os.fsencode(path),
                                destroy=lib.carom_scene_destroy, what="scene")
        for key, value in keys.items():
            self[key] = value

    @classmethod
    def load(cls, path: "str | os.PathLike") -> "Scene":
        """Reads a scene file."""
        return cls(os.fspath(path))

    @classmethod
    def imported(cls, path: "str | os.PathLike", format: str, meshes=None) -> "tuple[Scene, str]":
        """Another program's scene ("rigid-ipc" or "arcsim"), and what was not carried over."""
        out, notes = C.c_void_p(), C.c_void_p()
        call(lib.carom_scene_import, os.fsencode(path), format.encode(),
             None if meshes is None else os.fsencode(meshes), C.byref(out), C.byref(notes))
        said = take_text(notes)
        return cls(take_text(out), folder=os.path.dirname(os.fspath(path)) or "."), said

    def _parse(self, data: bytes) -> None:
        self._handle = make(lib.carom_scene_parse, data, len(data), os.fsencode(self._folder),
                            destroy=lib.carom_scene_destroy, what="scene")

    def __reduce__(self):
        return _unpickled, (self.text(), os.path.abspath(self._folder), self._name)

    def __copy__(self) -> "Scene":
        return Scene(self)

    def __deepcopy__(self, memo) -> "Scene":
        return Scene(self)

    def text(self) -> str:
        """The scene as JSON text."""
        pointer = C.c_void_p()
        with self._handle.use() as h:
            call(lib.carom_scene_text, h, C.byref(pointer))
        return take_text(pointer)

    def dict(self) -> dict:
        """A copy of the scene as a dict."""
        return json.loads(self.text())

    def save(self, path: "str | os.PathLike") -> None:
        """Writes the scene file; an old one is replaced only when the new one is whole."""
        with self._handle.use() as h:
            call(lib.carom_scene_save, h, os.fsencode(path))

    def set(self, path: str, value: Any) -> "Scene":
        """Sets one value by its path: "world.dt", "bodies.crate.mass", "bodies[3].velocity"."""
        with self._handle.use() as h:
            call(lib.carom_scene_set, h, str(path).encode(), _json(value, path))
        return self

    __setitem__ = set

    def __getitem__(self, path: str) -> Any:
        """The value at a path as the scene states it; KeyError when it does not."""
        value = self.dict()
        for part in str(path).replace("[", ".[").split("."):
            try:
                if part.startswith("["):
                    value = value[int(part[1:-1])]
                elif isinstance(value, list):
                    value = next(v for v in value if v.get("name") == part)
                else:
                    value = value[part]
            except (KeyError, IndexError, ValueError, StopIteration, AttributeError, TypeError):
                raise KeyError(path) from None
        return value

    def _add(self, key: str, value: dict) -> "Scene":
        data = self.dict()
        data.setdefault(key, []).append(_plain(value))
        old = self._handle
        try:
            self._parse(_json(data, key))
        except Exception:
            self._handle = old
            raise
        return self

    def add_body(self, name: str, **keys: Any) -> "Scene":
        return self._add("bodies", {"name": name, **keys})

    def add_pair(self, a: str, b: str, **keys: Any) -> "Scene":
        return self._add("pairs", {"between": [a, b], **keys})

    def add_parameter(self, name: str, **keys: Any) -> "Scene":
        """Lists a parameter: "ball.mass", "world.gravity"; keys are min, max, start."""
        return self._add("parameters", {**_parameter(name), **keys})

    def add_term(self, what: str, **keys: Any) -> "Scene":
        data = self.dict()
        terms = data.get("objective", {}).get("terms", [])
        return self.set("objective", {"terms": terms + [{"what": what, **_plain(keys)}]})

    add_body.__doc__ = "Adds a body; see carom.describe for what the keys hold.\n\n" \
        + describe("body")
    add_pair.__doc__ = "Makes the contact of two bodies special.\n\n" + describe("pair")
    add_term.__doc__ = "Adds a term to the objective.\n\n" + describe("term")

    def close(self) -> None:
        """Gives the memory back; everything after that is an error."""
        self._handle.close()

    def __repr__(self) -> str:
        if self._handle.closed:
            return "<carom.Scene, closed>"
        bodies = [b.get("name", f"bodies[{i}]") for i, b in enumerate(self.dict()["bodies"])]
        return f"<carom.Scene of {', '.join(bodies) or 'nothing'}>"


def _parameter(spec: "str | dict") -> dict:
    """{"of", "what"} of "ball.mass" or "world.gravity"; body names may have dots."""
    if isinstance(spec, dict):
        return dict(spec)
    if not isinstance(spec, str) or "." not in spec:
        raise _errors.ArgumentError(f"a parameter is {spec!r}; it has to be \"body.name\" or "
                                    "\"world.gravity\"; names are: " + ", ".join(parameter_kinds()))
    of, what = spec.rsplit(".", 1)
    return {"what": what} if of == "world" and what in ("gravity", "wind") else \
        {"of": of, "what": what}


def as_scene(source: "Scene | str | os.PathLike | dict") -> Scene:
    """source itself when it is a scene, else one made from it."""
    return source if isinstance(source, Scene) else Scene(source)
