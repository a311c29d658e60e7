#!/usr/bin/env python3
"""Makes layers.safetensors: the layers of include/heed/nn.h against PyTorch. See golden.py for the
format.

python3 tests/golden/make_layers.py
"""

import os

import numpy as np
import torch
import torch.nn.functional as F

from golden import File, attention, masked_softmax, random, rotary

out = File()
ACTS = {
    0: lambda x: x,
    1: F.relu,
    2: F.gelu,
    3: lambda x: F.gelu(x, approximate="tanh"),
    4: F.silu,
    5: torch.tanh,
}  # enum heed_act


def params(case, **shapes):
    """Parameters of scale 1/sqrt(fan in); those of norms around 1 and 0."""
    p, r = {}, random(case + "/params")
    for name, shape in shapes.items():
        wide = len(shape) > 1
        a = r.uniform(-1, 1, shape) * (1.7 / shape[-1] ** 0.5 if wide else 0.3)
        p[name.replace("__", ".")] = (
            a + (1 if "norm" in name and name.endswith("weight") else 0)
        ).astype(np.float32)
    return p


def x_of(case, *shape):
    return random(case).uniform(-2, 2, shape).astype(np.float32)


def linear(x, p, name):
    return F.linear(x, p[name + ".weight"], p.get(name + ".bias"))


def norm(x, p, name, eps):
    return F.layer_norm(x, x.shape[-1:], p[name + ".weight"], p.get(name + ".bias"), eps)


# ---------------------------------------------------------------- dense, norms, positions
for act, f in ACTS.items():
    for bias in (True, False):
        name = f"linear.{act}" + ("" if bias else ".plain")
        p = params(name, l__weight=(11, 6), **({"l__bias": (11,)} if bias else {}))
        out.case(
            name,
            "linear",
            [x_of(name, 2, 3, 6)],
            lambda x, p: f(linear(x, p, "l")),
            params=p,
            **{"in": 6, "out": 11, "bias": bias, "act": act},
        )
for bias in (True, False):
    for eps in (1e-5, 1e-12):
        name = f"norm.{eps}" + ("" if bias else ".plain")
        p = params(name, norm__weight=(10,), **({"norm__bias": (10,)} if bias else {}))
        out.case(
            name,
            "norm",
            [x_of(name, 2, 4, 10)],
            lambda x, p: norm(x, p, "norm", eps),
            params=p,
            width=10,
            eps=eps,
            bias=bias,
        )


def batchnorm(training):
    def f(x, p):
        mean, var = p["norm.running_mean"].detach().clone(), p["norm.running_var"].detach().clone()
        flat = x.reshape(-1, x.shape[-1])
        y = F.batch_norm(
            flat, mean, var, p["norm.weight"], p["norm.bias"], training=training
        )  # momentum 0.1, eps 1e-5
        return y.reshape(x.shape), {"norm.running_mean": mean, "norm.running_var": var}

    return f


for training in (True, False):
    name = f"batchnorm.{'train' if training else 'eval'}"
    p = params(
        name, norm__weight=(7,), norm__bias=(7,), norm__running_mean=(7,), norm__running_var=(7,)
    )
    p["norm.running_var"] = np.abs(p["norm.running_var"]) + np.float32(0.5)
    out.case(
        name,
        "batchnorm",
        [x_of(name, 3, 4, 7)],
        batchnorm(training),
        params=p,
        eval_only=not training,
        width=7,
    )

