#!/bin/sh
# Tests in double precision: what computes gradients and models. `rest`: the others, which take half of the time and are left to CI.
cd "$(dirname "$0")/.." || exit 1
rest="kernels_ fit_ teams_and_sets conditions_refuse images_ large_ record_heatmaps run_damaged page_ bpe_ models_of_the pair_models_of_the"
${MAKE:-make} -s VARIANT=f64 test-program || exit 1
[ "${1:-}" = rest ] || rest=$(printf -- '-%s ' $rest)
# shellcheck disable=SC2086
exec build/f64/heed-test $rest
