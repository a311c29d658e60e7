#!/bin/sh
# run.sh [HEED [TRANSCRIPT...]] -- runs the transcripts of this folder, each in an empty folder of its own. The last line counts.
here=$(cd "$(dirname "$0")" && pwd)
HEED=${1:-$here/../../build/release/heed}
[ $# -gt 0 ] && shift
case $HEED in /*) ;; *) HEED=$(pwd)/$HEED ;; esac
[ -x "$HEED" ] || { echo "run.sh: no program at $HEED; hint: make program"; exit 1; }
work=$(mktemp -d "${TMPDIR:-/tmp}/heed-cli-XXXXXX") || exit 1
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
JSON=$work/json
${CC:-cc} -o "$JSON" "$here/json.c" -ljansson || { echo "run.sh: cannot build json.c"; exit 1; }
PATH=$(dirname "$HEED"):$PATH # so that hints call the program by its name alone
export HEED JSON PATH
unset NO_COLOR COLUMNS
export OMP_NUM_THREADS=1 # spinning teams would crowd out whatever else the machine does

[ $# -gt 0 ] || set -- "$here"/test_*.sh
for path; do
    case $path in */*) ;; *) path=$here/$path ;; esac
    TRANSCRIPT=$(basename "$path" .sh)
    mkdir -p "$work/$TRANSCRIPT"
    export TRANSCRIPT
    (
        cd "$work/$TRANSCRIPT" || exit 1
        . "$here/lib.sh"
        . "$path"
        echo "$PASSED $FAILED" >"$work/$TRANSCRIPT.count"
    )
    [ -s "$work/$TRANSCRIPT.count" ] || { echo "FAILED $TRANSCRIPT: ended early"; echo "0 1" >"$work/$TRANSCRIPT.count"; }
done
cat "$work"/*.count | awk '{p += $1; f += $2} END {printf "%d passed, %d failed\n", p, f; exit f > 0 || p == 0}'
