#!/usr/bin/env python3
"""quality.py TASK... -- seconds from Enter to a given quality on a validation part, heed by its defaults beside recipes of nanoGPT,
Keras and transformers (tests/parity/quality/), as a table.

    python3 tests/parity/quality.py shakespeare --text tinyshakespeare.txt       loss 1.88, and nanoGPT's recipe for a CPU
    python3 tests/parity/quality.py mnist --pictures pictures/mnist             98 %, and the ViT of the Keras examples
    python3 tests/parity/quality.py book --text book.txt                        the loss that transformers' Trainer reaches

Each program runs alone, one after the other, on a machine that does nothing else; the clock runs from the start of the process
to the evaluation that reaches the target, which ends it. --log FILE keeps results, so that a table can be measured in pieces."""
import argparse
import csv
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TASKS = {
    "shakespeare": {"model": "gpt", "recipe": "nanogpt.py", "peer": "nanoGPT's recipe", "target": 1.88, "unit": "loss"},
    "mnist": {"model": "vit", "recipe": "keras_vit.py", "peer": "Keras's example", "target": 0.98, "unit": "accuracy"},
    "book": {"model": "mlm", "recipe": "transformers_mlm.py", "peer": "transformers' Trainer", "target": None, "unit": "loss"},
}


def reached(value, target, unit):
    return value >= target if unit == "accuracy" else value <= target


def follow(command, values, target, unit, limit, env):
    """Seconds until one of values(process) reaches the target, and the last value; None: it was not reached."""
    start = time.time()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env, start_new_session=True)
    seconds, last = None, None
    for value in values(process, start + limit):
        last, at = value, time.time() - start
        if target is not None and reached(value, target, unit):
            seconds = at
            break
    if target is None:
        seconds = time.time() - start
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()
    return seconds, last


def of_recipe(unit):
    def values(process, end):
        for line in process.stdout:
            if line.startswith("{"):
                yield json.loads(line)[unit]
            if time.time() > end:
                return
    return values


def of_run(run, unit):
    """The validation rows of a run's metrics.csv as they appear."""
    def values(process, end):
        seen, path = 0, os.path.join(run, "metrics.csv")
        while time.time() < end:
            done = process.poll() is not None
            rows = []
            if os.path.exists(path):
                with open(path) as f:
                    rows = [r for r in csv.DictReader(f) if r.get("split") == "val" and r["seconds"]]
            for row in rows[seen:]:
                yield float(row["metric" if unit == "accuracy" else "loss"])
            seen = len(rows)
            if done:
                return
            time.sleep(0.05)
    return values


def measure(name, a):
    task = TASKS[name]
    target, unit = task["target"], task["unit"]
    data = a.pictures if name == "mnist" else a.text
    env = {**os.environ, "OMP_NUM_THREADS": str(a.threads), "PYTHONUNBUFFERED": "1"}
    with tempfile.TemporaryDirectory() as folder:
        run, extra, words = os.path.join(folder, "run"), [], []
        if name == "book":  # the same vocabulary for both
            pieces = os.path.join(folder, "pieces")
            subprocess.run([a.heed, "tokenizer", "train", data, "--kind", "wordpiece", "--vocab", "4000", "-o", pieces], check=True, stdout=subprocess.DEVNULL)
            extra, words = [os.path.join(pieces, "vocab.txt")], ["--tokenizer", pieces]
        if name != "mnist":
            words += ["--split", "tail"]
        peer = follow([a.python, os.path.join(HERE, "quality", task["recipe"]), data, *extra], of_recipe(unit), target, unit, a.limit, env)
        target = peer[1] if target is None else target
        heed = follow([a.heed, "train", task["model"], data, "-o", run, "--minutes", str(a.minutes), *words], of_run(run, unit), target, unit, a.limit, env)
    return {"task": name, "target": target, "unit": unit, "peer": peer, "heed": heed, "threads": a.threads}


def row(r):
    def text(x):
        return f"{x[0]:.0f} s" if x[0] is not None else f"not reached ({x[1]:.4g})"
    ratio = f"{r['peer'][0] / r['heed'][0]:.1f}" if r["peer"][0] and r["heed"][0] else "-"
    target = f"{100 * r['target']:.0f} %" if r["unit"] == "accuracy" else f"loss {r['target']:.2f}"
    return f"| {r['task']}, {target} | {text(r['heed'])} | {TASKS[r['task']]['peer']}: {text(r['peer'])} | {ratio} |"


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tasks", nargs="*", choices=[*TASKS, []])
    p.add_argument("--text")
    p.add_argument("--pictures")
    p.add_argument("--heed", default="./heed")
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--threads", type=int, default=2)
    p.add_argument("--minutes", type=float, default=1, help="of heed's training")
    p.add_argument("--limit", type=float, default=600, help="seconds of each process at most")
    p.add_argument("--log")
    a = p.parse_args()
    results = []
    if a.log and os.path.exists(a.log):
        with open(a.log) as f:
            results = [json.loads(line) for line in f]
    for name in a.tasks:
        results.append(measure(name, a))
        if a.log:
            with open(a.log, "a") as f:
                f.write(json.dumps(results[-1]) + "\n")
    print("| task, target | heed, defaults | recipe | ratio |\n|---|---|---|---|")
    for r in results:
        print(row(r))


main()
