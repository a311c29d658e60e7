#!/usr/bin/env python3
"""Makes ops.safetensors: every op of include/heed/ops.h against PyTorch; golden.py has the format.

python3 tests/golden/make_ops.py
"""

import os

import numpy as np
import torch
import torch.nn.functional as F

from golden import (
    File,
    attention,
    masked_hardmax,
    masked_log_softmax,
    masked_softmax,
    random,
    rotary,
)

out = File()
ACTS = [
    "identity",
    "relu",
    "gelu",
    "gelu_tanh",
    "silu",
    "tanh",
    "sigmoid",
    "exp",
    "log",
    "sqrt",
]  # enum heed_act
act = {
    "identity": lambda x: x * 1,
    "relu": F.relu,
    "gelu": F.gelu,
    "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
    "silu": F.silu,
    "tanh": torch.tanh,
    "sigmoid": torch.sigmoid,
    "exp": torch.exp,
    "log": torch.log,
    "sqrt": torch.sqrt,
}


def reals(name, *shapes, lo=-1.0, hi=1.0):
    r = random(name)
    return [None if s is None else r.uniform(lo, hi, s).astype(np.float32) for s in shapes]


def ids(name, shape, below):
    return random(name + "/ids").integers(0, below, shape).astype(np.int32)


def mask(name, shape, share=0.7):
    return (random(name + "/mask").random(shape) < share).astype(np.int32)


# ---------------------------------------------------------------- elementwise
PAIRS = {
    "same": [(3, 5), (3, 5)],
    "scalar": [(4, 3), ()],
    "row": [(2, 3, 7), (7,)],
    "column": [(5, 1), (5, 4)],
    "both": [(3, 1, 4), (2, 1)],
    "four": [(2, 3, 2, 5), (1, 3, 1, 5)],
    "long": [(9, 37), (37,)],
}
for op, f in {"add": torch.add, "sub": torch.sub, "mul": torch.mul, "div": torch.div}.items():
    for kind, shapes in PAIRS.items():
        name = f"{op}.{kind}"
        a, b = reals(name, *shapes)
        if op == "div":
            b = np.copysign(np.abs(b) + np.float32(0.25), b).astype(np.float32)
        out.case(name, op, [a, b], f)
    if op != "div":  # its gradient is rounding alone
        out.case(f"{op}.itself", op, reals(f"{op}.itself", (4, 6), lo=0.5, hi=2), f, alias=(0, 0))

for kind, (m, a, b) in {
    "same": [(3, 5)] * 3,
    "spread": [(4, 1), (4, 6), (6,)],
    "scalar": [(2, 3, 4), (), (3, 1)],
}.items():
    name = f"where.{kind}"
    out.case(
        name,
        "where",
        [mask(name, m, 0.5), *reals(name, a, b)],
        lambda m, a, b: torch.where(m != 0, a, b),
    )

RANGES = {
    "relu": (-3, 3),
    "gelu": (-6, 6),
    "gelu_tanh": (-6, 6),
    "silu": (-12, 12),
    "tanh": (-6, 6),
    "sigmoid": (-15, 15),
    "exp": (-8, 8),
    "log": (0.01, 20),
    "sqrt": (0.01, 50),
    "identity": (-1, 1),
}
EDGES = {
    "relu": [0, -0.0, 1e-30, -1e-30],
    "gelu": [0, 1e-4, -1e-4, 12, -12, -40, 40],
    "silu": [0, 60, -60, 1e-5],
    "gelu_tanh": [0, 1e-4, -1e-4, 12, -12, -40, 40],
    "tanh": [0, 1e-5, -1e-5, 15, -15, 90, -90],
    "sigmoid": [0, 40, -40, 80, -80],
    "exp": [0, 1e-6, -1e-6, 40, -60],
    "log": [1, 1e-20, 1e20],
    "sqrt": [1, 4, 1e-8, 1e8],
    "identity": [0],
}
for kind, f in act.items():
    for size, shape in {"3d": (2, 3, 5), "long": (71,)}.items():
        x = reals(f"act.{kind}.{size}", shape, lo=RANGES[kind][0], hi=RANGES[kind][1])
        out.case(f"activate.{kind}.{size}", "activate", x, f, act=ACTS.index(kind))
        if kind != "identity" and size == "3d":  # the constructor of its own
            op = {"log": "log_of"}.get(kind, kind)
            out.case(op, op, x, f)
    x = np.array(EDGES[kind], np.float32)
    for i, one in enumerate(x):  # each alone, so that its bar is that of its own size
        out.case(f"activate.{kind}.edge{i}", "activate", [one.reshape(1)], f, act=ACTS.index(kind))

