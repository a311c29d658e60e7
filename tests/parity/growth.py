#!/usr/bin/env python3
"""How time and memory of a training step grow, as a table for docs/figures.md: python3 tests/parity/growth.py [--heed HEED]

Doubles the width, depth, block, batch or vocabulary of a small causal language model (heed bench, workload gpt-tiny) and fits
the exponent of growth from the upper three sizes, beside that of the mathematics. Block: a step keeps its 2,048 tokens."""

import argparse
import json
import math
import subprocess

PARTS = {  # sizes, settings of a size, exponents of time and of memory at most
    "width": ([64, 128, 256, 512, 1024], lambda n: f"width={n} ff={4 * n} heads=4 batch=4", 2, 2),
    "depth": ([1, 2, 4, 8, 16, 32], lambda n: f"layers={n} batch=4", 1, 1),
    "block": ([64, 128, 256, 512, 1024, 2048], lambda n: f"block={n} batch={2048 // n}", 1, 0),
    "batch": ([2, 4, 8, 16, 32, 64], lambda n: f"batch={n}", 1, 1),
    "vocab": ([512, 1024, 2048, 4096, 8192, 16384], lambda n: f"vocab={n}", 1, 1),
}


def measured(heed, settings):
    """Milliseconds and megabytes, without the program and its data, of a step."""
    command = [heed, "bench", "--workload", "gpt-tiny", "--set", settings, "--memory-report", "--json"]
    command += ["--seconds", "0.3", "--warmup-seconds", "0.1", "--min-steps", "3"]
    w = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return w["ms_per_step"], (w["memory"]["total"] - w["memory"]["before"]) / 1e6


def slope(sizes, values):
    x, y = [[math.log(v) for v in part[-3:]] for part in (sizes, values)]
    mx, my = sum(x) / 3, sum(y) / 3
    return sum((a - mx) * (b - my) for a, b in zip(x, y)) / sum((a - mx) ** 2 for a in x)


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--heed", default="./heed")
heed = parser.parse_args().heed
print("| | sizes | ms per step | growth of time | MB | growth of memory |\n|---|---|---|---|---|---|")
for part, (sizes, settings, time_most, memory_most) in PARTS.items():
    time, memory = zip(*(measured(heed, settings(n)) for n in sizes))
    print(f"| {part} | {sizes[0]:,} to {sizes[-1]:,} | {time[0]:.2f} to {time[-1]:.2f} | {slope(sizes, time):.2f}, at most {time_most} "
          f"| {memory[0]:.1f} to {memory[-1]:.1f} | {slope(sizes, memory):.2f}, at most {memory_most} |")
