#!/usr/bin/env python3
"""Training steps of the benchmark workloads in plain PyTorch on the CPU; prints one JSON line with
the keys of `heed bench --json`.

    python3 tests/parity/torch_steps.py --workload gpt-tiny --mode fused --threads 2

A step is: gradients cleared, forward, loss, backward, AdamW. Tokens and pixels are random, made
before the clock starts (8 batches in turn). The mode eager takes AdamW as PyTorch picks it, fused
its fused form, compile torch.compile beside. glibc is told to keep freed memory: PyTorch is faster
so, as its activations are not faulted in anew at every step. Dropout is of embeddings of tokens, of
the weights of attention, of the sublayers' outputs and of hidden layers."""

import argparse
import json
import os
import resource
import statistics
import sys
import time

KEEP = {"MALLOC_TRIM_THRESHOLD_": 1 << 40, "MALLOC_MMAP_THRESHOLD_": 1 << 40, "MALLOC_TOP_PAD_": 1 << 26}


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--workload", required=True, choices=WORKLOADS)
    p.add_argument("--mode", default="fused", choices=["eager", "fused", "compile"])
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--seconds", type=float, default=2.5, help="spent on measured steps")
    p.add_argument("--min-steps", type=int, default=5, help="at least this many of them")
    p.add_argument("--warmup-seconds", type=float, default=0.7)
    p.add_argument("--dropout", type=float, default=0.0)
    p.add_argument("--precision", default="fp32", choices=["fp32", "bf16"], help="bf16: autocast")
    return p.parse_args()


