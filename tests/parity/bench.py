#!/usr/bin/env python3
"""Training speed of heed beside PyTorch's on the same CPU, as a table for docs/figures.md.

    python3 tests/parity/bench.py --threads 1,2                          the main table
    python3 tests/parity/bench.py --threads 2 --isa avx2                 both limited to AVX2
    python3 tests/parity/bench.py mlm-nano vit-cifar --threads 2 --all-rows
    python3 tests/parity/bench.py gpt-tiny vit-tiny28 --dropout 0.1
    python3 tests/parity/bench.py --threads 1,2 --precision bf16         of both: heed's bf16 beside
                                            its fp32, and PyTorch's faster one (bf16: autocast)

Processes of `heed bench` and of torch_steps.py are started in turn, so that a slow minute of the
machine meets both. Times are in ms per step: the best process of each, of PyTorch that of its best
mode, with the median of its processes in brackets; the ratio is PyTorch's time over heed's, of the
best and in brackets of the medians. % of peak: the model's operations (of all rows, computed or
not) against a loop of multiply-adds on as many threads, the fastest of all turns. Run it on a
machine that does nothing else.

--log FILE keeps every result, and those that FILE has are not measured again; with --limit, a call
starts no process after so many seconds. So a table can be measured in several short calls, the same
command again until no process is missing. PyTorch keeps what it compiles for the next process: a
first call without --log, with --runs 1 --seconds 0 --min-steps 1, prepares short ones.

    python3 tests/parity/bench.py --threads 1,2 --limit 30 --log main.jsonl         (repeated)
    python3 tests/parity/bench.py --threads 1,2 --runs 0 --log main.jsonl           the table"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time

import torch_steps

STEPS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "torch_steps.py")
HEED = {"fp32": "heed", "bf16": "heed bf16"}  # its mode in the results
AVX2 = {
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "ONEDNN_MAX_CPU_ISA": "AVX2",
}


def arguments():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("workloads", nargs="*", default=list(torch_steps.WORKLOADS))
    p.add_argument("--heed", default="./heed")
    p.add_argument("--threads", default=str(os.cpu_count()), help="a list: 1,2")
    p.add_argument("--modes", default="fused,compile", help="of PyTorch, a list: eager,fused,compile")
    p.add_argument("--isa", default="auto", choices=["auto", "avx2"], help="of both")
    p.add_argument("--dropout", type=float, default=0, help="in both")
    p.add_argument("--precision", default="fp32", choices=["fp32", "bf16"], help="bf16: both")
    p.add_argument("--all-rows", action="store_true", help="heed computes all rows of the last block")
    p.add_argument("--runs", type=int, default=3, help="processes of each kind")
    p.add_argument("--seconds", type=float, default=2.5, help="measured per process")
    p.add_argument("--min-steps", type=int, default=5, help="at least this many in each")
    p.add_argument("--log", help="results, a file per table, a JSON object per line")
    p.add_argument("--limit", type=float, help="seconds after which no process is started")
    return p.parse_args()


def last_json(command, limits=None):
    env = {**os.environ, **(limits or {})}
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}\n{done.stderr.strip()}")
    return json.loads(done.stdout.strip().splitlines()[-1])


def both(a, workload, threads):
    """The options that both programs have."""
    measured = ["--seconds", a.seconds, "--min-steps", a.min_steps, "--dropout", a.dropout]
    return list(map(str, ["--workload", workload, "--threads", threads] + measured))


def theirs(a, workload, threads, precision, mode):
    command = [sys.executable, STEPS, "--mode", mode, "--precision", precision]
    return last_json(command + both(a, workload, threads), AVX2 if a.isa == "avx2" else None)


def ours(a, workload, threads, precision):
    heed = [a.heed, "bench", "--json", "--isa", a.isa]
    how = ["--precision", precision] + (["--all-rows"] if a.all_rows else [])
    result = last_json(heed + both(a, workload, threads) + how)
    probe = ["--workload", "mlp-mnist", "--seconds", "0.05", "--warmup-seconds", "0", "--per-op"]
    peak = last_json(heed + probe + ["--threads", str(threads)])["per_op"]["peak_gflops"]
    return {**result, "mode": HEED[precision], "peak_gflops": peak}


def kinds(a):
    """The programs that take turns: the mode in the results, the precision, PyTorch's mode."""
    for precision in dict.fromkeys(["fp32", a.precision]):
        yield HEED[precision], precision, None
        for mode in a.modes.split(","):
            yield torch_steps.name_of(mode, precision), precision, mode


def planned(a):
    """Every process of a table, in turn: workload, threads, number of the turn, kind."""
    for workload in a.workloads:
        for threads in map(int, a.threads.split(",")):
            for turn in range(a.runs):
                for kind in kinds(a):
                    yield workload, threads, turn, kind


