"""Numbers by NumPy in double precision: writes numbers.safetensors beside this file.

    python3 tests/golden/make_numbers.py

lesson.*: the worked example of the notes "Hungry lion" (docs/notes.md). rollout.*: attention rollout (Abnar & Zuidema 2020, sec. 4) by its formula;
weights of layer l, head h, query i, key j, of 3 layers, 2 heads and 7 tokens: softmax over j of
3 sin(1.3 l + 0.7 h + 0.9 i + 2.1 j + 0.4 i j); the causal ones see keys up to i alone.
"""
import os

import numpy as np
from golden import save

X = np.array([[int(x) for x in row.split()] for row in """
1 0 0 0 0 0 0 0 0 0 | 0 2 0 0 0 0 0 0 0 0 | 0 1 3 0 0 0 0 0 0 0 | 0 0 1 3 0 0 1 0 0 0
| 1 0 0 0 0 0 0 0 0 0 | 0 2 0 0 0 0 0 0 0 0 | 0 0 0 0 0 1 3 0 0 0 | 0 0 0 0 2 0 0 0 0 1
| 1 0 0 0 0 0 0 0 0 0 | 0 2 0 0 0 0 0 0 0 0 | 0 0 1 0 0 2 0 1 0 0""".split("|")], dtype=np.float64)


def weights(text):
    return np.array([[int(x) for x in row.split()] for row in text.split("|")], dtype=np.float64)


W_Q = weights("0 0 0|1 0 0|0 2 0|1 1 1|0 0 0|1 0 0|0 0 2|0 1 1|0 0 0|1 0 0")
W_K = weights("0 0 0|2 0 0|2 0 0|0 2 2|0 0 0|2 0 0|0 0 3|0 1 1|0 0 0|2 0 0")
W_V = weights("0 0|1 0|1 0|1 1|0 0|1 0|0 1|0 1|0 0|1 0")


def softmax(s):
    e = np.exp(s - s.max(axis=1, keepdims=True))
    return e / e.sum(axis=1, keepdims=True)


def attend(beta, causal):
    q, k, v = X @ W_Q, X @ W_K, X @ W_V
    raw = q @ k.T
    scores = beta * raw
    if causal:
        scores = np.where(np.tri(len(X)) > 0, scores, -np.inf)
    p = softmax(scores)
    return dict(q=q, k=k, v=v, raw=raw, scores=scores, weights=p, output=p @ v)


def gradients(beta):
    """Of L = 1/2 sum output^2."""
    r = attend(beta, False)
    do = r["output"]
    dp = do @ r["v"].T
    ds = r["weights"] * (dp - (dp * r["weights"]).sum(axis=1, keepdims=True))
    dq, dk, dv = beta * ds @ r["k"], beta * ds.T @ r["q"], r["weights"].T @ do
    return dict(dscores=ds, dw_q=X.T @ dq, dw_k=X.T @ dk, dw_v=X.T @ dv, dx=dq @ W_Q.T + dk @ W_K.T + dv @ W_V.T)


L, H, T = 3, 2, 7


def rollout_weights(causal):
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


beta = 1 / np.sqrt(3.0)
arrays = {**attend(beta, False), **gradients(beta)}
arrays.update({"causal_" + name: attend(beta, True)[name] for name in ("weights", "output")})
arrays = {"lesson." + name: m for name, m in arrays.items()}
arrays["rollout.mean"] = rollout(rollout_weights(False), np.mean)
arrays["rollout.max"] = rollout(rollout_weights(False), np.max)
arrays["rollout.discard"] = rollout(rollout_weights(False), np.mean, 0.3)
arrays["rollout.causal"] = rollout(rollout_weights(True), np.mean)
arrays = {name: np.ascontiguousarray(m).reshape(-1) for name, m in arrays.items()}
save(os.path.join(os.path.dirname(os.path.abspath(__file__)), "numbers.safetensors"), arrays, {"format": "pt"})