for i, (a, b) in enumerate([(2.5, 0), (-0.75, 3), (0, 1)]):
    out.case(
        f"scale.{i}", "scale", reals(f"scale.{i}", (3, 7)), lambda x: x * a + b, scale=a, shift=b
    )


def clamp(x, lo, hi):
    """At the bounds the gradient passes, as PyTorch had it up to 2.13; since, it is 0 there."""
    return torch.where((x < lo) | (x > hi), x.detach().clamp(lo, hi), x)


x = np.array([-2, -1, -0.5, 0, 0.25, 1.5, 2, 3], np.float32)
out.case("clamp.inside", "clamp", [x], lambda x: clamp(x, -1, 1.5), lo=-1, hi=1.5)
out.case(
    "clamp.wide",
    "clamp",
    reals("clamp.wide", (5, 9), lo=-4, hi=4),
    lambda x: clamp(x, -2, 0.5),
    lo=-2,
    hi=0.5,
)
out.case("stop_gradient", "stop_gradient", reals("stop", (3, 4)), lambda x: x * x.detach())

# ---------------------------------------------------------------- products
SIZES = {
    "one": (1, 1, 1),
    "small": (3, 4, 5),
    "row": (1, 17, 33),
    "column": (19, 8, 1),
    "odd": (13, 7, 29),
    "tile": (33, 9, 35),
}
for op, f in {
    "matmul": lambda a, b: a @ b,
    "matmul_nt": lambda a, b: a @ b.mT,
    "matmul_tn": lambda a, b: a.mT @ b,
}.items():

    def add(kind, lead, m, k, n):
        shapes = {
            "matmul": [(m, k), (k, n)],
            "matmul_nt": [(m, k), (n, k)],
            "matmul_tn": [(k, m), (k, n)],
        }[op]
        out.case(f"{op}.{kind}", op, reals(f"{op}.{kind}", *[lead + s for s in shapes]), f)

    for kind, (m, k, n) in SIZES.items():
        add(kind, (), m, k, n)
    add("batch", (3,), 4, 6, 5)
    add("batches", (2, 3), 5, 2, 7)
    out.case(f"{op}.itself", op, reals(f"{op}.itself", (6, 6)), f, alias=(0, 0))
out.case("matmul.large", "matmul", reals("matmul.large", (9, 150), (150, 11)), lambda a, b: a @ b)

for kind, (x, n) in {
    "vector": ((5,), 3),
    "small": ((4, 3), 6),
    "batch": ((2, 3, 7), 5),
    "tile": ((33, 9), 35),
    "one": ((9, 1), 1),
}.items():
    for bias in (True, False):
        name = f"affine.{kind}" + ("" if bias else ".plain")
        inputs = reals(name, x, (n, x[-1]), (n,) if bias else None)
        out.case(name, "affine", inputs, lambda x, w, b: F.linear(x, w, b))
for kind in ACTS[:7]:
    for bias in (True, False):
        name = f"affine_act.{kind}" + ("" if bias else ".plain")
        inputs = reals(name, (2, 5, 6), (19, 6), (19,) if bias else None, lo=-1.5, hi=1.5)
        out.case(
            name,
            "affine_act",
            inputs,
            lambda x, w, b: act[kind](F.linear(x, w, b)),
            act=ACTS.index(kind),
        )

def lora(w, a, b, start, scale):
    rows = F.pad(scale * b @ a, (0, 0, start, len(w) - start - len(b)))
    return w + rows.reshape(w.shape)


for kind, (shape, rank, start, rows) in {
    "all": ((6, 5), 2, 0, 6),
    "value": ((12, 7), 3, 8, 4),
    "tile": ((35, 33), 4, 1, 33),
    "kernel": ((5, 2, 3, 3), 2, 0, 5),
}.items():
    inputs = reals(f"lora.{kind}", shape, (rank, int(np.prod(shape[1:]))), (rows, rank))
    out.case(
        f"lora.{kind}",
        "lora",
        inputs,
        lambda w, a, b: lora(w, a, b, start, 0.75),
        start=start,
        scale=0.75,
    )

