#!/usr/bin/env python3
"""How long a step of generation takes in PyTorch: GPT-2 blocks of the sizes of gpt-baby or gpt-tiny, a preallocated
cache of keys and values, inference mode, a sample drawn from each softmax. For comparison with generate.c."""
import argparse, json, os, time
p = argparse.ArgumentParser()
p.add_argument("--size", default="gpt-baby", choices=["gpt-baby", "gpt-tiny"])
p.add_argument("--threads", type=int, default=1)
p.add_argument("--tokens", type=int, default=200)
p.add_argument("--rows", type=int, default=1)
p.add_argument("--repeats", type=int, default=5)
a = p.parse_args()
os.environ["OMP_NUM_THREADS"] = str(a.threads)
import torch, torch.nn.functional as F
torch.set_num_threads(a.threads)
torch.manual_seed(1)
d, L, H, ff, T = dict(baby=(384, 6, 6, 1536, 256), tiny=(128, 4, 4, 512, 64))[a.size[4:]]
V, B = 65, a.rows
r = lambda *s: torch.randn(*s) * 0.02
tok, pos = r(V, d), r(T, d)
lay = [dict(g1=torch.ones(d), b1=torch.zeros(d), wq=r(3 * d, d), bq=torch.zeros(3 * d), wo=r(d, d), bo=torch.zeros(d),
            g2=torch.ones(d), b2=torch.zeros(d), w1=r(ff, d), c1=torch.zeros(ff), w2=r(d, ff), c2=torch.zeros(d)) for _ in range(L)]
gf, bf = torch.ones(d), torch.zeros(d)
K = [torch.empty(B, H, T, d // H) for _ in range(L)]
Vc = [torch.empty(B, H, T, d // H) for _ in range(L)]

@torch.inference_mode()
def step(ids, at):                          # ids (B,n) -> logits (B,V)
    n = ids.shape[1]
    x = tok[ids] + pos[at:at + n]
    for i, w in enumerate(lay):
        h = F.layer_norm(x, (d,), w["g1"], w["b1"])
        q, k, v = F.linear(h, w["wq"], w["bq"]).split(d, -1)
        q, k, v = (z.view(B, n, H, d // H).transpose(1, 2) for z in (q, k, v))
        K[i][:, :, at:at + n] = k
        Vc[i][:, :, at:at + n] = v
        y = F.scaled_dot_product_attention(q, K[i][:, :, :at + n], Vc[i][:, :, :at + n], is_causal=n > 1)
        x = x + F.linear(y.transpose(1, 2).reshape(B, n, d), w["wo"], w["bo"])
        h = F.layer_norm(x, (d,), w["g2"], w["b2"])
        x = x + F.linear(F.gelu(F.linear(h, w["w1"], w["c1"]), approximate="tanh"), w["w2"], w["c2"])
    return F.linear(F.layer_norm(x[:, -1], (d,), gf, bf), tok)

@torch.inference_mode()
def generate(n):
    ids, out = torch.zeros(B, 1, dtype=torch.long), []
    for at in range(n):
        p = torch.softmax(step(ids, at) / 0.8, -1)
        ids = torch.multinomial(p, 1)
        out.append(ids)
    return torch.cat(out, 1)

n = min(a.tokens, T)
generate(8)
times = []
for _ in range(a.repeats):
    t = time.perf_counter()
    generate(n)
    times.append((time.perf_counter() - t) / n)
times.sort()
print(json.dumps(dict(size=a.size, threads=a.threads, rows=B, tokens=n, ms_best=round(1e3 * times[0], 4), ms_median=round(1e3 * times[len(times) // 2], 4))))
