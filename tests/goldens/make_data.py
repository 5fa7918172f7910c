"""Files that hold many examples, for the tests of nax::data: TFRecords of tf.train.Examples, tar shards, tables.

Nothing but Python's own library writes them: the checksum and the protocol buffers are a few lines each, tarfile and csv
the rest. What was written is read back by tarfile and csv, and by TensorFlow where there is one.

    examples.tfrecord   the features of `examples` below; the last one's numbers stand one by one, as proto2 had them
    examples.tfrecord.gz, .zz  the same packed: in two members of gzip, the first with a name and a comment; by zlib
    sequences.tfrecord  tf.train.SequenceExamples, the features of `sequences` below
    samples_*.tar       the files of `members`, as ustar, pax and GNU tar: folders, long names, a link, what belongs to none
    table.csv           quoted fields, CRLF, a byte order mark
"""

import csv
import gzip
import io
import os
import struct
import tarfile
import zlib

# Castagnoli's polynomial, bits turned.
table = []
for i in range(256):
    for _ in range(8):
        i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
    table.append(i)


def masked_crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


assert masked_crc32c(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc32c(length)) + data + struct.pack("<I", masked_crc32c(data))


def varint(n):
    n &= 2**64 - 1
    out = b""
    while n > 127:
        out += bytes([n & 127 | 128])
        n >>= 7
    return out + bytes([n])


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def feature(values, packed):
    if values and isinstance(values[0], bytes):
        return field(1, b"".join(field(1, v) for v in values))
    if values and isinstance(values[0], float):
        numbers = [struct.pack("<f", v) for v in values]
        return field(2, field(1, b"".join(numbers)) if packed else b"".join(b"\x0d" + v for v in numbers))
    numbers = [varint(v) for v in values]
    return field(3, field(1, b"".join(numbers)) if packed else b"".join(b"\x08" + v for v in numbers))


def features_of(features, packed):
    return b"".join(field(1, field(1, k.encode()) + field(2, feature(v, packed))) for k, v in features.items())


def example(features, packed):
    return field(1, features_of(features, packed))


examples = [
    {"image": [bytes(range(256))], "label": [7], "box": [0.0, 0.25, -1.5, 3.0e38]},
    {"image": [b""], "label": [-1], "names": [b"one", b"", b"three"], "ids": [0, 127, 128, 2**63 - 1, -(2**63)]},
    {"label": [2**40], "box": [1.0, 2.0]},
]
with open("examples.tfrecord", "wb") as file:
    for i, features in enumerate(examples):
        file.write(record(example(features, packed=i < 2)))
    file.write(record(b""))

plain = open("examples.tfrecord", "rb").read()
packer = zlib.compressobj(9, zlib.DEFLATED, -15)
flags = 2 | 4 | 8 | 16  # a checksum of the header, more fields, a name, a comment
head = b"\x1f\x8b\x08" + bytes([flags]) + bytes(5) + b"\xff" + b"\x03\x00abc" + b"name\0" + b"a comment\0"
head += struct.pack("<H", zlib.crc32(head) & 0xFFFF)
first = head + packer.compress(plain[:300]) + packer.flush() + struct.pack("<II", zlib.crc32(plain[:300]), 300)
packed = first + gzip.compress(plain[300:], mtime=0)
assert gzip.decompress(packed) == plain
with open("examples.tfrecord.gz", "wb") as file:
    file.write(packed)
with open("examples.tfrecord.zz", "wb") as file:
    file.write(zlib.compress(plain, 1))


def sequence_example(context, lists):
    entries = [
        field(1, field(1, k.encode()) + field(2, b"".join(field(1, feature(v, True)) for v in steps)))
        for k, steps in lists.items()
    ]
    return field(1, features_of(context, True)) + field(2, b"".join(entries))


sequences = [
    (
        {"id": [3], "name": [b"walk"]},
        {"frame": [[b"f0"], [b""], [b"f2"]], "pose": [[0.5, 1.5], [2.5, 3.5], [4.5, -5.5]], "label": [[1], [2], [-3]]},
    ),
    ({}, {"words": [[1, 2, 3], [], [4]], "none": []}),
]
with open("sequences.tfrecord", "wb") as file:
    for context, lists in sequences:
        file.write(record(sequence_example(context, lists)))

