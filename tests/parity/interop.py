#!/usr/bin/env python3
"""A BertForMaskedLM or GPT2LMHeadModel checkpoint through heed's mlm or gpt, and its known outputs.

    python3 tests/parity/interop.py FOLDER [--forward build/release/parity-forward]

FOLDER: config.json, model.safetensors, in_input_ids.npy, in_attention_mask.npy and
in_token_type_ids.npy (BERT), and the expected out_logits.npy and out_attentions.npy
(layers,B,heads,T,T). Bars: logits 1e-4, attention 1e-5."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

import numpy as np
from safetensors.numpy import load_file, save_file

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
import twins


def settings(kind, c):
    if kind == "mlm":
        return {
            "layers": c["num_hidden_layers"],
            "heads": c["num_attention_heads"],
            "width": c["hidden_size"],
            "ff": c["intermediate_size"],
            "block": c["max_position_embeddings"],
            "vocab": c["vocab_size"],
            "token-types": c["type_vocab_size"],
            "norm-eps": c["layer_norm_eps"],
        }
    return {
        "layers": c["n_layer"],
        "heads": c["n_head"],
        "width": c["n_embd"],
        "ff": c["n_inner"] or 4 * c["n_embd"],
        "block": c["n_positions"],
        "vocab": c["vocab_size"],
        "norm-eps": c["layer_norm_epsilon"],
    }


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("folder")
    p.add_argument("--forward", default="build/release/parity-forward")
    a = p.parse_args()
    path = lambda name: os.path.join(a.folder, name)
    with open(path("config.json")) as f:
        config = json.load(f)
    kind = {"bert": "mlm", "gpt2": "gpt"}[config["model_type"]]
    chosen = settings(kind, config)
    arrays = twins.to_heed(kind, chosen["layers"], load_file(path("model.safetensors")))
    given = {f"w.{k}": v for k, v in arrays.items()}
    for ours, theirs in {
        "ids": "input_ids",
        "pad": "attention_mask",
        "types": "token_type_ids",
    }.items():
        if os.path.exists(path(f"in_{theirs}.npy")):
            given[ours] = np.load(path(f"in_{theirs}.npy")).astype(np.int32)
    with tempfile.TemporaryDirectory() as t:
        i, o = os.path.join(t, "in.safetensors"), os.path.join(t, "out.safetensors")
        save_file(given, i, metadata={k: str(v) for k, v in chosen.items()})
        subprocess.run([a.forward, kind, i, o], check=True)
        out = load_file(o)
    seen = given["pad"].astype(bool) if "pad" in given else np.ones(given["ids"].shape, bool)
    logits = np.abs(out["logits"] - np.load(path("out_logits.npy")))[seen].max()
    weights = np.stack([out[f"weights.{i}"] for i in range(chosen["layers"])])
    off = (
        np.abs(weights - np.load(path("out_attentions.npy")))
        .transpose(0, 1, 3, 2, 4)[:, seen]
        .max()
    )
    print(
        f"{a.folder}: logits within {logits:.1e} (bar 1e-4), attention within {off:.1e} (bar 1e-5)"
    )
    return bool(logits > 1e-4 or off > 1e-5)


if __name__ == "__main__":
    sys.exit(main())
