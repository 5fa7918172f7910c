"""Runs the rows of ../rows/rows.json on all sides, a little of each in turn, and writes a table.

Called by ../compare.sh. A side is a process that side.py describes.
"""

import argparse
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from tables import goals_missed, judge, number, row_tables, write

HERE = pathlib.Path(__file__).resolve().parent
# A warm heap: programs keep freed memory, so no side pays page faults for temporaries.
WARM_HEAP = {
    "MALLOC_MMAP_THRESHOLD_": str(1 << 30),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 32),
    "MALLOC_TOP_PAD_": str(1 << 28),
}
# Settings that keep the peers from AVX-512. (nax, Eigen and C++ are compiled without.)
WITHOUT_AVX512 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "NPY_DISABLE_CPU_FEATURES": "AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL X86_V4 AVX512_ICL AVX512_SPR",
    "OPENBLAS_CORETYPE": "Haswell",
}


def environment(cores, devices, isa=None):
    """Threads for an operation, devices, and instructions, of every side."""
    threads = str(len(cores)) if devices == 1 else "1"
    result = dict(
        os.environ,
        **WARM_HEAP,
        OMP_NUM_THREADS=threads,
        OPENBLAS_NUM_THREADS=threads,
        MKL_NUM_THREADS=threads,
        NAX_NUM_THREADS=str(len(cores)),
        NAX_CPU_DEVICES=str(devices),
        JAX_PLATFORMS="cpu",
        TF_CPP_MIN_LOG_LEVEL="3",
        PYTHONWARNINGS="ignore",
    )
    if len(cores) == 1:
        result["NAX_PROCESSOR_TIME"] = "1"  # other programs may want the same core
    flags = []
    if isa:
        result.update(WITHOUT_AVX512)
        flags.append("--xla_cpu_max_isa=AVX2")
    if devices > 1:
        flags.append(f"--xla_force_host_platform_device_count={devices}")
    if flags:
        result["XLA_FLAGS"] = " ".join(flags)
    return result


class SideError(Exception):
    pass


class Side:
    """A process that answers one line for each line it is told."""

    def __init__(self, name, command, cores, devices, isa=None):
        self.name = name
        self.start = lambda: subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment(cores, devices, isa),
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )
        self.process = self.start()

    def restart(self):
        self.close()
        self.process = self.start()

    def ask(self, line):
        try:
            self.process.stdin.write(line + "\n")
            self.process.stdin.flush()
            reply = self.read()
        except (SideError, OSError):
            raise SideError(f"{self.name} ended at: {line}") from None
        if reply.startswith("error "):
            raise SideError(f"{self.name}, {line}: {reply[6:].strip()}")
        return reply.strip()

    def read(self):
        reply = self.process.stdout.readline()
        if not reply:
            raise SideError(f"{self.name} ended")
        return reply

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def start_sides(build, cores, devices, isa):
    commands = {"nax": [f"{build}/nax_rows"]}
    for peer in ("jax", "torch", "numpy"):
        commands[{"jax": "JAX", "torch": "PyTorch", "numpy": "NumPy"}[peer]] = [sys.executable, f"{HERE}/{peer}_side.py"]
    for peer in ("eigen", "hand"):
        if os.path.exists(f"{build}/{peer}_rows"):
            commands[{"eigen": "Eigen", "hand": "C++"}[peer]] = [f"{build}/{peer}_rows"]
    if devices > 1:
        commands = {name: commands[name] for name in ("nax", "JAX")}
    if len(cores) > 1:
        commands.pop("C++", None), commands.pop("Eigen", None)  # loops of one thread
    sides = [Side(name, command, cores, devices, isa) for name, command in commands.items()]
    for side in sides:
        side.rows = set(side.ask("list").split())
    return sides


def name_for(side, row):
    """The row of another side that a row of nax's, under jit, is compared with."""
    return row["name"] if side.name == "nax" else row.get("of", row["name"])


def check(row, sides, folder):
    """Compares every side's file with JAX's (or with that of the first side); returns what is wrong."""
    results = {}
    for side in sides:
        results[side.name] = np.fromfile(f"{folder}/{side.name}", dtype=np.float32).astype(np.float64)
    reference_name = "JAX" if "JAX" in results else next(iter(results))
    reference, wrong = results[reference_name], []
    tolerance = row.get("tolerance", 2e-5)
    for name, result in results.items():
        if name == reference_name or result.size == 0:  # what only shows a limit computes nothing
            continue
        if result.shape != reference.shape:
            wrong.append(f"{row['name']}: {name} has {result.size} numbers, {reference_name} {reference.size}")
        elif name in row.get("others", ()):
            # Other generators: the same distribution is all that can be asked.
            if abs(result.mean() - reference.mean()) > 0.01 or abs(result.std() - reference.std()) > 0.01:
                wrong.append(f"{row['name']}: {name} draws from another distribution")
        else:
            error = np.max(np.abs(result - reference)) / max(np.max(np.abs(reference)), 1e-30)
            if not error <= tolerance:
                wrong.append(f"{row['name']}: {name} and {reference_name} differ by {error:.2g}")
    return wrong


