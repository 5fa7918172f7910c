# Runs the models of a folder in ONNX Runtime: python3 run_onnx.py FOLDER. Beside a.onnx lies a.npz, whose arrays are
# the inputs, then the outputs. Prints what differs by more than 1e-5 of the greatest, and at last how many models ran.
import pathlib
import sys

import numpy as np
import onnxruntime

count = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.onnx")):
    arrays = list(np.load(path.with_suffix(".npz")).values())
    session = onnxruntime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    inputs = [one.name for one in session.get_inputs()]
    results = session.run(None, dict(zip(inputs, arrays)))
    for found, expected in zip(results, arrays[len(inputs) :], strict=True):
        same = found.dtype == expected.dtype and found.shape == expected.shape
        greatest = np.abs(expected[np.isfinite(expected)]).max(initial=0)
        if not same or not np.allclose(found, expected, rtol=1e-5, atol=1e-5 * greatest, equal_nan=True):
            print(path.stem, found, expected)
    count += 1
print(count, "models")
