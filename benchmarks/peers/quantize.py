"""The table of quantize.sh: quantize.py PROGRAM FOLDER TURNS."""

import statistics
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import QuantType, quantize_dynamic

program, folder, turns = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
enough = 0.02  # seconds of calls whose mean is one figure


def session(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


class Nax:
    def __init__(self):
        self.process = subprocess.Popen([program, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline().strip() == "ready"

    def seconds(self, name):
        self.process.stdin.write(name + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())


class Runtime:
    def __init__(self, path):
        self.session = session(path)
        one = self.session.get_inputs()[0]
        self.inputs = {one.name: np.random.default_rng(0).standard_normal(one.shape, dtype=np.float32)}

    def seconds(self, _):
        start = time.process_time()
        self.session.run(None, self.inputs)
        return time.process_time() - start


def figure(side, name):
    first = side.seconds(name)
    count = max(1, min(1000, int(enough / max(first, 1e-6))))
    return statistics.median(side.seconds(name) for _ in range(count))


nax = Nax()
print("| network | nax, float | nax, int8 | ONNX Runtime, float | ONNX Runtime, int8 | int8 / float | int8 / ONNX Runtime's |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
for path in sorted(folder.glob("*.onnx"), key=lambda p: p.stat().st_size):
    name, small = path.stem, folder / (path.stem + ".quantized")
    quantize_dynamic(str(path), str(small), weight_type=QuantType.QInt8, per_channel=True)
    quantized = sum(node.op_type in ("MatMulInteger", "DynamicQuantizeMatMul") for node in onnx.load(str(small)).graph.node)
    sides = [(nax, name + " float"), (nax, name + " int8"), (Runtime(path), ""), (Runtime(small), "")]
    for side, call in sides:
        figure(side, call)
    taken = [statistics.median(times) * 1e3 for times in zip(*[[figure(s, c) for s, c in sides] for _ in range(turns)])]
    print(f"| {name} |", " | ".join(f"{t:.4g}" for t in taken), f"| {taken[1] / taken[0]:.2f} | {taken[1] / taken[3]:.2f} |")
    print(f"{name}: {quantized} products of ONNX Runtime are quantised", file=sys.stderr)
