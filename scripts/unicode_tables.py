#!/usr/bin/env python3
"""Write include/nax/modules/data/unicode_tables-inl.hpp, the properties of code points that tokenizers ask for, as this Python knows them."""

import pathlib
import unicodedata

HEADER = pathlib.Path(__file__).parent.parent / "include/nax/modules/data/unicode_tables-inl.hpp"
POINTS = [p for p in range(0x110000) if not 0xD800 <= p < 0xE000]


def ranges(holds):
    """Return the first and last code points of each run for which `holds` is true."""
    found = []
    for point in POINTS:
        if not holds(chr(point)):
            continue
        if found and found[-1][1] == point - 1:
            found[-1][1] = point
        else:
            found.append([point, point])
    return found


def steps(pairs):
    """Return (first, last, step, distance) of runs of pairs (from, to) whose distance is the same."""
    found = []
    for source, target in pairs:
        if found:
            first, last, step, distance = found[-1]
            gap = source - last
            if target - source == distance and gap <= 2 and (first == last or gap == step):
                found[-1] = [first, source, gap, distance]
                continue
        found.append([source, source, 1, target - source])
    return found


def stripped(char):
    """Return what is left of a character's canonical decomposition without its nonspacing marks."""
    return [c for c in unicodedata.normalize("NFD", char) if unicodedata.category(c) != "Mn"]


def braced(x):
    """Return a number, or a list of numbers and lists, as C++."""
    if isinstance(x, int):
        return hex(x) if x > 9 else str(x)
    return "{" + ", ".join(map(braced, x)) + "}"


def table(type_, name, rows):
    """Return a table of C++."""
    return f"inline constexpr {type_} {name}[] = {braced(list(rows))};\n"


def main():
    """Write the header."""
    kinds = {"letters": "L", "numbers": "N", "punctuation": "P", "marks": "Mn", "controls": ("Cc", "Cf", "Co")}
    text = "#pragma once\n\n#include \"nax/modules/data/unicode.hpp\"\n\n"
    text += f"// Written by scripts/unicode_tables.py from Unicode {unicodedata.unidata_version}.\n"
    text += "NAX_BEGIN\nnamespace data::detail::unicode {\n\n// clang-format off\n"
    for name, kind in kinds.items():
        text += table("PointRange", name, ranges(lambda c: unicodedata.category(c).startswith(kind)))
    lower = [(p, ord(chr(p).lower())) for p in POINTS if chr(p).lower() != chr(p) and len(chr(p).lower()) == 1]
    text += table("PointSteps", "lower_steps", steps(lower))
    plain = [(p, stripped(chr(p))) for p in POINTS if not 0xAC00 <= p < 0xD7A4 and unicodedata.normalize("NFD", chr(p)) != chr(p)]
    text += table("PointSteps", "stripped_steps", steps([(p, ord(to[0])) for p, to in plain if len(to) == 1]))
    several = [[p, [ord(c) for c in to] + [0] * (3 - len(to))] for p, to in plain if len(to) != 1]
    assert all(len(to) == 3 for _, to in several)
    text += table("PointParts", "stripped_parts", several)
    text += "// clang-format on\n\n}  // namespace data::detail::unicode\nNAX_END\n"
    lines = []
    for line in text.split("\n"):
        while len(line) > 110 and not line.startswith("//"):
            cut = line.rfind(" ", 0, 110)
            lines.append(line[:cut])
            line = "    " + line[cut + 1:]
        lines.append(line)
    HEADER.write_text("\n".join(lines))


if __name__ == "__main__":
    main()
