"""The blocks that twins of several models are made of."""

from functools import partial

import torch
from torch import nn

from golden import rotary


def softmax_over(scores, keep):
    return torch.softmax(scores.masked_fill(~keep, -torch.inf), -1)


def sublayers(**parts):
    return nn.ModuleDict(parts)


class Block(nn.Module):
    """A block of encoder or decoder under heed's names; as torch.nn.TransformerDecoderLayer, which
    make_layers.py checks. With kv_heads LLaMA's: as many heads of keys and values, rotary positions
    in self-attention, SwiGLU, RMS norms, no biases."""

    def __init__(self, width, heads, ff, pre, act, cross, kv_heads=None):
        super().__init__()
        self.heads, self.pre, self.act, self.llama = heads, pre, act, kv_heads is not None
        linear = partial(nn.Linear, bias=not self.llama)
        self.shared = (kv_heads or heads) * (width // heads)
        qkv = linear(width, width + 2 * self.shared)
        self.attn = sublayers(qkv=qkv, out=linear(width, width))
        if cross:
            q, kv = linear(width, width), linear(width, 2 * self.shared)
            self.cross = sublayers(q=q, kv=kv, out=linear(width, width))
        self.mlp = sublayers(up=linear(width, ff), down=linear(ff, width))
        if self.llama:
            self.mlp["gate"] = linear(width, ff)
        for i in range(3 if cross else 2):
            norm = nn.RMSNorm(width, eps=1e-5) if self.llama else nn.LayerNorm(width)
            self.add_module(f"norm{i + 1}", norm)

    def attend(self, q, k, v, keep, out):
        each = q.shape[-1] // self.heads
        split = lambda x: x.unflatten(-1, (-1, each)).transpose(1, 2)
        repeat = lambda x: x.repeat_interleave(self.heads // x.shape[1], 1)
        q, k, v = split(q), repeat(split(k)), repeat(split(v))
        a = softmax_over(q @ k.mT * q.shape[-1] ** -0.5, keep)
        return out((a @ v).transpose(1, 2).flatten(2)), a

    def forward(self, x, keep, memory=None, seen=None):
        kept, width = [], x.shape[-1]
        sizes, each = [width, self.shared, self.shared], width // self.heads

        def attn(h):
            q, k, v = self.attn.qkv(h).split(sizes, -1)
            if self.llama:
                q, k = (rotary(x, x.shape[-1] // each, each, 0, 10000.0) for x in (q, k))
            return self.attend(q, k, v, keep, self.attn.out)

        def mlp(h):
            up = self.mlp.up(h)
            y = nn.functional.silu(self.mlp.gate(h)) * up if self.llama else self.act(up)
            return self.mlp.down(y), None

        parts = [attn, mlp]
        if memory is not None:
            k, v = self.cross.kv(memory).split(self.shared, -1)
            parts.insert(1, lambda h: self.attend(self.cross.q(h), k, v, seen, self.cross.out))
        for i, part in enumerate(parts):
            norm = getattr(self, f"norm{i + 1}")
            y, a = part(norm(x) if self.pre else x)
            x = x + y if self.pre else norm(x + y)
            kept.append(a)
        return x, kept[:-1]


class ConvBlock(nn.Module):
    """He et al. 2016, sec. 3.3, under heed's names."""

    def __init__(self, width, out, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(width, out, 3, stride, 1, bias=False)
        self.conv2 = nn.Conv2d(out, out, 3, 1, 1, bias=False)
        self.norm1, self.norm2 = nn.BatchNorm2d(out), nn.BatchNorm2d(out)
        self.short = None
        if width != out or stride != 1:
            parts = {"conv": nn.Conv2d(width, out, 1, stride, bias=False)}
            self.short = nn.ModuleDict({**parts, "norm": nn.BatchNorm2d(out)})

    def forward(self, x):
        y = self.norm2(self.conv2(self.norm1(self.conv1(x)).relu()))
        return (y + (self.short["norm"](self.short["conv"](x)) if self.short else x)).relu()
