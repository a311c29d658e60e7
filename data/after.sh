#!/bin/sh
# after.sh FIRST.txt SECOND.txt [-o FOLDER] [--steps N] [--quick] [-- SETTINGS...] -- a text after another: gpt learns FIRST for a minute, then
# SECOND for a minute from those weights and, for comparison, from new ones, with three seeds each. Prints the best validation loss on SECOND of
# both, and what was forgotten of FIRST. Finished runs in FOLDER (runs/after) are kept, unfinished ones are resumed. --steps: N steps instead of
# a minute, for a busy machine. --quick: few steps. SETTINGS go to all training runs.
usage='FIRST.txt SECOND.txt [-o FOLDER] [--steps N] [--quick] [-- SETTINGS...]' out=runs/after budget="--minutes 1" first= second=
quick() { budget="--steps 4 --evals 2 --layers 1 --width 16 --heads 2 --block 16"; }
option() { [ "$1" = --steps ] || misuse "$1 is unknown"; budget="--steps ${2:?expected a number}"; }
word() { [ -n "$first" ] && second=$1 || first=$1; }
. "$(dirname "$0")/lib.sh"
[ -e "$first" ] && [ -e "$second" ] || misuse "expected two texts"
mkdir -p "$out" || exit 1

# arm NAME ARGUMENTS...: a run, and its result beside it.
arm() {
    name=$out/$1
    shift
    [ -e "$name.json" ] || { learn "$name" gpt "$@" >"$name.new" && mv "$name.new" "$name.json"; } || exit
}
arm first "$first" $budget "$@"
for seed in 1 2 3; do
    arm new$seed "$second" $budget --seed $seed "$@"
    arm from$seed "$second" $budget --from "$out/first" --seed $seed "$@"
done
{
    printf ' seed    from new weights    from the first    on the first: before     after\n'
    for seed in 1 2 3; do
        from=$out/from$seed.json
        printf '%5d%20.4f%18.4f%25.4f%10.4f\n' $seed "$(number best_loss <"$out/new$seed.json")" "$(number best_loss <"$from")" \
            "$(number before <"$from")" "$(number after <"$from")"
    done
} | tee "$out/table.txt"
