#!/usr/bin/env python3
"""Makes mlm, gpt, vit, cnn, seq2seq, rnn, textcls, tag, caption and autoencoder .safetensors: the models
of models/ against BERT, GPT-2, Llama, ViT, a CNN, Transformers and RNNs with attention, those of the
benchmarks, too, readers of texts, decoders that look at pictures, and auto-encoders.

    python3 tests/golden/make_models.py [KIND...]

Each file holds, for a tiny model: w.PARAM, the initial weights under heed's names (F32); ids,
pad, picks, labels of 20 batches (I32), or their pictures x (F32); and, computed in float64: losses
of 20 AdamW steps, and of the initial model on the first batch logits (as in evaluation), g.PARAM
(gradients), a.LAYER (attention weights), and pair: mlm's logits of all positions when the second
half of each row is the second of a pair; cached: of gpt-llama, the logits from the fifth token of
the first text on, computed one by one with cached keys; e.STATE: running statistics after the 20 steps. Metadata:
the settings."""

import os
import sys

import numpy as np
import torch

import twins
from golden import random, save

STEPS, ROWS, BLOCK, TARGET, VOCAB = 20, 4, 12, 9, 37
PICTURES = 8
TEXT = dict(vocab=VOCAB, width=24, layers=2, heads=3, ff=40, block=BLOCK)
STACK = dict(width=24, layers=2, heads=3, ff=40, block=BLOCK)
GRID = dict(vocab=VOCAB, width=12, filters=4, stages=2, channels=2)
SHAPE = {
    "mlm": TEXT,
    "gpt": TEXT,
    "vit": dict(size=6, channels=2, patch=2, width=24, layers=2, heads=3, ff=40, classes=5),
    "cnn": dict(channels=2, width=4, stages=2, blocks=2, classes=5),
    "seq2seq": dict(vocab=VOCAB, source_vocab=VOCAB, **STACK, share=True),
    "seq2seq-small": dict(vocab=VOCAB, source_vocab=29, **STACK, share=False),
    "seq2seq-llama": dict(vocab=VOCAB, source_vocab=29, **{**STACK, "heads": 6}, share=False, kv_heads=3),
    "rnn": dict(vocab=VOCAB, source_vocab=VOCAB, width=16, share=True),
    "rnn-attn": dict(vocab=VOCAB, source_vocab=29, width=16, share=False),
    "textcls": dict(
        vocab=VOCAB, width=16, layers=2, heads=2, ff=24, block=BLOCK, classes=5, encoder="attention", said="mean"
    ),
    "textcls-conv": dict(
        vocab=VOCAB, width=16, layers=2, kernel=4, block=BLOCK, classes=5, encoder="conv", said="last"
    ),
    "textcls-rnn": dict(
        vocab=VOCAB, width=12, layers=2, block=BLOCK, classes=5, encoder="rnn", cell="gru", said="ends"
    ),
    "tag": dict(vocab=VOCAB, width=12, layers=1, block=BLOCK, classes=5, encoder="rnn", said="each"),
    "gpt-lstm": dict(vocab=VOCAB, width=16, layers=2, block=BLOCK),
    "gpt-llama": dict(vocab=VOCAB, width=24, layers=2, heads=4, kv_heads=2, ff=40, block=BLOCK),
    "caption": dict(**GRID, cells=9, attention="soft"),
    "caption-hard": dict(**GRID, cells=9, attention="hard"),
    "caption-fixed": dict(**GRID, cells=9, attention="none"),
    "caption-transformer": dict(**GRID, layers=2, heads=2, ff=20),
}
SHAPE["autoencoder"] = dict(size=6, channels=2, code=3, hidden=16, depth=2)
SHAPE["autoencoder-conv"] = dict(size=6, channels=2, code=4, filters=5, depth=2)
SHAPE["autoencoder-masked"] = dict(
    size=6, channels=2, patch=2, width=24, layers=2, heads=3, ff=40, decoder_width=12, decoder_layers=1
)
# what heed is told besides
SETTINGS = {
    "autoencoder": {"image-size": 6},
    "autoencoder-conv": {"image-size": 6, "kind": "conv"},
    "autoencoder-masked": {"image-size": 6, "kind": "masked", "norm-eps": 1e-5},
    "vit": {"image-size": 6},
    "cnn": {"image-size": 6, "smoothing": 0.1},
    "seq2seq": {"smoothing": 0.1},
    "seq2seq-small": {
        "share-vocab": "false",
        "source-vocab": 29,
        "norm": "pre",
        "activation": "gelu",
        "positions": "learned",
        "scale-embed": "false",
        "smoothing": 0,
    },
    "seq2seq-llama": {
        "share-vocab": "false",
        "source-vocab": 29,
        "norm": "pre",
        "norm-kind": "rms",
        "positions": "rotary",
        "ff-kind": "swiglu",
        "bias": "false",
        "scale-embed": "false",
        "smoothing": 0,
    },
    "textcls-conv": {"pool": "last"},
    "tag": {"cell": "lstm"},
    "gpt-lstm": {"cell": "lstm"},
    "gpt-llama": {
        "norm-kind": "rms",
        "positions": "rotary",
        "ff-kind": "swiglu",
        "bias": "false",
        "tie": "false",
    },
    "caption": {"image-size": 12},
    "caption-hard": {"image-size": 12, "hard": "true"},
    "caption-fixed": {"image-size": 12, "attention": "none"},
    "caption-transformer": {
        "image-size": 11,
        "decoder": "transformer",
        "decoder-layers": 2,
        "smoothing": 0.1,
    },
    "rnn-attn": {
        "share-vocab": "false",
        "source-vocab": 29,
        "bidirectional": "false",
        "bridge": "copy",
        "attention-biases": "true",
    },
}
LR, DECAY = 3e-3, 0.1


