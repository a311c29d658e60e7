#!/usr/bin/env python3
"""Compares the entity scores of `heed eval` with those of seqeval (pip install seqeval).

    python3 tests/parity/entities.py [--heed ./heed] [--files 100]

Trains a tagger of few steps for IOB2 and for IOBES, so that it errs; then, for random CoNLL files of
words whose label they suggest, precision, recall, F1 and support of `heed eval --json`, of all types
and of each, by seqeval's default mode and strictly, must be those of seqeval for the labels that
`heed classify` predicts."""
import argparse
import json
import os
import random
import subprocess
import tempfile
import warnings

from seqeval.metrics import classification_report
from seqeval.scheme import IOB2, IOBES

warnings.filterwarnings("ignore")
TYPES = ["PER", "LOC", "ORG"]
KEYS = [("precision", "precision"), ("recall", "recall"), ("f1-score", "f1"), ("support", "support")]


def sentences(prefixes, count):
    labels = ["O"] + [f"{p}-{t}" for p in prefixes for t in TYPES]
    for _ in range(count):
        gold = [random.choice(labels) for _ in range(random.randint(1, 12))]
        yield gold, [f"{label.lower()}{random.randint(0, 4)}" if random.random() < 0.8 else "word"
                     for label in gold]


def write(path, data):
    with open(path, "w") as f:
        for gold, words in data:
            f.write("".join(f"{w} X {g}\n" for w, g in zip(words, gold)) + "\n")


def run(*args, text=None):
    return subprocess.run(args, input=text, text=True, capture_output=True, check=True).stdout


def differs(ours, theirs):
    pairs = [(ours, theirs["micro avg"])] + [(t, theirs.get(t["type"], {})) for t in ours["types"]]
    return any(abs(o[b] - t.get(a, 0)) > 1e-9 for o, t in pairs for a, b in KEYS)


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--heed", default="./heed")
    p.add_argument("--files", type=int, default=100)
    a = p.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        for scheme, prefixes in ((IOB2, "BI"), (IOBES, "BIES")):
            random.seed(1)
            data, model = os.path.join(folder, "train.conll"), os.path.join(folder, prefixes)
            write(data, sentences(prefixes, 300))
            run(a.heed, "train", "tag", data, "-o", model, "--layers", "1", "--width", "16", "--steps",
                "60", "--lr", "0.01", "--progress", "none")
            for i in range(a.files // 2):
                random.seed(100 + i)
                test = list(sentences(prefixes, random.randint(3, 30)))
                write(data + ".test.conll", test)
                ours = json.loads(run(a.heed, "eval", model, data + ".test.conll", "--json"))["entities"]
                lines = run(a.heed, "classify", model, "--json",
                            text="".join(" ".join(words) + "\n" for _, words in test)).splitlines()
                gold, made = [g for g, _ in test], [json.loads(x)["labels"] for x in lines]
                report = dict(output_dict=True, zero_division=0)
                bad += differs(ours, classification_report(gold, made, **report))
                bad += differs(ours["strict"], classification_report(
                    gold, made, mode="strict", scheme=scheme, **report))
    print(f"{a.files} files in two modes: {bad} differ from seqeval")
    return bad > 0


if __name__ == "__main__":
    raise SystemExit(main())
