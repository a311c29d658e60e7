#!/bin/sh
# growth.sh [-o FOLDER] [--part NAME] [-- BENCH OPTIONS...] -- how the time and the memory of a training step grow with width, depth, block, batch and
# vocabulary of a small causal language model (heed bench, workload gpt-tiny): doubles one of them at a time, fits the exponent of growth from the upper
# three sizes, and compares it with that of the mathematics. Block: the tokens of a step remain 2,048, so this is the growth for a token. Prints a table
# and draws the logarithms: FOLDER/growth.png. FOLDER: runs/growth. --part: measures only width, depth, block, batch or vocab, and keeps the others'
# files, so that it can be done in parts; draw: only the table and the picture.
usage='[-o FOLDER] [--part NAME] [-- BENCH OPTIONS...]' out=runs/growth parts="width depth block batch vocab"
option() { [ "$1" = --part ] || misuse "$1 is unknown"; parts=${2:?expected width, depth, block, batch, vocab or draw}; }
quick() { misuse "--quick is unknown"; }
. "$(dirname "$0")/lib.sh"
mkdir -p "$out" && cd "$out" || exit 1

# The sizes of a part, and the settings of one of them.
sizes() {
    case $1 in
    width) echo 64 128 256 512 1024 ;;
    depth) echo 1 2 4 8 16 32 ;;
    block) echo 64 128 256 512 1024 2048 ;;
    batch) echo 2 4 8 16 32 64 ;;
    vocab) echo 512 1024 2048 4096 8192 16384 ;;
    esac
}
settings() {
    case $1 in
    width) echo "width=$2 ff=$((4 * $2)) heads=4 batch=4" ;;
    depth) echo "layers=$2 batch=4" ;;
    block) echo "block=$2 batch=$((2048 / $2))" ;;
    batch) echo "batch=$2" ;;
    vocab) echo "vocab=$2" ;;
    esac
}
for part in $parts; do
    [ "$part" = draw ] && break
    for size in $(sizes "$part"); do
        "$heed" bench --workload gpt-tiny --set "$(settings "$part" "$size")" --memory-report --seconds 0.3 --warmup-seconds 0.1 --min-steps 3 --json "$@" \
            >result.json || exit
        set_of() { tr -d ' \n' <result.json | number "$1"; }
        echo "$size $(set_of ms_per_step) $((($(set_of total) - $(set_of before)) / 1000))"
    done >"$part.txt"
    rm -f result.json
done

# The table, and two files of logarithms: a row for each doubling, a column for each part.
awk -v parts="width depth block batch vocab" '
function slope(column,  i, n, x, y, sx, sy, sxx, sxy) {
    for (i = count - 2; i <= count; i++) { n++; x = log(v[i, 1]); y = log(v[i, column]); sx += x; sy += y; sxx += x * x; sxy += x * y }
    return (n * sxy - sx * sy) / (n * sxx - sx * sx)
}
BEGIN {
    split("2 1 1 1 1", times, " "); split("2 1 0 1 1", memories, " ")
    n = split(parts, part, " ")
    print "         size   ms/step        MB    growth of time       growth of memory"
    for (p = 1; p <= n; p++) {
        count = 0
        while ((getline line < (part[p] ".txt")) > 0) { split(line, f, " "); count++; for (c = 1; c <= 3; c++) v[count, c] = f[c] }
        if (count < 3) continue
        for (i = 1; i <= count; i++) {
            printf "%-6s %6d %9.2f %9.1f", (i == 1 ? part[p] : ""), v[i, 1], v[i, 2], v[i, 3] / 1000
            if (i == count) printf "    %4.2f, at most %d    %4.2f, at most %d", slope(2), times[p], slope(3), memories[p]
            print ""
            time[i, p] = sprintf("%.4g", log(v[i, 2] / v[1, 2]) / log(2)); memory[i, p] = sprintf("%.4g", log(v[i, 3] / v[1, 3]) / log(2))
        }
        if (count > rows) rows = count
    }
    for (t = 0; t < 2; t++) {
        file = t ? "log2_of_memory.csv" : "log2_of_time.csv"
        printf "log2 of the size" > file
        for (p = 1; p <= n; p++) printf ",%s", part[p] > file
        for (i = 1; i <= rows; i++) { printf "\n%d", i - 1 > file; for (p = 1; p <= n; p++) printf ",%s", t ? memory[i, p] : time[i, p] > file }
        print "" > file
    }
}' | tee table.txt
"$heed" plot log2_of_time.csv log2_of_memory.csv --png growth.png >/dev/null && printf '%s\n%s\n' "$out/table.txt" "$out/growth.png"
