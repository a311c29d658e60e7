#!/bin/sh
# parallel.sh [-o FOLDER] [--quick] [-- SETTINGS...] -- what can be computed at once: a recurrent layer (LSTM) goes through a text token by token, a block
# of attention takes all tokens in the same few products. Both of equal width and with equally many parameters (8 width^2 and the same embeddings and
# head), trained on random texts of 16 to 1,024 tokens with 1 and 2 threads: twice, at width 64 in batches of 16 texts and at width 256 one text at a
# time. Prints the time of a training step and of a text: FOLDER/table.txt. The time is the best of some ten stretches of steps, so that other work on the
# machine does little harm. Times that are already in FOLDER (runs/parallel) are kept, so that an interrupted measurement continues. --quick: two lengths,
# few steps. SETTINGS go to every training run.
usage='[-o FOLDER] [--quick] [-- SETTINGS...]' out=runs/parallel lengths="16 32 64 128 256 512 1024" most=200 least=20
quick() { lengths="16 32" most=10 least=10; }
. "$(dirname "$0")/lib.sh"
mkdir -p "$out" && cd "$out" || exit 1

# Equal numbers of weights: 4 gates of 2 width^2, or 4 width^2 of attention and 4 width^2 of a feed-forward network.
shape() {
    case $1 in
    lstm) echo "--encoder rnn --cell lstm --one-bias --no-bidirectional --layers 1" ;;
    attention) echo "--encoder attention --layers 1 --heads 4 --ff $((2 * $2)) --positions none --pool last --all-rows" ;; # all positions, as the LSTM computes them
    esac
}
texts() { # LENGTH: lines of label, tab, random letters
    awk -v n="$1" 'BEGIN { srand(1); for (i = 0; i < 160; i++) { s = ""; for (k = 0; k < n; k++) s = s substr("abcdefgh", 1 + int(8 * rand()), 1); print substr(s, 1, 1) "\t" s } }'
}
# Milliseconds of a step: the batch divided by the highest rate of texts per second.
step() { # READER LENGTH WIDTH BATCH THREADS SETTINGS...
    reader=$1 length=$2 width=$3 batch=$4 threads=$5
    shift 5
    kept=times/$reader-$width-$length-$threads
    [ ! -s "$kept" ] || { cat "$kept"; return; }
    steps=$((4000000 / (length * width * batch)))
    [ $steps -lt $most ] || steps=$most
    [ $steps -gt $least ] || steps=$least
    "$heed" train textcls "texts-$length.tsv" -o run --force --tokenizer char --width "$width" $(shape "$reader" "$width") --block "$length" --batch "$batch" \
        --steps $steps --log-every $((steps / 10)) --eval-every $steps --val-split 0.1 --threads "$threads" --progress none "$@" >/dev/null || exit
    "$heed" info run --json | sed 's/.*"numbers":\([0-9]*\),"bytes".*/\1/' >"times/$reader-$width-parameters"
    best items_per_s run | awk -v batch="$batch" '{ printf "%.4f", 1000 * batch / $1 }' >"$kept.new" && mv "$kept.new" "$kept" && cat "$kept"
}

mkdir -p times
for length in $lengths; do texts "$length" >"texts-$length.tsv"; done
: >table.txt
for case in "64 16" "256 1"; do
    width=${case% *} batch=${case#* }
    [ "$batch" = 1 ] && texts="1 text" || texts="$batch texts"
    rows=
    for length in $lengths; do
        row=$length
        for reader in lstm attention; do
            for threads in 1 2; do
                ms=$(step $reader "$length" "$width" "$batch" $threads "$@") || exit
                row="$row $ms"
            done
            eval "$reader=\$(cat times/$reader-$width-parameters)"
        done
        rows="$rows$row
"
    done
    printf '%s' "$rows" | awk -v width="$width" -v batch="$batch" -v texts="$texts" -v lstm="$lstm" -v attention="$attention" '
        BEGIN { printf "width %d, %s at a time; %d and %d parameters\n", width, texts, lstm, attention
            print "        ms per training step                    ms per text"
            print "        lstm                attention           lstm                attention"
            print "length   1 thread 2 threads  1 thread 2 threads  1 thread 2 threads  1 thread 2 threads" }
        { printf "%6d ", $1; for (i = 2; i <= 5; i++) printf "%10.3f", $i; for (i = 2; i <= 5; i++) printf "%10.3f", $i / batch; print "" }
        END { print "" }' | tee -a table.txt
done
rm -rf run
echo "$out/table.txt"
