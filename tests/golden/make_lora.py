#!/usr/bin/env python3
"""Makes lora.safetensors: 20 AdamW steps of LoRA on the GPT-2 of gpt.safetensors, whose weights,
batches and settings it takes. The weights are frozen; of each c_attn the columns of queries and
values get scale B A, written by hand (Hu et al. 2022, eq. 3). Arrays: w.ENTRY and e.ENTRY, the
adapters before and after, by heed's names; losses. Metadata: rank, alpha, lr, decay, drifts.

python3 tests/golden/make_models.py gpt && python3 tests/golden/make_lora.py
"""

import os

import numpy as np
import torch
from safetensors import safe_open
from safetensors.numpy import save_file
from torch.nn.utils import parametrize

import twins
from golden import random

RANK, ALPHA, LR, DECAY = 3, 6.0, 1e-2, 0.1
SHAPE = dict(vocab=0, width=0, layers=0, heads=0, ff=0, block=0)
here = os.path.dirname(os.path.abspath(__file__))


class Adapted(torch.nn.Module):
    """A stacked weight (in, 3 in), as GPT-2 has it, plus scale (B A)' on its parts q and v."""

    def __init__(self, start, dtype):
        super().__init__()
        self.part = torch.nn.ParameterDict(
            {n: torch.nn.Parameter(torch.tensor(x, dtype=dtype)) for n, x in start.items()}
        )

    def forward(self, w):
        q, v = (ALPHA / RANK * (self.part[p + "_b"] @ self.part[p + "_a"]).T for p in "qv")
        return w + torch.cat([q, torch.zeros_like(q), v], 1)


def adapters(layer, width):
    """Neither A nor B is zero, so that both have gradients from the first step on."""
    r = random(f"lora.{layer}")
    shape = {"a": (RANK, width), "b": (width, RANK)}
    return {
        f"{p}_{m}": r.uniform(-0.3, 0.3, shape[m]).astype(np.float32) for p in "qv" for m in "ab"
    }


def train(shape, start, data, lora, dtype):
    model = twins.build("gpt", **shape, dtype=dtype)
    twins.load(model, "gpt", shape["layers"], start)
    model.requires_grad_(False)
    added = []
    for layer, block in enumerate(model.transformer.h):
        added.append(Adapted(lora[layer], dtype))
        parametrize.register_parametrization(block.attn.c_attn, "weight", added[-1])
    parts = [p for a in added for p in a.part.values()]
    optimizer = torch.optim.AdamW(parts, lr=LR, weight_decay=DECAY, betas=(0.9, 0.999), eps=1e-8)
    losses = []
    for i in range(len(data["ids"])):
        optimizer.zero_grad()
        loss = twins.loss_of(model, "gpt", twins.batch_of(data, i, dtype))
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    out = {"losses": np.array(losses)}
    for layer, a in enumerate(added):
        out.update({f"e.{name(layer, n)}": p.detach().numpy() for n, p in a.part.items()})
    return out


def name(layer, part):
    return f"decoder.{layer}.attn.qkv.weight.lora_{part[0]}.{part[2]}"


with safe_open(os.path.join(here, "gpt.safetensors"), "np") as f:
    shape = {k: int(f.metadata()[k]) for k in SHAPE}
    start = {k[2:]: f.get_tensor(k) for k in f.keys() if k.startswith("w.")}
    data = {k: f.get_tensor(k) for k in ("ids", "labels")}
lora = [adapters(i, shape["width"]) for i in range(shape["layers"])]
exact, rough = (train(shape, start, data, lora, t) for t in (torch.float64, torch.float32))
arrays = {f"w.{name(i, n)}": x for i, a in enumerate(lora) for n, x in a.items()}
arrays.update({k: v.astype(np.float64) for k, v in exact.items()})
meta = {f"{k}.drift": f"{np.abs(v - rough[k]).max():.2e}" for k, v in exact.items()}
meta.update({"rank": str(RANK), "alpha": str(ALPHA), "lr": str(LR), "decay": str(DECAY)})
save_file(arrays, os.path.join(here, "lora.safetensors"), {"format": "pt", **meta})
print(f"losses {exact['losses'][0]:.6f} .. {exact['losses'][-1]:.6f}")