# ---------------------------------------------------------------- softmax
for op, f in {
    "softmax": masked_softmax,
    "log_softmax": masked_log_softmax,
    "hardmax": masked_hardmax,
}.items():

    def add(kind, shape, beta=1.0, m=None, lo=-3, hi=3, x=None):
        name = f"{op}.{kind}"
        x = reals(name, shape, lo=lo, hi=hi)[0] if x is None else x
        out.case(name, op, [x] if m is None else [x, m], lambda x, m=None: f(x, beta, m), beta=beta)

    add("plain", (4, 6))
    add("vector", (5,))
    add("one", (3, 1))
    add("long", (2, 67))
    add("four", (2, 2, 3, 5))
    add("cold", (3, 7), beta=8.0)
    add("warm", (3, 7), beta=0.25)
    if op != "hardmax":
        add("even", (3, 7), beta=0.0)
    add(
        "large",
        (2, 5),
        x=np.array([[1e4, 1e4 - 1, 0, -1e4, 1], [500, 499.5, 498, 100, -88]], np.float32),
    )
    add("masked", (4, 9), beta=0.75, m=mask(f"{op}.masked", (4, 9)))
    add("spread", (2, 3, 4, 5), m=mask(f"{op}.spread", (2, 1, 1, 5)))
    add("shared", (3, 4, 6), m=mask(f"{op}.shared", (4, 6)))
    m = mask(f"{op}.empty", (4, 6))
    m[1], m[3], m[3, 2] = 0, 0, 1
    add("empty", (4, 6), beta=1.5, m=m)
x = np.array([[1, 3, 3, 2], [5, 5, 5, 5], [-2, -1, -4, -1]], np.float32)
out.case("hardmax.ties", "hardmax", [x], lambda x: masked_hardmax(x, 0.5), beta=0.5)

# ---------------------------------------------------------------- normalisation
for kind, shape in {"plain": (4, 7), "batch": (2, 3, 16), "long": (3, 130), "vector": (9,)}.items():
    for gain, bias in ((1, 1), (1, 0), (0, 0)) if kind == "plain" else ((1, 1),):
        name = f"layer_norm.{kind}.{gain}{bias}"
        C = shape[-1:]
        inputs = reals(name, shape, C if gain else None, C if bias else None, lo=-2, hi=3)
        out.case(
            name, "layer_norm", inputs, lambda x, g, b: F.layer_norm(x, C, g, b, 1e-5), eps=1e-5
        )
x, g, b = reals("layer_norm.tiny", (3, 8), (8,), (8,))
out.case(
    "layer_norm.tiny",
    "layer_norm",
    [x, g, b],
    lambda x, g, b: F.layer_norm(x, (8,), g, b, 1e-12),
    eps=1e-12,
)
out.case(
    "layer_norm.shift",
    "layer_norm",
    [x + 64, g, b],
    lambda x, g, b: F.layer_norm(x, (8,), g, b, 1e-5),
    eps=1e-5,
)

for kind, shape in {"plain": (4, 7), "batch": (2, 3, 16), "long": (3, 130), "vector": (9,)}.items():
    for gain in (1, 0) if kind == "plain" else (1,):
        name = f"rms_norm.{kind}.{gain}"
        C = shape[-1:]
        inputs = reals(name, shape, C if gain else None, lo=-2, hi=3)
        out.case(name, "rms_norm", inputs, lambda x, g: F.rms_norm(x, C, g, 1e-5), eps=1e-5)


def batch_norm(training, momentum):
    def f(x, gain, bias, mean, var):
        m, v = mean.detach().clone(), var.detach().clone()
        flat = x.reshape(-1, x.shape[-1])
        y = F.batch_norm(
            flat, m, v, gain, bias, training=training, momentum=momentum, eps=1e-5
        ).reshape(x.shape)
        return y, {"mean": m, "var": v}

    return f


for kind, shape in {"plain": (6, 5), "batch": (2, 3, 17), "image": (2, 3, 3, 4)}.items():
    for affine in (True, False):
        for training in (True, False):
            name = f"batch_norm.{kind}.{'affine' if affine else 'plain'}"
            name += ".train" if training else ".eval"
            C = shape[-1:]
            inputs = reals(
                name, shape, C if affine else None, C if affine else None, C, lo=-2, hi=3
            )
            inputs += reals(name + "/var", C, lo=0.5, hi=2)
            out.case(
                name,
                "batch_norm",
                inputs,
                batch_norm(training, 0.125),
                eval_only=not training,
                ungraded=(3, 4),
                eps=1e-5,
                momentum=0.125,
            )
out.case("dropout.none", "dropout", reals("dropout", (3, 5)), lambda x: x * 1, p=0)
out.case(
    "dropout.eval", "dropout", reals("dropout", (3, 5)), lambda x: x * 1, p=0.5, eval_only=True
)

# ---------------------------------------------------------------- recurrent layers
CELLS = {"rnn": 1, "gru": 3, "lstm": 4}  # enum heed_cell, and gates


def run_cell(cell, f, x, state, w, b):
    """PyTorch's cell on gates that are there already: its input weight is the identity."""
    n = x.shape[-1]
    h, c = state.chunk(2, -1) if cell == "lstm" else (state, None)
    weights = (torch.eye(n, dtype=x.dtype), w, torch.zeros(n, dtype=x.dtype), b)
    if cell == "lstm":
        return torch.cat(torch.lstm_cell(x, (h, c), *weights), -1)
    if cell == "gru":
        return torch.gru_cell(x, h, *weights)
    return f(x + h @ w.T + b)