def attention_net(dropout):
    """The models, defined after torch is imported: its threads are set before that."""
    import torch
    import torch.nn.functional as F
    from torch import nn

    class Attention(nn.Module):
        def __init__(self, width, heads, causal=False, cross=False):
            super().__init__()
            self.heads, self.causal = heads, causal
            self.q = nn.Linear(width, width if cross else 3 * width)  # q, or q, k and v at once
            self.kv = nn.Linear(width, 2 * width) if cross else None
            self.out = nn.Linear(width, width)

        def forward(self, x, memory=None):
            width = x.shape[-1]
            parts = self.q(x).split(width, -1)
            if self.kv:
                parts += self.kv(memory).split(width, -1)
            q, k, v = (p.unflatten(-1, (self.heads, -1)).transpose(1, 2) for p in parts)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=self.causal, dropout_p=dropout)
            return self.out(y.transpose(1, 2).flatten(2))

    class Block(nn.Module):
        def __init__(self, width, heads, ff, causal=False, cross=False):
            super().__init__()
            self.norm1, self.attn = nn.LayerNorm(width), Attention(width, heads, causal)
            self.norm2 = nn.LayerNorm(width) if cross else None
            self.cross = Attention(width, heads, cross=True) if cross else None
            self.norm3 = nn.LayerNorm(width)
            self.ff = nn.Sequential(nn.Linear(width, ff), nn.GELU(), nn.Linear(ff, width))
            self.drop = nn.Dropout(dropout)

        def forward(self, x, memory=None):
            x = x + self.drop(self.attn(self.norm1(x)))
            if self.cross:
                x = x + self.drop(self.cross(self.norm2(x), memory))
            return x + self.drop(self.ff(self.norm3(x)))

    class Embedding(nn.Module):
        def __init__(self, vocab, block, width):
            super().__init__()
            self.token, self.place = nn.Embedding(vocab, width), nn.Embedding(block, width)
            self.drop = nn.Dropout(dropout)
            for e in (self.token, self.place):
                nn.init.normal_(e.weight, std=0.02)

        def forward(self, ids):
            return self.drop(self.token(ids) + self.place.weight[: ids.shape[1]])

    def blocks(w, **kind):
        return nn.ModuleList(Block(w["width"], w["heads"], w["ff"], **kind) for _ in range(w["layers"]))

    class Text(nn.Module):
        """Head tied to the embedding; of mlm only the masked rows are scored."""

        def __init__(self, w):
            super().__init__()
            self.embed = Embedding(w["vocab"], w["block"], w["width"])
            self.blocks, self.norm = blocks(w, causal=w["model"] == "gpt"), nn.LayerNorm(w["width"])

        def forward(self, ids, target, rows=None):
            x = self.embed(ids)
            for b in self.blocks:
                x = b(x)
            x = x.flatten(0, 1)
            x = x if rows is None else x[rows]
            return F.cross_entropy(F.linear(self.norm(x), self.embed.token.weight), target)

    class Vit(nn.Module):
        def __init__(self, w):
            super().__init__()
            self.patch, width = w["patch"], w["width"]
            n = (w["size"] // self.patch) ** 2
            self.embed = nn.Linear(w["channels"] * self.patch**2, width)
            self.cls = nn.Parameter(torch.zeros(1, 1, width))
            self.place = nn.Parameter(torch.randn(1, n + 1, width) * 0.02)
            self.blocks, self.norm = blocks(w), nn.LayerNorm(width)
            self.head = nn.Linear(width, 10)

        def forward(self, x, target):
            p = self.patch
            x = x.unflatten(2, (-1, p)).unflatten(4, (-1, p)).permute(0, 2, 4, 1, 3, 5)
            x = self.embed(x.flatten(3).flatten(1, 2))
            x = torch.cat([self.cls.expand(len(x), -1, -1), x], 1) + self.place
            for b in self.blocks:
                x = b(x)
            return F.cross_entropy(self.head(self.norm(x[:, 0])), target)

    class Seq2seq(nn.Module):
        def __init__(self, w):
            super().__init__()
            self.source, self.target = (
                Embedding(w["vocab"], w["block"], w["width"]) for _ in range(2)
            )
            self.encoder, self.decoder = blocks(w), blocks(w, causal=True, cross=True)
            self.norm1, self.norm2 = nn.LayerNorm(w["width"]), nn.LayerNorm(w["width"])

        def forward(self, src, ids, target):
            m, x = self.source(src), self.target(ids)
            for b in self.encoder:
                m = b(m)
            m = self.norm1(m)
            for b in self.decoder:
                x = b(x, m)
            x = self.norm2(x).flatten(0, 1)
            return F.cross_entropy(F.linear(x, self.target.token.weight), target)

    class Rnn(nn.Module):
        """GRU to GRU with additive attention over the encoder's states, teacher forced."""

        def __init__(self, w):
            super().__init__()
            n = w["width"]
            self.source, self.target = nn.Embedding(w["vocab"], n), nn.Embedding(w["vocab"], n)
            self.encoder, self.cell = nn.GRU(n, n, batch_first=True), nn.GRUCell(2 * n, n)
            self.wq, self.wk, self.v = nn.Linear(n, n), nn.Linear(n, n), nn.Linear(n, 1)
            self.head, self.drop = nn.Linear(2 * n, w["vocab"]), nn.Dropout(dropout)

        def forward(self, src, ids, target):
            memory, last = self.encoder(self.drop(self.source(src)))
            keys, h, out = self.wk(memory), last[0], []
            for x in self.drop(self.target(ids)).unbind(1):
                scores = self.v(torch.tanh(self.wq(h)[:, None] + keys))[..., 0]
                context = torch.bmm(scores.softmax(-1)[:, None], memory)[:, 0]
                h = self.cell(torch.cat([x, context], -1), h)
                out.append(torch.cat([h, context], -1))
            return F.cross_entropy(self.head(torch.stack(out, 1).flatten(0, 1)), target)

    class Mlp(nn.Module):
        def __init__(self, w):
            super().__init__()
            self.net = nn.Sequential(
                nn.Linear(w["size"] ** 2, w["width"]),
                nn.ReLU(),
                nn.Dropout(dropout),
                nn.Linear(w["width"], 10),
            )

        def forward(self, x, target):
            return F.cross_entropy(self.net(x.flatten(1)), target)

    return {"mlm": Text, "gpt": Text, "vit": Vit, "seq2seq": Seq2seq, "rnn": Rnn, "mlp": Mlp}


def name_of(mode, precision):
    """The mode in the results."""
    return mode if precision == "fp32" else f"{mode} {precision}"


def text(model, width, layers, heads, block, batch, vocab, **more):
    return dict(model=model, width=width, layers=layers, heads=heads, ff=4 * width, block=block,
                batch=batch, vocab=vocab, **more)


WORKLOADS = {
    "gpt-tiny": text("gpt", 128, 4, 4, 64, 12, 65),
    "gpt-baby": text("gpt", 384, 6, 6, 256, 16, 65),
    "mlm-nano": text("mlm", 64, 2, 4, 64, 32, 1024, share=0.15),
    "mlm-nano-all": text("mlm", 64, 2, 4, 64, 32, 1024, share=1),
    "mlm-small": text("mlm", 128, 4, 4, 128, 32, 8192, share=0.15),
    "mlp-mnist": dict(model="mlp", width=256, size=28, channels=1, batch=64),
    "vit-tiny28": dict(model="vit", width=64, layers=4, heads=4, ff=128, size=28, channels=1,
                       patch=7, batch=128),
    "vit-cifar": dict(model="vit", width=192, layers=6, heads=6, ff=768, size=32, channels=3,
                      patch=4, batch=64),
    "seq2seq-small": text("seq2seq", 128, 2, 4, 32, 64, 4096),
    "rnn-attn": dict(model="rnn", width=128, block=32, batch=64, vocab=512),
}


def batch_of(torch, w):
    n = w["batch"]
    if "size" in w:
        return torch.rand(n, w["channels"], w["size"], w["size"]), torch.randint(10, (n,))
    ids = torch.randint(w["vocab"], (n, w["block"] + 1))
    before, after = ids[:, :-1].contiguous(), ids[:, 1:].flatten()
    if w["model"] == "gpt":
        return before, after
    if w["model"] != "mlm":
        return torch.randint(w["vocab"], before.shape), before, after
    picks = torch.rand(before.shape).argsort(1)[:, : max(1, round(w["share"] * w["block"]))]
    rows = (picks + torch.arange(n)[:, None] * w["block"]).flatten()
    labels = before.flatten()[rows]
    before.view(-1)[rows] = 0  # stands for [MASK]
    return (before, labels) if w["share"] == 1 else (before, labels, rows)


def main():
    a = arguments()
    if "MALLOC_TRIM_THRESHOLD_" not in os.environ:
        threads = {"OMP_NUM_THREADS": a.threads, "OMP_PROC_BIND": "true"}
        os.environ.update({k: str(v) for k, v in {**KEEP, **threads}.items()})
        os.execv(sys.executable, [sys.executable] + sys.argv)
    import torch

    torch.set_num_threads(a.threads)
    torch.manual_seed(1)
    w = WORKLOADS[a.workload]
    batches = [batch_of(torch, w) for _ in range(8)]
    model = attention_net(a.dropout)[w["model"]](w).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, fused=a.mode != "eager" or None)
    loss_of = torch.compile(model) if a.mode == "compile" else model

    def step(i):
        optimizer.zero_grad(set_to_none=True)
        with torch.autocast("cpu", torch.bfloat16, enabled=a.precision == "bf16"):
            loss = loss_of(*batches[i % len(batches)])
        loss.backward()
        optimizer.step()
        return loss

    i, times = 0, []
    step(0)
    begin = time.perf_counter()
    while time.perf_counter() - begin < a.warmup_seconds or i < 3:
        step(i := i + 1)
    begin = time.perf_counter()
    while time.perf_counter() - begin < a.seconds or len(times) < a.min_steps:
        start = time.perf_counter()
        loss = step(i := i + 1)
        times.append(time.perf_counter() - start)
    out = {
        "workload": a.workload,
        "mode": name_of(a.mode, a.precision),
        "threads": a.threads,
        "params": sum(p.numel() for p in model.parameters()),
        "steps": len(times),
        "ms_per_step": 1e3 * statistics.median(times),
        "ms_mean": 1e3 * statistics.fmean(times),
        "peak_rss_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "last_loss": loss.item(),
        "torch": torch.__version__,
    }
    print(json.dumps(out))


if __name__ == "__main__":
    main()
