#!/usr/bin/env python3
"""doxygen_filter.py HEADER: the header with its plain comments as Doxygen wants them marked.

    // name.h - about           at the top: about the file
    // text                     before a declaration: about it, and about those that follow it without a blank line
    declaration; // text        about what stands before it
    // ---- title               a heading, left out
"""
import re
import sys


def main():
    lines = open(sys.argv[1], encoding="utf-8").read().split("\n")
    out, comment, inherited, depth = [], [], [], 0
    first = re.match(r"// (\S+\.h) - (.*)", lines[0])
    top = 0
    if first:
        about = [first.group(2)]
        for top in range(1, len(lines)):
            if not lines[top].startswith("//"):
                break
            about.append(lines[top][2:].strip())
        out = ["/// @file"] + ["/// " + text for text in about]
    for line in lines[top:]:
        text = line.strip()
        if text.startswith("//"):
            if not re.match(r"// ?-{3,}", text):
                comment.append("/// " + text[2:].strip())
            continue
        if depth == 0 and re.match(r"(CAROM_API|typedef|#define)\b", text):
            inherited = comment or inherited
            out += comment or inherited
        elif not text:
            inherited = []
            if depth == 0:
                comment = []
        else:
            out += comment if depth else []
        if text:
            comment = []
        depth += line.count("{") - line.count("}")
        depth = 0 if 'extern "C"' in line or depth < 0 else depth
        out.append(re.sub(r"\s//\s?(?!/)(.*)$", r" ///< \1", line))
    sys.stdout.write("\n".join(out))


if __name__ == "__main__":
    main()
