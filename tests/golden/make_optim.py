#!/usr/bin/env python3
"""Writes tests/golden/optim.h: ten steps of each of PyTorch's optimizers, in double precision.

    python3 tests/golden/make_optim.py > tests/golden/optim.h

Two parameters: w (2,3), which decays, and b (2), which does not. At step t = 0, 1, ... their gradients are
g_i = 0.5 x_i + cos(1.7 i + 0.9 t), i counting through w, then b: they depend on the values, so that errors grow. If late,
w has none at steps 2, 3 and 7, and b has its first one at step 4.
"""
import math

import torch

CASES = [
    # name, kind, optimizer, its arguments, other settings
    ("sgd", "sgd", torch.optim.SGD, dict(lr=0.1), {}),
    ("sgd_decay", "sgd", torch.optim.SGD, dict(lr=0.1, weight_decay=0.05), {}),
    ("momentum", "momentum", torch.optim.SGD, dict(lr=0.05, momentum=0.8), {}),
    ("momentum_decay", "momentum", torch.optim.SGD, dict(lr=0.05, momentum=0.9, weight_decay=0.1), {}),
    ("nesterov", "nesterov", torch.optim.SGD,
     dict(lr=0.05, momentum=0.9, nesterov=True, weight_decay=0.1), {}),
    ("rmsprop", "rmsprop", torch.optim.RMSprop, dict(lr=0.01), {}),
    ("rmsprop_decay", "rmsprop", torch.optim.RMSprop,
     dict(lr=0.01, alpha=0.9, eps=1e-3, weight_decay=0.2), {}),
    ("adam", "adam", torch.optim.Adam, dict(lr=0.03), {}),
    ("adam_decay", "adam", torch.optim.Adam, dict(lr=0.03, betas=(0.8, 0.95), weight_decay=0.2), {}),
    ("adamw", "adamw", torch.optim.AdamW, dict(lr=0.03, weight_decay=0.1), {}),
    ("adamw_eps", "adamw", torch.optim.AdamW, dict(lr=0.03, betas=(0.9, 0.99), eps=1e-2, weight_decay=0.1), {}),
    ("clip", "adamw", torch.optim.AdamW, dict(lr=0.03, weight_decay=0.1), dict(clip=0.7)),
    ("clip_loose", "sgd", torch.optim.SGD, dict(lr=0.1), dict(clip=1.5)),
    ("scale_clip", "sgd", torch.optim.SGD, dict(lr=0.1), dict(clip=1.0, scale=0.25)),
    ("lr_scale", "adamw", torch.optim.AdamW, dict(lr=0.03, weight_decay=0.1), dict(lr_scale=0.1)),
    ("cosine", "adamw", torch.optim.AdamW, dict(lr=0.03, weight_decay=0.1), dict(cosine=True)),
    ("frozen", "adamw", torch.optim.AdamW, dict(lr=0.03, weight_decay=0.1), dict(frozen=True, clip=0.7)),
    ("adam_late", "adam", torch.optim.Adam, dict(lr=0.03), dict(late=True)),
    ("adamw_late", "adamw", torch.optim.AdamW, dict(lr=0.03, weight_decay=0.2), dict(late=True)),
    ("nesterov_late", "nesterov", torch.optim.SGD, dict(lr=0.05, momentum=0.9, nesterov=True), dict(late=True)),
]


def run(optimizer, args, more):
    w = torch.tensor([0.5, -1.0, 0.25, 2.0, 0.0, -0.75], dtype=torch.float64).view(2, 3).requires_grad_()
    b = torch.tensor([1.0, -0.5], dtype=torch.float64).requires_grad_()
    decay = args.pop("weight_decay", 0.0)
    groups = [dict(params=[b], weight_decay=0.0, lr=args["lr"] * more.get("lr_scale", 1.0))]
    trained = [b]
    if not more.get("frozen"):
        groups.append(dict(params=[w], weight_decay=decay))
        trained.append(w)
    opt = optimizer(groups, **args)
    factor = lambda t: 0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * t / 10))
    schedule = torch.optim.lr_scheduler.LambdaLR(opt, factor) if more.get("cosine") else None
    norms = []
    for t in range(10):
        for x, first in ((w, 0), (b, 6)):
            i = torch.arange(first, first + x.numel(), dtype=torch.float64).view_as(x)
            if more.get("late") and (t in (2, 3, 7) if first == 0 else t < 4):
                x.grad = None
                continue
            x.grad = (0.5 * x.detach() + torch.cos(1.7 * i + 0.9 * t)) * more.get("scale", 1.0)
        norms.append(torch.nn.utils.clip_grad_norm_(trained, more.get("clip", math.inf)).item())
        opt.step()
        if schedule:
            schedule.step()
    return w.detach().reshape(-1).tolist() + b.detach().tolist(), norms


print("/* Made by make_optim.py with PyTorch " + torch.__version__.split("+")[0] + ": values of w (6) and b (2) after ten steps,\n"
      " * and each step's norm before clipping. */\n/* clang-format off */")
print("static const struct {\n    const char *name;\n    const heed_optimizer *optimizer;\n    const char *settings;\n"
      "    double clip, scale, lr_scale; /* 0: none, 1, 1; lr_scale: of b */\n    bool cosine, frozen, late; /* frozen: w; late: w has no gradient at steps 2, 3 and 7, b none before step 4 */\n"
      "    double x[8], norm[10];\n} trajectories[] = {")
for name, kind, optimizer, args, more in CASES:
    a = dict(args)
    fields = [f"lr={a['lr']}"]
    for ours, theirs in (("decay", "weight_decay"), ("momentum", "momentum"), ("alpha", "alpha"), ("eps", "eps")):
        if theirs in a:
            fields.append(f"{ours}={a[theirs]}")
    if "betas" in a:
        fields += [f"beta{i + 1}={b}" for i, b in enumerate(a["betas"])]
    extra = "".join(f"     .{k} = {str(v).lower()},\n" for k, v in more.items())
    x, norms = run(optimizer, a, more)
    print(f'    {{.name = "{name}",\n     .optimizer = &heed_{kind},\n     .settings = "{" ".join(fields)}",\n{extra}     .x = {{' + ", ".join(f"{v:.12g}" for v in x) + "},")
    print("     .norm = {" + ", ".join(f"{v:.12g}" for v in norms) + "}},")
print("};")
