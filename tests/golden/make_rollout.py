#!/usr/bin/env python3
"""Writes tests/golden/rollout.h: attention rollout (Abnar & Zuidema 2020, sec. 4) by its formula, in NumPy.

    python3 tests/golden/make_rollout.py > tests/golden/rollout.h

Weights of layer l, head h, query i, key j, of 3 layers, 2 heads and 7 tokens: softmax over j of
3 sin(1.3 l + 0.7 h + 0.9 i + 2.1 j + 0.4 i j); the causal ones see keys up to i alone.
"""
import numpy as np

L, H, T = 3, 2, 7


def weights(causal):
    l, h, i, j = np.meshgrid(*map(np.arange, (L, H, T, T)), indexing="ij")
    e = np.exp(3 * np.sin(1.3 * l + 0.7 * h + 0.9 * i + 2.1 * j + 0.4 * i * j))
    if causal:
        e = np.where(j <= i, e, 0)
    return e / e.sum(-1, keepdims=True)


def rollout(a, fuse, discard=0.0):
    r = np.eye(T)
    for layer in a:
        fused = fuse(layer, axis=0)
        drop = int(np.floor(discard * T + 1e-9))
        for row in fused:
            row[np.argsort(row, kind="stable")[:drop]] = 0
        fused = fused / fused.sum(-1, keepdims=True)
        r = (fused + np.eye(T)) / 2 @ r
    assert np.allclose(r.sum(-1), 1)
    return r


print("/* Made by make_rollout.py with NumPy. */\n/* clang-format off */")
for name, r in (
    ("rollout_mean", rollout(weights(False), np.mean)),
    ("rollout_max", rollout(weights(False), np.max)),
    ("rollout_discard", rollout(weights(False), np.mean, 0.3)),
    ("rollout_causal", rollout(weights(True), np.mean)),
):
    print("static const double %s[] = {" % name)
    for row in r:
        print("    " + " ".join("%.15g," % x for x in row))
    print("};")
