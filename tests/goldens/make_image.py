"""Writes image.txt: files that Pillow made, the pixels that it reads from them, and images that it resized.

Needs Pillow and NumPy alone; the format is that of the other suites.
"""

import io
import os

import numpy as np
from PIL import Image

random = np.random.default_rng(0)
records = []


def record(name, a):
    a = np.asarray(a, np.uint8)
    records.append(f"{name} u8 {a.ndim} {' '.join(map(str, a.shape))}".rstrip())
    records.append(" ".join(map(str, a.reshape(-1))))


def file(name, image, **how):
    out = io.BytesIO()
    image.save(out, **how)
    record(f"{name}/file", np.frombuffer(out.getvalue(), np.uint8))
    read = Image.open(io.BytesIO(out.getvalue()))
    record(f"{name}/rgb", np.asarray(read.convert("RGB")))
    grey = np.asarray(read.convert("L"))
    record(f"{name}/grey", grey[..., None])


y, x = np.mgrid[0:19, 0:27]
smooth = np.stack([128 + 90 * np.sin(x / 5), 128 + 90 * np.cos(y / 4), 4 * x + 5 * y], -1).astype(np.uint8)
noise = random.integers(0, 256, (19, 27, 3), np.uint8)
rgb = Image.fromarray(smooth)
file("jpeg", rgb, format="jpeg", quality=90, subsampling=0)
file("progressive", rgb, format="jpeg", quality=80, progressive=True, subsampling=0)
file("jpeg_grey", rgb.convert("L"), format="jpeg")
file("cmyk", rgb.convert("CMYK"), format="jpeg", quality=95)
file("png", Image.fromarray(noise), format="png")
file("png_grey", Image.fromarray(noise).convert("L"), format="png")
file("palette", rgb.quantize(16), format="png")
file("alpha", Image.fromarray(np.dstack([noise, noise[..., 0]])), format="png")
file("webp", rgb, format="webp", quality=80)
file("webp_lossless", Image.fromarray(noise), format="webp", lossless=True)
file("webp_alpha", Image.fromarray(np.dstack([noise, noise[..., 0]])), format="webp", lossless=True, exact=True)
animated = io.BytesIO()
rgb.save(animated, format="webp", save_all=True, append_images=[Image.fromarray(noise)])
record("webp_animated/file", np.frombuffer(animated.getvalue(), np.uint8))

record("image", noise)
for height, width in ((7, 9), (19, 27), (40, 33), (1, 1), (19, 5), (64, 27)):
    resized = Image.fromarray(noise)
    record(f"bilinear/{height}x{width}", np.asarray(resized.resize((width, height), Image.BILINEAR)))
    if height <= 19:
        record(f"area/{height}x{width}", np.asarray(resized.resize((width, height), Image.BOX)))
record("nearest/7x9", np.asarray(Image.fromarray(noise).resize((9, 7), Image.NEAREST)))

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "image.txt"), "w") as out:
    out.write("\n".join(records) + "\n")
