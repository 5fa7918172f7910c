"""Hands tables of pyarrow and Polars to nax and takes one: exchange.py LIBRARY prints what both read."""
import ctypes
import sys

import polars as pl
import pyarrow as pa

library = ctypes.CDLL(sys.argv[1])


def send(reader):
    stream = (ctypes.c_char * 40)()
    reader._export_to_c(ctypes.addressof(stream))
    library.read_table(ctypes.byref(stream))


table = pa.table({
    "x": [1.5, 2.5], "list": pa.array([[1, 2], [3, 4]], pa.list_(pa.float32(), 2)), "ok": [True, False],
    "text": ["hi", "more than twelve letters"], "word": pa.array(["u", "v"]).dictionary_encode(), "n": pa.array([None, 7]),
    "time": pa.array([1, 2], pa.timestamp("us", "UTC"))})
send(pa.concat_tables([table, table.slice(1)]).to_reader())
send(pa.RecordBatchReader.from_stream(pl.from_arrow(table).with_columns(pl.col("word").cast(pl.Categorical))))
send(pa.table({"x": [1]}).to_reader())
stream = (ctypes.c_char * 40)()
library.give_table(ctypes.byref(stream))
taken = pa.RecordBatchReader._import_from_c(ctypes.addressof(stream)).read_all()
taken.validate(full=True)
print(taken.to_pydict() == pl.from_arrow(taken).to_dict(as_series=False), taken.to_pydict())