def logged(path):
    """The results that a file has."""
    results = []
    for number, line in enumerate(open(path), 1):
        try:
            results.append(json.loads(line))
        except json.JSONDecodeError:
            sys.exit(f"{path}:{number}: expected a JSON object, found {line[:40]!r}; hint: delete the line")
    return results


def turns(a):
    """The results: those of the log and those of new processes."""
    results = logged(a.log) if a.log and os.path.exists(a.log) else []
    begin, missing = time.monotonic(), 0
    for workload, threads, turn, (name, precision, mode) in planned(a):
        wanted = (workload, threads, name)
        if turn < sum((r["workload"], r["threads"], r["mode"]) == wanted for r in results):
            continue
        if a.limit and time.monotonic() - begin > a.limit:
            missing += 1
            continue
        if mode:
            results.append(theirs(a, workload, threads, precision, mode))
        else:
            results.append(ours(a, workload, threads, precision))
        if a.log:
            with open(a.log, "a") as log:
                log.write(json.dumps(results[-1]) + "\n")
    if missing:
        print(f"{missing} processes are missing: run the same command again", file=sys.stderr)
    return results


def ms(results):
    return [r["ms_per_step"] for r in results]


def best_mode(results):
    """The results of PyTorch's fastest mode, or heed's."""
    fastest = min(results, key=lambda r: r["ms_per_step"])
    return [r for r in results if r["mode"] == fastest["mode"]]


def number(x):
    return f"{x:.0f}" if x >= 100 else f"{x:.3g}"


def times(results):
    return f"{number(min(ms(results)))} ({number(statistics.median(ms(results)))})"


def row(workload, threads, precision, results):
    cells, memory = [workload], "-"
    for t in threads:
        here = [r for r in results if r["workload"] == workload and r["threads"] == t]
        us = [r for r in here if r["mode"] == HEED[precision]]
        fp32 = [r for r in here if r["mode"] == HEED["fp32"]]
        them = [r for r in here if r["mode"] not in HEED.values()]
        if not us or not them or not fp32:
            cells += ["-"] * (4 if precision == "fp32" else 6)
            continue
        if precision != "fp32":
            cells += [times(fp32), f"{min(ms(fp32)) / min(ms(us)):.2f}"]
        if len({r["params"] for r in here}) > 1:
            sys.exit(f"{workload}: heed has {us[0]['params']} parameters, PyTorch {them[0]['params']}")
        them = best_mode(them)
        ratio = min(ms(them)) / min(ms(us))
        medians = statistics.median(ms(them)) / statistics.median(ms(us))
        peak = max(r["peak_gflops"] for r in results if "peak_gflops" in r and r["threads"] == t)
        share = max(r["gflops"] for r in us) / peak
        cells += [times(us), f"{times(them)} {them[0]['mode']}", f"{ratio:.2f} ({medians:.2f})",
                  f"{100 * share:.0f}"]
        mb = [min(r["peak_rss_mb"] for r in side) for side in (us, them)]
        memory = f"{mb[0]:.0f} / {mb[1]:.0f} = {mb[0] / mb[1]:.2f}"
    return cells + [memory]


def table(workloads, threads, precision, results):
    head = ["workload"]
    for t in threads:
        of = "1 thread" if t == 1 else f"{t} threads"
        if precision == "fp32":
            head.append(f"{of}: heed, ms")
        else:
            head += [f"{of}: heed fp32, ms", f"fp32 over {precision}", f"heed {precision}, ms"]
        head += ["PyTorch, ms", "ratio", "% of fp32 peak" if precision != "fp32" else "% of peak"]
    lines = [head + ["memory, MB"], ["---"] * (len(head) + 1)]
    measured = {r["workload"] for r in results}
    lines += [row(w, threads, precision, results) for w in workloads if w in measured]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def conditions(results):
    """What the table holds for, as one line: CPU, instruction set, version of PyTorch, day."""
    cpu = [line.split(": ")[1].strip() for line in open("/proc/cpuinfo") if "model name" in line]
    isa = {r["isa"] for r in results if "isa" in r}
    torch = {r["torch"] for r in results if "torch" in r}
    parts = [f"{len(cpu)} x {cpu[0]}", *isa, *(f"PyTorch {v}" for v in torch)]
    return ", ".join(parts + [str(datetime.date.today())])


def main():
    a = arguments()
    results = turns(a)
    print(f"`python3 {' '.join(sys.argv)}`, {conditions(results)}:\n")
    print(table(a.workloads, list(map(int, a.threads.split(","))), a.precision, results))


if __name__ == "__main__":
    main()
