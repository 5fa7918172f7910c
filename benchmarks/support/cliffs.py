"""cliffs.py FOLDER: where a sweep's cost for an element grows by more than half from one size to the next.

FOLDER holds what Google Benchmark wrote as JSON. Sizes below a microsecond are overhead, not cost.
"""

import json
import pathlib
import re
import sys


def sweeps(folder):
    """(program, benchmark, [(size, nanoseconds)])"""
    for path in sorted(pathlib.Path(folder).glob("*.json")):
        by_name = {}
        for run in json.loads(path.read_text())["benchmarks"]:
            match = re.fullmatch(r"(\w+)/(\d+)", run["name"])
            if match and "error_message" not in run:
                scale = {"ns": 1, "us": 1e3, "ms": 1e6}[run["time_unit"]]
                by_name.setdefault(match[1], []).append((int(match[2]), run["cpu_time"] * scale))
        for name, points in by_name.items():
            yield path.stem, name, sorted(points)


def elements(program, name, size):
    """How much work a size is: squares have two sides, square products three."""
    if program == "matmul_bench" and name in ("square", "both_transposed"):
        return size**3
    if program in ("layout_bench", "reductions_bench") and name not in ("sum", "take_rows", "take_rows_gradient"):
        return size**2
    return size


for program, name, points in sweeps(sys.argv[1]):
    for (small, before), (large, after) in zip(points, points[1:]):
        growth = (after / elements(program, name, large)) / (before / elements(program, name, small))
        if growth > 1.5 and before > 1e3:
            print(f"{program} {name}: an element costs {growth:.2f} times as much at {large} as at {small}")
