"""nanogpt.py TEXT -- a character GPT trained as nanoGPT's README trains one on a CPU: 4 layers, 4 heads, width 128, block 64,
batch 12, no dropout, AdamW (betas 0.9, 0.99; decay 0.1), learning rate 1e-3 to 1e-4 by a cosine after 100 steps of warm-up,
2,000 steps, an evaluation of 20 batches every 250. A line of JSON per evaluation. Needs torch."""
import json
import math
import sys

import torch
import torch.nn.functional as F
from torch import nn

LAYERS, HEADS, WIDTH, BLOCK, BATCH, STEPS, EVERY = 4, 4, 128, 64, 12, 2000, 250


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(WIDTH, bias=False), nn.LayerNorm(WIDTH, bias=False)
        self.qkv, self.out = nn.Linear(WIDTH, 3 * WIDTH, bias=False), nn.Linear(WIDTH, WIDTH, bias=False)
        self.up, self.down = nn.Linear(WIDTH, 4 * WIDTH, bias=False), nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        b, t, _ = x.shape
        q, k, v = (y.view(b, t, HEADS, -1).transpose(1, 2) for y in self.qkv(self.ln_1(x)).split(WIDTH, dim=2))
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(b, t, WIDTH))
        return x + self.down(F.gelu(self.up(self.ln_2(x))))


class GPT(nn.Module):
    def __init__(self, vocabulary):
        super().__init__()
        self.token, self.position = nn.Embedding(vocabulary, WIDTH), nn.Embedding(BLOCK, WIDTH)
        self.blocks, self.norm = nn.Sequential(*(Block() for _ in range(LAYERS))), nn.LayerNorm(WIDTH, bias=False)
        for name, p in self.named_parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02 / math.sqrt(2 * LAYERS) if name.endswith(("out.weight", "down.weight")) else 0.02)

    def forward(self, ids, labels):
        x = self.norm(self.blocks(self.token(ids) + self.position.weight))
        return F.cross_entropy((x @ self.token.weight.T).flatten(0, 1), labels.flatten())


def main():
    torch.manual_seed(1337)
    text = open(sys.argv[1], encoding="utf-8").read()
    letters = sorted(set(text))
    ids = torch.tensor([letters.index(c) for c in text])
    train, held_out = ids[: int(0.9 * len(ids))], ids[int(0.9 * len(ids)):]

    def batch(part):
        at = torch.randint(len(part) - BLOCK, (BATCH,))
        return torch.stack([part[i : i + BLOCK] for i in at]), torch.stack([part[i + 1 : i + 1 + BLOCK] for i in at])

    model = GPT(len(letters))
    decay, rest = [p for p in model.parameters() if p.dim() > 1], [p for p in model.parameters() if p.dim() < 2]
    groups = [{"params": decay, "weight_decay": 0.1}, {"params": rest, "weight_decay": 0.0}]
    optimizer = torch.optim.AdamW(groups, lr=1e-3, betas=(0.9, 0.99), fused=True)
    for step in range(STEPS + 1):
        rate = 1e-3 * (step + 1) / 101 if step < 100 else 1e-4 + 4.5e-4 * (1 + math.cos(math.pi * (step - 100) / (STEPS - 100)))
        if step % EVERY == 0:
            with torch.no_grad():
                loss = sum(model(*batch(held_out)).item() for _ in range(20)) / 20
            print(json.dumps({"step": step, "loss": loss}), flush=True)
        for group in optimizer.param_groups:
            group["lr"] = rate
        optimizer.zero_grad(set_to_none=True)
        model(*batch(train)).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


main()
