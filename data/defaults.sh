#!/bin/sh
# defaults.sh TASK DATA [-o FOLDER] [--share X] [--seeds N] [--loss] [--quick] [-- SETTINGS...] -- the settings that heed chooses for DATA beside a search
# of twelve: half, the same and twice the learning rate, with half, the same and twice the batch, or with dropout 0.1 instead where it has an effect; all
# read as many examples, which takes about the same time. --share: the part of the chosen steps that each training run makes (0.1). The search has seed 1;
# the chosen settings and the best of the search are repeated with N seeds (3). Prints the best validation loss, or accuracy where it chooses the weights;
# --loss: the loss there, too. What FOLDER has is not trained again. --quick: few steps. SETTINGS go to all training runs.
usage='TASK DATA [-o FOLDER] [--share X] [--seeds N] [-- SETTINGS...]' out=runs/defaults share=0.1 seeds=3 measure= task= data=
quick() { share=0.002; }
option() {
    case $1 in
    --loss) measure=loss; return 1 ;;
    --share) share=${2:?expected a number} ;;
    --seeds) seeds=${2:?expected a number} ;;
    *) misuse "$1 is unknown" ;;
    esac
}
word() { [ -n "$task" ] && data=$1 || task=$1; }
. "$(dirname "$0")/lib.sh"
[ -n "$task" ] && [ -e "$data" ] || misuse "expected a task and its data"
mkdir -p "$out" || exit 1
"$heed" init "$task" "$@" >"$out/init.conf" && "$heed" data check "$task" "$data" "$@" --json >"$out/check.json" || exit

# value KEY: what a training run of the data would use.
value() {
    v=$(sed 's/"reason":"[^"]*"//g' "$out/check.json" | sed -n "s/.*\"chosen\":.*[\" ]$1 \([^,\"]*\)[,\"].*/\1/p")
    [ -n "$v" ] || v=$(sed -n "s/^#* *$1 = //p" "$out/init.conf")
    echo "$v"
}
lr=$(value lr) batch=$(value batch) steps=$(value steps)
[ -n "$measure" ] || { grep -q '^best = accuracy' "$out/init.conf" && measure=accuracy || measure=loss; }

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
        mv "$run/metrics.csv" "$run.csv" && mv "$run.json.new" "$run.json" && rm -rf "$run"
    fi
    case $measure in
    loss) grep ',val,' "$run.csv" | cut -d, -f4 | sort -g | head -1 ;;
    *) grep ',val,' "$run.csv" | cut -d, -f5 | sort -gr | head -1 ;;
    esac
}
means() { # of the seeds, for the factors $1 $2 $3
    for s in $(seq 1 "$seeds"); do result "$1" "$2" "$3" "$s" $more; done | awk '{s += $1} END {printf "%.4g", s / NR}'
}
more=$* drops=
"$heed" train "$task" "$data" "$@" --dropout 0.1 --estimate >"$out/estimate.txt" 2>&1 && drops=yes
echo "$task $data: lr $lr, batch $batch, $(awk "BEGIN {print int($steps * $share)}") of $steps steps; $measure"
for f in "0.5 0.5 0" "1 0.5 0" "2 0.5 0" "0.5 1 0" "1 1 0" "2 1 0" "0.5 2 0" "1 2 0" "2 2 0" "0.5 1 0.1" "1 1 0.1" "2 1 0.1"; do
    [ "$drops" ] || [ "${f##* }" = 0 ] || continue
    echo "$f $(result $f 1 $more)"
done >"$out/search.txt"
awk '{printf "  lr x %-4s batch x %-4s dropout %-4s %s\n", $1, $2, $3, $4}' "$out/search.txt"
order=-k4,4n
[ $measure = loss ] || order=-k4,4nr
best=$(sort $order "$out/search.txt" | head -1 | cut -d' ' -f1-3)
echo "$seeds seeds: chosen $(means 1 1 0), best of the search (lr x ${best%% *}, batch and dropout ${best#* }) $(means $best)"
