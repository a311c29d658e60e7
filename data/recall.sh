#!/bin/sh
# recall.sh [-o FOLDER] [--quick] [-- SETTINGS...] -- what attention is for: which letter stood k steps before the last one?
# Texts of k + 1 letters out of eight, and for each distance k four readers of width 64, trained on the same texts for the same number of steps:
# convolutions (4 layers of 5 tokens, each letter sees itself and 16 before it), a recurrent layer of plain cells, one of LSTM cells, and one
# layer of attention. Each must answer from the last token. Prints one table, of accuracy on unseen texts and of texts a second by distance, and
# draws one picture: FOLDER/recall.png. Finished runs in FOLDER (runs/recall) are kept, unfinished ones are resumed. --quick: two distances, few steps.
# SETTINGS go to every training run.
usage='[-o FOLDER] [--quick] [-- SETTINGS...]' out=runs/recall distances="5 10 20 40 60 100" steps=500 train=20000 test=1000
quick() { distances="2 4" steps=20 train=500 test=100; }
. "$(dirname "$0")/lib.sh"
mkdir -p "$out" && cd "$out" || exit 1
maker pairs
readers="conv1d rnn lstm attention"

shape() {
    case $1 in
    conv1d) echo "--encoder conv --causal --layers 4 --kernel 5 --pool last" ;;
    rnn) echo "--encoder rnn --cell rnn --no-bidirectional --layers 1" ;;
    lstm) echo "--encoder rnn --cell lstm --no-bidirectional --layers 1" ;;
    attention) echo "--encoder attention --layers 1 --heads 4 --pool last --all-rows" ;; # all positions, as the other readers compute them
    esac
}
echo "distance,conv1d,rnn,lstm,attention" | tee accuracy.csv >texts_per_second.csv
for k in $distances; do
    [ -e "k$k/train.tsv" ] || ./maker recall "k$k" --distance "$k" --train "$train" --test "$test" || exit 1
    right=$k fast=$k
    for reader in $readers; do
        run=$reader-$k
        learn "$run" textcls "k$k/train.tsv" --tokenizer char --width 64 $(shape $reader) --block 128 --batch 64 --steps $steps --lr 0.003 \
            --eval-every $steps --val-split 0.02 "$@" >/dev/null || exit
        right=$right,$("$heed" eval "$run" "k$k/test.tsv" --json | number accuracy) fast=$fast,$(printf %.0f "$(best items_per_s "$run")")
    done
    echo "$right" >>accuracy.csv
    echo "$fast" >>texts_per_second.csv
done
awk -F, 'BEGIN { print "            accuracy on unseen texts, % (chance: 12.5)    texts a second in training"; row = "%8s  %9s%9s%9s%11s   %10s%9s%9s%11s\n" }
    NR == FNR { for (i = 2; i <= NF; i++) a[FNR, i] = FNR == 1 ? $i : sprintf("%.1f", 100 * $i); next }
    { printf row, $1, a[FNR, 2], a[FNR, 3], a[FNR, 4], a[FNR, 5], $2, $3, $4, $5 }' accuracy.csv texts_per_second.csv | tee table.txt
"$heed" plot accuracy.csv texts_per_second.csv --from-zero --png recall.png >/dev/null && printf '\n%s\n%s\n' "$out/table.txt" "$out/recall.png"
