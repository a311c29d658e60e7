#!/usr/bin/env python3
"""Prints the values of the cases in src/optim/muon.c: Muon of Jordan et al. 2024 with the scale of Liu et al. 2025 and the polynomials
of Amsel et al. 2025 for w, AdamW for b, in double precision. The problem is that of heed_optim_case in heed/optim.h.

    python3 tests/golden/make_muon.py
"""
import math

import numpy as np

START = [0.5, -1.0, 0.25, 2.0, 0.0, -0.75, 1.0, -0.5]  # w (2,3) decays, the last two (b) do not
POLYNOMIALS = [(8.28721201814563, -23.595886519098837, 17.300387312530933), (4.107059111542203, -2.9478499167379106, 0.5448431082926601),
               (3.9486908534822946, -2.908902115962949, 0.5518191394370137), (3.3184196573706015, -2.488488024314874, 0.51004894012372),
               (2.300652019954817, -1.6689039845747493, 0.4188073119525673)]


def orthogonal(x, iterations):
    x = x / (np.linalg.norm(x) + 1e-7)
    for a, b, c in POLYNOMIALS[:iterations]:
        s = x @ x.T
        x = a * x + (b * s + c * s @ s) @ x
    return x


def muon(lr, decay=0.01, mu=0.95, beta1=0.9, beta2=0.999, eps=1e-8, iterations=3):
    x, momentum = np.array(START), np.zeros((2, 3))
    m, v = np.zeros(2), np.zeros(2)
    for t in range(10):
        g = 0.5 * x + np.cos(1.7 * np.arange(8) + 0.9 * t)
        w, b, gw, gb = x[:6].reshape(2, 3), x[6:], g[:6].reshape(2, 3), g[6:]
        momentum = mu * momentum + gw
        w -= lr * (0.2 * math.sqrt(3) * orthogonal(gw + mu * momentum, iterations) + decay * w)
        m, v = beta1 * m + (1 - beta1) * gb, beta2 * v + (1 - beta2) * gb * gb
        b -= lr * (m / (1 - beta1 ** (t + 1))) / (np.sqrt(v / (1 - beta2 ** (t + 1))) + eps)
    return x


for name, case in (("lr=0.03", dict(lr=0.03)), ("lr=0.1 decay=0.1 muon-momentum=0.8 muon-iterations=5", dict(lr=0.1, decay=0.1, mu=0.8, iterations=5)),
                   ("lr=0.05 decay=0 muon-momentum=0 beta1=0.8 beta2=0.95 muon-iterations=1",
                    dict(lr=0.05, decay=0, mu=0, beta1=0.8, beta2=0.95, iterations=1))):
    print(f'{{"{name}", {{{", ".join(f"{value:.12g}" for value in muon(**case))}}}}},')
