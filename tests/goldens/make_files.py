"""Files as NumPy writes them, for the tests of io::load: zip archives that are deflated, streamed, with zip64 fields; headers.

numpy.savez_compressed and numpy.savez write `deflated.npz` and `streamed.npz`; a pipe cannot be sought in, so that the
members of the second have their sizes behind them. `fortran.npy` is in Fortran's order, of the other order of bytes,
version 2 of the format; `bools.npy` a view of bytes as bools, as NumPy saves it.
"""

import io
import zipfile

import numpy as np


class Stream(io.RawIOBase):
    """Takes bytes and cannot seek."""

    def __init__(self):
        self.bytes = b""

    def writable(self):
        return True

    def write(self, data):
        self.bytes += bytes(data)
        return len(data)


def squares(n):
    """Numbers that deflate packs with matches near and far, in codes of its own."""
    return (np.arange(n, dtype=np.int64) ** 2 % 1013).astype(np.int32)


arrays = {
    "squares": squares(2000).reshape(40, 50),
    "zeros": np.zeros((300, 500), np.float32),
    "noise": np.random.default_rng(1).integers(0, 256, 700, np.uint8),
    "empty": np.zeros((0, 3), np.float64),
    "number": np.array(2.5),
    "mask": squares(100) % 3 == 0,
}
np.savez_compressed("deflated.npz", **arrays)
stream = Stream()
np.savez(stream, **{k: v for k, v in arrays.items() if k != "zeros"})
open("streamed.npz", "wb").write(stream.bytes)

with open("fortran.npy", "wb") as file:
    a = np.asfortranarray(squares(24).reshape(2, 3, 4).astype(">i4"))
    np.lib.format.write_array(file, a, version=(2, 0))
np.save("bools.npy", np.array([0, 1, 2, 18, 128, 255], np.uint8).view(np.bool_))

with zipfile.ZipFile("deflated.npz") as archive:
    assert all(i.compress_type == zipfile.ZIP_DEFLATED for i in archive.infolist())
with zipfile.ZipFile("streamed.npz") as archive:
    assert all(i.flag_bits & 8 for i in archive.infolist())
