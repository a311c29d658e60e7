#!/bin/sh
# captions.sh [-o FOLDER] [--quick] [--seeds "1 2 3"] [-- SETTINGS...] -- what attention is worth when pictures are described: shapes of data/shapes.c,
# and the same model with soft attention, with hard attention (one cell of the grid for each word), and with one fixed context for all words.
# Each is trained for 8,000 steps: about two minutes of one core (another number: -- --steps N).
# Prints a table: exact captions, right ones ("A left of B" and "B right of A" are one answer), right ones of combinations of colour and shape that
# training never shows, and how dense the attention of a noun phrase is on its shape and on the other shape (the whole picture: 1).
# It counts pictures drawn with another seed (FOLDER/fresh), which neither trained a model nor chose its best weights. See data/captions-score.sh.
# Finished runs in FOLDER (runs/captions) are kept, unfinished ones are resumed. --quick: few pictures and steps.
usage='[-o FOLDER] [--quick] [--seeds "1 2 3"] [-- SETTINGS...]' out=runs/captions budget="--steps 8000" seeds="1 2 3"
pictures="--train 4000 --val 400 --unseen 400 --size 32"
quick() { budget="--steps 6" pictures="--train 40 --val 8 --unseen 8 --size 32"; }
option() { [ "$1" = --seeds ] || misuse "$1 is unknown"; seeds=${2:?expected numbers}; }
. "$(dirname "$0")/lib.sh"
mkdir -p "$out" && cd "$out" || exit 1
maker shapes
[ -e shapes/boxes.tsv ] || ./maker shapes $pictures || exit 1
[ -e fresh/boxes.tsv ] || ./maker fresh $pictures --train 1 --seed 2 || exit 1
export HEED="$heed"

settings() {
    case $1 in
    soft) ;;
    hard) echo --hard ;;
    fixed) echo "--attention none" ;;
    esac
}
: >scores.txt
for seed in $seeds; do
    for kind in soft hard fixed; do
        run=$kind-$seed
        learn "$run" caption shapes/train.tsv --val shapes/val.tsv $(settings $kind) $budget --pad 4 --seed "$seed" "$@" >/dev/null || exit
        for part in val unseen; do
            [ "$run-$part.json" -nt "$run/model.safetensors" ] || sh "$root/data/captions-score.sh" "$run" fresh/$part.tsv fresh/boxes.tsv >"$run-$part.json" || exit
        done
        echo "$kind $seed" $(for key in exact right; do number $key <"$run-val.json"; done) $(number right <"$run-unseen.json") \
            $(for key in own other nearer; do number $key <"$run-val.json"; done) >>scores.txt
    done
done
sort -s -k1,1r scores.txt | awk '
    BEGIN { print "                                 unseen     a noun phrase looks at: density on its shape, on the other,"
            print "attention  seed   exact   right   right     and how often more at its own" }
    { printf "%-10s%5s%7.1f%%%7.1f%%%7.1f%%", $1, $2, 100 * $3, 100 * $4, 100 * $5
      if (NF > 5) printf "%11.2f%11.2f%11.1f%%", $6, $7, 100 * $8
      print "" }' | tee table.txt
printf '\n%s\n' "$out/table.txt"
