# lib.sh -- what the experiments of this folder share: their options, the makers of data, runs that are kept. A script sets `usage` and `out`, defines
# `quick` (fewer of everything) and, if it has more options, `option NAME VALUE` (true: it took the value) and `word TEXT` for what is none, and then
# reads this file, which leaves the SETTINGS after "--" in "$@", and what was made of files in whole paths.
root=$(cd "$(dirname "$0")/.." && pwd) script=${0##*/}
heed=${HEED:-$root/heed}
misuse() {
    echo "$script: $1; hint: sh data/$script $usage" >&2
    exit 2
}
# whole FILE: its whole path.
whole() {
    [ -e "$1" ] || misuse "$1 is missing"
    echo "$(cd "$(dirname "$1")" && pwd)/$(basename "$1")"
}
type option >/dev/null 2>&1 || option() { misuse "$1 is unknown"; }
type word >/dev/null 2>&1 || word() { misuse "$1 is unknown"; }
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick ;;
    -o) out=${2:?expected a folder}; shift ;;
    --) shift; break ;;
    -*) option "$1" "${2-}" && shift ;;
    *) word "$1" ;;
    esac
    shift
done
# maker NAME: ./maker, built from data/NAME.c.
maker() { [ -x maker ] || ${CC:-gcc} -std=c11 -O2 -o maker "$root/data/$1.c" -lz -lm || exit 1; }
# learn RUN ARGUMENTS...: trains the run; one that is there is resumed, or kept if it is finished.
learn() {
    run=$1
    shift
    if [ -e "$run/config.conf" ]; then
        "$heed" resume "$run" --progress none --json
    else
        echo "$run" >&2
        "$heed" train "$@" -o "$run" --progress none --json
    fi
}
# number KEY: the numbers of that name in JSON.
number() { sed -n 's/.*"'"$1"'":\([0-9.]*\).*/\1/p'; }
# best COLUMN RUN: the largest number of that column of metrics.csv in training: the rate of the fastest stretch of steps, as other programs may slow
# down the rest.
best() { awk -F, -v name="$1" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) at = i } $3 == "train" && $at > x { x = $at } END { print x }' "$2/metrics.csv"; }
