#!/bin/sh
# make.sh HEED FOLDER -- in FOLDER, data and a run of 200 steps for every model and every kind of tokenizer, as the
# program HEED makes them. Everything is computed with the generic instructions, which are exact on every machine.
# EXTRA holds other settings: EXTRA="--isa avx2 --threads 2".
set -eu
here=$(cd "$(dirname "$0")" && pwd)
HEED=$1
case $HEED in /*) ;; *) HEED=$(pwd)/$HEED ;; esac
mkdir -p "$2"
cd "$2"
for i in 1 2 3 4 5 6 7 8; do
    for w in cat dog fox owl; do printf 'the %s number %d sees a bird .\nno %s eats %d apples !\n' $w $i $w $i; done
done >text.txt
for a in a b c d; do for b in e f g h; do for c in i j k; do printf '%s%s%s\t%s%s%s\n' $a $b $c $c $b $a; done; done; done >pairs.tsv
for i in 1 2 3 4 5 6 7 8 9; do printf 'good\tthe film %d was fine\nbad\tthe film %d was dull\n' $i $i; done >classes.tsv
for i in 1 2 3 4 5 6 7 8 9; do printf 'the fox %d sleeps\tO N O V\nowls %d see\tN O V\n' $i $i; done >tags.tsv
cc -std=c11 -O1 -o maker "$here/../../data/digits.c" -lz -lm
./maker digits --png --train 60 --test 20 >/dev/null
cc -std=c11 -O1 -o maker "$here/../../data/shapes.c" -lz
./maker shapes --train 40 --val 8 --size 32 >/dev/null
rm maker
train() {
    run=$1 model=$2 data=$3
    shift 3
    # shellcheck disable=SC2086
    "$HEED" train $model $data -o $run --isa generic --threads 1 --steps 200 --batch 8 --eval-every 100 --progress none --seed 5 "$@" ${EXTRA:-} >/dev/null
}
blocks="--layers 1 --heads 2 --width 8 --ff 16"
text="$blocks --block 16"
train mlm mlm text.txt $text --tokenizer word --snapshots 2
train mlm-wordpiece mlm text.txt $text --tokenizer wordpiece --vocab 40
train gpt gpt text.txt $text
train gpt-byte gpt text.txt $text --tokenizer byte --optimizer lion
train gpt-bpe gpt text.txt $text --tokenizer bpe --vocab 280
train gpt-rotary gpt text.txt $text --positions rotary --norm-kind rms --ff-kind swiglu --kv-heads 1 --accumulate 2
train gru gpt text.txt --cell gru --layers 1 --width 8 --block 16
train vit vit digits $blocks --patch 7 --flip 0.5
train lora vit digits --from vit --lora 2
train cnn cnn digits --width 4 --stages 2
train mlp mlp digits --width 8 --optimizer rmsprop
train seq2seq seq2seq pairs.tsv $blocks --block 8 --optimizer momentum
train rnn rnn pairs.tsv --width 8 --block 8 --no-share-vocab
train rnn-dot rnn pairs.tsv --width 8 --block 8 --attention dot --cell lstm --optimizer sgd
train textcls textcls classes.tsv $text --encoder attention
train tag tag tags.tsv --layers 1 --width 8 --block 16 --encoder rnn
train caption caption shapes/train.tsv --width 8 --block 12
train caption-vit caption shapes/train.tsv --width 8 --block 12 --heads 2 --encoder vit --decoder transformer
train autoencoder autoencoder digits --kind dense --hidden 16 --code 4
train autoencoder-conv autoencoder digits --kind conv --filters 4 --code 4
train autoencoder-masked autoencoder digits --kind masked --layers 1 --heads 2 --width 8 --decoder-layers 1
