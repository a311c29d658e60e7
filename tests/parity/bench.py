#!/usr/bin/env python3
"""Training speed of heed beside PyTorch's on the same CPU.

    python3 tests/parity/bench.py [WORKLOAD ...] [--threads 1,2] [--modes eager,fused]

Processes of torch_steps.py and of `heed bench` are started in turn, so that a slow minute of the
machine meets both; the ratio is of the best times, PyTorch's best over its modes. Run it on a
machine that does nothing else."""

import argparse
import json
import os
import subprocess
import sys

import torch_steps

STEPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_steps.py")


def last_json(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.strip()}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def measured(a, workload, threads):
    return ["--workload", workload, "--threads", str(threads), "--seconds", str(a.seconds)]


def theirs(a, workload, mode, threads):
    return last_json([sys.executable, STEPS, "--mode", mode] + measured(a, workload, threads))


def ours(a, workload, threads):
    return last_json([a.heed, "bench", "--json"] + measured(a, workload, threads))


def best(results):
    return min(results, key=lambda r: r["ms_per_step"])


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("workloads", nargs="*", default=list(torch_steps.WORKLOADS))
    p.add_argument("--heed", default="./heed")
    p.add_argument("--threads", default=str(os.cpu_count()), help="a list: 1,2")
    p.add_argument("--modes", default="eager,fused", help="of PyTorch, a list: eager,fused,compile")
    p.add_argument("--runs", type=int, default=3, help="processes of each kind")
    p.add_argument("--seconds", type=float, default=2.5, help="measured per process")
    a = p.parse_args()
    print(
        f"{'workload':14} {'threads':>7} {'heed ms':>9} {'torch ms':>9} {'mode':>8} {'ratio':>6} "
        f"{'heed MB':>8} {'torch MB':>9} "
        f"{'spread heed, torch':>19}"
    )
    for workload in a.workloads:
        for threads in map(int, a.threads.split(",")):
            us, them = [], []
            for _ in range(a.runs):
                us.append(ours(a, workload, threads))
                them += [theirs(a, workload, mode, threads) for mode in a.modes.split(",")]
            u, t = best(us), best(them)
            same = [r["ms_per_step"] for r in them if r["mode"] == t["mode"]]
            spread = [max(x) / min(x) - 1 for x in ([r["ms_per_step"] for r in us], same)]
            note = (
                ""
                if u["params"] == t["params"]
                else f"  parameters differ: {u['params']} and {t['params']}"
            )
            print(
                f"{workload:14} {threads:7} {u['ms_per_step']:9.3f} {t['ms_per_step']:9.3f} "
                f"{t['mode']:>8} {t['ms_per_step'] / u['ms_per_step']:6.2f} "
                f"{u['peak_rss_mb']:8.1f} {t['peak_rss_mb']:9.1f} "
                f"{spread[0]:9.1%} {spread[1]:9.1%}{note}",
                flush=True,
            )


if __name__ == "__main__":
    main()
