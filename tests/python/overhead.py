"""Microseconds of one op called from Python on tensors of one element, which is nearly all calling: the least of ten rounds."""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import heed

net = heed.Net(threads=1)
w = net.param("w", (1, 1))


def microseconds(op, mode, count=2000):
    least = float("inf")
    for _ in range(10):
        net.begin(mode)
        x = net.input([[1.0]])
        start = time.perf_counter()
        for _ in range(count):
            op(x)
        least = min(least, time.perf_counter() - start)
    return least / count * 1e6


for mode in ("eval", "train"):
    for name, op in (("relu(x)", heed.relu), ("x + x", lambda x: x + x), ("x @ w", lambda x: x @ w), ("affine(x, w)", lambda x: heed.affine(x, w)),
                     ("softmax(x)", heed.softmax)):
        print(f"{mode:<6}{name:<14}{microseconds(op, mode):5.2f} us")
