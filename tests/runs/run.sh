#!/bin/sh
# run.sh HEED FOLDER OUT -- in FOLDER, which make.sh filled, what HEED says of the runs: a file in OUT for each command,
# with its --json. PLAIN=1 writes what it says without --json and the pictures, too, to look at.
HEED=$1 OUT=$3
case $HEED in /*) ;; *) HEED=$(pwd)/$HEED ;; esac
mkdir -p "$OUT"
OUT=$(cd "$OUT" && pwd)
cd "$2" || exit 1
say() {
    file=$OUT/$1
    shift
    "$HEED" "$@" --json </dev/null >"$file" 2>/dev/null
    echo "exit status $?" >>"$file"
    [ -z "${PLAIN:-}" ] || COLUMNS=100 NO_COLOR=1 "$HEED" "$@" </dev/null >"$file.txt" 2>&1
}
draw() {
    [ -z "${PLAIN:-}" ] || "$HEED" "$@" --png "$OUT/$1-$2.png" --svg "$OUT/$1-$2.svg" </dev/null >/dev/null 2>&1
}
# The settings of a run, without those that came later, its state but for the clock, and the numbers of its weights without what the files say of themselves.
files() {
    for f in "$@"; do
        case $f in
        *.safetensors) header=$(od -An -tu8 -N8 "$f") && echo "$f $(tail -c +$((header + 9)) "$f" | cksum)" ;;
        *.conf) echo "$f" && grep -v -e '^ *#' -e '^$' -e '^muon-' "$f" ;;
        *) echo "$f" && grep -v -e '"seconds"' -e '"settings"' -e '"check"' "$f" ;;
        esac
    done
}
exact="--isa generic --threads 1"
all="$exact --rollout --occlude --gradient"
digit=digits/test/3/00003.png
shape=shapes/val/00000.png
for run in */config.conf; do
    run=${run%/*}
    files $run/config.conf $run/model.safetensors $run/last/* >"$OUT/$run-files"
    say $run-info info $run
    say $run-eval eval $run $exact
    say $run-graph graph $run
    case $run in mlm* | gpt* | vit | lora | seq2seq | rnn* | textcls | caption*) say $run-heads heads $run $exact --batches 1 ;; esac
done
mask="the fox number 3 sees a [MASK] ."
say mlm-attend attend mlm "$mask" $all
say mlm-fill fill mlm "$mask" "no fox eats 3 [MASK] !" $exact
say mlm-ablate ablate mlm $exact
say mlm-influence influence mlm "the fox number 3 ." $exact
say mlm-snapshots snapshots mlm
say mlm-explain explain mlm "$mask" $exact
say mlm-embed embed mlm "the fox number 3 ." $exact
say mlm-wordpiece-attend attend mlm-wordpiece "$mask" $exact
say gpt-attend attend gpt "the fox" $all
say gpt-rotary-attend attend gpt-rotary "the fox" $all
say gpt-bpe-attend attend gpt-bpe "the fox" $exact
for run in gpt gpt-byte gpt-bpe gpt-rotary gru; do
    say $run-generate generate $run --prompt "the fox" --n 24 --samples 2 $exact
done
say gru-influence influence gru "the fox" $exact
say vit-attend attend vit $digit $exact --gradient --occlude
say vit-ablate ablate vit $exact
say vit-patches explain patches $digit
for run in vit lora cnn mlp; do say $run-classify classify $run $digit $exact; done
for run in seq2seq rnn rnn-dot; do
    say $run-attend attend $run "aei" $exact --gradient --occlude
    say $run-translate translate $run "aei" "bfk" --beam 3 $exact
done
say seq2seq-ablate ablate seq2seq $exact
say seq2seq-influence influence seq2seq "aei" $exact
say textcls-attend attend textcls "the film 3 was fine" $all
say textcls-classify classify textcls "the film 3 was fine" $exact
say textcls-influence influence textcls "the film 3" $exact
say tag-classify classify tag "the fox 3 sleeps" $exact
for run in caption caption-vit; do
    say $run-attend attend $run $shape $exact --gradient
    say $run-caption caption $run $shape $exact
done
for run in autoencoder autoencoder-conv autoencoder-masked; do say $run-reconstruct reconstruct $run $digit $exact; done
say autoencoder-masked-attend attend autoencoder-masked $digit $exact
for run in mlm mlm-wordpiece gpt gpt-byte gpt-bpe; do
    say $run-tokens tokenizer encode $run "the fox sees 3 Birds ."
    say $run-tokenizer tokenizer info $run
done
say check-mlm data check mlm text.txt
say check-gpt data check gpt text.txt
say check-vit data check vit digits
say check-seq2seq data check seq2seq pairs.tsv
say check-textcls data check textcls classes.tsv
say check-tag data check tag tags.tsv
say check-caption data check caption shapes/train.tsv --val shapes/val.tsv
say check-autoencoder data check autoencoder digits
say plot-gpt plot gpt
say compare compare mlm mlm-wordpiece
sed "s/\"seconds\":[0-9.e-]*//g" "$OUT/compare" >"$OUT/compare.new" && mv "$OUT/compare.new" "$OUT/compare"
for lesson in $("$HEED" explain --list --json | grep -o '"name":"[a-z-]*"' | cut -d'"' -f4); do [ "$lesson" = rnn ] || say explain-$lesson explain $lesson; done
draw attend mlm "$mask"
draw attend gpt "the fox"
draw attend vit $digit
draw attend seq2seq aei
draw attend caption $shape
draw heads mlm
draw influence gpt "the fox"
draw snapshots mlm
for run in mlm gpt-bpe vit seq2seq rnn caption; do
    cp -R $run resumed
    "$HEED" resume resumed --steps 220 $exact --progress none >/dev/null 2>&1
    files resumed/model.safetensors resumed/last/*.safetensors >"$OUT/$run-resume"
    rm -rf resumed
done
