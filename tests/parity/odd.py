"""Every picture below a folder, as heed reads it and as Pillow does: odd.py FOLDER.

A line per file: agrees exactly, by how much it differs, or the reason of a refusal. Pictures must be
equal (PNG, BMP; 16 bit by their high byte) or differ by at most 2 of 255 in the mean (JPEG).
Needs `make parity` and Pillow; says what is missing and stops with status 0 otherwise."""
import os
import subprocess
import sys

try:
    import numpy as np
    from PIL import Image
except ImportError as why:
    print(f"skipped: {why}")
    sys.exit(0)
HELPER = os.path.join(os.path.dirname(__file__), "../../build/release/parity-picture")
ORIENTATION = 0x0112
Image.MAX_IMAGE_PIXELS = None
TURNS = {2: [0], 3: [3], 4: [1], 5: [5], 6: [4], 7: [6], 8: [2]}  # Image.Transpose


def ours(path):
    run = subprocess.run([HELPER, path], capture_output=True, timeout=60)
    if run.returncode == 3:
        return None, run.stdout.decode(errors="replace").strip()
    if run.returncode != 0:
        return None, f"CRASH {run.returncode}"
    head, pixels = run.stdout.split(b"\n", 1)
    width, height, channels = map(int, head.split())
    return np.frombuffer(pixels, np.uint8).reshape(height, width, channels), ""


def grey(path, picture):
    """Grey PNG as the standard has it: a transparent sample is named at the file's depth, which
    Pillow compares with samples brought to 8 bits."""
    samples = np.asarray(picture).astype(np.int64)
    depth = open(path, "rb").read(25)[24] if picture.format == "PNG" else 8
    key = picture.info.get("transparency")
    if picture.mode == "1":
        samples = samples * 255
    if key is not None and depth < 8:
        key = min(255, key * 255 // (2**depth - 1))  # Pillow has done it at 1 bit
    alpha = np.where(samples == key, 0, 255) if key is not None else np.full_like(samples, 255)
    high = samples >> 8 if picture.mode.startswith("I") else samples
    return Image.merge("LA", [Image.fromarray(x.astype(np.uint8)) for x in (high, alpha)])


def theirs(path, channels):
    """As so many channels; None and the reason if Pillow refuses."""
    try:
        with Image.open(path) as picture:
            picture.load()
            turn = TURNS.get(picture.getexif().get(ORIENTATION, 1), [])
            if picture.mode in ("1", "L", "I", "I;16"):
                picture = grey(path, picture)
            for t in turn:
                picture = picture.transpose(Image.Transpose(t))
            pixels = np.asarray(picture.convert({1: "L", 2: "LA", 3: "RGB", 4: "RGBA"}[channels]))
            return pixels.reshape(picture.height, picture.width, channels), ""
    except Exception as why:
        return None, f"{type(why).__name__}: {why}"


def judge(path):
    mine, reason = ours(path)
    if mine is None:
        _, other = theirs(path, 3)
        return "refused", f"{reason} [Pillow: {other[:60] or 'reads it'}]"
    other, why = theirs(path, mine.shape[2])
    if other is None:
        return "only here", f"{mine.shape} [Pillow: {why[:60]}]"
    if other.shape != mine.shape:
        return "DIFFERS", f"shape {mine.shape}, Pillow {other.shape}"
    gap = np.abs(mine.astype(int) - other.astype(int))
    jpeg = open(path, "rb").read(3) == b"\xff\xd8\xff"
    good = gap.mean() <= 2 if jpeg else gap.max() == 0
    if gap.max() == 0:
        return "equal", ""
    return "close" if jpeg and good else "DIFFERS", f"mean {gap.mean():.3f} max {gap.max()}"


def main():
    if len(sys.argv) < 2 or not os.path.isdir(sys.argv[1]) or not os.path.exists(HELPER):
        print("skipped: expected a folder of pictures, and `make parity` done")
        return 0
    counts = {}
    for folder, _, names in sorted(os.walk(sys.argv[1])):
        for name in sorted(names):
            path = os.path.join(folder, name)
            verdict, note = judge(path)
            counts[verdict] = counts.get(verdict, 0) + 1
            print(f"{verdict:10}{os.path.relpath(path, sys.argv[1]):52}{note}")
    print(", ".join(f"{n} {verdict}" for verdict, n in sorted(counts.items())))
    return 1 if counts.get("DIFFERS") or any("CRASH" in k for k in counts) else 0


sys.exit(main())
