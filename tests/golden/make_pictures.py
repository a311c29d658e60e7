#!/usr/bin/env python3
"""Writes tests/golden/pictures.h: small JPEG files made by Pillow with what libjpeg decodes of them, and
pictures resized by PyTorch.

    python3 tests/golden/make_pictures.py > tests/golden/pictures.h

The picture is (x 23 + y 31 + c 70) % 256, smooth in the JPEG ones: 128 + 100 sin((x + 2 y)/5 + c).
"""
import io

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image

JPEGS = [
    # name, width, height, mode, how it is saved
    ("baseline", 19, 13, "RGB", dict(subsampling=2)),
    ("progressive", 18, 11, "RGB", dict(subsampling=0, progressive=True)),
    ("restarts", 40, 10, "L", dict(restart_marker_blocks=2)),
    ("rgb", 10, 9, "RGB", dict(keep_rgb=True)),
    ("cmyk", 9, 8, "CMYK", dict()),
    ("ycck", 9, 8, "CMYK", dict()),
]
SIZES = [(4, 3), (11, 9), (1, 1), (7, 2)]  # of a 7 x 5 picture


def smooth(width, height, channels):
    y, x, c = np.mgrid[:height, :width, :channels]
    return np.uint8(np.rint(128 + 100 * np.sin((x + 2 * y) / 5 + c)))


def table(kind, name, values, digits="{}"):
    print(f"static const {kind} {name}[] = {{")
    for i in range(0, len(values), 16):
        print("    " + " ".join(digits.format(v) + "," for v in values[i:i + 16]))
    print("};")


def jpegs():
    for name, width, height, mode, how in JPEGS:
        pixels = smooth(width, height, {"L": 1, "RGB": 3, "CMYK": 4}[mode])
        picture = Image.fromarray(pixels.squeeze(), mode)
        file = io.BytesIO()
        picture.save(file, "JPEG", quality=85, optimize=True, **how)
        data = bytearray(file.getvalue())
        if name == "ycck":  # the same file, read another way
            data[data.index(b"Adobe") + 11] = 2
        decoded = Image.open(io.BytesIO(data))
        if mode == "CMYK":
            decoded = decoded.convert("RGB")
        table("unsigned char", f"jpeg_{name}", list(data))
        table("unsigned char", f"jpeg_{name}_pixels", list(np.asarray(decoded).reshape(-1)))


def resized():
    y, x, c = np.mgrid[:5, :7, :3]
    picture = torch.tensor((x * 23 + y * 31 + c * 70) % 256, dtype=torch.float64)
    picture = picture.permute(2, 0, 1)[None]
    for width, height in SIZES:
        small = F.interpolate(picture, size=(height, width), mode="bilinear", antialias=True)
        table("double", f"resized_{width}x{height}", small[0].permute(1, 2, 0).reshape(-1).tolist(), "{:.6f}")


print("/* Made by make_pictures.py. */\n/* clang-format off */")
jpegs()
resized()
print("/* clang-format on */")
