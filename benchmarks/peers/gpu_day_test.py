"""Tests of gpu_day.py: its list, its slices, and that it goes on where it ended. Runs nothing that it lists."""

import json
import os
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "gpu_day.py")


def call(out, *arguments):
    return subprocess.run([sys.executable, PROGRAM, "--out", out, *arguments], capture_output=True, text=True, timeout=50)


with tempfile.TemporaryDirectory() as out:
    listed = call(out, "--dry-run").stdout.splitlines()
    assert len(listed) == 13 and "the device's tests" in listed[3] and "bandwidth" in listed[5], listed
    assert not os.path.exists(os.path.join(out, "gpu_day.json"))

    waits = call(out, "--seconds", "0").stdout.splitlines()  # no time: no step begins
    assert waits == ["gpu_day: card: waits for the next call"], waits

    done = {"passed": True, "status": 0, "seconds": 1}
    cut = {"passed": False, "status": None, "seconds": 1}
    with open(os.path.join(out, "gpu_day.json"), "w") as file:
        json.dump({"emulated": False, "steps": {"card": done, "configure": cut}}, file)
    again = call(out, "--dry-run").stdout.splitlines()  # what was cut short is tried again, what is done is not
    assert again[0] == "gpu_day: card: done before" and again[1].startswith("gpu_day: configure: up to"), again

    mixed = call(out, "--emulated", "--dry-run")
    assert mixed.returncode and "is of a card" in mixed.stderr, mixed