def layers(kind):
    return SHAPE[kind].get("layers", 0)


def every(model):
    """Parameters and running statistics."""
    state = {n: b for n, b in model.named_buffers() if "running" in n}
    return {**dict(model.named_parameters()), **state}


def weights(kind):
    """Larger than the models' own initial ones: attention is far from even, no term is small."""
    model = twins.build(kind, **SHAPE[kind], dtype=torch.float32)
    shapes = twins.to_heed(kind, layers(kind), {n: p.detach() for n, p in every(model).items()})
    out = {}
    for name, a in shapes.items():
        if name.endswith("running_var"):
            out[name] = random(f"{kind}/{name}").uniform(0.5, 2, a.shape).astype(np.float32)
            continue
        wide = a.ndim > 1 and name != "context.weight"  # whose inputs are many
        x = random(f"{kind}/{name}").normal(size=a.shape) * (0.3 if wide else 0.1)
        out[name] = (x + (1 if "norm" in name and name.endswith("weight") else 0)).astype(
            np.float32
        )
    return out


def pairs(r, source_vocab):
    """Sources and targets of several lengths; token 1 begins a target, 2 ends one."""
    seen = lambda n: (np.arange(n) < r.integers(3, n + 1, (STEPS, ROWS, 1))).astype(np.int32)
    draw = lambda top, n: r.integers(3, top, (STEPS, ROWS, n)).astype(np.int32)
    pad, kept = seen(BLOCK), seen(TARGET)
    pad[:, 0] = kept[:, 0] = 1
    ids, first = draw(VOCAB, TARGET), np.ones((STEPS, ROWS, 1), np.int32)
    ids = np.where(np.roll(kept, -1, 2) * kept, ids, 2 * kept)  # the last is the end
    ids[:, 0, -1] = 2
    return {
        "src": (draw(source_vocab, BLOCK) * pad).astype(np.int32),
        "pad": pad,
        "ids": (np.concatenate([first, ids[:, :, :-1]], 2) * kept).astype(np.int32),
        "labels": np.where(kept, ids, -100).astype(np.int32),
    }


def texts(kind, r):
    """Texts of several lengths, a label each, or a label a token."""
    pad = (np.arange(BLOCK) < r.integers(3, BLOCK + 1, (STEPS, ROWS, 1))).astype(np.int32)
    if kind == "tag":  # logits of the first batch are compared; at padding they mean nothing
        pad[0] = 1
    each = (STEPS, ROWS, BLOCK) if kind == "tag" else (STEPS, ROWS)
    labels = r.integers(0, SHAPE[kind]["classes"], each)
    return {
        "src": (r.integers(3, VOCAB, (STEPS, ROWS, BLOCK)) * pad).astype(np.int32),
        "pad": pad,
        "labels": np.where(pad, labels, -100).astype(np.int32)
        if kind == "tag"
        else labels.astype(np.int32),
    }


