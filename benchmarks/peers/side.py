"""One side of the comparison: a program that answers one line for each line it reads.

    list               the names of its rows
    run NAME SECONDS   median and least seconds of a call, measured for about SECONDS
    result NAME FILE   "ok", after writing what the row computes to FILE as float32
    drop               "ok", after forgetting the inputs of all rows

The time is that which passes, or with NAX_PROCESSOR_TIME in the environment that which the process had the processor:
where a side has one core, both are the same, but for what other programs do there.

The first `run` of a row prepares its inputs (and compiles), which is not timed.
"""

import os
import sys
import time

import numpy as np


now = time.process_time_ns if "NAX_PROCESSOR_TIME" in os.environ else time.perf_counter_ns


def work(step, result):
    """A row: `step` to time, `result` to compare."""

    def loop(n):
        for _ in range(n):
            step()

    return loop, result


def calls(step):
    """A row whose every call computes the result."""
    return work(step, step)


def flat(tree):
    """All leaves of nested tuples, lists and arrays, one after the other."""
    if isinstance(tree, (tuple, list)):
        return np.concatenate([flat(t) for t in tree])
    return np.asarray(tree, dtype=np.float32).reshape(-1)


def _seconds(loop, n):
    start = now()
    loop(n)
    return (now() - start) * 1e-9


def _prepare(row):
    loop, result = row()
    loop(2)
    n = 1
    while _seconds(loop, n) < 50e-6 and n < 1 << 20:
        n *= 2
    return loop, n


def _measure(loop, n, budget):
    samples, total = [], 0.0
    loop(1)
    while len(samples) < 3 or total < budget:
        sample = _seconds(loop, n)
        total += sample
        samples.append(sample / n)
    samples.sort()
    return f"{samples[len(samples) // 2]:.9g} {samples[0]:.9g}"


def serve(rows):
    prepared = {}
    for line in sys.stdin:
        command, *args = line.split()
        try:
            if command == "list":
                reply = " ".join(rows)
            elif command == "drop":
                prepared.clear()
                reply = "ok"
            elif command == "run":
                name = args[0]
                if name not in prepared:
                    prepared[name] = _prepare(rows[name])
                reply = _measure(*prepared[name], float(args[1]))
            elif command == "result":
                flat(rows[args[0]]()[1]()).tofile(args[1])
                reply = "ok"
            else:
                break
        except Exception as error:  # the comparison goes on without this row
            reply = f"error {type(error).__name__}: {str(error)[:200]}".replace("\n", " ")
        print(reply, flush=True)
