"""The readers of models/textcls.c and tag.c, and the recurrent gpt, in PyTorch's own layers under
heed's names."""

import torch
from torch import nn

from blocks import Block


class Reader(nn.Module):
    """A text by blocks of attention (pre-norm), by recurrent layers both ways, or by convolutions;
    a label a text, of the mean of its tokens, of the last or of the last states, or a label a token."""

    def __init__(
        self, vocab, width, layers, classes, block, encoder, said, heads=1, ff=1, kernel=1, cell="lstm"
    ):
        super().__init__()
        self.said, self.kind, self.kernel = said, encoder, kernel
        self.embed = nn.ModuleDict({"token": nn.Embedding(vocab, width)})
        if encoder == "rnn":
            cells = {"lstm": nn.LSTM, "gru": nn.GRU}[cell]
            self.encoder = cells(width, width, layers, batch_first=True, bidirectional=True)
            self.head = nn.Linear(2 * width, classes)
            return
        if encoder == "attention":
            self.embed["position"] = nn.Embedding(block, width)
            one = lambda: Block(width, heads, ff, True, nn.functional.gelu, False)
        else:
            parts = lambda: {"norm": nn.LayerNorm(width), "conv": nn.Conv1d(width, width, kernel)}
            one = lambda: nn.ModuleDict(parts())
        self.encoder = nn.ModuleList(one() for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, classes)

    def read(self, x, pad):
        kept, n = {}, pad.sum(1)
        if self.kind == "rnn":
            packed = nn.utils.rnn.pack_padded_sequence(x, n, batch_first=True, enforce_sorted=False)
            packed, last = self.encoder(packed)
            if self.said == "ends":  # of both ways of the last layer
                return torch.cat(list(last[-2:]), -1), kept
            y, _ = nn.utils.rnn.pad_packed_sequence(
                packed, batch_first=True, total_length=pad.shape[1]
            )
            return y, kept
        if self.kind == "attention":
            x = x + self.embed["position"].weight[: x.shape[1]]
        for i, part in enumerate(self.encoder):
            if self.kind == "attention":
                x, (kept[f"encoder.{i}.attn.weights"],) = part(x, (pad != 0)[:, None, None])
                continue
            y = (part["norm"](x) * pad[..., None]).mT
            y = nn.functional.pad(y, ((self.kernel - 1) // 2, self.kernel // 2))
            x = x + nn.functional.gelu(part["conv"](y).mT)
        return self.norm(x), kept

    def forward(self, source, pad):
        x, kept = self.read(self.embed["token"](source), pad)
        if self.said == "mean":
            x = (x * pad[..., None]).sum(1) / pad.sum(1, keepdim=True)
        elif self.said == "last":
            x = x[torch.arange(len(x)), pad.sum(1) - 1]
        return self.head(x), kept


class RecurrentGpt(nn.Module):
    """The LSTM as a language model: final norm, tied head."""

    def __init__(self, vocab, width, layers, block):
        super().__init__()
        self.embed = nn.ModuleDict({"token": nn.Embedding(vocab, width)})
        self.decoder = nn.LSTM(width, width, layers, batch_first=True)
        self.norm = nn.LayerNorm(width)

    def forward(self, ids):
        x = self.norm(self.decoder(self.embed["token"](ids))[0])
        return nn.functional.linear(x, self.embed["token"].weight), {}


READERS = dict.fromkeys(("textcls", "textcls-conv", "textcls-rnn", "tag"), Reader)
OWN = {**READERS, "gpt-lstm": RecurrentGpt}
