"""heed and torch in one process, in either order of their imports: each gives the bits that it gives alone."""
import subprocess
import sys

WORK = """
import numpy as np
rng = np.random.default_rng(0)
x, y = rng.standard_normal((64, 256)).astype(np.float32), rng.standard_normal((64, 512)).astype(np.float32)
start = rng.standard_normal((512, 256)).astype(np.float32) / 16

class Torch:
    def __init__(self):
        import torch
        self.w = torch.from_numpy(start.copy()).requires_grad_()
        self.optimizer, self.torch = torch.optim.AdamW([self.w], lr=0.01), torch
    def step(self, i):
        self.optimizer.zero_grad()
        ((self.torch.from_numpy(x) @ self.w.T - self.torch.from_numpy(y)) ** 2).mean().backward()
        self.optimizer.step()
    def numbers(self):
        return self.w.detach().numpy()

class Heed:
    def __init__(self):
        import heed
        self.net = heed.Net(seed=1)
        self.w = self.net.param("w", start.shape)
        self.w.array[:] = start
        self.optimizer, self.heed = heed.AdamW(self.net, lr=0.01), heed
    def step(self, i):
        self.net.train(i)
        self.heed.mse(self.heed.affine(self.net.input(x), self.w), y).backward()
        self.optimizer.step()
    def numbers(self):
        return self.w.numpy()

makers = [{"torch": Torch, "heed": Heed}[name]() for name in names]
for i in range(20):
    for m in makers:
        m.step(i)
import hashlib
for name, m in zip(names, makers):
    print(name, hashlib.sha256(np.ascontiguousarray(m.numbers()).tobytes()).hexdigest())
"""


def digests(*names):
    out = subprocess.run([sys.executable, "-c", f"names = {names!r}" + WORK], capture_output=True, text=True, check=True).stdout
    return dict(line.split() for line in out.splitlines())


alone = {**digests("torch"), **digests("heed")}
for order in (("torch", "heed"), ("heed", "torch")):
    both = digests(*order)
    assert both == alone, (order, both, alone)
print(alone)
