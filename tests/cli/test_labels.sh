# Texts and labels: textcls (a label a text) and tag (a label a word).
texts() {
    printf 'label\ttext\n'
    for noun in film book song day; do
        for word in good great fine; do printf 'pos\tthe %s was %s\n' $noun $word; done
        for word in bad awful poor; do printf 'neg\tthe %s was %s\n' $noun $word; done
    done
}
tags() {
    for noun in dog cat king book; do
        for verb in sees runs sleeps; do printf 'the %s %s\tD N V\n' $noun $verb; done
    done
}
texts >texts.tsv
tags >tags.tsv
TINY="--width 16 --block 8 --batch 8 --steps 40 --lr 0.01"
ok data check textcls texts.tsv
quiet
says "the first line names the columns"
says "neg"
says "heed train textcls texts.tsv"
run data check textcls texts.tsv --json --val-split 0
json labels.0.label neg
json labels.0.count 12
json labels.1.val_count 0
awk -F '\t' 'NR > 1 { print $2 "\t" $1 }' texts.tsv >swapped.tsv
ok data check textcls swapped.tsv --json
warns "24 labels in 24 lines"
warns "are the columns swapped?"
run data check tag tags.tsv --json --val-split 0
json pairs 12
json labels.0.label D
json labels.2.count 12

run train textcls texts.tsv -o bad $TINY --encoder rnn --layers 1 --heads 2
refuses 2 "--heads has no effect here: expected --encoder attention, found --encoder rnn"
absent bad
for encoder in attention rnn; do
    ok train textcls texts.tsv -o $encoder $TINY --encoder $encoder --layers 1
    warns "2: neg, pos"
    says "heed classify $encoder \"the"
    holds test "$(cat $encoder/labels.txt | tr '\n' ' ')" = "neg pos "
done
ok train textcls texts.tsv -o one $TINY --head binary --layers 1 --heads 2
for run in attention rnn one; do
    ok classify $run "the book was great" "the day was awful" --json --top 1
    json predictions.0.p
    holds test "$(wc -l <out)" = 2
    ok eval $run texts.tsv --json
    json accuracy
done
run eval attention
says "validation part, 2 texts"
says "precision"
run eval attention --confusion confusion.png
says "wrote confusion.png"
holds test -s confusion.png
printf 'the book was great\n\nthe day was poor\n' >in.txt
ok_with in.txt classify attention
says "the book was great"
says "pos"
run classify attention "the" "the film was grand" " " "a b c d e f g h i j k" --json
status 3
warns "empty"
warns "the text has 11 tokens: the model reads 7 of them, its head"
holds test "$(wc -l <out)" = 3
head -4 texts.tsv >few.tsv # one label alone: it is the run's labels that count
ok eval attention few.tsv --json
json items 3
json classes.0.count 0
printf 'odd\tthe book\n' >odd.tsv
refused <<'END'
3 eval attention odd.tsv | odd.tsv:1
2 translate attention "the book" | heed classify attention
END
sed "1s/^/$(printf '\033')[2J/" one/labels.txt >labels
mv labels one/labels.txt
run classify one "the book" --edited
says '␛[2J'
hides "$(printf '\033')"
rm one/labels.txt
run classify one "the book"
refuses 3 "labels.txt"

# labels.txt belongs to the weights: names that changed places are refused, unless they are meant.
cp -r attention swapped
sort -r attention/labels.txt >swapped/labels.txt
for command in "classify swapped text" "eval swapped" "info swapped" "resume swapped"; do
    run $command
    refuses 3 "labels.txt"
    warns "--edited"
done
run classify attention "the book was great" --json --top 1
json predictions.0.class pos
ok classify swapped "the book was great" --json --top 1 --edited
json predictions.0.class neg
ok info swapped --edited
ok resume swapped --steps 81 --edited
run attend rnn "the film was good" --occlude
refuses 2 "influence"
ok resume attention
warns "hint: --steps 80 continues it"

