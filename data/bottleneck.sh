#!/bin/sh
# bottleneck.sh [-o FOLDER] [--quick] [-- SETTINGS...] -- a whole source in one vector, or a look back at every step: 5 to 30 letters turned around by
# recurrent layers with attention, and by the same without, in the same time. Prints exact matches by length, on unseen texts, and draws one picture
# of what both decoders are given of a text of 24 letters or more: FOLDER/alignments.png. Finished runs in FOLDER (runs/bottleneck) are kept,
# unfinished ones are resumed. --quick: few steps. SETTINGS go to both training runs.
usage='[-o FOLDER] [--quick] [-- SETTINGS...]' out=runs/bottleneck budget="--minutes 2" train=100000 test=2000
quick() { budget="--steps 20" train=500 test=100; }
. "$(dirname "$0")/lib.sh"
mkdir -p "$out" && cd "$out" || exit 1
maker pairs
[ -e letters/train.tsv ] || ./maker reverse letters --from 5 --to 30 --train "$train" --test "$test" || exit 1

for run in attention none; do
    attention=additive
    [ $run = none ] && attention=none
    learn $run rnn letters/train.tsv --attention $attention $budget --val-split 0.005 "$@" >/dev/null || exit
    "$heed" eval "$run" letters/test.tsv --by-length 5 --alignment anti --json >"$run.json" || exit
    # From, to, pairs and the share of exact ones of each row.
    tr '{' '\n' <"$run.json" | sed -n 's/^"from":\([0-9]*\),"to":\([0-9]*\),"pairs":\([0-9]*\),"exact":\([0-9.]*\).*/\1 \2 \3 \4/p' >"$run.rows"
done
paste -d ' ' attention.rows none.rows | awk 'BEGIN { print " letters    pairs    with attention    without" }
    { printf "%8s%9d%16.2f %%%9.2f %%\n", $1 < $2 ? $1 "-" $2 : $1, $3, 100 * $4, 100 * $8 }' | tee table.txt
sed 's/.*"outputs":\([0-9]*\),.*"best":{[^}]*"share":\([0-9.]*\).*/\1 \2/' attention.json |
    awk '{ printf "\npeak of the attention within 1 of the anti-diagonal: %.2f %% of %d letters made\n", 100 * $2, $1 }' | tee -a table.txt
text=$(awk -F'\t' 'length($1) >= 24 { print $1; exit }' letters/test.tsv)
"$heed" translate attention "$text" --png alignments.png --beside none >/dev/null && printf '\n%s\n%s\n' "$out/table.txt" "$out/alignments.png"
