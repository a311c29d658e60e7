#!/usr/bin/env python3
"""Trains the PyTorch twin of a heed run from the same initial weights on the same batches, and
compares loss curves.

    python3 tests/parity/twin.py RUN DUMP.safetensors [--bar 0.01] [--csv FILE]

RUN was trained with --log-every 1 (its metrics.csv then holds loss and learning rate of every
step); DUMP is what tests/parity/dump.c wrote of it: initial weights and batches. README.md in
this folder has the commands. Exits 1 if the smoothed curves differ by more than the bar anywhere.
"""

import argparse
import csv
import os
import sys

import numpy as np
import torch
from safetensors.numpy import load_file

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import twins

# what the twins are made of; a run with other settings has no twin here
FIXED = {
    "mlm": {
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
        "norm": "pre",
        "activation": "gelu-tanh",
        "token-types": "0",
        "embed-norm": "false",
        "head-bias": "false",
        "final-norm": "true",
    },
}
BOTH = {
    "positions": "learned",
    "dropout": "0",
    "tie": "true",
    "hard": "false",
    "key-width": "0",
    "value-width": "0",
    "beta": "-1",
    "attn-out": "true",
    "optimizer": "adamw",
    "accumulate": "1",
}


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


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("run")
    p.add_argument("dump")
    p.add_argument(
        "--bar", type=float, default=0.01, help="largest relative difference of the smoothed curves"
    )
    p.add_argument("--csv", help="write both curves here")
    a = p.parse_args()
    config, arrays = read_config(os.path.join(a.run, "config.conf")), load_file(a.dump)
    kind = "mlm" if "picks" in arrays else "gpt"
    for key, value in {**FIXED[kind], **BOTH}.items():
        if config.get(key, value) != value:
            sys.exit(f"no twin for {key} = {config[key]}: expected {value}")
    theirs, rates = read_metrics(os.path.join(a.run, "metrics.csv"))

    rows, length = arrays.pop("shape")[0].astype(int)
    data = {k: arrays.pop(k) for k in ("ids", "pad", "picks", "labels") if k in arrays}
    for k in set(data) - {"picks"} - ({"labels"} if kind == "mlm" else set()):
        data[k] = data[k].reshape(len(data[k]), rows, length)
    weights = {k.removeprefix("w."): v for k, v in arrays.items()}
    layers = int(config["layers"])
    width = weights["embed.token.weight"].shape[1]
    model = twins.build(
        kind,
        vocab=weights["embed.token.weight"].shape[0],
        width=width,
        layers=layers,
        heads=int(config["heads"]),
        ff=int(config["ff"]) or 4 * width,
        block=weights["embed.position.weight"].shape[0],
        dtype=torch.float32,
    )
    twins.load(model, kind, layers, weights)
    optimizer = twins.adamw(
        model,
        1.0,
        float(config["decay"]),
        (float(config["beta1"]), float(config["beta2"])),
        float(config["eps"]),
    )
    clip, losses = float(config["clip"]), []
    for i in range(min(len(theirs), len(data["ids"]))):
        batch = twins.batch_of(data, i)
        if kind == "mlm":  # places without a pick hold -1
            keep = batch["picks"] >= 0
            batch["picks"], batch["labels"] = batch["picks"][keep], batch["labels"][keep]
        optimizer.zero_grad()
        loss = twins.loss_of(model, kind, batch)
        loss.backward()
        if clip > 0:
            torch.nn.utils.clip_grad_norm_(model.parameters(), clip)
        for g in optimizer.param_groups:
            g["lr"] = rates[i]
        optimizer.step()
        losses.append(loss.item())

    twin, run = np.array(losses), theirs[: len(losses)]
    raw, fine = np.abs(run / twin - 1), np.abs(smooth(run) / smooth(twin) - 1)
    print(f"{'step':>6} {'heed':>10} {'torch':>10} {'difference':>11}")
    for i in sorted(
        {0, 1, 2, 5, 10, 20, 50, *range(99, len(twin), 100), len(twin) - 1} & set(range(len(twin)))
    ):
        print(f"{i + 1:6} {run[i]:10.6f} {twin[i]:10.6f} {run[i] / twin[i] - 1:+11.2e}")
    print(
        f"{len(twin)} steps: largest relative difference {raw.max():.2e} "
        f"(step {raw.argmax() + 1}), smoothed {fine.max():.2e} (step {fine.argmax() + 1}); "
        f"bar {a.bar:g} on the smoothed curves"
    )
    if a.csv:
        np.savetxt(
            a.csv,
            np.stack([np.arange(1, len(twin) + 1), run, twin], 1),
            fmt="%.9g",
            delimiter=",",
            header="step,heed,torch",
            comments="",
        )
    return bool(fine.max() > a.bar)


if __name__ == "__main__":
    sys.exit(main())
