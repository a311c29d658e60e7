# Sequences: the scripts on recall and the bottleneck, tables as pictures, two alignments in one.
script() {
    COMMAND="$*"
    name=$1
    shift
    sh "$here/../../data/$name" "$@" >out 2>err </dev/null
    STATUS=$?
}
script recall.sh -o recall --quick -- --threads 1
status 0
says "accuracy on unseen texts"
holds test "$(grep -c . recall/accuracy.csv)" = 3
holds test "$(awk -F, '$2 > 0 && $3 > 0 && $4 > 0 && $5 > 0' recall/texts_per_second.csv | grep -c .)" = 3
holds test "$(head -c 4 recall/recall.png | tail -c 3)" = PNG
holds awk -F, 'NR > 1 && $2 + $5 < 1.9 { exit 1 }' recall/accuracy.csv
script recall.sh -o recall --quick
status 0
quiet
script recall.sh --slow
status 2
warns "--slow is unknown"

script parallel.sh -o parallel --quick
status 0
says "width 256, 1 text at a time"
holds test "$(grep -c '^ *[13][62] ' parallel/table.txt)" = 4
holds awk '/^ *[0-9]/ && !($2 > 0 && $3 > 0 && $4 > 0 && $5 > 0) { exit 1 }' parallel/table.txt
holds awk '/parameters/ { n += $8 < 1.02 * $10 && $10 < 1.02 * $8 } END { exit n != 2 }' parallel/table.txt
script parallel.sh --slow
status 2
warns "--slow is unknown"

script bottleneck.sh -o narrow --quick -- --width 16 --batch 8 --threads 1
status 0
says "with attention"
says "anti-diagonal"
holds test "$(grep -c ' %' narrow/table.txt)" -ge 7
holds test "$(head -c 4 narrow/alignments.png | tail -c 3)" = PNG
refused <<'END'
2 translate narrow/attention abcde --beside narrow/none | --beside
2 translate narrow/attention abcde --png x.png --beside recall/rnn-2 | is of textcls
END
absent x.png

# Tables as pictures.
printf 'k,a,b\n1,2,3\n2,,1e2\n' >t.csv
ok plot t.csv
says "wrote t.png"
holds test "$(head -c 4 t.png | tail -c 3)" = PNG
run plot t.csv t.csv --png both.png --json
json png both.png
json tables.1.k.0 1.0
json tables.0.a.1 null
json tables.0.b.1 100.0
printf 'tokens,ms_a_step\n16,3\n1024,5\n' >time_of_steps.csv
ok plot time_of_steps.csv --log-x --from-zero
says "time of steps"
says " 32 "
says "0 ┤"
run plot time_of_steps.csv --log-x --json
json tables.0.tokens.1 1024.0
printf 'k,a\n0,2\n' >zero.csv
run plot zero.csv --log-x
refuses 3 "above 0"
absent zero.png
run plot narrow/none --log-x
refuses 2 "are for tables"
printf 'k,a,b\n1,2\n' >few.csv
run plot few.csv
refuses 3 "few.csv:2"
printf 'k,a\n1,2,3\n' >many.csv
run plot many.csv
refuses 3 "many.csv:2"
printf 'k,a\n1,two\n' >words.csv
printf 'a,b\n1,2\n2,1e308\n' >vast.csv
run plot vast.csv --svg vast.svg
refuses 3 'table is wrong: vast.csv:3: expected a number of at most 1e300, found "1e308"'
absent vast.svg
run plot words.csv
refuses 3 'found "two"'
printf 'k,a\n' >none.csv
run plot none.csv
refuses 3 "rows of numbers"
printf 'k\n1\n' >one.csv
run plot one.csv
refuses 3 "names of 2 to 33 columns"
: >empty.csv
run plot empty.csv
status 3
absent few.png
run plot t.csv narrow/none
refuses 2 "heed compare"

# Hostile inputs: a line of 300 KB, bytes that are no text, a full disk, weights cut off.
head -c 300000 /dev/zero | tr '\0' a >huge
head -c 3000 "$HEED" >bytes.tsv
run_with huge translate narrow/attention # a line out for each line in
status 3
warns "too long"
if [ "$(wc -l <out)" = 1 ]; then pass; else fail "expected one line on stdout"; fi
run_with bytes.tsv translate narrow/attention
status 3
for task in rnn seq2seq textcls tag; do
    run train $task bytes.tsv -o never
    refuses 3 "bytes.tsv"
    printf 'a b\tc d\ne f\n' >cut.tsv
    run train $task cut.tsv -o never
    refuses 3 "cut.tsv:2"
    run train $task recall -o never
    refuses 3 "is a folder"
done
absent never
if [ -w /dev/full ]; then
    run eval narrow/attention narrow/letters/test.tsv --most 1 --translations /dev/full
    refuses 1 "cannot write /dev/full"
    run translate narrow/attention abcde --png /dev/full
    status 1
fi
ok_with huge classify recall/rnn-2
cp -r narrow/attention broken
head -c 500 narrow/attention/model.safetensors >broken/model.safetensors
run translate broken abcde
refuses 3 "broken/model.safetensors"
