"""What Python says of the library's structs is what the headers say."""
import ctypes
import pathlib
import re
import shutil
import subprocess

import pytest

from carom import _library

ROOT = pathlib.Path(__file__).resolve().parents[2]
NAMES = {"CError": "carom_error", "CheckReportC": "carom_check_report", "OptimizeReportC": "carom_optimize_report",
         "GradientC": "carom_gradient", "ParameterKindInfo": "carom_parameter_kind"}


def structs():
    for name, kind in vars(_library).items():
        if isinstance(kind, type) and issubclass(kind, ctypes.Structure) and kind is not ctypes.Structure:
            yield NAMES.get(name, "carom_" + re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()), kind


@pytest.mark.skipif(not shutil.which("cc") or not (ROOT / "include").is_dir(), reason="no compiler, or no headers")
def test_structs_are_those_of_the_headers(tmp_path):
    headers = sorted((ROOT / "include/carom").glob("*.h"))
    lines = [f'#include "carom/{h.name}"' for h in headers] + ["#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
    for name, kind in structs():
        lines.append(f'printf("{name} %zu\\n", sizeof({name}));')
        lines += [f'printf("{name}.{field[0]} %zu\\n", offsetof({name}, {field[0]}));' for field in kind._fields_]
    source = tmp_path / "sizes.c"
    source.write_text("\n".join(lines) + "\nreturn 0; }\n")
    subprocess.run(["cc", "-I", ROOT / "include", source, "-o", tmp_path / "sizes"], check=True)
    said = dict(line.split() for line in subprocess.run([tmp_path / "sizes"], capture_output=True, text=True, check=True).stdout.splitlines())
    for name, kind in structs():
        assert ctypes.sizeof(kind) == int(said[name]), name
        for field in kind._fields_:
            assert getattr(kind, field[0]).offset == int(said[f"{name}.{field[0]}"]), f"{name}.{field[0]}"
