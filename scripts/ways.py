#!/usr/bin/env python3
"""ways.py: the ways in which nax computes an expression and differentiates what was computed, as the sources have them, beside the
tables of docs/how_it_works.md ("Ways"). The status is 1 where they differ: a way that no table names, or a name that is gone.

Values and reductions are found by their entries: who calls a kernel that an expression's type brings (the pointers in KernelTable
and FusedType), and who runs a formula (formula::Kernel). Gradients are found as classes derived from Node that a tape takes."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include/nax"
KERNELS = r"(?:table_?|type_?|kernels|device|operation|\*this)\s*(?:\.|->)\s*(?:device->)?(?:scalar_)?(?:forward|pull|pull_one|sum_one|kernel)\b"
FORMULAS = r"\b(?:formula::)?Kernel&? (?:kernel_?)\b|\bkernel_?(?:\(\))?(?:\.|->)run\("
DOCUMENT = ROOT / "docs/how_it_works.md"


def sources():
    for path in sorted(INCLUDE.rglob("*.hpp")):
        name = path.relative_to(INCLUDE).as_posix()
        text = re.sub(r"//[^\n]*", "", path.read_text())
        yield name.replace("-inl.hpp", ".hpp"), text


def callers():
    found = set()
    for name, text in sources():
        if name.startswith(("expr/", "program/", "devices/cuda/expressions/")) and re.search(KERNELS, text):
            found.add(name)
        if name.startswith(("expr/", "program/", "devices/cuda/expressions/")) and re.search(FORMULAS, text):
            found.add(name)
    return found


def nodes():
    parents = {}
    for _, text in sources():
        for match in re.finditer(r"\b(?:struct|class) (\w+)(?:<.*>)?(?: final)? ?: (?:public )?(?:detail::)?(\w+)", text):
            parents[match[1]] = match[2]

    def is_node(name):
        seen = set()  # names of other namespaces may be equal
        while name in parents and name not in seen:
            seen.add(name)
            name = parents[name]
        return name == "Node"

    return {name for name in parents if is_node(name)}


def named(section, pattern):
    text = DOCUMENT.read_text()
    part = text.split(f"\n### {section}\n")[1].split("\n#", 1)[0]
    return set(re.findall(pattern, part))


def compare(what, there, said):
    for name in sorted(there - said):
        print(f"{what}: {name} is in no table of docs/how_it_works.md")
    for name in sorted(said - there):
        print(f"{what}: {name}, of docs/how_it_works.md, is gone")
    return there == said


def main():
    files = named("Values", r"`((?:expr|program|devices/cuda/expressions)/[\w/.]+\.hpp)`")
    classes = named("Gradients", r"`(\w*(?:Node|Call|Begin|Input))`")
    equal = compare("values", callers(), files)
    equal = compare("gradients", nodes(), classes) and equal
    if "--list" in sys.argv[1:]:
        print("\n".join(sorted(callers()) + sorted(nodes())))
    sys.exit(not equal)


if __name__ == "__main__":
    main()
