#!/usr/bin/env python3
"""run_blocks.py PROGRAM [PAGE...]: does what the pages say. Every fenced block of README.md, CONTRIBUTING.md and
docs/*.md is run in a copy of the tree's examples, in the order of its page:

    ```sh        by sh, with `carom` and `build/carom` being PROGRAM; it has to succeed
    ```c         compiled and linked with the library, warnings being errors, and run when it has a
                 main; else compiled as the inside of a function after #include <carom/carom.h>
    ```json      read; if it says "carom": it is a scene, and a few steps of it are run
    ```python    run after those before it on the page, where an interpreter has NumPy
    ```text      what the block before it prints, to the letter

So is every indented line that begins with `build/carom `. What stands in `quotes` in the text and looks like a
file of the tree, a test or a name of the source has to be there; a link has to lead somewhere, down to its
heading; a command of carom that is named has to exist with every option it is given, and so has a target of
make. A block that must not be run says why after
its language: ```sh not run: installs packages. A fence without a language is a mistake.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LANGUAGES = ("sh", "c", "json", "python", "text")


def blocks(page):
    """(line, language, remark, text) of every fenced block, and of commands that are indented."""
    found, inside = [], None
    for number, line in enumerate(open(page, encoding="utf-8").read().splitlines(), 1):
        fence = re.match(r"( *)```(\S*) *(.*)$", line)
        if fence and inside is None:
            inside = [number, fence.group(2), fence.group(3), []]
        elif fence:
            found.append((inside[0], inside[1], inside[2], "\n".join(inside[3]) + "\n"))
            inside = None
        elif inside is not None:
            inside[3].append(line)
        elif line.startswith("    build/carom "):
            found.append((number, "sh", "", line.strip() + "\n"))
    if inside is not None:
        found.append((inside[0], "unfinished", "", ""))
    return found


def words():
    """Every name of the C source."""
    found = set()
    for top in ("src", "include", "tests"):
        for folder, _, names in os.walk(os.path.join(TREE, top)):
            for name in names:
                if name.endswith((".c", ".h")):
                    found.update(re.findall(r"\w+", open(os.path.join(folder, name), encoding="utf-8").read()))
    return found


def program_names():
    """Every test and bench that the build makes or runs."""
    found = set()
    for top in ("bench", "python", "tests"):
        for _, _, names in os.walk(os.path.join(TREE, top)):
            found.update(os.path.splitext(name)[0] for name in names if name.endswith((".c", ".sh", ".py")))
    made = open(os.path.join(TREE, "tests", "CMakeLists.txt"), encoding="utf-8").read()
    return found | set(re.findall(r"add_test\(NAME (\w+)", made))


class Commands:
    """What the program and make can be asked for."""

    def __init__(self, program):
        self.program, self.options = program, {}
        listed = subprocess.run([program, "--help"], capture_output=True, text=True).stdout
        self.commands = set(re.findall(r"^  ([a-z-]+) +\S", listed.split("commands:")[1].split("\n\n")[0], re.M))
        make = open(os.path.join(TREE, "Makefile"), encoding="utf-8").read()
        self.targets = set(re.findall(r"^([a-z]+):", make, re.M))

    def unknown(self, line):
        """What a command line asks for and there is not."""
        for target in re.findall(r"^make ([a-z]+)\b", line):
            if target not in self.targets:
                yield "make " + target
        called = re.match(r"(?:build/)?carom ([a-z][a-z-]*)(.*)", line.split(" #")[0])
        if not called:
            return
        command, rest = called.groups()
        if command not in self.commands:
            yield "carom " + command
            return
        if command not in self.options:
            told = subprocess.run([self.program, command, "--help"], capture_output=True, text=True).stdout
            self.options[command] = set(re.findall(r"--[a-z-]+", told))
        for option in re.findall(r"(?<=[\s\[])--[a-z-]+", rest):
            if option not in self.options[command]:
                yield "%s of carom %s" % (option, command)


def strangers(page, known, programs, commands):
    """(line, name) of what a page speaks of and the tree does not have."""
    found, fenced = [], False
    text = open(page, encoding="utf-8").read()
    prose = os.path.basename(page) == "python_api.md"  # made of docstrings: what is indented is text
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        if line.startswith("    ") and not fenced and not prose:
            found += [(number, name) for name in commands.unknown(line.strip())]
        for quoted in [] if fenced else re.findall(r"`([^`]+)`", line):
            file = re.fullmatch(r"(src|tests|tools|bench|include|examples|cmake)/[\w./-]+\.\w+", quoted)
            if file and "NAME" not in quoted and not os.path.exists(os.path.join(TREE, quoted)):
                found.append((number, quoted))
            name = re.fullmatch(r"((?:cr|carom|CR|CAROM)_\w+[^_\W])(\(.*\))?", quoted)
            if name and name.group(1) not in known and not os.path.exists(os.path.join(TREE, "python", quoted)):
                found.append((number, quoted))
            built = re.match(r"((?:test|bench|fuzz)_[a-z_]+)\b", quoted)
            if built and built.group(1) not in programs and "NAME" not in quoted:
                found.append((number, quoted))
            found += [(number, name) for name in commands.unknown(quoted)]
    # a quotation may go over the end of a line
    for quoted in re.finditer(r"`(carom\s[^`]*)`", text):
        number = text.count("\n", 0, quoted.start()) + 1
        found += [(number, name) for name in commands.unknown(" ".join(quoted.group(1).split()))]
    return found


def headings(page):
    """The anchors of a page, as they are made of its headings."""
    found, fenced = set(), False
    for line in open(page, encoding="utf-8").read().splitlines():
        fenced ^= line.lstrip().startswith("```")
        head = re.match(r"#+ +(.*)", line)
        if head and not fenced:
            found.add(re.sub(r"[^\w -]", "", head.group(1).lower()).strip().replace(" ", "-"))
    return found


def dead_links(page):
    """(line, target) of links that lead nowhere."""
    found = []
    for number, line in enumerate(open(page, encoding="utf-8").read().splitlines(), 1):
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", line)):
            if re.match(r"[a-z]+://", target):
                continue
            file, _, anchor = target.partition("#")
            file = os.path.join(os.path.dirname(page), file) if file else page
            if not os.path.exists(file) or (anchor and anchor not in headings(file)):
                found.append((number, target))
    return found


def interpreter():
    """One that has NumPy, or None."""
    for python in (os.environ.get("PYTHON"), "/usr/bin/python3", sys.executable):
        if python and subprocess.run([python, "-c", "import numpy"], capture_output=True).returncode == 0:
            return python
    return None


def lacking(language, text):
    """What a block needs that is not here; None when all is."""
    if language == "python" and interpreter() is None:
        return "no interpreter has numpy"
    if "import torch" in text and subprocess.run([interpreter(), "-c", "import torch"], capture_output=True).returncode:
        return "there is no torch"
    if re.search(r"carom (view|render)\b", text):
        if not os.path.exists(os.path.join(TREE, "viewer", "dist", "viewer.html")):
            return "the viewer's page is not built"
        if "carom render" in text and not shutil.which("chromium"):
            return "there is no chromium"
    return None


class Reader:
    """Somebody who does what the pages say, in a folder of their own."""

    def __init__(self, program, room):
        self.build = os.path.dirname(os.path.abspath(program))
        self.room = room
        self.printed = None  # by the block before
        self.python_before = ""  # the page's blocks so far: names live on
        os.makedirs(os.path.join(room, "build"))
        os.makedirs(os.path.join(room, "docs"))
        os.symlink(os.path.abspath(program), os.path.join(room, "build", "carom"))
        shutil.copytree(os.path.join(TREE, "examples"), os.path.join(room, "examples"))
        self.env = dict(os.environ, PATH=os.path.join(room, "build") + ":" + os.environ["PATH"],
                        LD_LIBRARY_PATH=self.build,
                        CAROM_SHARE=os.path.join(TREE, "viewer", "dist"),
                        CAROM_LIBRARY=os.path.join(self.build, "libcarom.so"),
                        PYTHONPATH=os.path.join(TREE, "python"))

    def run(self, command):
        done = subprocess.run(command, cwd=self.room, env=self.env, text=True, timeout=300,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.printed = done.stdout
        if done.returncode != 0:
            return "status %d: %s" % (done.returncode, (done.stderr or done.stdout)[-2000:])
        return None

    def put(self, name, text):
        path = os.path.join(self.room, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def sh(self, text):
        return self.run(["sh", "-eu", self.put("block.sh", text)])

    def json(self, text):
        bare = re.sub(r"^\s*//.*$", "", text, flags=re.M)  # scenes may have comments
        try:
            value = json.loads(bare)
        except ValueError as error:
            return "is not JSON: %s" % error
        if isinstance(value, dict) and "carom" in value:
            return self.run(["carom", "run", self.put("block.json", text), "--steps", "5"])
        return None

    def c(self, text):
        whole = re.search(r"\bmain\s*\(", text)
        if not whole:
            text = "#include <carom/carom.h>\nvoid block(void);\nvoid block(void)\n{\n%s}\n" % text
        source, program = self.put("block.c", text), os.path.join(self.room, "block")
        flags = ["-std=c17", "-Wall", "-Wextra", "-Werror", "-I" + os.path.join(TREE, "include")]
        if not whole:
            return self.run(["cc", *flags, "-fsyntax-only", "-Wno-unused", source])
        wrong = self.run(["cc", *flags, source, "-o", program, "-L" + self.build, "-lcarom", "-lm"])
        return wrong or self.run([program])

    def python(self, text):
        before = "import contextlib, io\nwith contextlib.redirect_stdout(io.StringIO()):\n    exec(%r)\n" % self.python_before
        wrong = self.run([interpreter(), self.put("block.py", (before if self.python_before else "") + text)])
        self.python_before += "" if wrong else text + "\n"
        return wrong

    def text(self, text):
        if self.printed != text:
            return "the block before prints\n%s" % self.printed
        return None


def main():
    program = sys.argv[1]
    if "CAROM_SANITIZE:STRING=\n" not in open(
            os.path.join(os.path.dirname(program), "CMakeCache.txt"), encoding="utf-8").read():
        print("not run: a library with sanitizers asks for programs with sanitizers")
        return 77
    docs = os.path.join(TREE, "docs")
    pages = [os.path.join(TREE, "README.md"), os.path.join(TREE, "CONTRIBUTING.md")]
    pages += sorted(os.path.join(docs, name) for name in os.listdir(docs) if name.endswith(".md"))
    pages = [os.path.abspath(name) for name in sys.argv[2:]] or pages
    ran = failures = passed_over = 0
    known, programs, commands = words(), program_names(), Commands(program)
    for page in pages:
        for line, name in dead_links(page) + strangers(page, known, programs, commands):
            failures += 1
            print("%s:%d: there is no %s" % (os.path.relpath(page, TREE), line, name))
        with tempfile.TemporaryDirectory() as room:
            reader = Reader(program, room)
            for line, language, remark, text in blocks(page):
                where = "%s:%d" % (os.path.relpath(page, TREE), line)
                if remark.startswith("not run: "):
                    passed_over += 1
                    continue
                missing = lacking(language, text)
                if missing:
                    passed_over += 1
                    print("%s: not run, %s" % (where, missing))
                    continue
                if language not in LANGUAGES or remark:
                    wrong = "```%s %s: its language has to be one of %s, or `not run: WHY` behind it" % (
                        language, remark, ", ".join(LANGUAGES))
                else:
                    wrong = getattr(reader, language)(text)
                ran += 1
                if wrong:
                    failures += 1
                    print("%s: does not hold: %s" % (where, wrong))
    print("%d blocks of %d pages, %d passed over, %d failed" % (ran, len(pages), passed_over, failures))
    return failures != 0 or ran == 0


if __name__ == "__main__":
    sys.exit(main())