for start in (0, 3):
    name = f"position.learned.{start}"
    p = params(name, pos__weight=(9, 6))
    out.case(
        name,
        "position",
        [x_of(name, 2, 5, 6)],
        lambda x, p: x + p["pos.weight"][start : start + 5],
        params=p,
        kind=0,
        len=9,
        width=6,
        **{"from": start},
    )
    for width in (6, 7):
        name = f"position.sinusoidal.{width}.{start}"  # Vaswani et al. 2017, sec. 3.5
        i = np.arange(width)
        angle = np.arange(start, start + 40)[:, None] / 10000 ** (2 * (i // 2) / width)
        table = np.where(i % 2, np.cos(angle), np.sin(angle))
        out.case(
            name,
            "position",
            [x_of(name, 1, 40, width)],
            lambda x: x + torch.tensor(table).to(x.dtype),
            kind=1,
            len=64,
            width=width,
            **{"from": start},
        )

for length, width in ((9, 8), (10, 6), (17, 7), (1, 4)):  # a square grid, perhaps after [CLS]
    for start in (0, 1) if length > 1 else (0,):
        name = f"position.grid.{length}.{start}"
        side = int(length**0.5)
        place, half = np.arange(side * side), width // 2

        def axis(p, d):
            i = np.arange(d)
            angle = p[:, None] / 10000 ** (2 * (i // 2) / d)
            return np.where(i % 2, np.cos(angle), np.sin(angle))

        table = np.concatenate([axis(place // side, half), axis(place % side, width - half)], 1)
        table = np.concatenate([np.zeros((length - side * side, width)), table])[start:]
        out.case(
            name,
            "position",
            [x_of(name, 2, length - start, width)],
            lambda x: x + torch.tensor(table).to(x.dtype),
            kind=2,
            len=length,
            width=width,
            **{"from": start},
        )


# ---------------------------------------------------------------- convolutions
def conv2d(x, p, name, **a):
    """Channels last, as heed's."""
    y = F.conv2d(x.movedim(-1, 1), p[name + ".weight"], p.get(name + ".bias"), **a)
    return y.movedim(1, -1)


for kind, (x, w, a) in {
    "plain": ((2, 6, 5, 3), (4, 3, 3, 3), dict(pad=(1, 1))),
    "strided": ((2, 6, 7, 4), (6, 2, 3, 2), dict(stride=(2, 1), groups=2, no_bias=1)),
    "sequence": ((2, 9, 4), (5, 4, 3), dict(dilation=(1, 2), pad=(0, 1))),
    "back": ((1, 3, 4, 4), (4, 3, 3, 3), dict(transposed=1, stride=(2, 2), extra=(1, 0))),
    "back_sequence": ((1, 4, 4), (4, 3, 3), dict(transposed=1, stride=(1, 2), no_bias=1)),
}.items():
    name, n, groups = f"conv.{kind}", len(w) - 2, a.get("groups", 1)
    ends = (w[0], w[1] * groups) if a.get("transposed") else (w[1] * groups, w[0])
    f = getattr(F, f"conv_transpose{n}d" if a.get("transposed") else f"conv{n}d")
    keys = {"stride": "stride", "pad": "padding", "dilation": "dilation", "extra": "output_padding"}
    theirs = {keys[k]: v[-n:] for k, v in a.items() if k in keys} | {"groups": groups}
    out.case(
        name,
        "conv",
        [x_of(name, *x)],
        lambda x, p: f(x.movedim(-1, 1), p["conv.weight"], p.get("conv.bias"), **theirs).movedim(
            1, -1
        ),
        params=params(
            name, conv__weight=w, **({} if a.get("no_bias") else {"conv__bias": ends[1:]})
        ),
        **{"in": ends[0], "out": ends[1], "size": (w[2:] if n == 2 else (0, *w[2:])), **a},
    )


def patch_embed(patch):
    """Lecture notes: a picture is cut into m patches, x in R^{m x p}, and z = x W' + b."""

    def f(x, p):
        (B, H, W, C), w = x.shape, p["patch.weight"]
        cut = x.reshape(B, H // patch, patch, W // patch, patch, C).permute(0, 1, 3, 5, 2, 4)
        return cut.reshape(B, -1, C * patch * patch) @ w.flatten(1).T + p["patch.bias"]

    return f


for channels, patch in ((1, 4), (3, 2)):
    name = f"patch_embed.{channels}"
    out.case(
        name,
        "patch_embed",
        [x_of(name, 2, 8, 12, channels)],
        patch_embed(patch),
        params=params(name, patch__weight=(7, channels, patch, patch), patch__bias=(7,)),
        channels=channels,
        patch=patch,
        width=7,
    )


def conv_block(a, training):
    """He et al. 2016, sec. 3.3: the basic block of ResNet."""

    def f(x, p):
        kept = {k: v.detach().clone() for k, v in p.items() if "running" in k}

        def normed(x, name):
            if a["no_norm"]:
                return x
            n = f"block.{name}."
            flat = F.batch_norm(
                x.reshape(-1, x.shape[-1]),
                kept[n + "running_mean"],
                kept[n + "running_var"],
                p[n + "weight"],
                p[n + "bias"],
                training=training,
            )
            return flat.reshape(x.shape)

        y = normed(conv2d(x, p, "block.conv1", stride=a["stride"], padding=1), "norm1").relu()
        y = normed(conv2d(y, p, "block.conv2", padding=1), "norm2")
        if "block.short.conv.weight" in p:
            x = normed(conv2d(x, p, "block.short.conv", stride=a["stride"]), "short.norm")
        return (y if a["no_residual"] else x + y).relu(), kept

    return f


for kind, a in {
    "plain": dict(ends=(4, 4), stride=1),
    "wider": dict(ends=(3, 5), stride=1),
    "smaller": dict(ends=(4, 6), stride=2),
    "no_norm": dict(ends=(3, 4), stride=2, no_norm=1),
    "no_residual": dict(ends=(4, 4), stride=1, no_residual=1),
}.items():
    for training in (True, False):
        name = f"conv_block.{kind}.{'train' if training else 'eval'}"
        c, d = a["ends"]
        a = {"no_norm": 0, "no_residual": 0, **a}
        convs = {"conv1": (d, c, 3, 3), "conv2": (d, d, 3, 3)}
        if not a["no_residual"] and (c != d or a["stride"] > 1):
            convs["short.conv"] = (d, c, 1, 1)
        shapes = {f"block.{n}.weight": w for n, w in convs.items()}
        for n in convs:
            if a["no_norm"]:
                shapes[f"block.{n}.bias"] = (d,)
            else:
                for part in ("weight", "bias", "running_mean", "running_var"):
                    shapes[f"block.{n.replace('conv', 'norm')}.{part}"] = (d,)
        p = params(name, **shapes)
        for n in p:
            if n.endswith("running_var"):
                p[n] = np.abs(p[n]) + np.float32(0.5)
        out.case(
            name,
            "conv_block",
            [x_of(name, 2, 5, 4, c)],
            conv_block(a, training),
            params=p,
            eval_only=not training,
            **{"in": c, "out": d, **{k: v for k, v in a.items() if k != "ends"}},
        )


# ---------------------------------------------------------------- attention with projections
def mha(x, memory, pad, p, name, a):
    h, e, d2 = a["heads"], a["key"], a["value"]
    g = a.get("kv_heads") or h
    if a.get("cross"):
        q, (k, v) = linear(x, p, name + "q"), linear(memory, p, name + "kv").split(
            [g * e, g * d2], -1
        )
    else:
        q, k, v = linear(x, p, name + "qkv").split([h * e, g * e, g * d2], -1)
    if a.get("rotary"):
        q, k = rotary(q, h, e, 0, a["rotary"]), rotary(k, g, e, 0, a["rotary"])
    y, kept = attention(
        q,
        k,
        v,
        None,
        pad,
        heads=h,
        key=e,
        value=d2,
        beta=a.get("beta"),
        causal=a.get("causal", False),
        hard=a.get("hard", False),
    )
    return y if a.get("no_out") else linear(y, p, name + "out"), kept["weights"]


def mha_params(case, prefix, a):
    d, h, e, d2 = a["width"], a["heads"], a["key"], a["value"]
    g = a.get("kv_heads") or h
    shapes = (
        {"q": (h * e, d), "kv": (g * (e + d2), a.get("memory_width") or d)}
        if a.get("cross")
        else {"qkv": (h * e + g * (e + d2), d)}
    )
    if not a.get("no_out"):
        shapes["out"] = (d, h * d2)
    every = {}
    for n, s in shapes.items():
        every[f"{prefix}{n}__weight"] = s
        if not a.get("no_bias"):
            every[f"{prefix}{n}__bias"] = s[:1]
    return params(case, **every)


def pad_of(lengths, T):
    return (
        None
        if lengths is None
        else (np.arange(T)[None] < np.array(lengths)[:, None]).astype(np.int32)
    )


MHA = {
    "plain": dict(width=8, heads=2, key=4, value=4),
    "causal": dict(width=8, heads=4, key=2, value=2, causal=True),
    "widths": dict(width=7, heads=2, key=3, value=5),
    "no_bias": dict(width=8, heads=2, key=4, value=4, no_bias=True),
    "no_out": dict(width=6, heads=2, key=4, value=3, no_out=True),
    "beta": dict(width=8, heads=2, key=4, value=4, beta=2.0),
    "pad": dict(width=8, heads=2, key=4, value=4, pad=[5, 2]),
    "pad_causal": dict(width=8, heads=2, key=4, value=4, pad=[3, 5], causal=True),
    "hard": dict(width=8, heads=2, key=4, value=4, hard=True),
    "explicit": dict(width=8, heads=2, key=4, value=4, explicit=1, pad=[5, 2]),
    "explicit_causal": dict(width=7, heads=2, key=3, value=5, explicit=1, causal=True),
    "cross": dict(width=8, heads=2, key=4, value=4, cross=True),
    "rotary": dict(width=8, heads=2, key=4, value=4, rotary=10000.0),
    "rotary_pad": dict(width=7, heads=3, key=2, value=5, rotary=20.0, pad=[5, 2], explicit=1),
    "grouped": dict(width=8, heads=4, kv_heads=2, key=4, value=3, rotary=10000.0, causal=True),
    "grouped_cross": dict(width=8, heads=4, kv_heads=1, key=2, value=2, cross=True, pad=[7, 3]),
    "cross_pad": dict(width=6, memory_width=9, heads=3, key=2, value=4, cross=True, pad=[7, 3]),
}
for kind, a in MHA.items():
    name, a = f"mha.{kind}", dict(a)
    B, T, S = 2, 5, 7 if a.get("cross") else 5
    pad = pad_of(a.pop("pad", None), S)
    memory = (
        x_of(name + "/memory", B, S, a.get("memory_width") or a["width"])
        if a.get("cross")
        else None
    )
    p = mha_params(name, "attn__", a)

    def f(x, memory, pad, p):
        y, weights = mha(x, memory, pad, p, "attn.", a)
        return y, {} if a.get("explicit") else {"attn.weights": weights}

    out.case(name, "mha", [x_of(name, B, T, a["width"]), memory, pad], f, params=p, **a)


# the plain case is torch.nn.MultiheadAttention's
def check_mha():
    a, T = MHA["plain"], torch.float64
    theirs = torch.nn.MultiheadAttention(8, 2, batch_first=True, dtype=T)
    p = {
        "attn.qkv.weight": theirs.in_proj_weight,
        "attn.qkv.bias": theirs.in_proj_bias,
        "attn.out.weight": theirs.out_proj.weight,
        "attn.out.bias": theirs.out_proj.bias,
    }
    x = torch.tensor(x_of("mha.check", 2, 5, 8)).to(T)
    y, w = theirs(x, x, x, average_attn_weights=False)
    ours, weights = mha(x, None, None, p, "attn.", a)
    assert torch.allclose(y, ours, atol=1e-12) and torch.allclose(w, weights, atol=1e-12)


check_mha()

# ---------------------------------------------------------------- feed-forward and block
for act in (1, 2, 3):
    for bias in (True, False):
        name = f"ff.{act}" + ("" if bias else ".plain")
        shapes = {"mlp__up__weight": (13, 6), "mlp__down__weight": (6, 13)}
        if bias:
            shapes.update({"mlp__up__bias": (13,), "mlp__down__bias": (6,)})
        out.case(
            name,
            "ff",
            [x_of(name, 2, 3, 6)],
            lambda x, p: linear(ACTS[act](linear(x, p, "mlp.up")), p, "mlp.down"),
            params=params(name, **shapes),
            width=6,
            inner=13,
            act=act,
            no_bias=not bias,
        )


for act in (4, 2):  # SwiGLU, and the same with GELU
    name = f"ff.gated.{act}"
    shapes = {f"mlp__{part}__weight": (13, 6) for part in ("gate", "up")}
    out.case(
        name,
        "ff",
        [x_of(name, 2, 3, 6)],
        lambda x, p: linear(
            ACTS[act](linear(x, p, "mlp.gate")) * linear(x, p, "mlp.up"), p, "mlp.down"
        ),
        params=params(name, **shapes, mlp__down__weight=(6, 13)),
        width=6,
        inner=13,
        act=act,
        gated=1,
        no_bias=1,
    )


def block(x, pad, p, a):
    attn = lambda h: mha(h, None, pad, p, "block.attn.", a)
    mlp = lambda h: linear(ACTS[a["act"]](linear(h, p, "block.mlp.up")), p, "block.mlp.down")
    n1, n2 = (lambda h: norm(h, p, "block.norm1", a["eps"])), (
        lambda h: norm(h, p, "block.norm2", a["eps"])
    )
    if a["pre"]:
        y, weights = attn(n1(x))
        x = x + y
        return x + mlp(n2(x)), {"block.attn.weights": weights}
    y, weights = attn(x)
    x = n1(x + y)
    return n2(x + mlp(x)), {"block.attn.weights": weights}


BLOCKS = {
    "post": dict(pre=False, act=2, eps=1e-12),
    "pre": dict(pre=True, act=3, eps=1e-5, causal=True),
    "post_pad": dict(pre=False, act=2, eps=1e-12, pad=[6, 4, 2]),
    "pre_pad": dict(pre=True, act=1, eps=1e-5, pad=[2, 6, 5]),
    "plain": dict(pre=True, act=2, eps=1e-5, causal=True, no_bias=True),
    "widths": dict(pre=False, act=2, eps=1e-5, key=3, value=5),
}
for kind, a in BLOCKS.items():
    name, a = f"block.{kind}", {"width": 8, "heads": 2, "key": 4, "value": 4, "inner": 12, **a}
    pad = pad_of(a.pop("pad", None), 6)
    p = mha_params(name, "block__attn__", a)
    shapes = {
        "block__mlp__up__weight": (12, 8),
        "block__mlp__down__weight": (8, 12),
        "block__norm1__weight": (8,),
        "block__norm2__weight": (8,),
    }
    if not a.get("no_bias"):
        shapes.update(
            {
                "block__mlp__up__bias": (12,),
                "block__mlp__down__bias": (8,),
                "block__norm1__bias": (8,),
                "block__norm2__bias": (8,),
            }
        )
    p.update(params(name + "/rest", **shapes))
    out.case(
        name,
        "block",
        [x_of(name, 3, 6, 8), pad],
        lambda x, pad, p: block(x, pad, p, a),
        params=p,
        **a,
    )


# the post-norm block is torch.nn.TransformerEncoderLayer's
def check_block():
    a, T = {"heads": 2, "key": 4, "value": 4, **BLOCKS["post"]}, torch.float64
    theirs = torch.nn.TransformerEncoderLayer(
        8, 2, 12, dropout=0, activation="gelu", layer_norm_eps=1e-12, batch_first=True, dtype=T
    )
    names = {
        "attn.qkv.weight": "self_attn.in_proj_weight",
        "attn.qkv.bias": "self_attn.in_proj_bias",
        "attn.out": "self_attn.out_proj",
        "mlp.up": "linear1",
        "mlp.down": "linear2",
        "norm1": "norm1",
        "norm2": "norm2",
    }
    state, p = dict(theirs.named_parameters()), {}
    for ours, name in names.items():
        p.update(
            {"block." + k.replace(name, ours): v for k, v in state.items() if k.startswith(name)}
        )
    x = torch.tensor(x_of("block.check", 2, 6, 8)).to(T)
    assert torch.allclose(theirs(x), block(x, None, p, a)[0], atol=1e-12)


check_block()


# ---------------------------------------------------------------- decoder block
def decoder_block(x, pad, memory, memory_pad, p, a):
    parts = [
        lambda h: mha(h, None, pad, p, "block.attn.", {**a, "causal": True}),
        lambda h: mha(h, memory, memory_pad, p, "block.cross.", {**a, "cross": True}),
        lambda h: (
            linear(ACTS[a["act"]](linear(h, p, "block.mlp.up")), p, "block.mlp.down"),
            None,
        ),
    ]
    kept = []
    for i, part in enumerate(parts):
        n = lambda h: norm(h, p, f"block.norm{i + 1}", a["eps"])
        y, weights = part(n(x) if a["pre"] else x)
        x = x + y if a["pre"] else n(x + y)
        kept.append(weights)
    return x, {"block.attn.weights": kept[0], "block.cross.weights": kept[1]}


def decoder_params(name, a):
    p = mha_params(name, "block__attn__", a)
    p.update(mha_params(name + "/cross", "block__cross__", {**a, "cross": True}))
    shapes = {"block__mlp__up__weight": (12, 8), "block__mlp__down__weight": (8, 12)}
    shapes.update({f"block__norm{i}__weight": (8,) for i in (1, 2, 3)})
    if not a.get("no_bias"):
        shapes.update({"block__mlp__up__bias": (12,), "block__mlp__down__bias": (8,)})
        shapes.update({f"block__norm{i}__bias": (8,) for i in (1, 2, 3)})
    return {**p, **params(name + "/rest", **shapes)}


DECODERS = {
    "post": dict(pre=False, act=1, eps=1e-5),
    "pre": dict(pre=True, act=2, eps=1e-5),
    "post_pad": dict(pre=False, act=1, eps=1e-5, pad=[[6, 4, 2], [3, 7, 5]]),
    "pre_pad": dict(pre=True, act=1, eps=1e-5, pad=[[2, 6, 5], [7, 2, 4]]),
    "plain": dict(pre=False, act=2, eps=1e-5, no_bias=True),
}
for kind, a in DECODERS.items():
    name = f"decoder_block.{kind}"
    a = {"width": 8, "heads": 2, "key": 4, "value": 4, "inner": 12, **a}
    pads = a.pop("pad", [None, None])
    out.case(
        name,
        "decoder_block",
        [
            x_of(name, 3, 6, 8),
            pad_of(pads[0], 6),
            x_of(name + "/memory", 3, 7, 8),
            pad_of(pads[1], 7),
        ],
        lambda x, pad, memory, memory_pad, p: decoder_block(x, pad, memory, memory_pad, p, a),
        params=decoder_params(name, a),
        **a,
    )


# both are torch.nn.TransformerDecoderLayer's
def check_decoder_block(pre):
    a = {"heads": 2, "key": 4, "value": 4, "pre": pre, "act": 2, "eps": 1e-5}
    theirs = torch.nn.TransformerDecoderLayer(
        8, 2, 12, dropout=0, activation="gelu", batch_first=True, norm_first=pre, dtype=torch.float64
    )
    names = {
        "attn.qkv.weight": "self_attn.in_proj_weight",
        "attn.qkv.bias": "self_attn.in_proj_bias",
        "attn.out": "self_attn.out_proj",
        "cross.out": "multihead_attn.out_proj",
        "mlp.up": "linear1",
        "mlp.down": "linear2",
        **{f"norm{i}": f"norm{i}" for i in (1, 2, 3)},
    }
    state, p = dict(theirs.named_parameters()), {}
    for ours, name in names.items():
        p.update(
            {"block." + k.replace(name, ours): v for k, v in state.items() if k.startswith(name)}
        )
    for w in ("weight", "bias"):
        q, kv = state["multihead_attn.in_proj_" + w].split([8, 16])
        p["block.cross.q." + w], p["block.cross.kv." + w] = q, kv
    x, memory = (torch.tensor(x_of(f"decoder.check{n}", 2, n, 8)).to(torch.float64) for n in (6, 5))
    unseen = torch.ones(6, 6, dtype=torch.bool).triu(1)
    y = theirs(x, memory, tgt_mask=unseen)
    assert torch.allclose(y, decoder_block(x, None, memory, None, p, a)[0], atol=1e-12)


check_decoder_block(False)
check_decoder_block(True)


# ---------------------------------------------------------------- recurrent layers
def torch_rnn(a):
    kind = [torch.nn.RNN, torch.nn.GRU, torch.nn.LSTM][a["cell"]]
    more = {"nonlinearity": {1: "relu", 5: "tanh"}[a["act"]]} if a["cell"] == 0 else {}
    return kind(
        a["in"],
        a["width"],
        a["layers"],
        bidirectional=bool(a["bidirectional"]),
        batch_first=True,
        **more,
    )


def rnn(x, pad, first, p, a):
    """PyTorch's layer, with packed sequences where there are lengths; its outputs, or its last
    states side by side: of each layer and direction h, then the LSTM's c."""
    layer, B = torch_rnn(a), x.shape[0]
    layer._flat_weights = [
        p.get("rnn." + n, torch.zeros_like(p["rnn." + n.replace("hh", "ih")]))
        if "bias_hh" in n
        else p["rnn." + n]
        for n in layer._flat_weights_names
    ]
    state = None
    if first is not None:
        state = first if a["cell"] < 2 else tuple(first.split(a["width"], -1))
        state = state.contiguous() if a["cell"] < 2 else tuple(s.contiguous() for s in state)
    if pad is None:
        y, last = layer(x, state)
    else:
        packed = torch.nn.utils.rnn.pack_padded_sequence(
            x, (pad != 0).sum(1), batch_first=True, enforce_sorted=False
        )
        y, last = layer(packed, state)
        y = torch.nn.utils.rnn.pad_packed_sequence(y, batch_first=True, total_length=x.shape[1])[0]
    if a["last"]:
        last = last if a["cell"] < 2 else torch.cat(last, -1)
        return last.transpose(0, 1).reshape(B, -1)
    return y


def formula_rnn(x, p, act):
    """h[t] = g(W_h [x[t] ; h[t-1]] + b_h), W_h = [W_hx W_hh], h[0] = 0."""
    w = torch.cat([p["rnn.weight_ih_l0"], p["rnn.weight_hh_l0"]], 1)
    h, y = x.new_zeros(x.shape[0], w.shape[0]), []
    for i in range(x.shape[1]):
        h = act(F.linear(torch.cat([x[:, i], h], 1), w, p["rnn.bias_ih_l0"]))
        y.append(h)
    return torch.stack(y, 1)


def rnn_params(case, a):
    gates, shapes = [1, 3, 4][a["cell"]] * a["width"], {}
    ways = 2 if a["bidirectional"] else 1
    for i in range(a["layers"]):
        for way in ("", "_reverse")[:ways]:
            wide = a["in"] if i == 0 else a["width"] * ways
            shapes[f"rnn__weight_ih_l{i}{way}"] = (gates, wide)
            shapes[f"rnn__weight_hh_l{i}{way}"] = (gates, a["width"])
            shapes[f"rnn__bias_ih_l{i}{way}"] = (gates,)
            if not a["one_bias"]:
                shapes[f"rnn__bias_hh_l{i}{way}"] = (gates,)
    return params(case, **shapes)


for cell, cell_name in enumerate(("rnn", "gru", "lstm")):
    for kind, more in {
        "plain": {},
        "relu": dict(act=1),
        "one_bias": dict(one_bias=1),
        "deep": dict(layers=2),
        "both_ways": dict(bidirectional=1),
        "both_deep": dict(layers=2, bidirectional=1, state=1),
        "both_last": dict(layers=2, bidirectional=1, last=1, state=1),
        "lengths": dict(pad=[5, 2, 3]),
        "lengths_both": dict(bidirectional=1, pad=[1, 5, 4]),
        "lengths_last": dict(layers=2, bidirectional=1, pad=[2, 5, 1], last=1),
    }.items():
        if kind == "relu" and cell:
            continue
        name = f"rnn.{cell_name}.{kind}"
        a = {"in": 3, "width": 4, "layers": 1, "bidirectional": 0, "one_bias": 0, "last": 0}
        a = {**a, "act": 5, "cell": cell, **more}
        lengths, states = a.pop("pad", None), a["layers"] * (1 + a["bidirectional"])
        wide = a["width"] * (2 if cell == 2 else 1)
        first = x_of(name + "/first", states, 3, wide) if a.pop("state", 0) else None
        # PyTorch gives zeros at padding, heed the state as it was left: the test hides it
        pad = pad_of(lengths, 5)
        out.case(
            name,
            "rnn",
            [x_of(name, 3, 5, 3), pad, first],
            lambda x, pad, first, p: rnn(x, pad, first, p, a),
            params=rnn_params(name, a),
            **a,
        )

# the notes' formula, with every g
for act, g in {1: F.relu, 5: torch.tanh, 6: torch.sigmoid, 0: lambda x: x}.items():
    name, a = f"rnn.notes.{act}", {"in": 3, "width": 4, "layers": 1, "bidirectional": 0}
    a = {**a, "cell": 0, "act": act, "one_bias": 1, "last": 0}
    out.case(
        name,
        "rnn",
        [x_of(name, 2, 5, 3), None, None],
        lambda x, pad, first, p: formula_rnn(x, p, g),
        params=rnn_params(name, a),
        **a,
    )


# ---------------------------------------------------------------- attention of any similarity
def attend(q, x, pad, p, a):
    k = F.linear(x, p["attend.key.weight"]) if "attend.key.weight" in p else x
    v = F.linear(x, p["attend.value.weight"]) if "attend.value.weight" in p else x
    if "attend.query.weight" in p:
        q = F.linear(q, p["attend.query.weight"])
    if a["kind"] == 0:
        inner = linear(q, p, "attend.w")[:, :, None] + linear(k, p, "attend.u")[:, None]
        e = linear(torch.tanh(inner), p, "attend.score")[..., 0]
    elif a["kind"] == 3:
        e = torch.einsum("bti,ij,bsj->bts", q, p["attend.w.weight"], k)
    else:
        e = torch.einsum("bti,bsi->bts", q, k) / (1 if a["kind"] == 1 else k.shape[-1] ** 0.5)
    mask = None if pad is None else pad[:, None, :]
    w = masked_softmax(e, 1.0, mask)
    return torch.einsum("bts,bsj->btj", w, v), {"attend.scores": e, "attend.weights": w}


for kind, kind_name in enumerate(("additive", "dot", "scaled", "general")):
    for more, b in {
        "": {},
        ".pad": dict(pad=[4, 2, 1]),
        ".key": dict(key=3, query=6),
        ".value": dict(value=2, pad=[3, 4, 2]),
        ".key_value": dict(key=3, value=2, inner=7),
        ".widths": dict(query=6),
        ".all_biases": dict(all_biases=1),
    }.items():
        if (more == ".widths" and kind in (1, 2)) or (more == ".all_biases" and kind):
            continue
        name, a = f"attend.{kind_name}{more}", {"kind": kind, "query": 5, "input": 5, "inner": 0}
        a = {**a, "key": 0, "value": 0, **b}
        pad = pad_of(a.pop("pad", None), 4)
        query, key, inner = a["key"] or a["query"], a["key"] or 5, a["inner"] or 5
        shapes = {}
        if a["key"]:
            shapes.update({"attend__query__weight": (a["key"], a["query"])})
            shapes.update({"attend__key__weight": (a["key"], 5)})
        if a["value"]:
            shapes["attend__value__weight"] = (a["value"], 5)
        if kind == 0:
            shapes.update({"attend__w__weight": (inner, query), "attend__u__weight": (inner, key)})
            shapes["attend__u__bias"] = (inner,)
            if a.get("all_biases"):
                shapes.update({"attend__w__bias": (inner,), "attend__score__bias": (1,)})
            shapes.update({"attend__score__weight": (1, inner)})
        if kind == 3:
            shapes["attend__w__weight"] = (query, key)
        out.case(
            name,
            "attend",
            [x_of(name + "/q", 3, 2, a["query"]), x_of(name, 3, 4, 5), pad],
            lambda q, x, pad, p={}: attend(q, x, pad, p, a),
            params=params(name, **shapes),
            **a,
        )

out.write(os.path.join(os.path.dirname(os.path.abspath(__file__)), "layers.safetensors"))
