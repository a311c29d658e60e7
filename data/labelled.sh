#!/bin/sh
# labelled.sh [--marks | --lines] [--each N] NAME=FILE... -- makes labelled texts of plain ones, on stdout. Of each FILE, in UTF-8, come at most N
# examples (3000), spread evenly over the file.
#   (default)  NAME TAB sentence, one of 4 to 50 words: for textcls, which has to tell the files apart
#   --lines    NAME TAB line: the same of lines, such as those of programs
#   --marks    words TAB labels, 40 words a line: for tag, which has to say what follows each word: comma, end (of a sentence) or none
each=3000 mode=sentences
while [ $# -gt 0 ]; do
    case $1 in
    --marks) mode=marks ;;
    --lines) mode=lines ;;
    --each) each=${2:?expected a number}; shift ;;
    *) break ;;
    esac
    shift
done
fail() { echo "labelled.sh: $1" >&2; exit 2; }
case $each in *[!0-9]* | '' | 0*) fail "--each: expected a number of 1 or more, found '$each'" ;; esac
[ $# -gt 0 ] || fail "expected NAME=FILE; hint: sh data/labelled.sh alice=alice.txt oz=oz.txt >authors.tsv"
for pair in "$@"; do
    case $pair in -* | =*) fail "expected NAME=FILE, found '$pair'" ;; esac
    [ "${pair#*=}" != "$pair" ] || fail "expected NAME=FILE, found '$pair'"
    [ -f "${pair#*=}" ] && [ -r "${pair#*=}" ] || fail "cannot read '${pair#*=}'; expected NAME=FILE"
done

sentences() {
    tr -s '\r\n\t ' ' ' | awk '{gsub(/[.!?]["'\'')]* /, "&\n"); print}' |
        awk -v name="$1" 'NF >= 4 && NF <= 50 {sub(/ $/, ""); print name "\t" $0}'
}
lines() {
    tr '\r\t' '  ' | awk -v name="$1" 'NF >= 3 && length($0) <= 200 {$1 = $1; print name "\t" $0}'
}
marks() {
    tr -s '\r\n\t ' '\n' | awk '
        {   word = tolower($0); gsub(/[^a-z0-9'\''-]/, "", word)
            if (word == "") next
            label = /[.!?]["'\'')]*$/ ? "end" : /[,;:]["'\'')]*$/ ? "comma" : "none"
            words = words (n ? " " : "") word; labels = labels (n ? " " : "") label
            if (++n == 40) {print words "\t" labels; words = labels = ""; n = 0}
        }'
}
for pair in "$@"; do
    awk 'NR == 1 {sub(/^\357\273\277/, "")} {print}' "${pair#*=}" | $mode "${pair%%=*}" |
        awk -v each="$each" '{all[NR] = $0} END {k = NR < each ? NR : each; for (i = 0; i < k; i++) print all[1 + int(i * NR / k)]}'
done
