#!/usr/bin/env python3
"""Trains the PyTorch twin of a heed run from the same initial weights on the same batches, and
compares loss curves; of pictures and pairs of texts also what both are worth after it.

    python3 tests/parity/twin.py RUN DUMP.safetensors [--bar 0.01] [--double] [--csv FILE]

RUN was trained with --log-every 1 (its metrics.csv then holds loss and learning rate of every
step); DUMP is what tests/parity/dump.c wrote of it: initial weights and batches. README.md in
this folder has the commands. Exits 1 if the smoothed curves differ by more than the bar anywhere.
--double trains the twin in float64 once more: how far PyTorch is from itself by rounding alone.
"""

import argparse
import csv
import os
import sys

import numpy as np
import torch
from safetensors.numpy import load_file

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import judge
import twins

# what the twins are made of; a run with other settings has no twin here
BLOCKS = {
    "hard": "false",
    "key-width": "0",
    "value-width": "0",
    "beta": "-1",
    "attn-out": "true",
}
TEXT = {**BLOCKS, "positions": "learned", "tie": "true"}
PAIR = {"share-vocab": "true"}
FIXED = {
    "mlm": {
        **TEXT,
        "norm": "post",
        "activation": "gelu",
        "token-types": "2",
        "embed-norm": "true",
        "transform-head": "true",
        "head-bias": "true",
        "final-norm": "false",
        "bias": "true",
    },
    "gpt": {
        **TEXT,
        "norm": "pre",
        "activation": "gelu-tanh",
        "token-types": "0",
        "embed-norm": "false",
        "head-bias": "false",
        "final-norm": "true",
    },
    "vit": {
        **BLOCKS,
        "head": "softmax",
        "pool": "cls",
        "positions": "learned",
        "norm": "pre",
        "norm-eps": "1e-12",
        "activation": "gelu",
        "final-norm": "true",
        "bias": "true",
    },
    "cnn": {"head": "softmax", "batch-norm": "true", "residual": "true"},
    "seq2seq": {
        **BLOCKS,
        **PAIR,
        "norm": "post",
        "norm-eps": "1e-5",
        "activation": "relu",
        "positions": "sinusoidal",
        "scale-embed": "true",
        "tie": "true",
        "head-bias": "false",
        "decoder-layers": "0",
        "bias": "true",
    },
    "rnn": {
        **PAIR,
        "cell": "gru",
        "layers": "1",
        "bidirectional": "true",
        "bridge": "dense",
        "attention": "additive",
        "attention-width": "0",
        "attention-biases": "false",
        "key-width": "0",
        "value-width": "0",
    },
}
EVERY = {"dropout": "0", "optimizer": "adamw", "accumulate": "1"}
# arrays of a batch that are (rows,len), and those that are (rows,src_len)
CELLS, SOURCE = ("ids", "pad", "labels"), ("src", "src_pad")


def read_config(path):
    out = {}
    with open(path) as f:
        for line in f:
            key, equals, value = line.split(" #")[0].partition("=")
            if equals and not line.startswith("#"):
                out[key.strip()] = value.strip().strip('"')
    return out


def read_metrics(path):
    """Loss and learning rate of every training step, by number of the update."""
    with open(path) as f:
        rows = [r for r in csv.DictReader(f) if r["split"] == "train"]
    steps = [int(r["step"]) for r in rows]
    if steps != list(range(steps[0], steps[0] + len(steps))):
        sys.exit(f"{path} does not hold every step: train with --log-every 1")
    return np.array([float(r["loss"]) for r in rows]), np.array([float(r["lr"]) for r in rows])


def smooth(x, share=0.9):
    """Exponential mean, corrected for its start."""
    y, total, out = 0.0, 0.0, []
    for v in x:
        y, total = share * y + (1 - share) * v, share * total + 1 - share
        out.append(y / total)
    return np.array(out)


def split(arrays):
    """What dump.c wrote -> weights, and the arrays of each part: "", "val", "test"."""
    weights, parts = {}, {}
    for name, x in arrays.items():
        part, dot, rest = name.partition(".")
        if part == "w":
            weights[rest] = x
        else:
            parts.setdefault(part if dot else "", {})[rest if dot else name] = x
    return weights, parts


def batches(kind, arrays, config):
    """The batches of a part, as twins.loss_of takes them."""
    size, channels = int(config.get("image-size", 0)), int(config.get("channels", 0))
    for i, (rows, length, source) in enumerate(arrays["shape"].astype(int)):
        batch = {}
        for name, x in arrays.items():
            x = x[i]
            if name == "x":
                x = x[: rows * length].reshape(rows, size, size, channels)
                batch["ids"] = torch.tensor(x).permute(0, 3, 1, 2)
                continue
            if name in SOURCE:
                x = x[: rows * source].reshape(rows, source)
            elif name in CELLS and "x" in arrays:
                x = x[:rows]
            elif name in CELLS and (kind != "mlm" or name != "labels"):
                x = x[: rows * length].reshape(rows, length)
            batch[name] = torch.tensor(x.astype(np.int64))
        if kind == "mlm":  # places without a pick hold -1
            keep = batch["picks"] >= 0
            batch["picks"], batch["labels"] = batch["picks"][keep], batch["labels"][keep]
        if kind in twins.PAIRS:  # the target's padding stands behind what is read
            batch["pad"] = batch.pop("src_pad")
        yield batch


