"""The worked example of the notes "Hungry lion" (docs/notes.md) by NumPy in double precision: writes lesson.h beside this file.

    python3 tests/golden/make_lesson.py
"""
import os

import numpy as np

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


def array(out, name, m):
    numbers = ["%.17g" % x for x in m.ravel()]
    out.write("static const double %s[%d] = {\n" % (name, m.size))
    for i in range(0, len(numbers), m.shape[1]):
        out.write("    " + ", ".join(numbers[i:i + m.shape[1]]) + ",\n")
    out.write("};\n")


beta = 1 / np.sqrt(3.0)
with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "lesson.h"), "w") as out:
    out.write("/* NumPy's numbers for the worked example, by tests/golden/make_lesson.py. */\n/* clang-format off */\n")
    for name, m in attend(beta, False).items():
        array(out, "golden_" + name, m)
    for name in ("weights", "output"):
        array(out, "golden_causal_" + name, attend(beta, True)[name])
    for name, m in gradients(beta).items():
        array(out, "golden_" + name, m)
