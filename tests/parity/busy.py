#!/usr/bin/env python3
"""Default threads beside other programs: mean step of `heed bench` with default threads and with
--threads 1, while 0, 1, 2 and 4 busy processes run.

    python3 tests/parity/busy.py [WORKLOAD ...] [--busy 0,1,2,4] [--turns 10] [--torch]
    python3 tests/parity/busy.py [WORKLOAD ...] --after [--turns 10]

All run in turn, so that a slow minute of the machine meets all; a ratio is the median of the turns'
ratios, with the lowest and the highest. Bar: at most 1.1 beside busy processes, and well below 1
beside none. --torch also runs torch_steps.py (eager) in each turn, with its default threads; its
ratio is that of its mean step to heed's.

--after: whether the threads are used from the start. Each turn runs PyTorch, then `heed bench`
without warm-up ("after"), then the same again ("again") and with one thread. PyTorch leaves a
machine whose memory is not mapped and whose threads have just ended. Bar: after / again about 1.

--keep FILE appends each turn to FILE, one JSON object per line, and the table has all turns in it,
so that a long measurement can be made in pieces; --turns 0 prints the table only."""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys

SPIN = "while True: pass"
STEPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_steps.py")
TITLES = {"default": "default threads", "one": "1 thread", "torch": "PyTorch", "after": "after PyTorch"}
# One column for each of these pairs that a turn has: the first's time over the second's.
RATIOS = [("default", "one"), ("torch", "default"), ("after", "again"), ("after", "one")]


def mean_step(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.strip()}")
    return json.loads(done.stdout.strip().splitlines()[-1])["ms_mean"]


def commands(a, workload):
    """What a turn runs, in this order. In --after PyTorch is there for what it leaves behind."""
    measured = ["--workload", workload, "--seconds", str(a.seconds)]
    heed = [a.heed, "bench", "--json"] + measured
    torch = [sys.executable, STEPS, "--mode", "eager"]
    if a.after:
        heed += ["--warmup-seconds", "0"]
        torch += ["--workload", workload, "--seconds", "0.3", "--warmup-seconds", "0"]
        return {"torch": torch, "after": heed, "again": heed, "one": heed + ["--threads", "1"]}
    turn = {"default": heed, "one": heed + ["--threads", "1"]}
    return turn | {"torch": torch + measured} if a.torch else turn


@contextlib.contextmanager
def busy(count):
    spinning = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


def measure(a):
    for workload in a.workloads:
        for count in [0] if a.after else map(int, a.busy.split(",")):
            with busy(count):
                for _ in range(a.turns):
                    ms = {name: mean_step(c) for name, c in commands(a, workload).items()}
                    if a.after:
                        del ms["torch"]
                    yield {"workload": workload, "busy": count, "ms": ms}


def ratio(turns, above, below):
    ratios = [t["ms"][above] / t["ms"][below] for t in turns]
    return f"{statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"


def table(turns):
    """Markdown: a block of rows for turns that measured the same things."""
    groups, last = {}, None
    for t in turns:
        groups.setdefault((tuple(t["ms"]), t["workload"], t["busy"]), []).append(t)
    for (names, workload, count), group in sorted(groups.items()):
        ratios = [(x, y) for x, y in RATIOS if x in names and y in names]
        if names != last:
            if last:
                print()
            titles = [f"{TITLES.get(n, n)}, ms" for n in names] + [f"{x} / {y}" for x, y in ratios]
            print(f"| workload | busy | turns | {' | '.join(titles)} |")
            print("|---" * (3 + len(titles)) + "|")
            last = names
        cells = [f"{statistics.median(t['ms'][n] for t in group):.2f}" for n in names]
        cells += [ratio(group, x, y) for x, y in ratios]
        print(f"| {workload} | {count} | {len(group)} | {' | '.join(cells)} |")


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("workloads", nargs="*", default=["mlm-nano", "gpt-tiny"])
    p.add_argument("--heed", default="./heed")
    p.add_argument("--busy", default="0,1,2,4", help="numbers of busy processes, a list")
    p.add_argument("--turns", type=int, default=10)
    p.add_argument("--seconds", type=float, default=2.5, help="measured per process")
    p.add_argument("--torch", action="store_true", help="PyTorch beside")
    p.add_argument("--after", action="store_true", help="the first seconds after PyTorch")
    p.add_argument("--keep", metavar="FILE", help="append the turns to it, and show all of it")
    a = p.parse_args()
    turns = []
    for turn in measure(a):
        turns.append(turn)
        if a.keep:
            with open(a.keep, "a", encoding="utf-8") as f:
                print(json.dumps(turn), file=f, flush=True)
    if a.keep:
        with open(a.keep, encoding="utf-8") as f:
            turns = [json.loads(line) for line in f]
    table(turns)


if __name__ == "__main__":
    main()
