#!/usr/bin/env python3
"""Default threads beside other programs: mean step of `heed bench` with default threads over that
with --threads 1, while 0, 1, 2 and 4 busy processes run.

    python3 tests/parity/busy.py [WORKLOAD ...] [--busy 0,1,2,4] [--pairs 10]

Both run in turn, so that a slow minute of the machine meets both; the ratio printed is the median
of the pairs' ratios. Bar: at most 1.15 beside busy processes, and well below 1 beside none."""

import argparse
import contextlib
import json
import statistics
import subprocess
import sys

SPIN = "while True: pass"


def mean_step(a, workload, threads):
    command = [a.heed, "bench", "--json", "--workload", workload, "--seconds", str(a.seconds)]
    done = subprocess.run(command + threads, capture_output=True, text=True)
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
    a = p.parse_args()
    print(f"{'workload':14} {'busy':>4} {'default ms':>11} {'1 thread ms':>12} {'ratio':>6} "
          f"{'lowest':>7} {'highest':>8}")
    for workload in a.workloads:
        for count in map(int, a.busy.split(",")):
            with busy(count):
                pairs = [
                    (mean_step(a, workload, []), mean_step(a, workload, ["--threads", "1"]))
                    for _ in range(a.pairs)
                ]
            ratios = [team / one for team, one in pairs]
            team, one = (statistics.median(column) for column in zip(*pairs))
            print(
                f"{workload:14} {count:4} {team:11.2f} {one:12.2f} "
                f"{statistics.median(ratios):6.2f} {min(ratios):7.2f} {max(ratios):8.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
