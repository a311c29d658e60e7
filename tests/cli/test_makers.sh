# data/pairs.c: lines that are a function of the seed, unseen test lines, usage.
maker=$here/../../data/pairs.c
for level in 0 2; do ${CC:-cc} -std=c11 -O$level -o pairs$level "$maker" || fail "cannot build data/pairs.c"; done
make_pairs() {
    COMMAND="pairs $*"
    ./pairs2 "$@" >out 2>err
    STATUS=$?
}
# sources FILE: the source of each line, once. shared A B: those that stand in both.
sources() { cut -f1 "$1" | sort -u; }
shared() { sources "$1" >one && sources "$2" >other && comm -12 one other | grep -c .; }

make_pairs dates a --train 3000 --test 500 --spans
status 0
quiet
silent
holds test "$(wc -l <a/train.tsv)" = 3000 -a "$(wc -l <a/test.tsv)" = 500
./pairs0 dates b --train 3000 --test 500 --spans
holds diff -r a b
make_pairs dates c --train 1000 --test 500 --spans --seed 2
holds test "$(head -1000 a/train.tsv | cksum)" != "$(cksum <c/train.tsv)"
# A date of the test stands in no training file, in no way of writing it.
cut -f2 a/test.tsv c/test.tsv | sort -u >tested
cut -f2 a/train.tsv c/train.tsv | sort -u >trained
holds test "$(comm -12 tested trained | grep -c .)" = 0
# Ten ways; the spans are those of the year, the month and the day.
for way in '^[A-Z][a-z]* [0-9]*, ' '^[0-9]* [A-Z]' '^[A-Z][a-z]*day, ' '^[A-Z][a-z][a-z] [0-9]* [A-Z][a-z][a-z] ' \
    '^[A-Z][a-z]* [0-9]*\(st\|nd\|rd\|th\), ' '^the [0-9]*[a-z]* of ' '^the [a-z-]* of ' '^[0-9]*/[0-9]*/[0-9][0-9]	' \
    '^[0-9][0-9]\.[0-9][0-9]\.[0-9]*	' '^[0-9]*-[A-Z][a-z][a-z]-[0-9][0-9]	'; do
    found=$(grep -c "$way" a/train.tsv)
    holds test "$found" -gt 200 -a "$found" -lt 700
done
holds awk -F'\t' '{ split($3, s, /[ -]/); split($2, d, "-"); year = substr($1, s[1] + 1, s[2] - s[1])
    month = substr($1, s[3] + 1, s[4] - s[3]); day = substr($1, s[5] + 1, s[6] - s[5])
    if (year != d[1] && year != substr(d[1], 3)) exit 1
    if (month ~ /^[0-9]/ ? month + 0 != d[2] + 0 : index("JanFebMarAprMayJunJulAugSepOctNovDec", substr(month, 1, 3)) != 3 * d[2] - 2) exit 1
    if (day ~ /^[0-9]/ && day + 0 != d[3] + 0) exit 1 }' a/train.tsv
# Ordinals in words, and weekdays, of days that a calendar tells.
make_pairs dates d --train 300000 --test 0
for pair in 'the thirty-first of December, 1999	1999-12-31' 'the twentieth of February, 2000	2000-02-20' \
    'Tuesday, February 29, 2000	2000-02-29' 'Wednesday, January 1, 1930	1930-01-01' 'October 22nd, 1983	1983-10-22' \
    'May 11th, 2011	2011-05-11' '31.12.2029	2029-12-31'; do
    source=${pair%%	*}
    lines=$(grep "^$source	" d/train.tsv | sort -u)
    holds test "${lines:-$pair}" = "$pair"
done
absent d/test.tsv

make_pairs reverse e --train 500 --test 100 --from 3 --to 9
status 0
holds awk -F'\t' '{ n = length($1); if (n < 3 || n > 9 || n != length($2)) exit 1
    for (i = 1; i <= n; i++) if (substr($1, i, 1) != substr($2, n + 1 - i, 1)) exit 1 }' e/train.tsv
holds test "$(awk -F'\t' '{ print length($1) }' e/test.tsv | sort -u | wc -l)" = 7
make_pairs reverse f --train 500 --test 100 --from 3 --to 3 --letters 5
holds test "$(shared f/train.tsv f/test.tsv)" = 0
make_pairs sort g --train 200 --letters 4
holds awk -F'\t' '{ n = length($1); if (n < 5 || n > 20 || n != length($2) || $1 ~ /[^a-d]/) exit 1
    for (i = 2; i <= n; i++) if (substr($2, i - 1, 1) > substr($2, i, 1)) exit 1 }' g/train.tsv
make_pairs recall h --train 200 --distance 6
holds awk -F'\t' 'length($2) != 7 || $1 != substr($2, 1, 1) { exit 1 }' h/train.tsv
make_pairs recall i --train 200 --distance 6 --from 8 --to 12
holds awk -F'\t' '{ n = length($2); if (n < 8 || n > 12 || $1 != substr($2, n - 6, 1)) exit 1 }' i/train.tsv
make_pairs recall j --train 200 --distance 2 --from 9 --tags
holds awk -F'\t' '{ n = split($1, s, " "); if (n != 9 || split($2, t, " ") != 9) exit 1
    for (i = 1; i <= n; i++) if (t[i] != (i > 2 ? s[i - 2] : "-")) exit 1 }' j/train.tsv

for wrong in "" "dates" "nothing x" "dates x y" "reverse x --from 0" "reverse x --from 9 --to 8" "sort x --letters 27" \
    "recall x --distance 5 --from 5" "recall x --distance" "reverse x --tags" "sort x --spans" "dates x --seed -1" "dates x --way 3"; do
    make_pairs $wrong
    status 2
    warns "usage"
done
make_pairs reverse x --from 1 --to 1 --letters 2 --test 5
status 1
warns "too few different texts"
make_pairs dates /dev/null/x
status 1
warns "/dev/null/x"
