"""The auto-encoders of models/autoencoder.c in PyTorch's own layers under heed's names. Pictures are
(B,C,H,W), reconstructions (B,H,W,C)."""

import torch
from torch import nn

from blocks import Block


def squared_error(y, x):
    return ((y - x) ** 2).mean()


class Dense(nn.Module):
    undecayed = ()

    def __init__(self, size, channels, code, hidden, depth):
        super().__init__()
        pixels = size * size * channels
        self.shape = (size, size, channels)
        chain = lambda first: nn.ModuleList(
            nn.Linear(hidden if i else first, hidden) for i in range(depth)
        )
        self.encoder = nn.ModuleDict({"hidden": chain(pixels), "code": nn.Linear(hidden, code)})
        self.decoder = nn.ModuleDict({"hidden": chain(code), "out": nn.Linear(hidden, pixels)})

    def forward(self, x, hide=None):
        x = x.permute(0, 2, 3, 1).flatten(1)
        for layer in self.encoder["hidden"]:
            x = nn.functional.gelu(layer(x))
        x = self.encoder["code"](x)
        for layer in self.decoder["hidden"]:
            x = nn.functional.gelu(layer(x))
        return self.decoder["out"](x).unflatten(1, self.shape), {}

    def loss(self, x, hide=None):
        return squared_error(self(x)[0], x.permute(0, 2, 3, 1))


class Conv(Dense):
    def __init__(self, size, channels, code, filters, depth):
        nn.Module.__init__(self)
        planes = [channels] + [filters << i for i in range(depth)]
        sides = [size]
        for _ in range(depth):
            sides.append((sides[-1] + 1) // 2)
        self.flat = (sides[-1], sides[-1], planes[-1])
        flat = sides[-1] * sides[-1] * planes[-1]
        down = [nn.Conv2d(planes[i], planes[i + 1], 3, 2, 1) for i in range(depth)]
        up = [
            nn.ConvTranspose2d(planes[i + 1], planes[i], 3, 2, 1, int(sides[i] % 2 == 0))
            for i in range(depth)
        ]
        self.encoder = nn.ModuleDict({"conv": nn.ModuleList(down), "code": nn.Linear(flat, code)})
        self.decoder = nn.ModuleDict({"grid": nn.Linear(code, flat), "conv": nn.ModuleList(up)})

    def forward(self, x, hide=None):
        act = nn.functional.gelu
        for layer in self.encoder["conv"]:
            x = act(layer(x))
        x = act(self.decoder["grid"](self.encoder["code"](x.permute(0, 2, 3, 1).flatten(1))))
        x = x.unflatten(1, self.flat).permute(0, 3, 1, 2)
        for i in reversed(range(len(self.decoder["conv"]))):
            x = self.decoder["conv"][i](x)
            x = act(x) if i else x
        return x.permute(0, 2, 3, 1), {}


class Masked(nn.Module):
    """He et al. 2022; hide: flat patches b n + i, as many of each picture."""

    undecayed = ("embed.cls", "embed.position.weight", "decoder.mask", "decoder.position.weight")

    def __init__(self, size, channels, patch, width, layers, heads, ff, decoder_width, decoder_layers):
        super().__init__()
        n, blocks = (size // patch) ** 2, lambda count, d, inner: nn.ModuleList(
            Block(d, heads, inner, True, nn.functional.gelu, False) for _ in range(count)
        )
        self.patch, self.across, self.layers = patch, size // patch, (layers, decoder_layers)
        parts = {
            "patch": nn.Conv2d(channels, width, patch, patch),
            "position": nn.Embedding(n + 1, width),
        }
        self.embed = nn.ModuleDict(parts)
        self.embed.register_parameter("cls", nn.Parameter(torch.zeros(1, 1, width)))
        self.encoder, self.norm = blocks(layers, width, ff), nn.LayerNorm(width)
        self.decoder = d = blocks(decoder_layers, decoder_width, 4 * decoder_width)
        d.add_module("embed", nn.Linear(width, decoder_width))
        d.add_module("position", nn.Embedding(n + 1, decoder_width))
        d.add_module("norm", nn.LayerNorm(decoder_width))
        d.add_module("head", nn.Linear(decoder_width, patch * patch * channels))
        d.register_parameter("mask", nn.Parameter(torch.zeros(1, decoder_width)))

    def patches(self, x):
        """(B,C,H,W) -> (B, n, p p C)"""
        p, a = self.patch, self.across
        x = x.unflatten(2, (a, p)).unflatten(4, (a, p))  # B C a p a p
        return x.permute(0, 2, 4, 3, 5, 1).flatten(3).flatten(1, 2)

    def predict(self, x, hide):
        rows, kept = len(x), {}
        n = self.across**2
        seen = torch.ones(rows * n, dtype=torch.bool)
        seen[hide] = False
        seen = seen.view(rows, n)
        x = self.embed["patch"](x).flatten(2).mT
        x = torch.cat([self.embed.cls.expand(rows, -1, -1), x], 1) + self.embed["position"].weight
        with_cls = torch.cat([torch.ones(rows, 1, dtype=torch.bool), seen], 1)
        x = x[with_cls].view(rows, -1, x.shape[-1])
        every = torch.ones(1, 1, 1, 1, dtype=torch.bool)
        for i in range(self.layers[0]):
            x, (kept[f"encoder.{i}.attn.weights"],) = self.encoder[i](x, every)
        x = self.decoder.embed(self.norm(x))
        full = self.decoder.mask.expand(rows, n + 1, -1).clone()
        full[with_cls] = x.flatten(0, 1)
        x = full + self.decoder.position.weight
        for i in range(self.layers[1]):
            x, (kept[f"decoder.{i}.attn.weights"],) = self.decoder[i](x, every)
        return self.decoder.head(self.decoder.norm(x)[:, 1:]), kept

    def forward(self, x, hide):
        y, kept = self.predict(x, hide)
        p, a = self.patch, self.across
        y = y.unflatten(1, (a, a)).unflatten(3, (p, p, -1))  # B a a p p C
        return y.permute(0, 1, 3, 2, 4, 5).flatten(3, 4).flatten(1, 2), kept

    def loss(self, x, hide):
        y = self.predict(x, hide)[0].flatten(0, 1)[hide]
        return squared_error(y, self.patches(x).flatten(0, 1)[hide])


RECONSTRUCTORS = {"autoencoder": Dense, "autoencoder-conv": Conv, "autoencoder-masked": Masked}
