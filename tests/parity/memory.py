#!/usr/bin/env python3
"""--memory-report beside the peak that the process then has, for benchmarks and short training runs.

    python3 tests/parity/memory.py                                # every benchmark, every mode
    python3 tests/parity/memory.py "gpt TEXT" "vit PICTURES --preset vit32 --patch 8"

A case is what follows `heed train`: 12 steps, with evaluations, samples and curves. Each is run as
it is and with each mode; those that the model does not have are left out. Needs no PyTorch. The
status is 1 if any report is off by more than 10 %. A peak below that of Python, about 15 MB, is not
seen, and such a case is left out, too: a new process begins with the peak of its parent."""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile

MODES = ["", "--recompute", "--all-rows", "--precision bf16", "--dropout 0.1",
         "--accumulate 2", "--optimizer momentum", "--batch 7"]
BENCH_MODES = MODES[:5] + ["--set attention=explicit"]
WORKLOADS = ["mlm-nano", "gpt-tiny", "mlm-small", "vit-tiny28", "vit-cifar", "seq2seq-small",
             "rnn-attn", "mlp-mnist", "gpt-baby"]


def in_bytes(use):
    return use.ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def run(command):
    """Standard output, standard error and the peak in bytes; None if the command failed."""
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        p = subprocess.Popen(command, stdout=out, stderr=err)
        _, status, use = os.wait4(p.pid, 0)
        p.returncode = os.waitstatus_to_exitcode(status)
        if p.returncode:
            return None
        out.seek(0)
        err.seek(0)
        return out.read(), err.read(), in_bytes(use)


def bench(heed, name, mode):
    found = run([heed, "bench", "--workload", name, "--memory-report", "--json", "--seconds", "0",
                 "--warmup-seconds", "0", "--min-steps", "1"] + mode.split())
    return found and (json.loads(found[0])["memory"]["total"], found[2])


def train(heed, case, mode, folder):
    found = run([heed, "train"] + case.split() + mode.split() +
                ["--steps", "12", "--eval-every", "6", "--eval-batches", "4", "--force", "-o",
                 os.path.join(folder, "run"), "--progress", "json", "--memory-report"])
    if not found:
        return None
    start = next(json.loads(line) for line in found[1].splitlines() if '"memory"' in line)
    return start["memory"]["total"], found[2]


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("cases", nargs="*")
    p.add_argument("--heed", default="./heed")
    p.add_argument("--modes", help="a list with commas, as \",--recompute\"")
    a = p.parse_args()
    bad = 0
    print(f"{'MB of 10^6 bytes':<44} {'report':>8} {'peak':>8} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for case in a.cases or WORKLOADS:
            modes = a.modes.split(",") if a.modes else MODES if a.cases else BENCH_MODES
            for mode in modes:
                found = (train(a.heed, case, mode, folder) if a.cases
                         else bench(a.heed, case, mode))
                if not found or found[1] <= in_bytes(resource.getrusage(resource.RUSAGE_SELF)):
                    continue
                total, peak = found
                wrong = abs(total / peak - 1) > 0.1
                bad += wrong
                words = case.split()
                name = " ".join([words[0]] + words[2:] + [mode])
                print(f"{name:<44} {total / 1e6:8.1f} {peak / 1e6:8.1f} {total / peak:6.2f}"
                      f"{'  off' if wrong else ''}", flush=True)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