deep = "a/" * 30 + "n" * 90  # fits a ustar header in two parts
endless = "long/" + "x" * 130 + ".with.dots"  # fits none
members = [
    ("folder", None),
    ("folder/one.jpg", b"\xff\xd8 one"),
    ("folder/one.cls", b"3"),
    ("folder/one.Seg.PNG", b"mask"),
    ("README", b"of no sample"),
    ("folder/link.jpg", "folder/one.jpg"),
    ("two.cls", b"-1"),
    ("two.jpg", bytes(512)),
    ("empty.cls", b""),
    (deep + ".cls", b"deep"),
    (endless + "/three.txt", b"far"),
    (endless + "/.hidden", b"of no sample"),
]
for name, form in ("ustar", tarfile.USTAR_FORMAT), ("pax", tarfile.PAX_FORMAT), ("gnu", tarfile.GNU_FORMAT):
    path = f"samples_{name}.tar"
    headers = {"comment": "of all members"} if name == "pax" else None
    fitting = [m for m in members if form != tarfile.USTAR_FORMAT or not m[0].startswith("long")]
    with tarfile.open(path, "w", format=form, pax_headers=headers) as tar:
        for member, content in fitting:
            info = tarfile.TarInfo(member)
            if content is None:
                info.type = tarfile.DIRTYPE
            elif isinstance(content, str):
                info.type, info.linkname = tarfile.SYMTYPE, content
            else:
                info.size = len(content)
            if name == "pax" and member == "two.jpg":
                info.pax_headers = {"mtime": "1.5", "path": "two.jpg", "size": "512"}
            tar.addfile(info, io.BytesIO(content) if isinstance(content, bytes) else None)
    with tarfile.open(path) as tar:
        names = [m.name for m in tar if m.isreg()]
        assert names == [n for n, c in fitting if isinstance(c, bytes)], names
        assert tar.extractfile("folder/one.cls").read() == b"3"

rows = [
    ["id", "x", "name, in full", "y"],
    ["1", "0.5", 'a "quoted" one', "-3"],
    ["2", "1e-3", "two\r\nlines", "+4"],
    ["3", " nan ", "", "5"],
    ["4", "-inf", "comma, and\ttab", "0"],
]
with open("table.csv", "w", newline="", encoding="utf-8-sig") as file:
    csv.writer(file).writerows(rows)
with open("table.csv", newline="", encoding="utf-8-sig") as file:
    assert list(csv.reader(file)) == rows
os.chmod("table.csv", 0o644)

try:
    import tensorflow as tf
except ImportError:
    raise SystemExit
read = list(tf.data.TFRecordDataset("examples.tfrecord").as_numpy_iterator())
assert len(read) == 4 and read[3] == b""
for want, data in zip(examples, read):
    got = tf.train.Example.FromString(data).features.feature
    assert set(got) == set(want)
    for key, values in want.items():
        kind = got[key].WhichOneof("kind")
        numbers = list(getattr(got[key], kind).value)
        assert numbers == [tf.constant(v).numpy() if kind == "float_list" else v for v in values], (key, numbers)
for path, kind in ("examples.tfrecord.gz", "GZIP"), ("examples.tfrecord.zz", "ZLIB"):
    assert list(tf.data.TFRecordDataset(path, compression_type=kind).as_numpy_iterator()) == read
for (context, lists), data in zip(sequences, tf.data.TFRecordDataset("sequences.tfrecord").as_numpy_iterator()):
    got = tf.train.SequenceExample.FromString(data)
    assert set(got.context.feature) == set(context) and set(got.feature_lists.feature_list) == set(lists)
    for key, steps in lists.items():
        assert [len(v) for v in steps] == [
            len(getattr(f, f.WhichOneof("kind")).value) for f in got.feature_lists.feature_list[key].feature
        ]
print("TensorFlow reads the same")
