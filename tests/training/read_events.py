# Prints what TensorBoard reads from a folder of event files: python3 read_events.py FOLDER
import io
import struct
import sys

from tensorboard.backend.event_processing import event_accumulator

events = event_accumulator.EventAccumulator(sys.argv[1], size_guidance={"histograms": 0, "images": 0, "tensors": 0})
events.Reload()
for tag in events.Tags()["scalars"]:
    print("scalar", tag, *(f"{e.step}:{e.value:g}" for e in events.Scalars(tag)))
for tag in events.Tags()["histograms"]:
    for e in events.Histograms(tag):
        h = e.histogram_value
        print("histogram", tag, e.step, f"{h.min:g} {h.max:g} {h.num:g} {h.sum:g}", sum(h.bucket), len(h.bucket) == len(h.bucket_limit))
for tag in events.Tags()["images"]:
    for e in events.Images(tag):
        # The size as the PNG's own header has it.
        print("image", tag, e.step, e.width, e.height, *struct.unpack(">II", e.encoded_image_string[16:24]))
for tag in events.Tags()["tensors"]:
    for e in events.Tensors(tag):
        print("text", tag, e.step, e.tensor_proto.string_val[0].decode())