def recurrent(cell, f, reverse, x, w, b, state, pad):
    width = w.shape[1] * (2 if cell == "lstm" else 1)
    s = x.new_zeros(x.shape[0], width) if state is None else state
    b = x.new_zeros(w.shape[0]) if b is None else b
    y = [None] * x.shape[1]
    for t in range(x.shape[1])[:: -1 if reverse else 1]:
        new = run_cell(cell, f, x[:, t], s, w, b)
        s = new if pad is None else torch.where(pad[:, t, None] != 0, new, s)
        y[t] = s
    return torch.stack(y, 1)


def recurrent_case(kind, cell, B, T, h, f="tanh", reverse=False, bias=True, state=True, pad=None):
    name, gates = f"recurrent.{cell}.{kind}", CELLS[cell] * h
    x, w, b, s = reals(
        name,
        (B, T, gates),
        (gates, h),
        (gates,) if bias else None,
        (B, h * (2 if cell == "lstm" else 1)) if state else None,
    )
    p = None if pad is None else (np.arange(T)[None] < np.array(pad)[:, None]).astype(np.int32)
    out.case(
        name,
        "recurrent",
        [x, w, b, s, p],
        lambda x, w, b, s, p: recurrent(cell, act[f], reverse, x, w, b, s, p),
        cell=list(CELLS).index(cell),
        act=ACTS.index(f),
        reverse=int(reverse),
    )


for cell in CELLS:
    recurrent_case("whole", cell, 2, 4, 5)
    recurrent_case("bare", cell, 3, 3, 4, bias=False, state=False)
    recurrent_case("padded", cell, 3, 5, 4, pad=(5, 2, 0))
    recurrent_case("back", cell, 3, 5, 4, pad=(5, 3, 1), reverse=True)
    recurrent_case("one", cell, 1, 1, 1)
    recurrent_case("wide", cell, 2, 3, 35)
for f in ("relu", "sigmoid", "identity"):
    recurrent_case(f, "rnn", 2, 4, 5, f=f)



def look_back(cell, y, w_in, b_in, w, b, s, keys, values, query, score, shift, pad):
    """A decoder step by step, as rnn.py of models has it: the alignment network, then the cell."""
    width, out = w.shape[1], []
    for t in range(y.shape[1]):
        e = torch.tanh((s[:, :width] @ query.T)[:, None] + keys) @ score[0]
        if shift is not None:
            e = e + shift
        a = torch.softmax(e if pad is None else e.masked_fill(pad[:, 0] == 0, -torch.inf), -1)
        c = (a[..., None] * values).sum(1)
        x = torch.cat([y[:, t], c], -1) @ w_in.T
        x = x if b_in is None else x + b_in
        s = run_cell(cell, torch.tanh, x, s, w, x.new_zeros(len(w)) if b is None else b)
        out.append(torch.cat([s, c], -1))
    return torch.stack(out, 1)


for cell, (B, T, d, h, S, A, C, bare) in {
    "rnn": (2, 4, 3, 5, 6, 4, 7, False),
    "gru": (3, 5, 4, 20, 19, 18, 17, False),
    "lstm": (2, 3, 4, 5, 6, 7, 3, True),
}.items():
    name, gates = f"recurrent_attention.{cell}", CELLS[cell] * h
    shapes = [(B, T, d), (gates, d + C), (gates,), (gates, h), (gates,)]
    shapes += [(B, h * (2 if cell == "lstm" else 1)), (B, S, A), (B, S, C), (A, h), (1, A), (1,)]
    if bare:
        shapes[2] = shapes[4] = shapes[10] = None
    there = (np.arange(S)[None, None] < np.array([S, 2, 1])[:B, None, None]).astype(np.int32)
    out.case(
        name,
        "recurrent_attention",
        reals(name, *shapes) + [None if bare else there],
        lambda *x: look_back(cell, *x),
        cell=list(CELLS).index(cell),
    )

# ---------------------------------------------------------------- convolution and pooling
last = lambda y: y.movedim(1, -1)  # PyTorch's channels come first
first = lambda x: x.movedim(-1, 1)


def conv(kind, x, w, bias=True, **a):
    """A case of conv1d or conv2d, as w has it, or with extra of the transposed one."""
    name, n = f"conv.{kind}", len(w) - 2
    op = f"conv{n}d" + ("_transposed" if "extra" in a else "")
    groups = a.pop("groups", 1)
    f = getattr(
        F,
        op.replace("_transposed", "").replace("conv", "conv_transpose" * ("extra" in a) or "conv"),
    )
    keys = {"stride": "stride", "pad": "padding", "dilation": "dilation", "extra": "output_padding"}
    theirs = {keys[k]: v[-n:] for k, v in a.items()}
    inputs = reals(name, x, w, (w[1] * groups if "extra" in a else w[0],) if bias else None)
    out.case(
        name,
        op,
        inputs,
        lambda x, w, b: last(f(first(x), w, b, groups=groups, **theirs)),
        groups=groups,
        **a,
    )