def batches(kind):
    """Rows of several lengths, padded at the end; five positions a batch carry mlm's loss. Or
    pictures of noise."""
    r = random(kind + "/batches")
    if kind in twins.PAIRS:
        return pairs(r, SHAPE[kind]["source_vocab"])
    if kind in twins.READERS:
        return texts(kind, r)
    if kind in twins.CAPTIONS:
        size, channels = SETTINGS[kind]["image-size"], SHAPE[kind]["channels"]
        words = pairs(r, VOCAB)
        x = r.normal(size=(STEPS, ROWS, size, size, channels)).astype(np.float32)
        return {"x": x, "ids": words["ids"], "labels": words["labels"]}
    if "image-size" in SETTINGS.get(kind, {}):
        size, channels = SETTINGS[kind]["image-size"], SHAPE[kind]["channels"]
        out = {
            "x": r.normal(size=(STEPS, PICTURES, size, size, channels)).astype(np.float32),
            "labels": r.integers(0, SHAPE[kind].get("classes", 1), (STEPS, PICTURES)).astype(np.int32),
        }
        if kind == "autoencoder-masked":  # six of nine patches are hidden
            draw = lambda b: 9 * b + np.sort(r.permutation(9)[:6])
            rows = [np.concatenate([draw(b) for b in range(PICTURES)]) for _ in range(STEPS)]
            out["picks"] = np.stack(rows).astype(np.int32)
        return out
    ids = r.integers(5, VOCAB, (STEPS, ROWS, BLOCK)).astype(np.int32)
    lengths = r.integers(4, BLOCK + 1, (STEPS, ROWS, 1))
    lengths[:, 0] = BLOCK
    pad = (np.arange(BLOCK) < lengths).astype(np.int32)
    if kind in ("gpt", "gpt-lstm", "gpt-llama"):
        labels = np.concatenate([ids[:, :, 1:], r.integers(5, VOCAB, (STEPS, ROWS, 1))], -1).astype(
            np.int32
        )
        return {
            "ids": np.where(pad, ids, 0).astype(np.int32),
            "labels": np.where(pad, labels, -100).astype(np.int32),
        }
    picks = np.stack([np.sort(r.choice(np.flatnonzero(p), 5, replace=False)) for p in pad]).astype(
        np.int32
    )
    labels = np.take_along_axis(ids.reshape(STEPS, -1), picks, 1)
    np.put_along_axis(
        ids.reshape(STEPS, -1), picks[:, :4], 4, 1
    )  # token 4 plays [MASK]; the last pick is kept
    return {
        "ids": np.where(pad, ids, 0).astype(np.int32),
        "pad": pad,
        "picks": picks,
        "labels": labels,
    }


def by_path(attentions):
    return attentions.items() if isinstance(attentions, dict) else enumerate(attentions)


def train(kind, start, data, dtype):
    model = twins.build(kind, **SHAPE[kind], dtype=dtype)
    twins.load(model, kind, layers(kind), start)
    first = twins.batch_of(data, 0, dtype)
    smoothing = SETTINGS.get(kind, {}).get("smoothing", 0.0)
    logits, attentions = twins.forward(
        model.eval(),
        kind,
        first.get("ids"),
        first.get("pad"),
        first.get("picks"),
        attentions=True,
        source=first.get("src"),
        picture=first.get("picture"),
    )
    twins.loss_of(model.train(), kind, first, smoothing).backward()
    twins.load(model, kind, layers(kind), start)  # running statistics as they were
    out = {"logits": logits, **{f"a.{i}": a for i, a in by_path(attentions)}}
    if kind == "gpt-llama":
        out["cached"] = twins.cached(model.eval(), first["ids"][0], 4)
    if kind == "mlm":
        types = (torch.arange(BLOCK) >= BLOCK // 2).long().expand(ROWS, BLOCK)
        out["pair"] = twins.forward(model, kind, first["ids"], first["pad"], types=types)[0]
    grads = {n: p.grad for n, p in model.named_parameters()}
    out = {k: v.detach().numpy().astype(np.float64) for k, v in out.items()}
    out.update(
        {
            f"g.{k}": v.astype(np.float64)
            for k, v in twins.to_heed(kind, layers(kind), grads).items()
        }
    )
    optimizer, losses = twins.adamw(model, LR, DECAY), []
    for i in range(STEPS):
        optimizer.zero_grad()
        loss = twins.loss_of(model, kind, twins.batch_of(data, i, dtype), smoothing)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    state = {
        f"e.{n}": b.numpy().astype(np.float64) for n, b in every(model).items() if "running" in n
    }
    return {**out, **state, "losses": np.array(losses)}


for kind in sys.argv[1:] or SHAPE:
    start, data = weights(kind), batches(kind)
    exact, rough = (train(kind, start, data, t) for t in (torch.float64, torch.float32))
    own = ("share", "source_vocab", "said", "cells", "attention")
    settings = {k.replace("_", "-"): v for k, v in SHAPE[kind].items() if k not in own}
    settings = {**settings, **SETTINGS.get(kind, {}), "lr": LR, "decay": DECAY}
    meta = {f"{k}.drift": f"{np.abs(v - rough[k]).max():.2e}" for k, v in exact.items()}
    meta.update({k: str(v) for k, v in settings.items()})
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), kind + ".safetensors")
    stored = {k: v.astype(np.float32) if k.startswith("g.") else v for k, v in exact.items()}
    arrays = {**{f"w.{k}": v for k, v in start.items()}, **data, **stored}
    save(path, arrays, {"format": "pt", **meta})
    print(
        f"{path}: losses {exact['losses'][0]:.6f} .. {exact['losses'][-1]:.6f}, float32 off by "
        f"{np.abs(rough['losses'] / exact['losses'] - 1).max():.1e} relative at most"
    )
