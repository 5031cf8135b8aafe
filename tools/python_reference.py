#!/usr/bin/env python3
"""Prints docs/python_api.md, the reference of the Python package, from its own docstrings."""
import ast
import dataclasses
import inspect
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))
import carom  # noqa: E402
import carom.envs  # noqa: E402


def text(thing) -> str:
    return inspect.cleandoc(inspect.getdoc(thing) or "")


def signature(thing) -> str:
    try:
        said = str(inspect.signature(thing))
    except (TypeError, ValueError):
        return "(...)"
    for word in ("self, ", "self", "cls, "):
        said = said.replace("(" + word, "(", 1) if said.startswith("(" + word) else said
    return said.replace("'", "")


def block(lines: str) -> str:
    return "\n".join(("    " + line).rstrip() for line in lines.splitlines())


def members(kind):
    """Its own, then those it has from classes of the package."""
    seen = {}
    for base in inspect.getmro(kind):
        if base.__module__.partition(".")[0] == "carom":
            for name, member in vars(base).items():
                if name != "__init__" or base is kind:
                    seen.setdefault(name, member)
    for name, member in seen.items():
        if name.startswith("_") and name != "__init__":
            continue
        if isinstance(member, property):
            yield f"`.{name}`", text(member)
        elif isinstance(member, (classmethod, staticmethod)) or inspect.isfunction(member):
            call = getattr(kind, name)
            if text(call) and (name != "__init__" or vars(kind)["__init__"].__doc__):
                shown = kind.__name__ if name == "__init__" else "." + name
                yield f"`{shown}{signature(call)}`", text(call)


def field_comments(kind) -> dict:
    """What stands behind #: beside each field."""
    found = re.findall(r"^    (\w+): [^#\n]*#: (.*)$", inspect.getsource(kind), re.M)
    return dict(found)


def describe_class(kind) -> None:
    print(f"\n### {kind.__name__}\n")
    if dataclasses.is_dataclass(kind) or not text(kind):
        print(text(kind).splitlines()[0] if text(kind) else "")
    else:
        print(block(text(kind)))
    for head, about in members(kind):
        first, *rest = about.split("\n\n", 1)
        print(f"\n- {head}  \n  " + " ".join(first.split()))
        if rest:
            print("\n" + "\n".join(("      " + line).rstrip() for line in rest[0].splitlines()))
    fields = getattr(kind, "__annotations__", {})
    if dataclasses.is_dataclass(kind) or hasattr(kind, "_fields"):
        said = field_comments(kind)
        print("\n" + "\n".join(f"- `{name}`" + (f": {said[name]}" if name in said else "") for name in fields))


def describe_function(name, call) -> None:
    print(f"\n### {name}\n\n`{name}{signature(call)}`\n\n" + block(text(call)))


print("# Python: reference\n\nMade from the package itself by `tools/python_reference.py`; "
      "[python.md](python.md) is the guide.\n\n## carom\n")
print(block(text(carom)))
for name in carom.__all__:
    thing = getattr(carom, name)
    if inspect.isclass(thing) and issubclass(thing, BaseException):
        continue
    describe_class(thing) if inspect.isclass(thing) else describe_function(name, thing)
print("\n### Exceptions\n\nAll are `carom.Error`.\n\n| | | also |\n|---|---|---|")
for name in carom.__all__:
    thing = getattr(carom, name)
    if inspect.isclass(thing) and issubclass(thing, carom.Error):
        also = ", ".join(b.__name__ for b in thing.__bases__ if b is not carom.Error)
        print(f"| `{name}` | {text(thing).splitlines()[0]} | {also} |")
for module in ("torch", "jax"):
    print(f"\n## carom.{module}\n")
    # from the source, so that neither of the two has to be there
    tree = ast.parse(pathlib.Path(carom.__file__).with_name(module + ".py").read_text())
    print(block(ast.get_docstring(tree)))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
            arguments = ast.unparse(node.args).replace("'", "")
            print(f"\n### carom.{module}.{node.name}\n\n`carom.{module}.{node.name}"
                  f"({arguments})`\n\n" + block(ast.get_docstring(node)))
print("\n## carom.envs\n")
print(block(text(carom.envs)))
for name in carom.envs.__all__:
    thing = getattr(carom.envs, name)
    if inspect.isclass(thing):
        describe_class(thing)
    elif callable(thing):
        describe_function("carom.envs." + name, thing)