ok train tag tags.tsv -o tag $TINY --layers 1 --heads 2
warns "3: D, N, V"
ok classify tag "the dog runs" "a  horse"
holds test "$(head -1 out)" = "$(printf 'the dog runs\tD N V')"
holds test "$(wc -l <out)" = 2
# Nothing in a text moves the cursor, parts columns or breaks lines; unknown words are named once.
odd=$(printf 'the\tking\033[31m\007 \342\200\256runs runs\rx')
for run in tag attention; do
    ok classify $run "$odd"
    says "the⇥king␛[31m␇ ↔runs runs␍x"
    warns "unknown to the vocabulary: "
    holds test "$(grep -c unknown err)" = 1
    if LC_ALL=C grep -q "$(printf '[\033\007\r]')" out err; then fail "a control character"; else pass; fi
done
run classify tag "$odd"
holds test "$(tr -cd '\t' <out | wc -c)" = 1
holds test "$(wc -l <out)" = 1
run classify tag "q w e r t y u"
warns "unknown to the vocabulary: q, w, e, r, t and 2 more"
run classify tag "q the q w w"
holds test "$(cat err)" = "heed: warning: unknown to the vocabulary: q, w"
printf 'the dog runs\nthe \000\n' >nul.txt
run_with nul.txt classify tag
status 3
warns "line 2: the input is not text: byte 0x00 at offset 4"
for setting in "--overlay none.png" "--layer 1" --cells --convert "--top 2"; do
    run classify tag "the dog runs" $setting
    refuses 2 "${setting%% *} has no effect here: tag is a run of tag"
done
run eval tag --mistakes none.png
refuses 2 "--mistakes has no effect here"
absent none.png
ok eval tag
says "of 3 words"
ok train tag tags.tsv -o pieces $TINY --layers 1 --heads 2 --tokenizer char --block 32
run classify pieces "the dog runs" --json
json labels.2
# Texts longer than the block: without --block it is that of the longest one; what is cut is counted everywhere.
awk 'BEGIN { for (i = 0; i < 20; i++) { w = t = ""; for (j = 0; j < 100; j++) { b = int((i + 1) * j * j / 7) % 3; w = w " w" b; t = t " T" b }
    print w "\t" t } }' >long.tsv
run data check tag long.tsv --json
json chosen.0.settings "block 104"
json cut 0
run data check tag long.tsv --block 64 --json
json cut 20
json unread 740
ok train tag long.tsv -o cut --layers 1 --heads 2 --width 16 --batch 8 --steps 6 --block 64
warns "20 texts are longer than --block 64 and cut: 740 of 2,000 words are not read; --block 101 reads all"
run eval cut long.tsv --json
json cut 2
json unread 74
run eval cut
says "2 texts are longer than --block 64 and cut: 74 of 200 words are not read"
ok classify cut "$(sed -n 's/\t.*//; 1p' long.tsv)" --json
warns "the text has 100 tokens: the model reads 63 of them, its head"
json cut 37
json labels.63 null
run train tag long.tsv -o ends --layers 1 --heads 2 --width 16 --batch 8 --steps 6 --block 64 --truncate head+tail
run classify ends "$(sed -n 's/\t.*//; 1p' long.tsv)" --json
json labels.31
json labels.32 null
json labels.68 null
holds test "$("$JSON" labels.69 <out)" != null
run train tag long.tsv -o all --layers 1 --heads 2 --width 16 --batch 8 --steps 6
holds grep -qx 'block = 104' all/config.conf
run eval all --json
json unread 0
json items 200

