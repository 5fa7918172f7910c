"""The table of quantize.sh: quantize.py PROGRAM FOLDER TURNS."""

import sys
from pathlib import Path

import numpy as np
import onnx
from onnxruntime.quantization import QuantType, quantize_dynamic

from turns import Here, Nax, medians, session

program, folder, turns = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])


def runtime(path):
    one = session(path)
    inputs = {i.name: np.random.default_rng(0).standard_normal(i.shape, dtype=np.float32) for i in one.get_inputs()}
    return lambda: one.run(None, inputs)


nax = Nax(program, folder)
print("| network | nax, float | nax, int8 | ONNX Runtime, float | ONNX Runtime, int8 | int8 / float | int8 / ONNX Runtime's |")
print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
for path in sorted(folder.glob("*.onnx"), key=lambda p: p.stat().st_size):
    name, small = path.stem, folder / (path.stem + ".quantized")
    quantize_dynamic(str(path), str(small), weight_type=QuantType.QInt8, per_channel=True)
    quantized = sum(node.op_type in ("MatMulInteger", "DynamicQuantizeMatMul") for node in onnx.load(str(small)).graph.node)
    sides = [(nax, name + " float"), (nax, name + " int8"), (Here(), runtime(path)), (Here(), runtime(small))]
    taken = medians(sides, turns)
    print(f"| {name} |", " | ".join(f"{t:.4g}" for t in taken), f"| {taken[1] / taken[0]:.2f} | {taken[1] / taken[3]:.2f} |")
    print(f"{name}: {quantized} products of ONNX Runtime are quantised", file=sys.stderr)
