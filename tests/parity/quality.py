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
import threading
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
    """[seconds, value] of each evaluation of a process, which is ended by the first that reaches the target, or after `limit`
    seconds; and how long it ran."""
    start, course = time.time(), []
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=env, start_new_session=True)
    clock = threading.Timer(limit, end, [process])
    clock.start()
    for value in values(process):
        course.append([time.time() - start, value])
        if target is not None and reached(value, target, unit):
            end(process)
            break
    status = process.wait()
    clock.cancel()
    if status > 0:  # negative: ended here
        sys.exit(f"{' '.join(command[:3])} ended with status {status}: run it to see why; a recipe needs what its first lines name")
    return {"course": course, "seconds": time.time() - start}


def end(process):
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def of_recipe(unit):
    def values(process):
        for line in process.stdout:
            if line.startswith('{"'):
                yield json.loads(line)[unit]
    return values


def of_run(run, unit):
    """The validation rows of a run's metrics.csv as they appear."""
    def values(process):
        seen, path = 0, os.path.join(run, "metrics.csv")
        while True:
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
        goal = best(peer, unit) if target is None else target
        heed = follow([a.heed, "train", task["model"], data, "-o", run, *words], of_run(run, unit), goal, unit, a.limit, env)
    return {"task": name, "target": target, "unit": unit, "peer": peer, "heed": heed, "threads": a.threads}


def best(run, unit):
    """The best value of a process, or None."""
    return (max if unit == "accuracy" else min)((v for _, v in run["course"]), default=None)


def row(r, target):
    """A line of the table: both times to the target, or how long a process ran without reaching it."""
    def text(run):
        at = next((t for t, v in run["course"] if reached(v, target, r["unit"])), None)
        return (at, f"{at:.0f} s") if at else (None, f"not in {run['seconds']:.0f} s")
    heed, peer = text(r["heed"]), text(r["peer"])
    ratio = f"{peer[0] / heed[0]:.1f}" if heed[0] and peer[0] else "-"
    shown = f"{100 * target:.1f} %" if r["unit"] == "accuracy" else f"loss {target:.3f}"
    return f"| {r['task']}, {shown} | {heed[1]} | {TASKS[r['task']]['peer']}: {peer[1]} | {ratio} |"


def rows(r):
    """Of the target, and of the best value of a recipe that did not reach it, or that had none."""
    found = best(r["peer"], r["unit"])
    targets = [t for t in (r["target"],) if t is not None]
    if found is not None and (not targets or not reached(found, targets[0], r["unit"])):
        targets.append(found)
    none = f"| {r['task']} | - | {TASKS[r['task']]['peer']}: no evaluation in {r['peer']['seconds']:.0f} s | - |"
    return [row(r, t) for t in targets] or [none]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("tasks", nargs="*", choices=[*TASKS, []])
    p.add_argument("--text")
    p.add_argument("--pictures")
    p.add_argument("--heed", default="./heed")
    p.add_argument("--python", default=sys.executable)
    p.add_argument("--threads", type=int, default=2)
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
        print("\n".join(rows(r)))


main()
