"""ONNX files of tests/parity/onnx.c in onnxruntime, against heed's own numbers: the checker, and for
three sizes of batch and text the largest difference of logits and attention, relative to the
largest value. Exits 1 above 1e-5.

    make parity && mkdir -p /tmp/onnx && build/release/parity-onnx /tmp/onnx
    python3 tests/parity/onnx_check.py /tmp/onnx
"""
import glob
import os
import sys

import numpy as np
import onnx
import onnxruntime
from safetensors.numpy import load_file

BAR = 1e-5
onnxruntime.set_default_logger_severity(3)


def session_of(path):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])


def same_weights(model, expected):
    """Initializers named as parameters have their values; returns how many."""
    count = 0
    for x in model.graph.initializer:
        if "w." + x.name in expected:
            if not np.array_equal(onnx.numpy_helper.to_array(x), expected["w." + x.name]):
                raise ValueError("another value: " + x.name)
            count += 1
    return count


def feeds_of(session, values):
    feeds = {}
    for x in session.get_inputs():
        if x.name in values:
            y = values[x.name]
            feeds[x.name] = y.astype(np.int64) if "int64" in x.type else y.astype(np.float32)
    return feeds


def empty_cache(session, batch):
    size = {"batch": batch, "past": 0}
    return {x.name: np.zeros([size.get(d, d) for d in x.shape], np.float32)
            for x in session.get_inputs() if x.name.endswith(".past")}


def run(session, values):
    """All outputs. With a cache: the tokens one, two, ... at a time, each after those before."""
    feeds, names = feeds_of(session, values), [x.name for x in session.get_outputs()]
    batch = next(iter(feeds.values())).shape[0]
    cache = empty_cache(session, batch)
    if not cache:
        return dict(zip(names, session.run(names, feeds)))
    at, size, logits, rows = 0, 1, [], {}
    length = feeds["ids"].shape[1]
    while at < length:
        out = dict(zip(names, session.run(names, {"ids": feeds["ids"][:, at:at + size], **cache})))
        logits.append(out["logits"])
        for name, y in out.items():
            if name.endswith(".weights"):
                room = np.zeros(y.shape[:-1] + (length - y.shape[-1],), y.dtype)
                rows.setdefault(name, []).append(np.concatenate([y, room], -1))
        cache = {name: out[name[:-5]] for name in cache}
        at, size = at + size, size + 1
    return {"logits": np.concatenate(logits, 1),
            **{name: np.concatenate(y, -2) for name, y in rows.items()}}


def error(got, wanted):
    if got.shape != wanted.shape:
        raise ValueError(f"shape {got.shape}, not {wanted.shape}")
    return np.abs(got.astype(float) - wanted).max() / max(np.abs(wanted).max(), 1e-30)


def check(path):
    model, expected = onnx.load(path), load_file(path[:-5] + ".safetensors")
    onnx.checker.check_model(model, full_check=True)
    weights, session = same_weights(model, expected), session_of(path)
    logits = attention = 0.0
    layers = set()
    for k in "012":
        values = {n[2:]: x for n, x in expected.items() if n.startswith(k + ".")}
        out = run(session, values)
        logits = max(logits, error(out["logits"], values["logits"]))
        for name, x in values.items():
            if name.endswith(".weights"):
                layers.add(name)
                attention = max(attention, error(out[name], x))
    return len(model.graph.node), weights, len(layers), logits, attention


def main():
    bad, rows = 0, sorted(glob.glob(os.path.join(sys.argv[1], "*.onnx")))
    print(f"{'model':28}{'nodes':>6}{'weights':>8}{'layers':>7}{'logits':>9}{'attention':>10}")
    for path in rows:
        name = os.path.basename(path)[:-5]
        try:
            nodes, weights, layers, logits, attention = check(path)
            wrong = not max(logits, attention) <= BAR
            print(f"{name:28}{nodes:6}{weights:8}{layers:7}{logits:9.1e}{attention:10.1e}"
                  + (" WRONG" if wrong else ""))
        except Exception as why:  # the other files are checked, too
            wrong = True
            print(f"{name:28} {type(why).__name__}: {str(why)[:1500]}")
        bad += wrong
    print(f"{len(rows)} graphs, {bad} wrong")
    return bad > 0 or not rows


sys.exit(main())
