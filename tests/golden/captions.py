"""The twins of models/caption.c: a CNN's grid of features, and a recurrent decoder with soft or hard
attention (Xu et al. 2015) or a dense map of the grid, or the decoder of a Transformer."""

import torch
from torch import nn

from blocks import Block, ConvBlock


def sinusoids(places, width):
    i = torch.arange(0, width, 2).double()
    angle = places.double()[:, None] / 10000.0 ** (i / width)
    return torch.stack([angle.sin(), angle.cos()], -1).flatten(1)


class Encoder(nn.Module):
    """Each stage but the first halves the sides, as the stem does. Out: (B, cells, width)."""

    def __init__(self, channels, filters, stages, width):
        super().__init__()
        parts = {"conv": nn.Conv2d(channels, filters, 3, 2, 1, bias=False)}
        self.stem = nn.ModuleDict({**parts, "norm": nn.BatchNorm2d(filters)})
        self.stage = nn.ModuleList()
        for i in range(stages):
            block = ConvBlock(filters << max(i - 1, 0), filters << i, 2 if i else 1)
            self.stage.append(nn.ModuleList([block]))
        self.grid = nn.Linear(filters << (stages - 1), width)

    def forward(self, x):
        x = self.stem["norm"](self.stem["conv"](x)).relu()
        for stage in self.stage:
            x = stage[0](x)
        side, x = x.shape[-1], self.grid(x.flatten(2).mT)
        cell, half = torch.arange(side * side), x.shape[-1] // 2
        rows, cols = sinusoids(cell // side, half), sinusoids(cell % side, half)
        return x + torch.cat([rows, cols], -1).to(x.dtype)


class Recurrent(nn.Module):
    """attention: soft, hard (one-hot forward, the softmax's gradient backward), or none."""

    def __init__(self, vocab, width, filters, stages, channels, cells, attention):
        super().__init__()
        self.encoder = Encoder(channels, filters, stages, width)
        self.embed = nn.ModuleDict({"target": nn.Embedding(vocab, width)})
        self.bridge = nn.ModuleList([nn.Linear(width, width)])
        self.decoder = nn.GRU(2 * width, width, batch_first=True)
        self.attention = attention
        if attention == "none":
            self.context = nn.Linear(cells * width, width)
        else:
            parts = {"w": nn.Linear(width, width, bias=False), "u": nn.Linear(width, width)}
            score = nn.Linear(width, 1, bias=False)
            self.decoder.attend = nn.ModuleDict({**parts, "score": score})
        self.head = nn.Linear(2 * width, vocab)

    def weights(self, s, h):
        a = self.decoder.attend
        e = a["score"](torch.tanh(a["w"](s)[:, None] + a["u"](h)))[..., 0]
        soft = e.softmax(-1)
        if self.attention == "soft":
            return soft
        one = nn.functional.one_hot(e.argmax(-1), e.shape[-1]).to(e.dtype)
        return one + (soft - soft.detach())

    def forward(self, picture, ids):
        h = self.encoder(picture)
        s = self.bridge[0](h.mean(1)).tanh()[None]
        y, out, kept = self.embed["target"](ids), [], []
        for t in range(ids.shape[1]):
            if self.attention == "none":
                c = self.context(h.flatten(1))[:, None]
            else:
                kept.append(self.weights(s[0], h))
                c = kept[-1][:, None] @ h
            x, s = self.decoder(torch.cat([y[:, t : t + 1], c], -1), s)
            out.append(torch.cat([x, c], -1))
        kept = {"decoder.attend.weights": torch.stack(kept, 1)} if kept else {}
        return self.head(torch.cat(out, 1)), kept


class Transformer(nn.Module):
    def __init__(self, vocab, width, filters, stages, channels, layers, heads, ff):
        super().__init__()
        self.encoder = Encoder(channels, filters, stages, width)
        self.embed = nn.ModuleDict({"target": nn.Embedding(vocab, width)})
        gelu = nn.functional.gelu
        self.decoder = nn.ModuleList(Block(width, heads, ff, True, gelu, True) for _ in range(layers))
        self.decoder.add_module("norm", nn.LayerNorm(width))
        self.layers, self.head = layers, nn.Linear(width, vocab)

    def forward(self, picture, ids):
        h, x, kept = self.encoder(picture), self.embed["target"](ids), {}
        x = x + sinusoids(torch.arange(ids.shape[1]), x.shape[-1]).to(x.dtype)
        past = torch.ones(ids.shape[1], ids.shape[1], dtype=torch.bool).tril()
        seen = torch.ones(1, 1, 1, h.shape[1], dtype=torch.bool)
        for i in range(self.layers):
            x, weights = self.decoder[i](x, past, h, seen)
            kept[f"decoder.{i}.attn.weights"], kept[f"decoder.{i}.cross.weights"] = weights
        return self.head(self.decoder.norm(x)), kept


CAPTIONS = {
    "caption": Recurrent,
    "caption-hard": Recurrent,
    "caption-fixed": Recurrent,
    "caption-transformer": Transformer,
}
