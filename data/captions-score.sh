#!/bin/sh
# captions-score.sh RUN LIST [BOXES] -- how good the captions of a run are on pictures of data/shapes.c, and where the model looks.
# exact: equal to a caption of LIST. right: the same, where "A left of B" and "B right of A" are one answer, as are above and below.
# With BOXES, of the right captions of two shapes of different colours: the attention of a noun phrase (article to noun, the mean of its words), as
# density: its share inside the shape's own box, and inside the other shape's box, divided by the box's share of the picture (the whole picture: 1).
# One line of JSON. Without attention (attention = none) the densities are left out.
heed=${HEED:-$(cd "$(dirname "$0")/.." && pwd)/heed}
[ $# -ge 2 ] && [ $# -le 3 ] || { echo "captions-score.sh: expected RUN LIST [BOXES]" >&2; exit 2; }
run=$1 list=$2 boxes=$3 folder=$(dirname "$2")
weights=
[ -n "$boxes" ] && ! grep -q '^attention = none' "$run/config.conf" && weights=--weights
sed 1d "$list" | cut -f1 | sort -u | sed "s|^|$folder/|" | "$heed" caption "$run" --json $weights | awk -v folder="$folder/" '
    function same(text, parts) { # one form for both orders
        if (split(text, parts, / right of /) == 2) return parts[2] " left of " parts[1]
        if (split(text, parts, / below /) == 2) return parts[2] " above " parts[1]
        return text
    }
    function member(text, name) { # the value of "name": without its quotes
        if (!match(text, "\"" name "\":[^,}]*")) return ""
        text = substr(text, RSTART + length(name) + 3, RLENGTH - length(name) - 3)
        gsub(/"/, "", text)
        return text
    }
    function overlap(from, size, low, high, a, b) { a = from > low ? from : low; b = from + size < high ? from + size : high; return b > a ? b - a : 0 }
    # The density on a box of the mean attention of the words first .. first + 3.
    function density(first, at, b, cell, mass, word, r, c) {
        split(box[at], b, " ")
        cell = b[5] / rows
        mass = 0
        for (word = first; word < first + 4; word++) {
            split(row[word], w, ",")
            for (r = 0; r < rows; r++) for (c = 0; c < cols; c++)
                mass += w[r * cols + c + 1] * overlap(c * cell, cell, b[1], b[1] + b[3]) * overlap(r * cell, cell, b[2], b[2] + b[4]) / (cell * cell) / 4
        }
        return mass / (b[3] * b[4] / (b[5] * b[5]))
    }
    function look(first, own, other) {
        phrases++
        on_own += mine = density(first, own)
        on_other += theirs = density(first, other)
        nearer += mine > theirs
    }
    FILENAME == "-" {
        file = substr(member($0, "input"), length(folder) + 1)
        made = member($0, "caption")
        pictures++
        exact += (file, made) in captions
        if (!((file, same(made)) in forms)) next
        right++
        n = split(made, a, / (left of|right of|above|below) /)
        split(a[1], first, " "); split(a[2], second, " ")
        if (!/"weights":/ || n < 2 || first[3] == second[3]) next
        rows = member($0, "rows"); cols = member($0, "cols")
        sub(/.*"weights":\[\[/, "")
        split($0, row, /\],\[/)
        look(1, file SUBSEP a[1], file SUBSEP a[2])
        look(made ~ / (left|right) of / ? 7 : 6, file SUBSEP a[2], file SUBSEP a[1])
        next
    }
    FNR > 1 && FILENAME == ARGV[1] { split($0, t, "\t"); captions[t[1], t[2]]; forms[t[1], same(t[2])] }
    FNR > 1 && FILENAME != ARGV[1] { split($0, t, "\t"); box[t[1], t[2]] = t[3] " " t[4] " " t[5] " " t[6] " " t[7] }
    END {
        if (!pictures) exit 1
        printf "{\"pictures\":%d,\"exact\":%.4f,\"right\":%.4f", pictures, exact / pictures, right / pictures
        if (phrases) printf ",\"phrases\":%d,\"own\":%.4f,\"other\":%.4f,\"nearer\":%.4f", phrases, on_own / phrases, on_other / phrases, nearer / phrases
        print "}"
    }' "$list" ${boxes:+"$boxes"} -
