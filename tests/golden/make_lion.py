#!/usr/bin/env python3
"""Prints the values of the cases in src/optim/lion.c: algorithm 2 of Chen et al. 2023, "Symbolic Discovery of
Optimization Algorithms", number by number in double precision (PyTorch has no Lion). The problem is that of
heed_optim_case in heed/optim.h.

    python3 tests/golden/make_lion.py
"""
import math

START = [0.5, -1.0, 0.25, 2.0, 0.0, -0.75, 1.0, -0.5]  # w decays, the last two (b) do not


def lion(lr, beta1, beta2, decay):
    x, m = list(START), [0.0] * len(START)
    for t in range(10):
        for i, old in enumerate(x):
            g = 0.5 * old + math.cos(1.7 * i + 0.9 * t)
            c = beta1 * m[i] + (1 - beta1) * g
            sign = (c > 0) - (c < 0)
            x[i] = old - lr * (sign + (decay if i < 6 else 0) * old)
            m[i] = beta2 * m[i] + (1 - beta2) * g
    return x


for case in (dict(lr=0.02, beta1=0.9, beta2=0.99, decay=0.0), dict(lr=0.05, beta1=0.7, beta2=0.9, decay=0.3),
             dict(lr=0.02, beta1=0.0, beta2=0.5, decay=0.1)):
    print(case, ", ".join(f"{v:.12g}" for v in lion(**case)))
