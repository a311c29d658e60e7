#!/bin/sh
# record.sh HEED -- writes what the test tests/cli/test_runs.sh compares with, as the program HEED computes it: expected.tar.gz, a file for
# each command of run.sh, and runs.tar.gz, some of the runs of make.sh as files. Run once, by heed of 2026-11-28: later programs train the
# same weights, open the same runs and say the same. Recorded again because it was changed on purpose: the outputs of data check (rows without
# text are counted), of the worked examples (lists of steps; a function that was renamed) and of eval (`part`, and intervals and bits per byte of targets, which were left out). Two settings that went since were taken out of the runs' config.conf.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sh "$here/make.sh" "$1" "$work/runs"
pack() { tar --sort=name --owner=0 --group=0 --mtime=2026-11-28 --exclude=train.log --exclude=loss.png --exclude=.lock -C "$1" -cf - $2 | gzip -9n; }
pack "$work/runs" "mlm gpt gpt-bpe vit seq2seq rnn" >"$here/runs.tar.gz"
sh "$here/run.sh" "$1" "$work/runs" "$work/said"
pack "$work/said" . >"$here/expected.tar.gz"