printf '{"tokens":["a","b"],"tags":["X","Y"]}\n{"tokens":["b","a"],"tags":["Y","X"]}\n{"tokens":["b"],"tags":["Y"]}\n' >few.jsonl
ok train tag few.jsonl -o few $TINY --layers 1 --heads 2 --val-split 0
hides "every sentence has one word"
# CoNLL: a line for each word; entities are counted as by seqeval: here all but one type is found.
for i in 1 2 3 4 5 6 7 8; do printf 'EU NNP B-ORG\nin%s IN O\nNew NNP B-LOC\nYork NNP I-LOC\n\n' $i; done >eng.train
ok data check tag eng.train
says "a CoNLL file of 3 columns: words in column 1, labels in column 3"
run data check tag eng.train --columns 1,2 --json
json labels.0.label IN
ok train tag eng.train -o conll --layers 1 --heads 2 --width 16 --batch 4 --steps 60 --lr 0.01
run eval conll --json
json entities.f1 1.0
json entities.support 2
json entities.types.0.type LOC
json entities.strict.scheme IOB2
json entities.strict.recall 1.0
sed 's/^EU NNP B-ORG/EU NNP B-LOC/' eng.train >other.train
run eval conll other.train --json
json entities.precision 0.5
json entities.types.0.support 16
json entities.types.0.recall 0.5
json entities.types.1.support 0
sed 5q eng.train >one.conll
run eval conll one.conll
says ", 1 text"
hides "1 texts"
printf 'EU B-ORG\nin O\n\n' >one.conll
run eval conll one.conll
says "of 1 entity, strictly"
run eval conll
says "F1 100.00 %, precision 100.00 %, recall 100.00 % of 2 entities, strictly IOB2"
run eval tag
hides entities

: >empty.tsv
printf 'a b\tX\n' >lacks.tsv
printf 'X\ta\nX\tb\n' >same.tsv
printf 'no tab\n' >column.tsv
refused <<'END'
3 train tag lacks.tsv -o run $TINY | lacks.tsv:1
3 train textcls same.tsv -o run $TINY | two different labels
END
for file in empty.tsv column.tsv nowhere.tsv; do
    for task in textcls tag; do
        run train $task $file -o run $TINY
        refuses 3 "$file"
        run data check $task $file
        refuses 3 "$file"
    done
done

# One text with two labels, and labels that only the validation part has, are counted.
printf 'pos\tsame text\nneg\tsame text\npos\tother a\nneg\tother b\n' >two.tsv
run data check textcls two.tsv --val-split 0
says "1 text has different labels"
says 'two.tsv:1 and two.tsv:2: "same text"'
run data check textcls two.tsv --val-split 0 --json
json conflicts 1
json conflicting.0.lines.1 two.tsv:2
json untaught 0
printf 'rare\tq\npos\tsame text\nodd\tr\n' >rare.tsv
run data check textcls two.tsv --val rare.tsv --json
json untaught 2
ok train textcls two.tsv --val rare.tsv -o rare $TINY --layers 1 --heads 2 --steps 1
warns '2 validation texts have a label that no training text has, first "rare"'
printf 'a b\tX Y\nc d\tX Y\n' >xy.tsv
printf 'a b\tX Z\n' >z.tsv
run data check tag xy.tsv --val z.tsv --json
json untaught 1
json conflicts 1
json conflicting.0.lines.1 z.tsv:1
printf 'cat\tchat\ncat\tchatte\ndog\tchien\n' >several.tsv
run data check seq2seq several.tsv --val-split 0
says "1 source has different targets"

# Where a model has segments, [SEP] of a typed text divides it; elsewhere, and in data, it is text.
run train textcls two.tsv -o segments --tokenizer word --encoder attention --bracket --token-types 2 --segment-token 3 --val-split 0 $TINY --layers 1 --heads 2 --steps 1
run attend segments "same [SEP] text" --json
json axes.0.count 5
json axes.0.labels.2 "[SEP]"
run train textcls two.tsv -o whole --tokenizer word --encoder attention --bracket --val-split 0 $TINY --layers 1 --heads 2 --steps 1
run attend whole "same [SEP] text" --json
json axes.0.count 7
