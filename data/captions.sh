#!/bin/sh
# captions.sh [-o FOLDER] [--quick] [--seeds "1 2 3"] [-- SETTINGS...] -- what attention is worth when pictures are described: shapes of data/shapes.c,
# and the same model with soft attention, with hard attention (one cell of the grid for each word), and with one fixed context for all words.
# Prints a table: exact captions, right ones ("A left of B" and "B right of A" are one answer), right ones of combinations of colour and shape that
# training never shows, and how dense the attention of a noun phrase is on its shape and on the other shape (the whole picture: 1).
# See data/captions-score.sh. Runs that stand in FOLDER (runs/captions) are kept, unfinished ones go on. --quick: few pictures and steps.
root=$(cd "$(dirname "$0")/.." && pwd)
HEED=${HEED:-$root/heed} out=runs/captions budget="--minutes 6" pictures="--train 4000 --val 400 --unseen 400" seeds="1 2 3"
export HEED
while [ $# -gt 0 ]; do
    case $1 in
    --quick) budget="--steps 6" pictures="--train 40 --val 8 --unseen 8 --size 32" ;;
    --seeds) seeds=${2:?expected numbers}; shift ;;
    -o) out=${2:?expected a folder}; shift ;;
    --) shift; break ;;
    *) echo "captions.sh: $1 is unknown; hint: sh data/captions.sh [-o FOLDER] [--quick] [--seeds \"1 2 3\"] [-- SETTINGS...]" >&2; exit 2 ;;
    esac
    shift
done
mkdir -p "$out" && cd "$out" || exit 1
[ -x maker ] || ${CC:-gcc} -std=c11 -O2 -o maker "$root/data/shapes.c" -lz || exit 1
[ -e shapes/boxes.tsv ] || ./maker shapes $pictures || exit 1

settings() {
    case $1 in
    soft) ;;
    hard) echo --hard ;;
    fixed) echo "--attention none" ;;
    esac
}
number() { sed -n 's/.*"'"$2"'":\([0-9.]*\).*/\1/p' "$1"; }
: >scores.txt
for seed in $seeds; do
    for kind in soft hard fixed; do
        run=$kind-$seed
        if [ -e "$run/config.conf" ]; then
            "$HEED" resume "$run" --progress none >/dev/null || exit
        else
            echo "$run" >&2
            "$HEED" train caption shapes/train.tsv --val shapes/val.tsv -o "$run" $(settings $kind) $budget --pad 4 --seed "$seed" --progress none "$@" >/dev/null || exit
        fi
        for part in val unseen; do
            [ "$run-$part.json" -nt "$run/model.safetensors" ] || sh "$root/data/captions-score.sh" "$run" shapes/$part.tsv shapes/boxes.tsv >"$run-$part.json" || exit
        done
        echo "$kind $seed $(number "$run-val.json" exact) $(number "$run-val.json" right) $(number "$run-unseen.json" right)" \
            "$(number "$run-val.json" own) $(number "$run-val.json" other) $(number "$run-val.json" nearer)" >>scores.txt
    done
done
sort -s -k1,1r scores.txt | awk '
    BEGIN { print "                                 unseen     a noun phrase looks at: density on its shape, on the other,"
            print "attention  seed   exact   right   right     and how often more at its own" }
    { printf "%-10s%5s%7.1f%%%7.1f%%%7.1f%%", $1, $2, 100 * $3, 100 * $4, 100 * $5
      if (NF > 5) printf "%11.2f%11.2f%11.1f%%", $6, $7, 100 * $8
      print "" }' | tee table.txt
printf '\n%s\n' "$out/table.txt"
