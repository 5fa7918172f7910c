"""Runs every row of functions.txt on all sides in turns and prints them by their ratio to the best peer.

Called by ../lint.sh. A side is a process that ../peers/side.py describes.
"""

import argparse
import os
import pathlib
import re
import sys
import tempfile

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peers"))
from compare import Side, SideError
from functions import sides as peers

DRAWN = {"uniform", "normal", "randint", "permutation"}  # other numbers on every side
LIMIT = 1.5


def started(program, cores):
    sides = [Side("nax", [program], cores, 1)]
    for peer in peers:
        side = Side(peer, [sys.executable, str(HERE / "lint_side.py"), peer], cores, 1)
        try:
            side.rows = set(side.ask("list").split())
            sides.append(side)
        except SideError:
            print(f"{peer} is left out: {sys.executable} cannot import it", file=sys.stderr)
    sides[0].rows = set(sides[0].ask("list").split())
    return sides


def seconds(row, sides, rounds, budget, notes):
    """The least of each side, measured in turns."""
    least = {}
    failed = set()
    for _ in range(rounds):
        for side in sides:
            if row not in side.rows or side.name in failed:
                continue
            try:
                one = float(side.ask(f"run {row} {budget}").split()[1])
                least[side.name] = min(one, least.get(side.name, one))
            except SideError as error:
                failed.add(side.name)
                notes.append(str(error))
                if side.process.poll() is not None:
                    side.restart()
    for side in sides:
        if row in side.rows and side.name not in failed:
            side.ask("drop")
    return least


def differing(row, sides, folder):
    """The peers whose result is not nax's."""
    if row.split("@")[0].split(".")[0] in DRAWN:
        return []
    results = {}
    for side in sides:
        if row in side.rows:
            try:
                side.ask(f"result {row} {folder}/{side.name}")
                results[side.name] = np.fromfile(f"{folder}/{side.name}", dtype=np.float32)
            except SideError:
                pass
    ours = results.pop("nax", None)
    if ours is None:
        return []
    return [
        name
        for name, theirs in results.items()
        if theirs.shape != ours.shape or not np.allclose(ours, theirs, rtol=1e-3, atol=1e-3, equal_nan=True)
    ]


def cell(value):
    if value is None:
        return "-"
    return f"{value * 1e6:.3g}" if value < 1e-2 else f"{value * 1e6:.0f}"


def table(results, sides):
    names = [side.name for side in sides]
    lines = ["| function | elements | ratio | " + " | ".join(f"{n}, us" for n in names) + " |"]
    lines.append("| --- |" + " ---: |" * (len(names) + 2))
    for ratio, row, least in results:
        function, n = row.split("@")
        shown = "-" if ratio is None else f"{ratio:.2f}"
        cells = " | ".join(cell(least.get(name)) for name in names)
        lines.append(f"| {function} | {n} | {shown} | {cells} |")
    return "\n".join(lines)


parser = argparse.ArgumentParser()
parser.add_argument("--program", required=True)
parser.add_argument("--filter", default="")
parser.add_argument("--rounds", type=int, default=3)
parser.add_argument("--seconds", type=float, default=0.05)
args = parser.parse_args()

sides = started(args.program, {sorted(os.sched_getaffinity(0))[0]})
rows = [r for r in sides[0].ask("list").split() if re.search(args.filter, r)]
results, notes = [], []
with tempfile.TemporaryDirectory() as folder:
    for row in rows:
        if row.endswith("@100") and (wrong := differing(row, sides, folder)):
            notes.append(f"{row}: another result than {', '.join(wrong)}")
        least = seconds(row, sides, args.rounds, args.seconds, notes)
        if "nax" not in least:
            continue
        others = [s for name, s in least.items() if name != "nax"]
        results.append((least["nax"] / min(others) if others else None, row, least))
        print(f"\r{len(results)} of {len(rows)}", end="", file=sys.stderr)
print(file=sys.stderr)
for side in sides:
    side.close()

results.sort(key=lambda r: -1 if r[0] is None else r[0], reverse=True)
slow = [r for r in results if r[0] is not None and r[0] > LIMIT]
print("Least times of one thread, in microseconds; the ratio is nax's to that of the best other.\n")
print(table(results, sides))
print(f"\n{len(slow)} of {len(results)} above {LIMIT}:\n")
for ratio, row, _ in slow:
    print(f"- {row.replace('@', ' of ')}: {ratio:.2f}")
if notes:
    print("\nNotes:\n")
    for note in dict.fromkeys(notes):
        print(f"- {note}")