conv("plain", (2, 5, 6, 3), (4, 3, 3, 3))
conv("same", (2, 7, 5, 4), (6, 4, 3, 3), pad=(1, 1))
conv("no_bias", (1, 6, 6, 2), (3, 2, 3, 3), bias=False, pad=(1, 1))
conv("grey", (2, 9, 9, 1), (8, 1, 3, 3), pad=(1, 1))
conv("point", (2, 3, 5, 7), (17, 7, 1, 1))
conv("point_strided", (2, 4, 5, 3), (4, 3, 1, 1), stride=(2, 2))
conv("strided", (2, 8, 9, 3), (5, 3, 3, 2), stride=(2, 3), pad=(1, 0))
conv("spread", (1, 9, 11, 2), (4, 2, 3, 3), dilation=(2, 3), pad=(1, 3))
conv("groups", (2, 6, 5, 6), (9, 2, 3, 2), groups=3, pad=(1, 1), stride=(1, 2))
conv("depthwise", (2, 6, 6, 5), (5, 1, 3, 3), groups=5, pad=(1, 1), dilation=(2, 1))
conv("patches", (2, 8, 12, 3), (10, 3, 4, 4), stride=(4, 4))
conv("wide", (1, 4, 4, 33), (35, 33, 3, 3), pad=(1, 1))
conv("border", (1, 2, 1, 2), (3, 2, 5, 5), pad=(3, 2))
conv("sequence", (2, 11, 4), (5, 4, 3), pad=(0, 1))
conv(
    "sequence_strided", (2, 13, 6), (4, 3, 4), stride=(1, 3), dilation=(1, 2), groups=2, pad=(0, 2)
)
conv("back", (2, 4, 3, 3), (3, 5, 3, 3), extra=(0, 0))
conv("back_strided", (2, 4, 5, 4), (4, 3, 3, 2), stride=(2, 3), pad=(1, 0), extra=(1, 2))
conv(
    "back_groups",
    (1, 3, 4, 6),
    (6, 2, 3, 3),
    stride=(2, 1),
    pad=(1, 1),
    dilation=(1, 2),
    groups=3,
    extra=(1, 1),
)
conv("back_point", (2, 3, 3, 4), (4, 6, 1, 1), bias=False, extra=(0, 0))
conv("back_patches", (1, 2, 3, 5), (5, 2, 4, 4), stride=(4, 4), extra=(0, 0))
conv("back_sequence", (2, 6, 4), (4, 3, 5), stride=(1, 2), pad=(0, 2), extra=(0, 1))


def pool(kind, shape, size, stride=None, pad=(0, 0), x=None):
    for op, f in {"max_pool": F.max_pool2d, "avg_pool": F.avg_pool2d}.items():
        name = f"{op}.{kind}"
        inputs = reals(name, shape) if x is None else [x]
        args = {"size": size, "pad": pad} | ({} if stride is None else {"stride": stride})
        out.case(name, op, inputs, lambda x: last(f(first(x), size, stride, pad)), **args)


pool("halves", (2, 6, 4, 3), (2, 2))
pool("odd", (2, 7, 5, 5), (2, 3))
pool("padded", (2, 7, 6, 4), (3, 3), (2, 2), (1, 1))
pool("dense", (1, 5, 6, 19), (3, 2), (1, 1), (1, 1))
pool("sparse", (2, 7, 8, 2), (2, 1), (3, 4))
pool(
    "ties",
    None,
    (2, 2),
    (1, 1),
    x=np.array([1, 3, 3, 3, 3, 1, 0, 3, 3], np.float32).reshape(1, 3, 3, 1),
)
out.case("global_pool", "global_pool", reals("global_pool", (3, 4, 5, 6)), lambda x: x.mean((1, 2)))

# ---------------------------------------------------------------- rows, reductions, shape
for kind, shape in {"one": (4,), "batch": (3, 5), "again": (40,)}.items():
    name = f"embed.{kind}"
    out.case(
        name, "embed", [*reals(name, (7, 6)), ids(name, shape, 7)], lambda w, i: F.embedding(i, w)
    )
for kind, shape in {"flat": (9, 5), "batch": (2, 4, 6), "deep": (2, 2, 3, 3)}.items():
    name = f"gather.{kind}"
    rows = ids(name, (5,), int(np.prod(shape[:-1])))
    out.case(
        name, "gather", [*reals(name, shape), rows], lambda x, i: x.reshape(-1, x.shape[-1])[i]
    )

