#!/bin/sh
# Trainings of a text, of pictures and of pairs: the same run at 1, 2, 3 and 8 threads, and killed (-9) at random moments,
# resumed, killed again and resumed, ends in the same bits.
# tests/kill.sh [TRAININGS]: how many are killed, 20 by default; each of them twice.
cd "$(dirname "$0")/.." || exit 1
heed=$(pwd)/heed trainings=${1:-20} passed=0 failed=0
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
${CC:-cc} -std=c11 -O1 -o "$dir/digits" data/digits.c -lz -lm || exit 1
cd "$dir" || exit 1
export OMP_WAIT_POLICY=passive # threads that spin beside other work take minutes
result() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; fi; }
awk 'BEGIN {srand(3); for (i = 0; i < 600; i++) {s = ""; for (j = 0; j < 8; j++) s = s sprintf("w%d ", int(40 * rand() * rand())); print s "."}}' >text
awk 'BEGIN {
    srand(5)
    for (i = 0; i < 400; i++) {
        s = t = ""
        for (j = 2 + int(6 * rand()); j > 0; j--) {w = int(20 * rand()); s = s " a" w; t = " b" w t}
        print substr(s, 2) "\t" substr(t, 2)
    }}' >pairs.tsv
./digits pictures --train 40 --test 20
train() { # MODEL RUN ARGS...
    model=$1 run=$2
    shift 2
    case $model in
        gpt) set -- text --tokenizer word --layers 2 --heads 2 --block 32 --steps 120 --eval-every 30 "$@" ;;
        vit) set -- pictures --patch 7 --layers 1 --heads 2 --steps 120 --eval-every 40 "$@" ;;
        seq2seq) set -- pairs.tsv --layers 1 --heads 2 --block 16 --steps 120 --eval-every 40 --accumulate 2 "$@" ;;
    esac
    exec "$heed" train "$model" "$@" -o "$run" --width 32 --batch 8 --dropout 0.1 --save-every 10 --progress none >log 2>&1
}
go_on() { # MODEL: what a user does with the run `killed`: resume it, or train again if there is no checkpoint yet
    if [ -d killed/last ] || [ -d killed/last.new ] || [ -d killed/last.old ]; then
        exec "$heed" resume killed --progress none >log 2>&1
    else
        train "$1" killed --threads 1 --force
    fi
}
sum() { cat "$1/model.safetensors" "$1/last/model.safetensors" "$1/last/optimizer.safetensors" | cksum; }
for model in gpt vit seq2seq; do
    (train $model $model --threads 1)
    result $? "$model, the run itself: $(tail -1 log)"
    for n in 2 3 8; do
        [ $model = gpt ] || [ $n = 3 ] || continue
        (train $model threads$n --threads $n --force)
        [ "$(sum threads$n)" = "$(sum $model)" ]
        result $? "$model, $n threads: other bits"
    done
done
killed() { # SEED SHARE COMMAND...: the command, killed at a random moment of that share of a training run; true: it was at work
    moment=$(awk -F, -v seed=$1 -v share=$2 'END {srand(seed * 7919); rand(); printf "%.2f", 0.02 + share * $NF * rand()}' $model/metrics.csv)
    shift 2
    "$@" &
    pid=$!
    sleep "$moment"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ $? = 137 ]
}
i=0 interrupted=0
while [ $i -lt "$trainings" ]; do
    case $((i % 3)) in 0) model=gpt ;; 1) model=vit ;; 2) model=seq2seq ;; esac
    i=$((i + 1))
    rm -rf killed
    killed $i 0.6 train $model killed --threads 1 && interrupted=$((interrupted + 1))
    killed -$i 0.3 go_on $model && interrupted=$((interrupted + 1))
    (go_on $model)
    result $? "$model, resumed after it was killed twice ($i): $(tail -1 log)"
    [ "$(sum killed)" = "$(sum $model)" ]
    result $? "$model, killed twice ($i): other bits"
done
[ $interrupted -ge "$trainings" ]
result $? "most training runs were over before they were killed"
echo "$interrupted of $((2 * trainings)) were killed in the middle"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
