#!/usr/bin/env python3
"""Default threads beside other programs: mean step of `heed bench` with default threads over that
with --threads 1, while 0, 1, 2 and 4 busy processes run.

    python3 tests/parity/busy.py [WORKLOAD ...] [--busy 0,1,2,4] [--pairs 10] [--torch]

Both run in turn, so that a slow minute of the machine meets both; the ratio printed is the median
of the pairs' ratios. Bar: at most 1.1 beside busy processes, and well below 1 beside none. --torch
also runs torch_steps.py in each turn, with its default threads: its median over that of heed."""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys

SPIN = "while True: pass"
STEPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_steps.py")


def mean_step(a, workload, command):
    command = command + ["--workload", workload, "--seconds", str(a.seconds)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.strip()}")
    return json.loads(done.stdout.strip().splitlines()[-1])["ms_mean"]


@contextlib.contextmanager
def busy(count):
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("workloads", nargs="*", default=["mlm-nano", "gpt-tiny"])
    p.add_argument("--heed", default="./heed")
    p.add_argument("--busy", default="0,1,2,4", help="numbers of busy processes, a list")
    p.add_argument("--pairs", type=int, default=10)
    p.add_argument("--seconds", type=float, default=2.5, help="measured per process")
    p.add_argument("--torch", action="store_true", help="PyTorch beside")
    a = p.parse_args()
    bench = [a.heed, "bench", "--json"]
    commands = [bench, bench + ["--threads", "1"]]
    if a.torch:
        commands.append([sys.executable, STEPS, "--mode", "eager"])
    print(f"{'workload':14} {'busy':>4} {'default ms':>11} {'1 thread ms':>12} {'ratio':>6} "
          f"{'lowest':>7} {'highest':>8}" + (f" {'torch ms':>9} {'ratio':>6}" if a.torch else ""))
    for workload in a.workloads:
        for count in map(int, a.busy.split(",")):
            with busy(count):
                turns = [[mean_step(a, workload, c) for c in commands] for _ in range(a.pairs)]
            ratios = [turn[0] / turn[1] for turn in turns]
            team, one, *torch = (statistics.median(column) for column in zip(*turns))
            print(
                f"{workload:14} {count:4} {team:11.2f} {one:12.2f} "
                f"{statistics.median(ratios):6.2f} {min(ratios):7.2f} {max(ratios):8.2f}"
                + "".join(f" {t:9.2f} {t / team:6.2f}" for t in torch),
                flush=True,
            )


if __name__ == "__main__":
    main()
