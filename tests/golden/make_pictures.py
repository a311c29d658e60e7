#!/usr/bin/env python3
"""Writes tests/golden/pictures: small JPEG files made by Pillow, and in expected.safetensors what libjpeg decodes of them and
pictures resized by PyTorch.

    python3 tests/golden/make_pictures.py

The picture is (x 23 + y 31 + c 70) % 256, smooth in the JPEG ones: 128 + 100 sin((x + 2 y)/5 + c).
"""
import io
import os

import numpy as np
import torch
import torch.nn.functional as F
from PIL import Image
from golden import save

FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures")

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
        with open(os.path.join(FOLDER, name + ".jpg"), "wb") as f:
            f.write(data)
        arrays[name] = np.asarray(decoded).reshape(-1).astype(np.int32)


def resized():
    y, x, c = np.mgrid[:5, :7, :3]
    picture = torch.tensor((x * 23 + y * 31 + c * 70) % 256, dtype=torch.float64)
    picture = picture.permute(2, 0, 1)[None]
    for width, height in SIZES:
        small = F.interpolate(picture, size=(height, width), mode="bilinear", antialias=True)
        arrays[f"resized_{width}x{height}"] = small[0].permute(1, 2, 0).reshape(-1).numpy()


arrays = {}
jpegs()
resized()
save(os.path.join(FOLDER, "expected.safetensors"), arrays, {"format": "pt"})
