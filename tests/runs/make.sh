#!/bin/sh
# make.sh HEED -- small runs of every task as the program HEED makes them, with their data, in runs.tar.gz, and in
# expected/ what it then says of them (run.sh). Made once, by heed 0.1.0 of 2026-11-22: later programs open these runs,
# resume them to the same bits and say the same. Everything is computed with the generic instructions, which are exact.
# On 2026-11-28 the gradient of attention, and with it what follows from it in expected/, changed in its last digits.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
HEED=$1
case $HEED in /*) ;; *) HEED=$(pwd)/$HEED ;; esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for i in 1 2 3 4 5 6 7 8; do
    for w in cat dog fox owl; do printf 'the %s number %d sees a bird .\nno %s eats %d apples !\n' $w $i $w $i; done
done >text.txt
{ for a in a b c d; do for b in e f g h; do for c in i j k; do printf '%s%s%s\t%s%s%s\n' $a $b $c $c $b $a; done; done; done; } >pairs.tsv
{ for i in 1 2 3 4 5 6 7 8 9; do printf 'good\tthe film %d was fine\nbad\tthe film %d was dull\n' $i $i; done; } >classes.tsv
{ for i in 1 2 3 4 5 6 7 8 9; do printf 'the fox %d sleeps\tO N O V\nowls %d see\tN O V\n' $i $i; done; } >tags.tsv
cc -std=c11 -O1 -o digits "$here/../../data/digits.c" -lz -lm
./digits pictures --png --train 60 --test 20 >/dev/null
rm digits
common="--isa generic --threads 1 --steps 6 --batch 8 --eval-every 3 --progress none --seed 5"
small="--layers 1 --heads 2 --width 8 --ff 16 --block 16"
"$HEED" train mlm text.txt -o mlm $common $small --tokenizer word --snapshots 2
"$HEED" train gpt text.txt -o gpt $common $small
"$HEED" train gpt text.txt -o gru $common --cell gru --layers 1 --width 8 --block 16
"$HEED" train vit pictures -o vit $common --layers 1 --heads 2 --width 8 --ff 16 --patch 7 --flip 0.5
"$HEED" train cnn pictures -o cnn $common --width 4 --stages 2
"$HEED" train mlp pictures -o mlp $common --width 8 --optimizer rmsprop
"$HEED" train seq2seq pairs.tsv -o seq2seq $common --layers 1 --heads 2 --width 8 --ff 16 --block 8 --optimizer momentum
"$HEED" train rnn pairs.tsv -o rnn $common --width 8 --block 8 --no-share-vocab
"$HEED" train rnn pairs.tsv -o dot $common --width 8 --block 8 --attention dot --cell lstm --optimizer sgd
"$HEED" train textcls classes.tsv -o textcls $common $small --encoder attention
"$HEED" train tag tags.tsv -o tag $common $small --encoder rnn
# What depends on the clock and on the place is left out.
rm -f */train.log */loss.png */.lock
tar --sort=name --owner=0 --group=0 --mtime=2026-11-22 -cf - . | gzip -9n >"$here/runs.tar.gz"
rm -rf "$here/expected"
mkdir "$here/expected"
sh "$here/run.sh" "$HEED" "$work" "$here/expected"
