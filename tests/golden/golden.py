"""Writes golden files: cases computed by PyTorch in float64, which tests/ops/test_golden.c reads.

A case NAME is a set of tensors of one safetensors file:
  NAME/in0 ...      inputs: F32 (the double build reads the same numbers), I32 for indices and masks
  NAME/p.PARAM      parameters of a layer, under the names of heed's store
  NAME/gy           upstream gradient, F32
  NAME/y            expected value, F64;  NAME/g0 ... NAME/g.PARAM its gradients
  NAME/x.VALUE      another expected value: what a probe keeps, statistics after the step
  NAME/d.VALUE      the gradient of what a probe keeps
and one entry of the metadata, NAME: "OP key=value ...". The keys are the op's arguments and, per
expected array, "ARRAY.drift": how far PyTorch's own float32 result lies from its float64 one, at
most, anywhere in the array.
"""

import json
import os
import zlib

# PyTorch and its libraries choose their paths, and so the last bits, by the processor. These are
# the same wherever there is fused multiply-add, which the C library's functions make use of.
os.environ.update(ATEN_CPU_CAPABILITY="default", MKL_CBWR="COMPATIBLE")

import numpy as np
import torch
from transformers.models.llama.modeling_llama import apply_rotary_pos_emb

torch.set_num_threads(1)
torch.backends.mkldnn.enabled = False


def load(path):
    """The arrays of a safetensors file."""
    kinds = {"F64": np.float64, "F32": np.float32, "I32": np.int32}
    with open(path, "rb") as f:
        header = json.loads(f.read(int.from_bytes(f.read(8), "little")))
        blobs = f.read()
    header.pop("__metadata__", None)
    return {
        name: np.frombuffer(blobs[slice(*a["data_offsets"])], kinds[a["dtype"]]).reshape(a["shape"])
        for name, a in header.items()
    }


def compare(path, tensors):
    """Prints what is new of arrays beside those that the file holds, and how far others are off."""
    old = load(path) if os.path.exists(path) else {}
    same = [n for n in tensors if n in old and old[n].shape == tensors[n].shape]
    off = [
        np.abs(old[n] - tensors[n]).max() / max(np.abs(old[n]).max(), 1e-6)
        for n in same
        if not np.array_equal(old[n], tensors[n])
    ]
    print(
        f"{path}: {len(tensors) - len(same)} arrays new, {len(set(old) - set(tensors))} gone, "
        f"{len(off)} of {len(same)} others differ, by {max(off, default=0):.1e} of their largest "
        "value at most"
    )


def save(path, tensors, meta):
    """A safetensors file whose bytes depend on its contents alone."""
    kinds = {"float64": "F64", "float32": "F32", "int32": "I32"}
    compare(path, tensors)
    header, blobs, at = {"__metadata__": dict(sorted(meta.items()))}, [], 0
    for name in sorted(tensors, key=lambda n: (-tensors[n].itemsize, n)):
        a = tensors[name]
        blobs.append(a.tobytes())
        span = [at, at + a.nbytes]
        at = span[1]
        header[name] = {"dtype": kinds[a.dtype.name], "shape": a.shape, "data_offsets": span}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as f:
        f.write(len(text).to_bytes(8, "little") + text + b"".join(blobs))


def random(name):
    """A generator whose numbers depend on the name alone, so that a new case changes no other."""
    return np.random.default_rng(zlib.crc32(name.encode()))


def as_torch(array, dtype):
    if array is None:
        return None
    if array.dtype == np.int32:
        return torch.tensor(array.astype(np.int64))
    return torch.tensor(array.astype(np.float64)).to(dtype)


def evaluate(f, inputs, params, gy, alias, dtype):
    """Value, gradients and extra values of f at one precision, as a dict of float64 arrays."""
    x = [as_torch(a, dtype) for a in inputs]
    p = {k: as_torch(a, dtype) for k, a in params.items()}
    leaves = {f"g{i}": a for i, a in enumerate(x) if a is not None and a.is_floating_point()}
    leaves.update(
        {f"g.{k}": a for k, a in p.items() if not k.endswith(("running_mean", "running_var"))}
    )
    if gy is not None:
        for a in leaves.values():
            a.requires_grad_(True)
    x = [x[i] for i in alias] if alias else x
    result = f(*x, **({"p": p} if params else {}))
    y, extra = result if isinstance(result, tuple) else (result, {})
    if gy is not None:
        for k, v in extra.items():
            if k.endswith(("scores", "weights")):
                v.retain_grad()
    out = {"y": y, **{f"x.{k}": v for k, v in extra.items()}}
    if gy is not None:
        y.backward(as_torch(gy, dtype).reshape(y.shape))
        out.update({f"d.{k}": v.grad for k, v in extra.items() if v.grad is not None})
        out.update(
            {k: a.grad if a.grad is not None else torch.zeros_like(a) for k, a in leaves.items()}
        )
    return {k: v.detach().to(torch.float64).numpy() for k, v in out.items()}


