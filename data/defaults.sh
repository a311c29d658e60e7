#!/bin/sh
# defaults.sh TASK DATA [-o FOLDER] [--share X] [--seeds N] [--quick] [-- SETTINGS...] -- the settings that heed chooses for DATA beside a search of
# twelve: half, the same and twice the learning rate, with half, the same and twice the batch, or with dropout 0.1 instead; all read as many examples,
# which takes about the same time. --share: the part of the chosen steps that each training run makes (0.1). The search has seed 1; the chosen settings and
# the best of the search are repeated with N seeds (3). Prints the best validation loss, or accuracy. --quick: few steps. SETTINGS go to all training runs.
root=$(cd "$(dirname "$0")/.." && pwd)
heed=${HEED:-$root/heed} out=runs/defaults share=0.1 seeds=3 task= data=
while [ $# -gt 0 ]; do
    case $1 in
    --quick) share=0.002 ;;
    --share) share=${2:?expected a number}; shift ;;
    --seeds) seeds=${2:?expected a number}; shift ;;
    -o) out=${2:?expected a folder}; shift ;;
    --) shift; break ;;
    -*) echo "defaults.sh: $1 is unknown; hint: sh data/defaults.sh TASK DATA [-o FOLDER] [--share X] [--seeds N] [-- SETTINGS...]" >&2; exit 2 ;;
    *) [ -n "$task" ] && data=$1 || task=$1 ;;
    esac
    shift
done
[ -n "$task" ] && [ -e "$data" ] || { echo "defaults.sh: expected a task and its data; hint: sh data/defaults.sh gpt book.txt" >&2; exit 2; }
mkdir -p "$out" || exit 1
"$heed" init "$task" "$@" >"$out/init.conf" && "$heed" data check "$task" "$data" "$@" --json >"$out/check.json" || exit

# value KEY: what a training run of the data would use.
value() {
    v=$(sed 's/"reason":"[^"]*"//g' "$out/check.json" | sed -n "s/.*\"chosen\":.*[\" ]$1 \([^,\"]*\)[,\"].*/\1/p")
    [ -n "$v" ] || v=$(sed -n "s/^#* *$1 = //p" "$out/init.conf")
    echo "$v"
}
lr=$(value lr) batch=$(value batch) steps=$(value steps)
measure=best_loss
grep -q '^best = accuracy' "$out/init.conf" && measure=best_accuracy

# result LR BATCH DROPOUT SEED: of factors of the rate and the batch; SETTINGS follow.
result() {
    b=$(awk "BEGIN {b = int($batch * $2); print b < 1 ? 1 : b}")
    n=$(awk "BEGIN {n = int($steps * $share * $batch / $b); print n < 1 ? 1 : n}")
    run=$out/run-$1-$2-$3-$4 lr_f=$1 drop=$3 seed=$4
    shift 4
    if [ ! -e "$run.json" ]; then
        [ "$drop" = 0 ] || set -- "$@" --dropout "$drop"
        "$heed" train "$task" "$data" -o "$run" --force --progress none --json --seed "$seed" --batch "$b" --steps "$n" --evals 1 --eval-batches 0 \
            --lr "$(awk "BEGIN {print $lr * $lr_f}")" "$@" >"$run.json.new" || exit
        mv "$run.json.new" "$run.json" && rm -rf "$run"
    fi
    sed -n "s/.*\"$measure\":\([0-9.]*\).*/\1/p" "$run.json"
}
means() { # of the seeds, for the factors $1 $2 $3
    for s in $(seq 1 "$seeds"); do result "$1" "$2" "$3" "$s" $more; done | awk '{s += $1} END {printf "%.4f", s / NR}'
}
more=$*
echo "$task $data: lr $lr, batch $batch, $(awk "BEGIN {print int($steps * $share)}") of $steps steps; $measure"
for f in "0.5 0.5 0" "1 0.5 0" "2 0.5 0" "0.5 1 0" "1 1 0" "2 1 0" "0.5 2 0" "1 2 0" "2 2 0" "0.5 1 0.1" "1 1 0.1" "2 1 0.1"; do
    echo "$f $(result $f 1 $more)"
done >"$out/search.txt"
awk '{printf "  lr x %-4s batch x %-4s dropout %-4s %s\n", $1, $2, $3, $4}' "$out/search.txt"
order=-k4,4n
[ $measure = best_loss ] || order=-k4,4nr
best=$(sort $order "$out/search.txt" | head -1 | cut -d' ' -f1-3)
echo "$seeds seeds: chosen $(means 1 1 0), best of the search (lr x ${best%% *}, batch and dropout ${best#* }) $(means $best)"
