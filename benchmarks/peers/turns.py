"""Sides that take turns on one thread: nax's, a program of support/turns.hpp, and those in this process."""

import statistics
import subprocess
import time

import onnxruntime

enough = 0.02  # seconds of calls whose median is one figure


class Nax:
    """`program` with its arguments; seconds(name) of one call."""

    def __init__(self, *command):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline().strip() == "ready"

    def seconds(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


class Here:
    """Calls of this process; seconds(call) of one."""

    def seconds(self, call):
        start = time.process_time()
        call()
        return time.process_time() - start


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def figure(side, call):
    first = side.seconds(call)
    count = max(1, min(1000, int(enough / max(first, 1e-6))))
    return statistics.median(side.seconds(call) for _ in range(count))


def medians(sides, turns):
    """Milliseconds of each pair (side, call), which take turns."""
    for side, call in sides:
        figure(side, call)
    return [statistics.median(times) * 1e3 for times in zip(*[[figure(s, c) for s, c in sides] for _ in range(turns)])]
