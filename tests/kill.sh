#!/bin/sh
# The same run at 1, 2, 3 and 8 threads, and killed (-9) at random moments and resumed, ends in the same bits.
# tests/kill.sh [KILLS]: 20 by default.
cd "$(dirname "$0")/.." || exit 1
heed=$(pwd)/heed kills=${1:-20} passed=0 failed=0
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
export OMP_WAIT_POLICY=passive # threads that spin beside other work take minutes
result() { if [ "$1" = 0 ]; then passed=$((passed + 1)); else failed=$((failed + 1)); echo "FAILED: $2"; fi; }
awk 'BEGIN {srand(3); for (i = 0; i < 600; i++) {s = ""; for (j = 0; j < 8; j++) s = s sprintf("w%d ", int(40 * rand() * rand())); print s "."}}' >text
train() { # RUN ARGS...
    run=$1
    shift
    "$heed" train gpt text -o "$run" --tokenizer word --layers 2 --width 32 --heads 2 --block 32 --batch 8 --steps 120 \
        --dropout 0.1 --eval-every 30 --save-every 10 --progress none "$@" >/dev/null 2>&1
}
sum() { cat "$1/model.safetensors" "$1/last/model.safetensors" "$1/last/optimizer.safetensors" | cksum; }
train whole --threads 1
result $? "the run itself"
want=$(sum whole)
for n in 2 3 8; do
    train threads$n --threads $n
    [ "$(sum threads$n)" = "$want" ]
    result $? "$n threads: other bits"
done
seconds=$(awk -F, 'END {print $NF}' whole/metrics.csv)
i=0 interrupted=0
while [ $i -lt "$kills" ]; do
    i=$((i + 1))
    rm -rf killed
    "$heed" train gpt text -o killed --tokenizer word --layers 2 --width 32 --heads 2 --block 32 --batch 8 --steps 120 \
        --dropout 0.1 --eval-every 30 --save-every 10 --progress none --threads 1 >/dev/null 2>&1 &
    pid=$!
    sleep "$(awk -v s=$i -v most="$seconds" 'BEGIN {srand(s * 7919); printf "%.2f", 0.02 + 0.6 * most * rand()}')"
    kill -9 $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ $? = 137 ] && interrupted=$((interrupted + 1))
    if [ -d killed/last ] || [ -d killed/last.new ] || [ -d killed/last.old ]; then "$heed" resume killed --progress none >log 2>&1; else train killed --threads 1 --force; fi
    result $? "resume after kill $i: $(tail -1 log 2>/dev/null)"
    [ "$(sum killed)" = "$want" ]
    result $? "kill $i: other bits"
done
[ $((2 * interrupted)) -ge "$kills" ]
result $? "most trainings were over before they were killed"
echo "$interrupted of $kills were killed in the middle"
echo "$passed passed, $failed failed"
[ $failed = 0 ]
