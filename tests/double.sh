#!/bin/sh
# Tests in double precision: the exact gradient check of ops, layers, optimizers and models, and the unit tests of what computes gradients.
# `rest`: the other unit tests, which take half of the time and are left to CI.
cd "$(dirname "$0")/.." || exit 1
rest="kernels_ fit_ teams_and_sets conditions_refuse images_ large_ record_heatmaps run_damaged page_ bpe_ interface_"
checked="gradcheck_every optim_every"
${MAKE:-make} -s VARIANT=f64 program test-program || exit 1
# shellcheck disable=SC2086
[ "${1:-}" != rest ] || exec build/f64/heed-test $rest
wrong=0
build/f64/heed gradcheck || wrong=1
# shellcheck disable=SC2046,SC2086
build/f64/heed-test $(printf -- '-%s ' $rest $checked) | awk -v wrong=$wrong '/ passed, / {
    split($0, n, /[ ,]+/); printf "%d passed, %d failed\n", n[1] + !wrong, n[3] + wrong; exit n[3] + wrong > 0 } { print }'