for kind, shape in {"scalar": (), "vector": (7,), "cube": (3, 4, 5), "long": (7, 41)}.items():
    out.case(f"sum.{kind}", "sum", reals(f"sum.{kind}", shape), torch.sum)
    out.case(f"mean.{kind}", "mean", reals(f"mean.{kind}", shape), torch.mean)
    if kind == "scalar":
        continue
    for dim in range(len(shape)):
        name = f"{kind}.{dim}"
        x = reals(f"dim.{name}", shape)
        out.case(f"sum_dim.{name}", "sum_dim", x, lambda x: x.sum(dim, keepdim=True), dim=dim)
        out.case(f"mean_dim.{name}", "mean_dim", x, lambda x: x.mean(dim, keepdim=True), dim=dim)
        best = torch.tensor(x[0].argmax(dim, keepdims=True))  # NumPy takes the lowest index at ties
        out.case(f"max_dim.{name}", "max_dim", x, lambda x: x.gather(dim, best), dim=dim)
x = np.array([[1, 3, 3], [2, 2, 0], [5, 1, 5]], np.float32)
for dim in (0, 1):
    best = torch.tensor(x.argmax(dim, keepdims=True))
    out.case(f"max_dim.ties.{dim}", "max_dim", [x], lambda x: x.gather(dim, best), dim=dim)

for i, (a, b) in enumerate(
    [((4, 6), (2, 2, 6)), ((2, 3, 4), (-1, 4)), ((24,), (2, -1, 3, 2)), ((3, 1), (3,))]
):
    out.case(
        f"reshape.{i}", "reshape", reals(f"reshape.{i}", a), lambda x: x.reshape(b) * 1, shape=b
    )
for shape, orders in {
    (3, 5): [(1, 0), (0, 1)],
    (2, 3, 4): [(0, 2, 1), (2, 0, 1), (2, 1, 0)],
    (2, 3, 4, 5): [(0, 2, 1, 3), (3, 1, 0, 2), (0, 1, 3, 2)],
}.items():
    for order in orders:
        name = "permute." + "".join(map(str, order))
        out.case(name, "permute", reals(name, shape), lambda x: x.permute(order) * 1, order=order)
for kind, (dim, shapes) in {
    "rows": (0, [(2, 3), (1, 3), (4, 3)]),
    "columns": (1, [(3, 2), (3, 5)]),
    "one": (0, [(3, 2)]),
    "middle": (1, [(2, 1, 4), (2, 3, 4), (2, 2, 4)]),
    "last": (3, [(2, 1, 2, 3), (2, 1, 2, 1)]),
}.items():
    name = f"concat.{kind}"
    out.case(name, "concat", reals(name, *shapes), lambda *x: torch.cat(x, dim), dim=dim)
out.case(
    "concat.itself",
    "concat",
    reals("concat.itself", (3, 2)),
    lambda *x: torch.cat(x, 1),
    dim=1,
    alias=(0, 0),
)
for kind, (shape, dim, start, size) in {
    "rows": ((5, 3), 0, 1, 3),
    "columns": ((3, 7), 1, 2, 4),
    "middle": ((2, 5, 3), 1, 4, 1),
    "last": ((2, 2, 3, 6), 3, 0, 5),
    "all": ((4, 2), 0, 0, 4),
}.items():
    name = f"slice.{kind}"
    out.case(
        name,
        "slice",
        reals(name, shape),
        lambda x: x.narrow(dim, start, size) * 1,
        dim=dim,
        size=size,
        **{"from": start},
    )
for kind, (shape, dim, parts) in {
    "rows": ((6, 2), 0, 3),
    "columns": ((3, 8), 1, 4),
    "middle": ((2, 4, 3), 1, 2),
}.items():
    name = f"split.{kind}"  # put together again in reverse order
    out.case(
        name,
        "split",
        reals(name, shape),
        lambda x: torch.cat(x.chunk(parts, dim)[::-1], dim),
        dim=dim,
        parts=parts,
    )
for kind, (shape, dim, a, b, v) in {
    "rows": ((2, 3), 0, 1, 2, 0),
    "columns": ((3, 2), 1, 0, 3, -1.5),
    "middle": ((2, 3, 2), 1, 2, 0, 4),
    "none": ((2, 2), 1, 0, 0, 1),
}.items():
    name = f"pad.{kind}"
    widths = [0, 0] * (len(shape) - dim - 1) + [a, b]
    out.case(
        name,
        "pad",
        reals(name, shape),
        lambda x: F.pad(x, widths, value=v),
        dim=dim,
        before=a,
        after=b,
        value=v,
    )