def build(kind, config, weights, dtype=torch.float32):
    """The twin with the run's initial weights."""
    model = build_shape(kind, config, weights, dtype)
    twins.load(model, kind, int(config.get("layers", 0)), weights)
    return model.to(dtype)


def build_shape(kind, config, weights, dtype):
    number = lambda key: int(config[key])
    if kind == "cnn":
        keys = ("channels", "width", "stages", "blocks", "classes")
        return twins.build(kind, dtype=dtype, **{k: number(k) for k in keys})
    width = number("width")
    stack = {}
    if kind != "rnn":
        stack = {"layers": number("layers"), "heads": number("heads")}
        stack["ff"] = number("ff") or 4 * width
    if kind == "vit":
        patch = weights["embed.patch.weight"].shape[-1]
        shape = {"size": number("image-size"), "patch": patch}
        shape.update({k: number(k) for k in ("channels", "classes")})
    else:
        shape = {"vocab": weights["embed.token.weight"].shape[0]}
    if kind in twins.PAIRS:
        shape.update(source_vocab=shape["vocab"], share=True)
    if kind not in ("vit", "rnn"):
        shape["block"] = number("block")
    if kind in ("mlm", "gpt"):
        shape["block"] = weights["embed.position.weight"].shape[0]
    return twins.build(kind, dtype=dtype, width=width, **stack, **shape)


def train(model, kind, config, data, rates):
    number = lambda key: float(config[key])
    betas = (number("beta1"), number("beta2"))
    optimizer = twins.adamw(model, 1.0, number("decay"), betas, number("eps"))
    clip, smoothing, losses = number("clip"), float(config.get("smoothing", 0)), []
    dtype = next(model.parameters()).dtype
    for batch, rate in zip(data, rates):
        if batch["ids"].is_floating_point():
            batch["ids"] = batch["ids"].to(dtype)
        optimizer.zero_grad()
        loss = twins.loss_of(model, kind, batch, smoothing)
        loss.backward()
        if clip > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        for g in optimizer.param_groups:
            g["lr"] = rate
        optimizer.step()
        losses.append(loss.item())
    return np.array(losses)


def apart(a, b):
    """Relative differences of two curves, raw and smoothed, and in words."""
    raw, fine = np.abs(a / b - 1), np.abs(smooth(a) / smooth(b) - 1)
    words = (
        f"largest relative difference {raw.max():.2e} (step {raw.argmax() + 1}), "
        f"smoothed {fine.max():.2e} (step {fine.argmax() + 1})"
    )
    return raw, fine, words


def compare(run, twin, bar):
    """Prints both curves; true if the smoothed ones are apart by more than the bar."""
    _, fine, words = apart(run, twin)
    print(f"{'step':>6} {'heed':>10} {'torch':>10} {'difference':>11}")
    for i in sorted(
        {0, 1, 2, 5, 10, 20, 50, *range(99, len(twin), 100), len(twin) - 1} & set(range(len(twin)))
    ):
        print(f"{i + 1:6} {run[i]:10.6f} {twin[i]:10.6f} {run[i] / twin[i] - 1:+11.2e}")
    print(f"{len(twin)} steps: {words}; bar {bar:g} on the smoothed curves")
    return bool(fine.max() > bar)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("run")
    p.add_argument("dump")
    p.add_argument(
        "--bar", type=float, default=0.01, help="largest relative difference of the smoothed curves"
    )
    p.add_argument("--double", action="store_true", help="the twin against itself in float64")
    p.add_argument("--csv", help="write both curves here")
    p.add_argument("--heed", default="./heed", help="the program, for what it translates")
    a = p.parse_args()
    config = read_config(os.path.join(a.run, "config.conf"))
    kind = config["task"]
    for key, value in {**FIXED[kind], **EVERY}.items():
        if config.get(key, value) != value:
            sys.exit(f"no twin for {key} = {config[key]}: expected {value}")
    theirs, rates = read_metrics(os.path.join(a.run, "metrics.csv"))
    weights, parts = split(load_file(a.dump))
    model = build(kind, config, weights)
    twin = train(model, kind, config, batches(kind, parts[""], config), rates)
    run = theirs[: len(twin)]
    over = compare(run, twin, a.bar)
    if a.double:
        other = build(kind, config, weights, torch.float64)
        other = train(other, kind, config, batches(kind, parts[""], config), rates)
        print(f"torch in float32 and float64: {apart(twin, other)[2]}", flush=True)
    model.eval()
    judged = {part: list(batches(kind, x, config)) for part, x in parts.items() if part}
    if len(twin) == len(theirs) and kind in ("vit", "cnn"):
        judge.pictures(model, kind, judged, a.run)
    if len(twin) == len(theirs) and kind in twins.PAIRS:
        judge.pairs(model, judged["val"], a.run, a.heed, int(config["block"]))
    if a.csv:
        np.savetxt(
            a.csv,
            np.stack([np.arange(1, len(twin) + 1), run, twin], 1),
            fmt="%.9g",
            delimiter=",",
            header="step,heed,torch",
            comments="",
        )
    return over


if __name__ == "__main__":
    sys.exit(main())
