#!/usr/bin/env python3
"""Writes nax as one header: python3 scripts/amalgamate.py [--output nax.hpp] [header...]

Without a name it is all of nax/nax.hpp; `nax/numpy.hpp` gives that part alone. The file needs Eigen beside it and a compiler of
C++20: it is nax's headers without its library (docs/compiling.md). Files under an #if get guards, since the same file may be
needed where that #if is false.
"""

import argparse
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent / "include"
INCLUDE = re.compile(r'\s*#\s*include\s*[<"](nax/[^>"]+)[>"]')
ALWAYS = re.compile(r"\s*#\s*if\s+!defined\(NAX_CALLS_LIBRARY\)\s*$")  # true of headers alone


class Amalgamation:
    def __init__(self):
        self.lines = []
        self.there = {}  # by file: the sets of conditions under which it stands somewhere above
        self.open = []  # the files around this line

    def add(self, name, conditions=frozenset()):
        before = self.there.setdefault(name, [])
        if name in self.open or any(those <= conditions for those in before):
            return
        before.append(conditions)
        self.open.append(name)
        guard = "NAX_ONE_HEADER_" + re.sub(r"\W", "_", name)
        self.lines += [f"// {name}", f"#ifndef {guard}", f"#define {guard}"]
        around = []  # the conditions of the #if around a line
        for line in (ROOT / name).read_text().splitlines():
            word = re.match(r"\s*#\s*(\w+)", line)
            word = word.group(1) if word else ""
            if word in ("if", "ifdef", "ifndef"):
                around.append(() if ALWAYS.match(line) else (line,))
            elif word in ("elif", "else"):
                around[-1] += (line,)
            elif word == "endif":
                around.pop()
            include = INCLUDE.match(line)
            if include:
                self.add(include.group(1), conditions | {each for each in around if each})
            elif not re.match(r"\s*#\s*pragma once", line):
                self.lines.append(line)
        self.lines.append("#endif")
        self.open.pop()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--output", default="nax.hpp", help="the file to write")
    parser.add_argument("headers", nargs="*", default=["nax/nax.hpp"], help="as in #include")
    options = parser.parse_args()
    license_text = (ROOT.parent / "LICENSE").read_text().strip().splitlines()
    one = Amalgamation()
    one.lines = [f"// {line}".rstrip() for line in license_text] + ["#pragma once"]
    for header in options.headers:
        one.add(header)
    pathlib.Path(options.output).write_text("\n".join(one.lines) + "\n")


if __name__ == "__main__":
    main()
