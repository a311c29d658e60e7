"""The blocks that twins of several models are made of."""

import torch
from torch import nn


def softmax_over(scores, keep):
    return torch.softmax(scores.masked_fill(~keep, -torch.inf), -1)


def sublayers(**parts):
    return nn.ModuleDict(parts)


class Block(nn.Module):
    """A block of encoder or decoder under heed's names; as torch.nn.TransformerDecoderLayer, which
    make_layers.py checks."""

    def __init__(self, width, heads, ff, pre, act, cross):
        super().__init__()
        self.heads, self.pre, self.act = heads, pre, act
        linear = nn.Linear
        self.attn = sublayers(qkv=linear(width, 3 * width), out=linear(width, width))
        if cross:
            q, kv = linear(width, width), linear(width, 2 * width)
            self.cross = sublayers(q=q, kv=kv, out=linear(width, width))
        self.mlp = sublayers(up=linear(width, ff), down=linear(ff, width))
        for i in range(3 if cross else 2):
            self.add_module(f"norm{i + 1}", nn.LayerNorm(width))

    def attend(self, q, k, v, keep, out):
        split = lambda x: x.unflatten(-1, (self.heads, -1)).transpose(1, 2)
        q, k, v = split(q), split(k), split(v)
        a = softmax_over(q @ k.mT * q.shape[-1] ** -0.5, keep)
        return out((a @ v).transpose(1, 2).flatten(2)), a

    def forward(self, x, keep, memory=None, seen=None):
        kept, width = [], x.shape[-1]
        attn = lambda h: self.attend(*self.attn.qkv(h).split(width, -1), keep, self.attn.out)
        mlp = lambda h: (self.mlp.down(self.act(self.mlp.up(h))), None)
        parts = [attn, mlp]
        if memory is not None:
            k, v = self.cross.kv(memory).split(width, -1)
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
