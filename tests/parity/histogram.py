#!/usr/bin/env python3
"""What colour alone tells of pictures: the baseline that a classifier of photographs has to beat.

    python3 tests/parity/histogram.py FOLDER [--bins 4] [--part val]

FOLDER holds train/CLASS/* and PART/CLASS/*. Each picture becomes the histogram of its pixels over
bins x bins x bins cells of red, green and blue, as shares of all its pixels; a picture of PART is
named as the picture of train whose histogram is nearest by the sum of absolute differences (L1).
Prints how many names are right, with the 95 % interval (Wilson)."""

import argparse
import os

import numpy as np
from PIL import Image
from shares import share


def histogram(path, bins):
    cells = np.asarray(Image.open(path).convert("RGB")).reshape(-1, 3).astype(int) * bins // 256
    flat = (cells[:, 0] * bins + cells[:, 1]) * bins + cells[:, 2]
    return np.bincount(flat, minlength=bins**3) / len(flat)


def read(folder, bins):
    x, y = [], []
    for name in sorted(os.listdir(folder)):
        for file in sorted(os.listdir(os.path.join(folder, name))):
            x.append(histogram(os.path.join(folder, name, file), bins))
            y.append(name)
    return np.array(x), np.array(y)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("folder")
    p.add_argument("--bins", type=int, default=4)
    p.add_argument("--part", default="val")
    a = p.parse_args()
    known, names = read(os.path.join(a.folder, "train"), a.bins)
    asked, right = read(os.path.join(a.folder, a.part), a.bins)
    guess = [names[np.abs(known - x).sum(1).argmin()] for x in asked]
    hits = int((np.array(guess) == right).sum())
    print(f"nearest histogram of {a.bins}^3 colours: {share(hits, len(right))} of {len(right)}")


if __name__ == "__main__":
    main()
