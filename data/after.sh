#!/bin/sh
# after.sh FIRST.txt SECOND.txt [-o FOLDER] [--steps N] [--quick] [-- SETTINGS...] -- a text after another: gpt learns FIRST for a minute, then
# SECOND for a minute from those weights and, for comparison, from new ones, with three seeds each. Prints the best validation loss on SECOND of
# both, and what was forgotten of FIRST. Finished runs in FOLDER (runs/after) are kept, unfinished ones are resumed. --steps: N steps instead of
# a minute, for a busy machine. --quick: few steps. SETTINGS go to all training runs.
root=$(cd "$(dirname "$0")/.." && pwd)
heed=${HEED:-$root/heed} out=runs/after budget="--minutes 1" first= second=
while [ $# -gt 0 ]; do
    case $1 in
    --quick) budget="--steps 4 --evals 2 --layers 1 --width 16 --heads 2 --block 16" ;;
    --steps) budget="--steps ${2:?expected a number}"; shift ;;
    -o) out=${2:?expected a folder}; shift ;;
    --) shift; break ;;
    -*) echo "after.sh: $1 is unknown; hint: sh data/after.sh FIRST.txt SECOND.txt [-o FOLDER] [--steps N] [--quick] [-- SETTINGS...]" >&2; exit 2 ;;
    *) [ -n "$first" ] && second=$1 || first=$1 ;;
    esac
    shift
done
[ -e "$first" ] && [ -e "$second" ] || { echo "after.sh: expected two texts; hint: sh data/after.sh FIRST.txt SECOND.txt" >&2; exit 2; }
mkdir -p "$out" || exit 1

# train RUN ARGUMENTS...: makes or resumes the run, and keeps its result in RUN.json.
train() {
    run=$out/$1
    shift
    if [ -e "$run/config.conf" ]; then
        [ -e "$run.json" ] || "$heed" resume "$run" --progress none --json >"$run.json" || exit
    else
        echo "$run" >&2
        "$heed" train gpt "$@" -o "$run" --progress none --json >"$run.json" || exit
    fi
}
# number KEY FILE: the number of that name.
number() { sed -n "s/.*\"$1\":\([0-9.]*\).*/\1/p" "$2"; }

train first "$first" $budget "$@"
for seed in 1 2 3; do
    train new$seed "$second" $budget --seed $seed "$@"
    train from$seed "$second" $budget --from "$out/first" --seed $seed "$@"
done
{
    printf ' seed    from new weights    from the first    on the first: before     after\n'
    for seed in 1 2 3; do
        printf '%5d%20.4f%18.4f%25.4f%10.4f\n' $seed "$(number best_loss "$out/new$seed.json")" "$(number best_loss "$out/from$seed.json")" \
            "$(number before "$out/from$seed.json")" "$(number after "$out/from$seed.json")"
    done
} | tee "$out/table.txt"
