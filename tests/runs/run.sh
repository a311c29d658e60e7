#!/bin/sh
# run.sh HEED FOLDER OUT -- in FOLDER, where runs.tar.gz was unpacked, what HEED says of the runs: a file in OUT for
# each command.
HEED=$1 OUT=$3
cd "$2" || exit 1
say() {
    file=$OUT/$1
    shift
    COLUMNS=100 NO_COLOR=1 "$HEED" "$@" </dev/null >"$file" 2>&1
    echo "exit status $?" >>"$file"
}
exact="--isa generic --threads 1"
picture=$(find pictures -name '*.png' | sort | head -1)
for run in mlm gpt gru vit cnn mlp seq2seq rnn dot textcls tag; do
    say $run-info info $run
    say $run-eval eval $run $exact --json
done
say mlm-attend attend mlm "the fox number 3 sees a [MASK] ." $exact --json --rollout --occlude --gradient
say mlm-fill fill mlm "the fox number 3 sees a [MASK] ." $exact --json
say mlm-heads heads mlm $exact --json
say mlm-ablate ablate mlm $exact --json
say mlm-influence influence mlm "the fox number 3 ." $exact --json
say mlm-snapshots snapshots mlm
say gpt-attend attend gpt "the fox" $exact --json --rollout --occlude --gradient
say gpt-generate generate gpt --prompt "the fox" --n 10 --samples 2 $exact
say gpt-generate-on generate gpt --prompt "the fox" --n 24 --samples 2 $exact # beyond the block of 16
say gru-generate generate gru --prompt "the fox" --n 24 --temperature 0 $exact
say gpt-heads heads gpt $exact --json
say vit-heads heads vit $exact --json
say vit-ablate ablate vit $exact --json
say seq2seq-attend attend seq2seq "aei" $exact --json --gradient --occlude
say seq2seq-translate translate seq2seq "aei" "bfk" --beam 3 $exact --json
say seq2seq-heads heads seq2seq $exact --json
say seq2seq-ablate ablate seq2seq $exact --json
say rnn-attend attend rnn "aei" $exact --json --occlude --gradient
say rnn-translate translate rnn "aei" "bfk" --beam 3 $exact --json
say rnn-ablate ablate rnn $exact --json
say dot-attend attend dot "aei" $exact --json
say textcls-attend attend textcls "the film 3 was fine" $exact --json --rollout --occlude --gradient
say vit-classify classify vit $picture $exact --json
say cnn-classify classify cnn $picture $exact --json
say textcls-classify classify textcls "the film 3 was fine" $exact --json
say textcls-influence influence textcls "the film 3" $exact --json
say tag-classify classify tag "the fox 3 sleeps" $exact --json
say mlm-explain explain mlm "the fox sees a [MASK] ." --json $exact
for run in mlm gpt gru vit cnn mlp seq2seq rnn dot textcls tag; do
    "$HEED" resume $run --steps 9 $exact --progress none >/dev/null 2>"$OUT/$run-resume"
    echo "exit status $?" >>"$OUT/$run-resume"
    # The numbers alone: what a file says of itself, in its first part, may grow.
    for f in model.safetensors last/model.safetensors last/optimizer.safetensors; do
        header=$(od -An -tu8 -N8 $run/$f)
        set -- $(tail -c +$((header + 9)) $run/$f | gzip -c | tail -c 8 | od -An -tx4)
        echo "$f $1 $2" >>"$OUT/$run-resume"
    done
done
