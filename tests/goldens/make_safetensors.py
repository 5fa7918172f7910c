"""Files as Hugging Face's library writes them, for the tests of io::load_safetensors.

`types.safetensors` has an array of each dtype that nax holds, `state.safetensors` names as PyTorch's state dicts have
them, texts and a float8. Run it with a file as its argument to see that the library reads what nax wrote.
"""

import sys

import numpy as np
import safetensors
import safetensors.numpy

NAMES = {"BOOL": "bool", "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "C64": "complex64"}
NUMPY = {"I8": np.int8, "I16": np.int16, "I32": np.int32, "I64": np.int64, "U8": np.uint8, "U16": np.uint16, "U32": np.uint32,
         "U64": np.uint64, "F16": np.float16, "F32": np.float32, "F64": np.float64}

KEPT = []  # the library is told addresses


def tensor(dtype, values):
    """Describe the values to the library's serialize."""
    values = np.asarray(values)
    if dtype == "BF16":
        data = (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16)
    elif dtype == "F8_E4M3":
        data = values.astype(np.uint8)
    else:
        data = values.astype({"BOOL": np.bool_, "C64": np.complex64, **NUMPY}[dtype])
    name = NAMES[dtype] if dtype in NAMES else np.dtype(NUMPY[dtype]).name
    KEPT.append(data := np.ascontiguousarray(data))
    return safetensors.TensorSpec(dtype=name, shape=list(values.shape), data_ptr=data.ctypes.data, data_len=data.nbytes)


def main():
    types = {d.lower(): tensor(d, [[1, 2, 3], [4, 5, 6]]) for d in NUMPY}
    types["bf16"] = tensor("BF16", [1, -2.5, 3])
    types["c64"] = tensor("C64", [1 + 2j, -3j])
    types["mask"] = tensor("BOOL", [True, False, True])
    types["empty"] = tensor("F32", np.zeros((0, 3)))
    types["number"] = tensor("F64", 2.5)
    open("types.safetensors", "wb").write(safetensors.serialize(types, None))

    state = {f"layers.{i}.{n}": tensor("F32", np.arange(s).reshape(-1, 2) + 10 * i) for i in range(2) for n, s in (("w", 6), ("b", 2))}
    state["fc.w"] = tensor("BF16", [[0.5, -1], [3, 4]])
    state["fc.b"] = tensor("I64", [7, 8])
    state["scale"] = tensor("F8_E4M3", [0x38, 0x40])
    state['q"\\\n\u00e9'] = tensor("U8", [1])
    open("state.safetensors", "wb").write(safetensors.serialize(state, {"format": "pt"}))


def show(path):
    with safetensors.safe_open(path, "numpy") as file:
        print(file.metadata())
        for name in file.keys():
            info = file.get_slice(name)
            print(name, info.get_dtype(), info.get_shape(), "" if info.get_dtype() == "BF16" else file.get_tensor(name).tolist())


if __name__ == "__main__":
    show(sys.argv[1]) if len(sys.argv) > 1 else main()
