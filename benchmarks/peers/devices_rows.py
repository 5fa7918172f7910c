"""Rows of training by kind and number of devices: nax's, JAX's and PyTorch's step of one network. For devices.py and gpu_day.py."""

import json
import os
import subprocess
import sys

import devices_model as model

PEERS = os.path.dirname(os.path.abspath(__file__))


def lines_of(output):
    """Lines that are JSON."""
    rows = []
    for line in output.splitlines():
        if line.startswith("{"):
            try:
                rows.append(json.loads(line))
            except ValueError:
                pass
    return rows


def run(command, limit=None, **more):
    """The exit status and the output of a command; the environment gets `more`."""
    done = subprocess.run(command, capture_output=True, text=True, timeout=limit, env={**os.environ, **more})
    if done.returncode != 0:
        print(done.stderr, file=sys.stderr, end="")
    return done.returncode, done.stdout


def network(experiment, quick):
    """Layers' sizes, batch, images, epochs and the side of an image."""
    e = model.EXPERIMENTS[experiment]
    batch, side, sizes, images, epochs = e["batch"], 224, e["sizes"], e["images"], 3
    if quick:
        batch, side, images, epochs = 32, 16, 256, 2
        sizes = [784 if experiment == "mnist" else side * side * 3, *[64] * (len(sizes) - 2), 10]
    return sizes, batch, images, epochs, side


def training(program, experiment, platform, count, weak, quick=False, data=None, call=run, limit=None, **more):
    """A row of nax's; "present" is False where the program or the devices are not there, or the program failed."""
    sizes, batch, images, epochs, side = network(experiment, quick)
    batch *= count if weak else 1
    row = {"experiment": experiment, "platform": platform, "devices": count, "weak": weak, "sizes": sizes, "batch": batch, "present": False}
    if not os.path.exists(program):
        return row
    command = [program, "--platform", platform, "--devices", str(count), "--experiment", experiment, "--epochs", str(epochs), "--batch", str(batch),
               "--images", str(images), "--side", str(side), "--hidden", ",".join(map(str, sizes[1:-1]))]
    if experiment == "mnist" and data and not quick:
        command += ["--data", data]
    status, output = call(command, limit, **more)
    return {**row, "status": status, **next(iter(lines_of(output)), {})} if status == 0 else {**row, "status": status}


def peers(row, call=run, limit=None):
    """Seconds of a step of the row's network in JAX and in PyTorch; None if they have no such devices."""
    given = [row["platform"], str(row["devices"]), ",".join(map(str, row["sizes"])), str(row["batch"])]
    for name in ("jax", "torch"):
        _, output = call([sys.executable, os.path.join(PEERS, f"devices_{name}.py"), *given], limit)
        found = lines_of(output)  # complete, though a process may fail as it ends
        row[name] = found[0] if found else {"present": False}
    return row
