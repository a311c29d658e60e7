#!/usr/bin/env python3
"""Replaces what README.md and docs/*.md print by what their commands print now.

    make demo && python3 tests/refresh.py [PAGE...] [--long] [--write] [--keep FOLDER]
    python3 tests/refresh.py docs/figures.md --measure [--only TEXT] [--write]

Runs, in a scratch folder, the blocks marked `sh test`, those that begin with `$ COMMAND`, and with
--long also those marked `sh long`, which train for minutes. A block without a language is output:
of its own `$ COMMAND`, of the block of commands before it, or, if text is between them, of the
earlier command whose output resembles it most. Each printed line is replaced by the most similar
line of the output, in order; lines `...` stay. Speeds and times at the end of a line also stay, as
they are of a quiet machine. Without --write it prints the differences.

--measure runs, in the checkout, only the blocks marked `sh measure` (that have TEXT), and replaces
the table after each by the table that it prints.

What stays as it is is reported: a line that resembles nothing in the output, a block that no
command prints, and places where lines are left out without `...`. Pages continue one another:
docs/tour.md needs README.md. Data that is not of the project (alice.txt, oz.txt, eng-fra.tsv,
mnist) has to be in FOLDER; commands without their data are reported like the others."""

import argparse
import difflib
import glob
import os
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
LEAST = 0.48  # similarity of a printed line and its replacement
BONUS = 0.3  # so that as many lines as possible are replaced
EXACT = 1.2  # of equal lines; of others at most 1
BLOCK = 0.2  # so that lines that follow one another are replaced by such lines
CLOCK = re.compile(r"(?: +[\d.]+k?)? +(?:\d+m *)?[\d.]+s(?=(?: \*)?$)")  # "  135.9k   13s", "  0.9s"


def runs(command, folder):
    done = subprocess.run(
        ["sh", "-e", "-c", command], cwd=folder, stdin=subprocess.DEVNULL, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "NO_COLOR": "1"},
    )
    return done.stdout.split("\n")


def blocks(lines):
    """(info, first line, line after the last) of each fenced block."""
    start = None
    for i, line in enumerate(lines):
        if start is None and line.startswith("```"):
            start = i
        elif start is not None and line.strip() == "```":
            yield lines[start][3:], start + 1, i
            start = None


def is_open(command):
    """True if the command continues on the next line: a quote or a backslash is open."""
    try:
        shlex.split(command)
    except ValueError:
        return True
    return False


def commands(lines, long):
    """(command, first line of its output, line after it) of all that is run and printed. Without
    output both are equal. The command is "" if it is the one before, and None if it is unknown."""
    marks = ("sh test", "sh long") if long else ("sh test",)
    last = None  # the line after the last block of commands, until its output
    for info, first, end in blocks(lines):
        if info == "" and end > first and lines[first].startswith("$ "):
            starts = [i for i in range(first, end) if lines[i].startswith("$ ")] + [end]
            for start, after in zip(starts, starts[1:]):
                output = start + 1
                while output < after and is_open("\n".join(lines[start:output])[2:]):
                    output += 1
                yield "\n".join(lines[start:output])[2:], output, after
        elif info in marks:
            yield "\n".join(lines[first:end]), end, end
        elif info == "":
            yield "" if last and last + 1 >= first - 2 else None, first, end
        last = end if info in marks else None


def likeness(a, b):
    """0 to 1: by the first word, the text with other numbers, and the numbers."""
    a, b = CLOCK.sub("", a), CLOCK.sub("", b)
    masked = [re.sub(r"\d+", "0", x) for x in (a, b)]
    ratios = [difflib.SequenceMatcher(None, *x, False).ratio() for x in (masked, (a, b))]
    return 0.2 * (a.split()[:1] == b.split()[:1]) + 0.6 * ratios[0] + 0.2 * ratios[1]


def aligned(printed, output):
    """For each printed line the index of its line of the output, or None: the best total."""
    best = [[(0.0, None)] * (len(output) + 1) for _ in range(len(printed) + 1)]
    for i in range(len(printed) - 1, -1, -1):
        for j in range(len(output), -1, -1):
            options = []  # the first of equal ones is taken
            if j < len(output):
                like = EXACT if printed[i] == output[j] else likeness(printed[i], output[j])
                if printed[i].strip() not in ("...", "") and like >= LEAST:
                    after = best[i + 1][j + 1]
                    together = BLOCK if after[1] == "both" else 0
                    options.append((BONUS + together + like + after[0], "both"))
                options.append((best[i][j + 1][0], "output"))
            options.append((best[i + 1][j][0], "printed"))
            best[i][j] = max(options, key=lambda option: option[0])
    i = j = 0
    found = [None] * len(printed)
    while i < len(printed):
        move = best[i][j][1]
        if move == "both":
            found[i] = j
        i, j = i + (move != "output"), j + (move != "printed")
    return found


