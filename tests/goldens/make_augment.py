"""Writes augment.txt: an image, and what Pillow makes of it. Needs Pillow and NumPy alone."""

import os

import numpy as np
from PIL import Image, ImageEnhance, ImageOps

records = []


def record(name, a):
    a = np.asarray(a, np.uint8)
    records.append(f"{name} u8 {a.ndim} {' '.join(map(str, a.shape))}")
    records.append(" ".join(map(str, a.reshape(-1))))


y, x = np.mgrid[0:12, 0:16]
noise = np.random.default_rng(0).integers(0, 40, (12, 16, 3))
pixels = np.stack([60 + 70 * np.sin(x / 3), 90 + 60 * np.cos(y / 2), 5 * x + 7 * y], -1) + noise
image = Image.fromarray(pixels.astype(np.uint8))
record("image", image)
for factor in (0.4, 1.7):
    for name in ("Brightness", "Color", "Contrast", "Sharpness"):
        record(f"{name.lower()}/{factor}", getattr(ImageEnhance, name)(image).enhance(factor))
record("posterize", ImageOps.posterize(image, 3))
record("solarize", ImageOps.solarize(image, 110))
record("autocontrast", ImageOps.autocontrast(image))
record("equalize", ImageOps.equalize(image))
record("shear", image.transform(image.size, Image.Transform.AFFINE, (1, 0.3, 0, 0, 1, 0), fillcolor=(7, 7, 7)))
record("translate", image.transform(image.size, Image.Transform.AFFINE, (1, 0, -5, 0, 1, 3)))
record("rotate", image.rotate(20))
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "augment.txt"), "w") as f:
    f.write("\n".join(records) + "\n")
