#!/usr/bin/env python3
"""Makes mlm.safetensors and gpt.safetensors: models/mlm.c and models/gpt.c against BERT and GPT-2.

    python3 tests/golden/make_models.py

Each file holds, for a tiny model: w.PARAM, the initial weights under heed's names (F32); ids,
pad, picks, labels of 20 batches (I32); and, computed in float64: losses of 20 AdamW steps, and of
the initial model on the first batch logits, g.PARAM (gradients), a.LAYER (attention weights), and
pair: mlm's logits of all positions when the second half of each row is the second of a pair.
Metadata: the settings."""

import os

import numpy as np
import torch

import twins
from golden import random, save

STEPS, ROWS, BLOCK, VOCAB = 20, 4, 12, 37
SHAPE = dict(vocab=VOCAB, width=24, layers=2, heads=3, ff=40, block=BLOCK)
LR, DECAY = 3e-3, 0.1


def weights(kind):
    """Larger than the models' own initial ones: attention is far from even, no term is small."""
    model = twins.build(kind, **SHAPE, dtype=torch.float32)
    shapes = twins.to_heed(
        kind, SHAPE["layers"], {n: p.detach() for n, p in model.named_parameters()}
    )
    out = {}
    for name, a in shapes.items():
        x = random(f"{kind}/{name}").normal(size=a.shape) * (0.3 if a.ndim > 1 else 0.1)
        out[name] = (x + (1 if "norm" in name and name.endswith("weight") else 0)).astype(
            np.float32
        )
    return out


def batches(kind):
    """Rows of several lengths, padded at the end; five positions a batch carry mlm's loss."""
    r = random(kind + "/batches")
    ids = r.integers(5, VOCAB, (STEPS, ROWS, BLOCK)).astype(np.int32)
    lengths = r.integers(4, BLOCK + 1, (STEPS, ROWS, 1))
    lengths[:, 0] = BLOCK
    pad = (np.arange(BLOCK) < lengths).astype(np.int32)
    if kind == "gpt":
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


def train(kind, start, data, dtype):
    model = twins.build(kind, **SHAPE, dtype=dtype)
    twins.load(model, kind, SHAPE["layers"], start)
    first = twins.batch_of(data, 0)
    logits, attentions = twins.forward(
        model, kind, first["ids"], first.get("pad"), first.get("picks"), attentions=True
    )
    twins.loss_of(model, kind, first).backward()
    out = {"logits": logits, **{f"a.{i}": a for i, a in enumerate(attentions)}}
    if kind == "mlm":
        types = (torch.arange(BLOCK) >= BLOCK // 2).long().expand(ROWS, BLOCK)
        out["pair"] = twins.forward(model, kind, first["ids"], first["pad"], types=types)[0]
    grads = {n: p.grad for n, p in model.named_parameters()}
    out = {k: v.detach().numpy().astype(np.float64) for k, v in out.items()}
    out.update(
        {
            f"g.{k}": v.astype(np.float64)
            for k, v in twins.to_heed(kind, SHAPE["layers"], grads).items()
        }
    )
    optimizer, losses = twins.adamw(model, LR, DECAY), []
    for i in range(STEPS):
        optimizer.zero_grad()
        loss = twins.loss_of(model, kind, twins.batch_of(data, i))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return {**out, "losses": np.array(losses)}


for kind in ("mlm", "gpt"):
    start, data = weights(kind), batches(kind)
    exact, rough = (train(kind, start, data, t) for t in (torch.float64, torch.float32))
    meta = {f"{k}.drift": f"{np.abs(v - rough[k]).max():.2e}" for k, v in exact.items()}
    meta.update({k: str(v) for k, v in {**SHAPE, "lr": LR, "decay": DECAY}.items()})
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), kind + ".safetensors")
    stored = {k: v.astype(np.float32) if k.startswith("g.") else v for k, v in exact.items()}
    every = {**{f"w.{k}": v for k, v in start.items()}, **data, **stored}
    save(path, every, {"format": "pt", **meta})
    print(
        f"{path}: losses {exact['losses'][0]:.6f} .. {exact['losses'][-1]:.6f}, float32 off by "
        f"{np.abs(rough['losses'] / exact['losses'] - 1).max():.1e} relative at most"
    )
