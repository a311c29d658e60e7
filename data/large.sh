#!/bin/sh
# Makes a large text of paragraphs of other texts in a random order, and measures how long the program takes until its
# first step on it, and the most memory that it uses: sh data/large.sh FILE BYTES TEXT... An existing FILE is used as it
# is. Needs GNU time. HEED=./heed THREADS="1 2" TOKENIZERS="byte char wordpiece" RUN=a folder that may be removed
file=$1 bytes=$2
if [ $# -lt 2 ]; then
    echo "usage: sh data/large.sh FILE BYTES TEXT..." >&2
    exit 2
fi
shift 2
if [ ! -e "$file" ]; then
    awk -v bytes="$bytes" '
        BEGIN { srand(1) }
        { part = part $0 "\n" }
        FNR % 40 == 0 { parts[n++] = part; part = "" }
        END { while (made < bytes) { part = parts[int(rand() * n)]; printf "%s", part; made += length(part) } }
    ' "$@" >"$file"
fi
heed=${HEED:-./heed} run=${RUN:-$file.run}
model="--layers 1 --heads 1 --width 16 --ff 16 --batch 1 --steps 1 --eval-batches 1"
rm -rf "$run"
for tokenizer in ${TOKENIZERS:-byte char wordpiece}; do
    for threads in ${THREADS:-1 2}; do
        what="$tokenizer, $threads threads"
        time="/usr/bin/time -o $file.time -f"
        $time "$what: %e s, %M KB" "$heed" train gpt "$file" --tokenizer "$tokenizer" $model --threads "$threads" \
            -o "$run" >/dev/null 2>&1
        cat "$file.time"
        [ -e "$run/tokens.bin" ] && $time "$what, resumed: %e s, %M KB" "$heed" resume "$run" --steps 2 \
            --threads "$threads" >/dev/null 2>&1 && cat "$file.time"
        rm -rf "$run" "$file.time"
    done
done
