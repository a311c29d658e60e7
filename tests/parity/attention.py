#!/usr/bin/env python3
"""Attention alone in PyTorch (scaled_dot_product_attention), for comparison with attention.c.

    python3 tests/parity/attention.py --threads 2 128,32,0 128,64,1

A case is TOKENS,WIDTH,CAUSAL: 32 sequences of 4 heads. Prints the best GFLOP/s of forward, and of
forward and backward together; products are counted in full, also where the mask is causal."""

import argparse
import os
import time

SEQUENCES, HEADS = 32, 4


def measure(torch, tokens, width, causal, seconds):
    q, k, v = (torch.randn(SEQUENCES, HEADS, tokens, width, requires_grad=True) for _ in range(3))
    gradient = torch.randn(SEQUENCES, HEADS, tokens, width)
    forward = backward = float("inf")
    end, calls = time.perf_counter() + seconds, 0
    while calls < 3 or time.perf_counter() < end:
        begin = time.perf_counter()
        y = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
        middle = time.perf_counter()
        torch.autograd.grad(y, (q, k, v), gradient)
        forward = min(forward, middle - begin)
        backward = min(backward, time.perf_counter() - middle)
        calls += 1
    work = 4e-9 * SEQUENCES * HEADS * tokens * tokens * width
    return work / forward, 3 * work / (forward + backward)


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("cases", nargs="+")
    p.add_argument("--threads", type=int, default=os.cpu_count())
    p.add_argument("--seconds", type=float, default=0.2, help="for each case")
    a = p.parse_args()
    import torch

    torch.set_num_threads(a.threads)
    for case in a.cases:
        tokens, width, causal = map(int, case.split(","))
        forward, both = measure(torch, tokens, width, bool(causal), a.seconds)
        print(
            f"{tokens:4} tokens of width {width:2}{', causal' if causal else ''}: "
            f"{forward:.0f} GFLOP/s forward, {both:.0f} and backward"
        )


if __name__ == "__main__":
    main()