# ---------------------------------------------------------------- losses
for rows in ((6,), (2, 5)):
    for ignore in (None, -100, 3):
        for smoothing in (0.0, 0.125):
            for weighted in (False, True):
                name = f"xent.{len(rows)}d.ignore_{ignore}.smooth_{smoothing}" + (
                    ".weighted" if weighted else ""
                )
                C = 7 if len(rows) == 1 else 17
                labels = ids(name, rows, C)
                if ignore is not None:
                    labels.reshape(-1)[[1, 4]] = ignore
                x = reals(name, (*rows, C), lo=-4, hi=4)[0]
                w = random(name + "/w").uniform(0.25, 2, C).astype(np.float32) if weighted else None

                def f(x, labels):
                    return F.cross_entropy(
                        x.reshape(-1, C),
                        labels.reshape(-1),
                        label_smoothing=smoothing,
                        ignore_index=-100 if ignore is None else ignore,
                        weight=None if w is None else torch.tensor(w, dtype=x.dtype),
                    )

                out.case(name, "xent", [x, labels], f, smoothing=smoothing, ignore=ignore or 0)
                if weighted:
                    out.tensors[f"{name}/class"] = w
for kind, bias, smoothing in (("plain", False, 0.0), ("bias", True, 0.125), ("ignored", True, 0.0)):
    name = f"affine_xent.{kind}"
    rows, C = (2, 5), 9
    x, w, b = reals(name, (*rows, 4), (C, 4), (C,) if bias else None, lo=-2, hi=2)
    labels = ids(name, rows, C)
    if kind == "ignored":
        labels[1, 2:] = -100
    out.case(
        name,
        "affine_xent",
        [x, w, b, labels],
        lambda x, w, b, labels: F.cross_entropy(
            F.linear(x, w, b).reshape(-1, C), labels.reshape(-1), label_smoothing=smoothing
        ),
        smoothing=smoothing,
    )
out.case(
    "xent.none",
    "xent",
    [*reals("xent.none", (3, 4)), np.full(3, -100, np.int32)],
    lambda x, i: (x * 0).sum(),
    smoothing=0.125,
)
x = np.array([[100, -100, 0], [1e4, 0, -1e4]], np.float32)
out.case("xent.large", "xent", [x, np.array([1, 0], np.int32)], lambda x, i: F.cross_entropy(x, i))
for kind, (shape, lo, hi) in {"plain": ((5, 3), -4, 4), "vector": ((17,), -30, 30)}.items():
    x = reals(f"bce.{kind}", shape, lo=lo, hi=hi)[0]
    y = random(f"bce.{kind}/y").choice(np.float32([0, 1, 0.25]), shape)
    out.case(f"bce.{kind}", "bce", [x, y], F.binary_cross_entropy_with_logits, ungraded=(1,))
for kind, shape in {"plain": (5, 3), "cube": (2, 3, 7), "scalar": ()}.items():
    out.case(f"mse.{kind}", "mse", reals(f"mse.{kind}", shape, shape), F.mse_loss)

# ---------------------------------------------------------------- rotary positions
for kind, a in {
    "one": dict(heads=1, width=2, first=0, theta=10000.0),
    "heads": dict(heads=3, width=4, first=0, theta=10000.0),
    "more": dict(heads=2, width=4, first=5, theta=100.0),  # columns that are copied
    "far": dict(heads=1, width=6, first=4000, theta=500000.0),
}.items():
    name = f"rotary.{kind}"
    columns = a["heads"] * a["width"] + (3 if kind == "more" else 0)
    out.case(name, "rotary", reals(name, (2, 5, columns)), lambda x: rotary(x, **a), **a)

