"""What a run and its PyTorch twin are worth after the same training, for twin.py: accuracy on
pictures; BLEU and log-probability of translations."""

import csv
import json
import os
import subprocess
import tempfile

import numpy as np
import torch
import twins
from shares import share


def measured(run, part):
    """Loss and accuracy that the run's last evaluation, and its test, noted in metrics.csv."""
    with open(os.path.join(run, "metrics.csv")) as f:
        rows = [r for r in csv.DictReader(f) if r["split"] == part]
    return float(rows[-1]["loss"]), float(rows[-1]["metric"])


@torch.no_grad()
def pictures(model, kind, parts, run):
    print(f"\n{'part':6} {'':6} {'loss':>9}   accuracy")
    for part, data in parts.items():
        losses, right, n = 0.0, 0, 0
        for batch in data:
            keep = batch["labels"] >= 0
            x, labels = batch["ids"][keep], batch["labels"][keep]
            logits, _ = twins.forward(model, kind, x)
            losses += torch.nn.functional.cross_entropy(logits, labels, reduction="sum").item()
            right, n = right + (logits.argmax(-1) == labels).sum().item(), n + len(labels)
        loss, accuracy = measured(run, part)
        print(f"{part:6} {'heed':6} {loss:9.5f}   {share(round(accuracy * n), n)} of {n}")
        print(f"{part:6} {'torch':6} {losses / n:9.5f}   {share(right, n)}")


@torch.no_grad()
def greedy(model, batch, begin, end, room):
    """The most probable token each time; lists of tokens, and the log-probability of each."""
    rows = len(batch["src"])
    ids, done = torch.full((rows, 1), begin), torch.zeros(rows, dtype=torch.bool)
    total = torch.zeros(rows, dtype=torch.float64)
    for _ in range(room):
        logits, _ = model(batch["src"], batch["pad"], ids)
        best, token = torch.log_softmax(logits[:, -1].double(), -1).max(-1)
        total += torch.where(done, 0.0, best)
        ids, done = torch.cat([ids, token[:, None]], 1), done | (token == end)
        if done.all():
            break
    cut = lambda row: row[: row.index(end)] if end in row else row
    return [cut(row) for row in ids[:, 1:].tolist()], total.tolist()


def heed_eval(heed, run, *settings):
    out = subprocess.run(
        [heed, "eval", run, "--json", *settings], check=True, capture_output=True, text=True
    )
    return json.loads(out.stdout)


def texts_of(heed, run, lists):
    """Lists of tokens as texts, by the run's tokenizer."""
    out = subprocess.run(
        [heed, "tokenizer", "decode", run],
        input="".join(" ".join(map(str, x)) + "\n" for x in lists),
        check=True,
        capture_output=True,
        text=True,
    )
    return out.stdout.split("\n")[: len(lists)]


def pairs(model, data, run, heed, room):
    from sacrebleu.metrics import BLEU

    begin = int(data[0]["ids"][0, 0])
    labels = data[0]["labels"][0]
    end = int(labels[labels >= 0][-1])
    made, log_p, losses, tokens = [], [], 0.0, 0
    for batch in data:
        n = int((batch["labels"] >= 0).sum())
        with torch.no_grad():
            losses += twins.loss_of(model, "rnn", batch).item() * n
        tokens += n
        ids, p = greedy(model, batch, begin, end, room)
        made, log_p = made + ids, log_p + p
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "made.tsv")
        plain = heed_eval(heed, run, "--translations", path)
        with open(path, newline="\n") as f:
            rows = [line.rstrip("\n").split("\t") for line in f]
    beam = heed_eval(heed, run, "--beam", "4", "--length-penalty", "0")
    ours, right = [r[1] for r in rows], [r[2] for r in rows]
    theirs = texts_of(heed, run, [x or [end] for x in made])
    theirs = ["" if not x else text for x, text in zip(made, theirs)]
    bleu = lambda texts: BLEU().corpus_score(texts, [right]).score
    same = np.mean([a == b for a, b in zip(ours, theirs)])
    print(f"\n{len(rows)} held-out pairs   {'loss':>8} {'BLEU':>7} {'log p of a target':>18}")
    print(
        f"{'heed, greedy':22} {plain['loss']:8.4f} {bleu(ours):7.2f} {plain['log_probability']:18.4f}"
        f"   ({plain['bleu']:.2f} by heed's own count)"
    )
    print(f"{'torch, greedy':22} {losses / tokens:8.4f} {bleu(theirs):7.2f} {np.mean(log_p):18.4f}")
    print(
        f"{'heed, beam of 4':22} {beam['loss']:8.4f} {beam['bleu']:7.2f} "
        f"{beam['log_probability']:18.4f}"
    )
    print(f"{100 * same:.1f} % of the greedy translations are the same text")
