"""Trains the same perceptrons on MNIST in nax and in JAX, an epoch of each in turn, and writes a table.

Called by ../compare.sh as `compare.sh mnist`. The images come from NAX_MNIST_DIR, else from where examples/run.sh keeps
them.
"""

import argparse
import datetime
import json
import os
import pathlib
import statistics
import sys
import time

from compare import HERE, Side, machine, versions
from tables import mnist_table, write


def images_folder():
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    folder = os.environ.get("NAX_MNIST_DIR") or f"{cache}/nax/mnist"
    if not os.path.isdir(folder):
        sys.exit(f"no MNIST in {folder}: examples/run.sh fetches it, or name a folder in NAX_MNIST_DIR")
    return folder


def train(build, hidden, threads, devices, epochs, cores):
    """Reports of both sides on a start and on every epoch."""
    arguments = [hidden, str(devices), images_folder()]
    commands = {
        "nax": [f"{build}/mnist_training", *arguments],
        "JAX": [sys.executable, f"{HERE}/mnist_jax.py", *arguments],
    }
    report = {"hidden": hidden, "threads": threads, "devices": devices, "sides": {}}
    sides = []
    for name, command in commands.items():
        start = time.perf_counter()
        side = Side(name, command, cores, devices)
        side.read()
        report["sides"][name] = {"ready": time.perf_counter() - start, "epochs": []}
        sides.append(side)
    for _ in range(epochs):
        for side in sides:
            report["sides"][side.name]["epochs"].append(json.loads(side.ask("epoch")))
    for side in sides:
        side.close()
        result = report["sides"][side.name]
        result["first_step"] = result["epochs"][0]["first_step"]
        result["first_epoch"] = result["epochs"][0]["seconds"]
        result["epoch"] = statistics.median(e["seconds"] for e in result["epochs"][1:])
        result["accuracy"] = result["epochs"][-1]["accuracy"]
    report["ratio"] = report["sides"]["nax"]["epoch"] / report["sides"]["JAX"]["epoch"]
    return report


def disagreement(report):
    """The largest relative difference of the losses of the first 20 steps; later ones drift apart by rounding."""
    nax, jax = (report["sides"][name]["epochs"][0]["losses"][:20] for name in ("nax", "JAX"))
    return max(abs(a - b) / abs(b) for a, b in zip(nax, jax, strict=True))


def main():
    parser = argparse.ArgumentParser(prog="compare.sh mnist", description=__doc__)
    parser.add_argument("--build", required=True, help=argparse.SUPPRESS)
    parser.add_argument("--threads", default="1,2", help="numbers of threads (default 1,2)")
    parser.add_argument("--devices", default="1,2,4", help="numbers of devices (default 1,2,4)")
    parser.add_argument("--hidden", default="512,512 1024,1024", help="networks (default '512,512 1024,1024')")
    parser.add_argument("--epochs", type=int, default=4, help="at least 2 (default 4)")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="folder for the table (default out/compare)")
    args = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))

    report = {
        "date": datetime.date.today().isoformat(),
        "machine": machine(),
        "versions": {n: v for n, v in versions(args.build).items() if n in ("compiled by", "JAX")},
        "runs": [],
    }
    failures = []
    for hidden in args.hidden.split():
        for threads in map(int, args.threads.split(",")):
            if threads > len(cores):
                continue
            for devices in map(int, args.devices.split(",")):
                run = train(args.build, hidden, threads, devices, args.epochs, set(cores[-threads:]))
                report["runs"].append(run)
                nax, jax = run["sides"]["nax"], run["sides"]["JAX"]
                print(
                    f"{hidden}, {threads} threads, {devices} devices: nax {nax['epoch']:.2f} s, JAX {jax['epoch']:.2f} s,"
                    f" ratio {run['ratio']:.2f}; first step {nax['first_step'] * 1e3:.1f} ms, {jax['first_step'] * 1e3:.0f} ms",
                    file=sys.stderr,
                )
                if not disagreement(run) < 1e-3:
                    failures.append(f"{hidden}, {devices} devices: losses differ by {disagreement(run):.2g}")
                for side in (nax, jax):
                    for epoch in side["epochs"]:
                        epoch["losses"] = epoch["losses"][:20]
    write(args.out, "mnist", report, mnist_table(report))
    for failure in failures:
        print(f"DISAGREES: {failure}", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