class File:
    def __init__(self):
        self.tensors, self.meta = {}, {"format": "pt"}

    def case(
        self, name, op, inputs, f, params=None, eval_only=False, alias=None, ungraded=(), **args
    ):
        """Adds a case. inputs: None where absent. ungraded: inputs that get no gradient."""
        assert name not in self.meta, name
        params = params or {}
        shape = evaluate(f, inputs, params, None, alias, torch.float64)["y"].shape
        gy = None if eval_only else random(name + "/gy").uniform(-1, 1, shape).astype(np.float32)
        exact = evaluate(f, inputs, params, gy, alias, torch.float64)
        rough = evaluate(f, inputs, params, gy, alias, torch.float32)
        for i in ungraded:
            exact.pop(f"g{i}", None)
        for k, v in exact.items():
            assert np.isfinite(v).all(), f"{name}/{k} is not finite"
            args[f"{k}.drift"] = f"{np.abs(v - rough[k]).max() if v.size else 0:.2e}"
        if eval_only:
            args["eval"] = 1
        if alias:
            args["alias"] = list(alias)
        self.meta[name] = op + "".join(f" {k}={text(v)}" for k, v in args.items())
        given = {
            **{f"in{i}": a for i, a in enumerate(inputs) if a is not None},
            **{f"p.{k}": a for k, a in params.items()},
            **({} if gy is None else {"gy": gy}),
        }
        for k, v in {**given, **exact}.items():
            self.tensors[f"{name}/{k}"] = np.array(v, order="C")  # a scalar stays one

    def write(self, path):
        save(path, self.tensors, self.meta)
        print(
            f"{path}: {len(self.meta) - 1} cases, "
            f"{sum(t.nbytes for t in self.tensors.values())} bytes of numbers"
        )


def text(v):
    if isinstance(v, (list, tuple)):
        return ",".join(str(i) for i in v)
    if isinstance(v, bool):
        return str(int(v))
    return str(v)


# ---------------------------------------------------------------- formulas that PyTorch lacks
def masked_softmax(x, beta=1.0, mask=None):
    """softmax(beta x) over the unmasked entries of the last dim; a row without any is zeros."""
    if mask is None:
        return torch.softmax(beta * x, -1)
    mask = (mask != 0).expand(x.shape)
    some = mask.any(-1, keepdim=True)
    s = torch.where(mask, beta * x, torch.where(some, -torch.inf, 0.0).to(x.dtype))
    return torch.where(mask, torch.softmax(s, -1), torch.zeros((), dtype=x.dtype))


def masked_log_softmax(x, beta=1.0, mask=None):
    if mask is None:
        return torch.log_softmax(beta * x, -1)
    mask = (mask != 0).expand(x.shape)
    s = torch.where(mask, beta * x, torch.full((), -1e30, dtype=x.dtype))
    return torch.where(mask, torch.log_softmax(s, -1), torch.zeros((), dtype=x.dtype))


def masked_hardmax(x, beta=1.0, mask=None):
    """One-hot of the largest unmasked entry, lowest index at ties; the softmax's gradient."""
    soft = masked_softmax(x, beta, mask)
    seen = torch.ones_like(x, dtype=torch.bool) if mask is None else (mask != 0).expand(x.shape)
    score = np.where(seen.numpy(), (x if beta >= 0 else -x).detach().numpy(), -np.inf)
    hard = torch.nn.functional.one_hot(torch.tensor(score.argmax(-1)), x.shape[-1]).to(x.dtype)
    return hard * seen + soft - soft.detach()


def rotary(x, heads, width, first, theta):
    """What heed/ops.h says of heed_rotary, with the angles in float64; x (B,T,C)."""
    speed = theta ** (-torch.arange(0, width, 2, dtype=torch.float64) / width)
    angles = (first + torch.arange(x.shape[1], dtype=torch.float64))[:, None] * speed
    angles = torch.cat([angles, angles], -1)[None]
    q = x[..., : heads * width].unflatten(-1, (heads, width)).transpose(1, 2)
    q, _ = apply_rotary_pos_emb(q, q, angles.cos().to(x.dtype), angles.sin().to(x.dtype))
    return torch.cat([q.transpose(1, 2).flatten(2), x[..., heads * width :]], -1)


def attention(
    q, k, v, bias=None, pad=None, *, heads, key, value, kv_heads=None, beta=None, causal=False,
    hard=False,
):
    """What heed/ops.h says of heed_attention. Returns y and the kept scores and weights."""
    (B, Tq, _), Tk = q.shape, k.shape[1]
    beta = key**-0.5 if beta is None else beta

    def split(x, width):
        x = x.view(B, -1, x.shape[-1] // width, width).transpose(1, 2)
        return x.repeat_interleave(heads // x.shape[1], 1)

    scores = beta * split(q, key) @ split(k, key).transpose(-1, -2)
    if bias is not None:
        scores = scores + bias
    keep = torch.ones(B, heads, Tq, Tk, dtype=torch.bool)
    if causal:
        keep = keep.tril(Tk - Tq)
    if pad is not None:
        keep = keep & (pad[:, None, None, :] != 0)
    weights = (masked_hardmax if hard else masked_softmax)(scores, 1.0, keep)
    y = (weights @ split(v, value)).transpose(1, 2).reshape(B, Tq, heads * value)
    if not hard and bool(keep.any(-1).all()):
        seen = torch.zeros((), dtype=q.dtype).where(keep, -torch.inf) + (
            0 if bias is None else bias
        )
        theirs = torch.nn.functional.scaled_dot_product_attention(
            split(q, key), split(k, key), split(v, value), attn_mask=seen, scale=beta
        )
        assert torch.allclose(theirs.transpose(1, 2).reshape(y.shape), y, rtol=1e-4, atol=1e-5)
    return y, {"scores": scores, "weights": weights}
