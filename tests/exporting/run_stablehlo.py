# Compiles and runs the modules of a folder by JAX's own XLA: python3 run_stablehlo.py FOLDER. Beside a.mlir lies a.npz,
# whose arrays are the arguments, then the results. Prints as run_onnx.py does.
import pathlib
import sys

import jax
import numpy as np

jax.config.update("jax_platforms", "cpu")
jax.config.update("jax_enable_x64", True)
from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lib import xla_client
from jax._src.lib.mlir import ir

backend = xla_bridge.get_backend("cpu")
devices = xla_client.DeviceList(tuple(backend.local_devices()[:1]))
count = 0
for path in sorted(pathlib.Path(sys.argv[1]).glob("*.mlir")):
    arrays = list(np.load(path.with_suffix(".npz")).values())
    with mlir.make_ir_context():
        module = ir.Module.parse(path.read_text())
        arguments = len(module.body.operations[0].arguments)
        program = backend.compile_and_load(module, devices, xla_client.CompileOptions())
    results = program.execute([jax.device_put(x) for x in arrays[:arguments]])
    for found, expected in zip(map(np.asarray, results), arrays[arguments:], strict=True):
        same = found.dtype == expected.dtype and found.shape == expected.shape
        greatest = np.abs(expected[np.isfinite(expected)]).max(initial=0)
        if not same or not np.allclose(found, expected, rtol=1e-5, atol=1e-5 * greatest, equal_nan=True):
            print(path.stem, found, expected)
    count += 1
print(count, "models")