def measure(row, sides, rounds, budget, rest):
    samples = {side.name: [] for side in sides}
    for side in sides:  # prepares
        side.ask(f"run {name_for(side, row)} 0")
    for _ in range(rounds):
        for side in sides:
            time.sleep(rest)
            # (A clock of the processor's time that stood still has measured nothing.)
            times = [float(s) for s in side.ask(f"run {name_for(side, row)} {budget}").split()]
            samples[side.name] += [times] if min(times) > 0 else []
    for side in sides:
        side.ask("drop")
    return {
        name: {"median_us": statistics.median(s[0] for s in pairs) * 1e6, "least_us": min(s[1] for s in pairs) * 1e6}
        for name, pairs in samples.items()
        if pairs
    }


def machine():
    model = platform.processor()
    try:
        with open("/proc/cpuinfo") as f:
            model = re.search(r"model name\s*: (.*)", f.read())[1]
    except (OSError, TypeError):
        pass
    return f"{model}, {os.cpu_count()} cores"


def compiler(build):
    with open(f"{build}/../CMakeCache.txt") as f:
        command = re.search(r"^CMAKE_CXX_COMPILER:\w+=(.*)$", f.read(), re.M)[1]
    return subprocess.run([command, "--version"], capture_output=True, text=True).stdout.split("\n")[0]


def versions(build):
    result = {"compiled by": compiler(build)}
    for name, package in (("JAX", "jax"), ("PyTorch", "torch"), ("NumPy", "numpy")):
        result[name] = importlib.metadata.version(package).split("+")[0]
    return result


def main():
    parser = argparse.ArgumentParser(prog="compare.sh", description=__doc__)
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--threads", type=int, default=1, help="of every side (default 1)")
    parser.add_argument("--filter", default="", help="regular expression: only rows whose name it matches")
    parser.add_argument("--rounds", type=int, default=7, help="how often every side has its turn (default 7)")
    parser.add_argument("--seconds", type=float, default=0.1, help="of a turn (default 0.1)")
    parser.add_argument("--isa", choices=["avx2"], help="keep all sides from wider instructions")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the tables (default out/compare)")
    args = parser.parse_args()

    cores = sorted(os.sched_getaffinity(0))
    if args.threads > len(cores):
        parser.error(f"--threads {args.threads}: this process may use {len(cores)} cores")
    cores = set(cores[-args.threads :])

    section, rows = "", []
    for row in json.loads((HERE.parent / "rows" / "rows.json").read_text()):
        section = row.get("section", section)
        if "name" in row and re.search(args.filter, row["name"]) and args.threads >= row.get("devices", 1):
            goal = row["goal_on_threads"] if args.threads > 1 and "goal_on_threads" in row else row.get("goal", 1.0)
            rows.append(dict(row, section=section, goal=goal))
    if args.threads > 1 and not args.filter:
        rows = [r for r in rows if r["section"] in ("Training steps", "Matrix products")]

    report = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "threads": args.threads,
        "isa": args.isa,
        "versions": versions(args.build),
        "rows": [],
    }
    failures, sides, running = [], [], None
    with tempfile.TemporaryDirectory() as folder:
        for row in sorted(rows, key=lambda r: r.get("devices", 1)):
            devices = row.get("devices", 1)
            if devices != running:
                for side in sides:
                    side.close()
                sides, running = start_sides(args.build, cores, devices, args.isa), devices
            here = []
            for side in sides:
                if name_for(side, row) in side.rows:
                    try:
                        side.ask(f"result {name_for(side, row)} {folder}/{side.name}")
                        here.append(side)
                    except SideError as error:  # the others go on
                        failures.append(str(error))
                        side.restart()
            failures += check(row, here, folder)
            row["times"] = measure(row, here, args.rounds, args.seconds, 0.25 if args.threads > 1 else 0)
            judge(row)
            print(
                f"{row['name']:42s} "
                + "  ".join(f"{n} {number(t['median_us'])}" for n, t in row["times"].items())
                + f"  ratio {row.get('ratio', 0):.2f} (least {row.get('least_ratio', 0):.2f})",
                file=sys.stderr,
            )
    for side in sides:
        side.close()
    order = {row["name"]: i for i, row in enumerate(rows)}
    report["rows"] = sorted(rows, key=lambda row: order[row["name"]])
    report["failures"] = failures
    name = f"threads_{args.threads}" + (f"_{args.isa}" if args.isa else "")
    write(args.out, name, report, row_tables(report))
    print("goals missed:", *goals_missed(report), sep="\n", file=sys.stderr)
    for failure in failures:
        print(f"DISAGREES: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