def unmarked(printed, output, found):
    """Indices of printed lines before which lines of the output are left out without `...`."""
    at, marked = 0, False
    for i in range(len(printed) + 1):
        j = len(output) if i == len(printed) else found[i]
        if i < len(printed) and printed[i].strip() == "...":
            marked = True
        elif j is not None:
            if not marked and any(line.strip() for line in output[at:j]):
                yield i
            at, marked = j + 1, False


def with_clock(new, old):
    """The new line with the speed and time of the old one."""
    clock = CLOCK.search(old)
    return CLOCK.sub(clock.group(), new) if clock else new


def resembling(printed, outputs):
    """Of all outputs the one that has most of the printed lines except for their numbers, the latest
    of equal ones; empty if none has two thirds of them."""

    def kinds(lines):
        return {re.sub(r"[\d., ]+", "0", line) for line in lines if line.strip() not in ("...", "")}

    wanted = kinds(printed)
    counts = [len(wanted & kinds(output)) for output in outputs]
    most = max(counts, default=0)
    return outputs[len(counts) - 1 - counts[::-1].index(most)] if 3 * most >= 2 * len(wanted) > 0 else []


def refreshed(page, folder, outputs, long):
    lines = open(page).read().split("\n")
    for command, first, end in list(commands(lines, long)):
        printed = lines[first:end]
        if command:
            outputs.append(runs(command, folder))
        output = resembling(printed, outputs) if command is None else outputs[-1]
        found = aligned(printed, output)
        if end > first and not any(j is not None for j in found):
            print(f"{page}:{first + 1}: no command here prints this block", file=sys.stderr)
            continue
        for i in unmarked(printed, output, found) if end > first else []:
            print(f"{page}:{first + i + 1}: lines are left out without ...", file=sys.stderr)
        for i, j in enumerate(found):
            if j is not None:
                lines[first + i] = with_clock(output[j], printed[i]).rstrip()
            elif printed[i].strip() not in ("...", ""):
                print(f"{page}:{first + i + 1}: not printed now: {printed[i]}", file=sys.stderr)
    return "\n".join(lines)


def measured(page, only):
    lines = open(page).read().split("\n")
    for info, first, end in reversed(list(blocks(lines))):
        command = "\n".join(lines[first:end])
        if info != "sh measure" or only not in command:
            continue
        rows = [line for line in runs(command, ROOT) if line.startswith("|")]
        start = next(i for i in range(end, len(lines)) if lines[i].startswith("|"))
        after = next(i for i in range(start, len(lines)) if not lines[i].startswith("|"))
        if rows:
            lines[start:after] = rows
        else:
            print(f"{page}:{first + 1}: prints no table", file=sys.stderr)
    return "\n".join(lines)


def scratch(keep):
    folder = keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    for name in ("heed", "data", "include", "build"):
        if not os.path.exists(os.path.join(folder, name)):
            os.symlink(os.path.join(ROOT, name), os.path.join(folder, name))
    return folder


def main():
    p = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    first = ["README.md", "docs/tour.md"]
    rest = sorted(set(glob.glob("docs/*.md", root_dir=ROOT)) - set(first))
    p.add_argument("pages", nargs="*", default=first + rest)
    p.add_argument("--long", action="store_true", help="also run what trains for minutes")
    p.add_argument("--measure", action="store_true", help="only the tables of measurements")
    p.add_argument("--only", default="", help="with --measure: blocks that have this text")
    p.add_argument("--write", action="store_true", help="change the pages")
    p.add_argument("--keep", help="folder to run in, which is kept")
    a = p.parse_args()
    os.chdir(ROOT)
    folder, outputs = None if a.measure else scratch(a.keep), []
    for page in a.pages:
        old = open(page).read()
        new = measured(page, a.only) if a.measure else refreshed(page, folder, outputs, a.long)
        if a.write:
            open(page, "w").write(new)
        sys.stdout.writelines(
            difflib.unified_diff(old.splitlines(True), new.splitlines(True), page, page, n=0)
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