# ---------------------------------------------------------------- attention
A = dict  # B, h, e, d2, Tq, Tk, and what else is on
ATTENTION = {
    "plain": A(B=2, h=2, e=4, d2=4, T=(5, 5)),
    "one": A(B=1, h=1, e=3, d2=3, T=(1, 1)),
    "causal": A(B=2, h=2, e=4, d2=4, T=(6, 6), causal=True),
    "cross": A(B=2, h=3, e=4, d2=4, T=(3, 7)),
    "widths": A(B=2, h=2, e=3, d2=5, T=(4, 4)),
    "wide_key": A(B=1, h=3, e=7, d2=2, T=(5, 4)),
    "pad": A(B=3, h=2, e=4, d2=4, T=(5, 5), pad=[5, 3, 1]),
    "pad_causal": A(B=2, h=2, e=4, d2=3, T=(5, 5), pad=[5, 2], causal=True),
    "holes": A(B=2, h=1, e=4, d2=4, T=(4, 6), holes=True),
    "no_key": A(B=2, h=2, e=4, d2=4, T=(4, 5), pad=[0, 3]),
    "left": A(B=1, h=2, e=4, d2=4, T=(3, 6), causal=True),
    "few_keys": A(B=1, h=2, e=4, d2=4, T=(6, 3), causal=True),
    "beta": A(B=2, h=2, e=4, d2=4, T=(5, 5), beta=1.5),
    "beta_zero": A(B=1, h=2, e=4, d2=4, T=(4, 4), beta=0.0, causal=True),
    "bias": A(B=2, h=3, e=4, d2=4, T=(4, 5), bias=(2, 3)),
    "bias_heads": A(B=2, h=3, e=4, d2=4, T=(4, 5), bias=(1, 3)),
    "bias_batch": A(B=2, h=3, e=4, d2=4, T=(4, 5), bias=(2, 1)),
    "bias_one": A(B=2, h=2, e=4, d2=5, T=(4, 4), bias=(1, 1), causal=True),
    "all": A(B=3, h=2, e=5, d2=3, T=(4, 6), bias=(1, 2), pad=[6, 4, 3], causal=True, beta=0.75),
    "hard": A(B=2, h=2, e=4, d2=4, T=(5, 5), hard=True),
    "hard_masked": A(B=2, h=2, e=3, d2=5, T=(5, 5), hard=True, causal=True, pad=[5, 2]),
    "tile": A(B=1, h=1, e=16, d2=16, T=(19, 19), causal=True),
    "long": A(B=1, h=1, e=8, d2=9, T=(5, 67), bare=True),
    "grouped": A(B=2, h=4, g=2, e=3, d2=2, T=(4, 6), pad=[6, 3]),
    "grouped_one": A(B=2, h=3, g=1, e=4, d2=4, T=(5, 5), bias=(1, 3), causal=True),
    "blocks": A(B=1, h=2, e=5, d2=4, T=(70, 70), pad=[61], causal=True, bare=True),
}


def kept(op, result):
    """What a case stores of the kept values: all of attention's, the weights of the others."""
    y, values = result
    return (
        y
        if op in ("attention_explicit", "")
        else (y, values) if op == "attention" else (y, {"weights": values["weights"]})
    )


def attention_case(
    op, kind, B, h, e, d2, T, g=None, bias=None, pad=None, holes=False, bare=False, **more
):
    name = f"{op}.{kind}"
    Tq, Tk = T
    q, k, v, b = reals(
        name,
        (B, Tq, h * e),
        (B, Tk, (g or h) * e),
        (B, Tk, (g or h) * d2),
        bias and (*bias, Tq, Tk),
        lo=-1.5,
        hi=1.5,
    )
    p = None
    if pad:
        p = (np.arange(Tk)[None] < np.array(pad)[:, None]).astype(np.int32)
    if holes:
        p = mask(name, (B, Tk), 0.5)
        p[:, 2] = 1
    shape = dict(heads=h, key=e, value=d2, **more, **({"kv_heads": g} if g else {}))
    if op == "cross_attention":
        out.case(
            name,
            op,
            [q, np.concatenate([k, v], -1), b, p],
            lambda q, x, b, p: kept(
                op, attention(q, *x.split([(g or h) * e, (g or h) * d2], -1), b, p, **shape)
            ),
            **shape,
        )
    elif op != "self_attention":
        out.case(
            name,
            op,
            [q, k, v, b, p],
            lambda q, k, v, b, p: kept("" if bare else op, attention(q, k, v, b, p, **shape)),
            **shape,
        )
    elif Tq == Tk:
        out.case(
            name,
            op,
            [np.concatenate([q, k, v], -1), b, p],
            lambda x, b, p: kept(
                op, attention(*x.split([h * e, (g or h) * e, (g or h) * d2], -1), b, p, **shape)
            ),
            **shape,
        )


OTHERS = (
    "widths",
    "cross",
    "pad_causal",
    "no_key",
    "few_keys",
    "beta_zero",
    "bias_heads",
    "all",
    "hard",
    "hard_masked",
    "grouped",
    "grouped_one",
)
for kind, a in ATTENTION.items():
    attention_case("attention", kind, **a)
for op in ("attention_explicit", "self_attention"):  # other ways to the same formula: fewer cases
    for kind in OTHERS:
        attention_case(op, kind, **ATTENTION[kind])
attention_case("self_attention", "bias_one", **ATTENTION["bias_one"])
for kind in ("cross", "grouped", "all"):
    attention_case("cross_attention", kind, **ATTENTION[kind])
name = "attention.itself"  # one tensor is query, key and value
out.case(
    name,
    "attention",
    reals(name, (2, 4, 6)),
    lambda q, k, v: attention(q, k, v, heads=2, key=3, value=3),
    alias=(0, 0, 0),
    heads=2,
    key=3,
    value=3,
)

out.write(os.path.join(os.path.dirname(os.path.abspath(__file__)), "ops.safetensors"))
