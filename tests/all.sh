#!/bin/sh
# All tests; ends with "N passed, N failed". Each part prints such a line of its own.
cd "$(dirname "$0")/.." || exit 1
make=${MAKE:-make}
. tests/scratch.sh
trap 'rm -rf "$scratch"' EXIT
trap 'exit 130' INT TERM
part() {
    name=$1
    shift
    log=build/test-$name.log
    start=$(date +%s)
    "$@" >"$log" 2>&1
    status=$?
    line=$(grep -E '^[0-9]+ passed, [0-9]+ failed' "$log" | tail -1)
    p=${line%% *} f=${line#*, }
    f=${f%% *}
    if [ -z "$line" ] || { [ $status != 0 ] && [ "$f" = 0 ]; }; then
        p=${p:-0} f=$((${f:-0} + 1))
    fi
    [ "$f" = 0 ] || { grep -vE '^ *(CC|LD|AR|cc|gcc|clang|ar) ' "$log" | tail -40; }
    printf '%-10s %5d passed, %d failed  (%d s)\n' "$name" "$p" "$f" $(($(date +%s) - start))
    echo "$p $f" >"build/test-$name.count"
}
mkdir -p build
$make heed lib test-program >build/test-build.log 2>&1 || { tail -30 build/test-build.log; echo "0 passed, 1 failed"; exit 1; }
rm -f build/test-*.count
# Most parts keep one core busy, and the commands often wait: three go side by side. Memory needs what double builds.
{
    part commands sh tests/cli/run.sh
    part examples sh tests/examples.sh
    part mpi sh tests/mpi.sh
} &
{
    part readme sh tests/readme.sh
    part unit build/release/heed-test
    part null sh tests/null.sh
} &
part double sh tests/double.sh
part memory sh tests/alloc/run.sh
wait
awk '{p += $1; f += $2} END {printf "%d passed, %d failed\n", p, f; exit f > 0 || NR != 8}' build/test-*.count
