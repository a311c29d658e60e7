# Pairs of texts: seq2seq and rnn, from data check to translate.
pairs() {
    printf 'source\ttarget\tnote\n'
    for a in a b c d; do
        for b in e f g h; do
            for c in i j k; do printf '%s%s%s\t%s%s%s\tx\n' $a $b $c $c $b $a; done
        done
    done
}
pairs >pairs.tsv
TINY="--width 16 --block 8 --batch 8 --steps 6"
ok data check rnn pairs.tsv
quiet
says "43 pairs"
says "5 pairs"
says "the first line names the columns"
says "further columns in 48 lines are ignored"
says "line 2"
says "-> iea"
says "heed train rnn pairs.tsv"
ok data check seq2seq pairs.tsv --json --no-share-vocab --val-split 0.25
json pairs 36
json val_pairs 12
json header true
json extra_columns 48
json shared false
json source.vocab 16
json target.vocab 16
json source.longest 4
json left_out 0
json empty 0
json overlap 0

ok train rnn pairs.tsv -o rnn $TINY
warns "43 pairs"
warns "the first line names the columns"
says 'heed translate rnn "'
holds test -f rnn/tokenizer.json
holds grep -q '^---- step 6, validation loss' rnn/samples.txt
holds awk -F'\t' 'NF == 3 && length($1) == 3 && length($2) == 3 { n++ } END { exit n < 4 }' rnn/samples.txt
absent rnn/source-tokenizer
ok translate rnn aei bfj
holds test "$(wc -l <out)" = 2
ok explain rnn aei
says "f_att is a small network: e[t,i] = v' tanh(W s[t-1] + U h[i] + b)."
run explain --from rnn
refuses 2 'rnn is a run: expected a file of numbers; hint: `heed explain rnn INPUT`'
ok translate rnn aei --attention --png a.png
says "cross, layer 1 of 1, its one head: a row for each generated token, over the source"
says "wrote a.png"
says "[SEP]"
holds test "$(head -c 4 a.png | tail -c 3)" = PNG
ok translate rnn aei --svg a.svg
says "wrote a.svg"
holds grep -q ">aei →" a.svg
holds grep -q ">uniform = 0.25<" a.svg # three letters and [SEP]
holds grep -q ">0\.[0-9]*  of a row" a.svg # the scale ends at the largest weight
holds grep -q ">Darker is more. Attention alone is no explanation" a.svg
run translate rnn aei --svg b.svg --beside rnn
holds test "$(grep -c ">rnn<" b.svg)" = 2
holds test "$(grep -o ">0\.[0-9]*  of a row" b.svg | uniq -c | awk '{ print $1 }')" = 2 # both on one scale
ok translate rnn aei --json --attention
json attention.source.3 "[SEP]"
json attention.weights.0.3
run translate rnn aei --json --beam 3 --length-penalty 0
json log_probability
run translate rnn aei --temperature 2 --seed 3
refuses 2 "--temperature has no effect here: expected --sample, too"
ok translate rnn aei --sample --temperature 2 --seed 3
cp out one
run translate rnn aei --sample --temperature 2 --seed 3
holds cmp -s one out
printf 'aei\n\nbfj\n' >in.txt
ok_with in.txt translate rnn --json
holds test "$(wc -l <out)" = 2
printf 'aei\na\te\nb\tf\n' >tabs.txt
ok_with tabs.txt translate rnn
warns "line 2: the text has a tab in it"
holds test "$(grep -c 'has a tab' err)" = 1
# Every row says what it predicts: its own token, or another one that is more probable.
ok attend rnn aei --target ei
tr '\n' ' ' <out | tr -s ' ' | sed 's/.*most probable, row by row: //; s/ Attention alone.*//' >each
holds awk '{ exit NF != 6 || $1 !~ /^e/ || $3 !~ /^i/ || $5 !~ /^\[SEP\]/ }' each
holds test "$(grep -c '\([ei]\)→\1 \|\[SEP\]→\[SEP\]' each)" = 0
hides "predicts"
run attend rnn aei --target ei --query 2
holds grep -q '^token 2: ' out
ok eval rnn
says "pairs.tsv, validation part, 5 pairs"
says "exact"
says "BLEU             -  (no text has four tokens)"
run eval rnn pairs.tsv
says "validation part, 5 pairs"
ok eval rnn pairs.tsv --json --translations made.tsv --beam 2
json pairs 5
json bleu null
holds test "$(wc -l <made.tsv)" = 5
# A file that cannot be written is as it was: here it would be the first to have any bytes.
cp made.tsv kept.tsv
(trap '' XFSZ; ulimit -f 0; "$HEED" eval rnn --translations made.tsv; echo "status $?") 2>&1 | cat >out
says "made.tsv: File too large"
says "status 1"
holds cmp -s made.tsv kept.tsv
printf 'aei\ta e i a\n' >four.tsv
run eval rnn four.tsv
says "BLEU             0.00"
run eval rnn four.tsv --json
json bleu
head -7 pairs.tsv >other.tsv
run eval rnn other.tsv --json
json pairs 6
run eval rnn other.tsv --json --most 2
json pairs 2

# What both have translated stands side by side.
ok train rnn pairs.tsv -o other $TINY --attention dot --json
json bleu null
json exact
run compare rnn other
says "exact"
run compare rnn other --json
json runs.1.bleu null
json runs.0.exact
rm other/scores.json
run compare rnn other
says " - "

# The losses of both models of pairs are of the same tokens.
run train seq2seq pairs.tsv -o third $TINY
run compare rnn third
if grep -q "different tasks" err; then fail "losses of pairs are comparable"; else pass; fi

# Exact matches by length, and where the attention peaks.
printf 'ab cd\tab-cd\t0-2 3-5\nabc d\tabc-d\t0-3 4-5\n' >spans.tsv
ok train rnn spans.tsv -o spans --val-split 0 --width 32 --batch 2 --steps 150 --block 8
ok eval spans spans.tsv --by-length 1 --alignment fields --json
json exact 1.0
json by_length.0.from 5
json by_length.0.pairs 2
json by_length.0.exact 1.0
json alignment.kind fields
json alignment.outputs 8
json alignment.best.share
json alignment.heads.0.head 1
# A line for each line of the input, empty where there is nothing; JSON names its input instead.
printf 'ab cd\n\n  \nabc d and much more\nabc d\n' >in.txt
run_with in.txt translate spans
status 3
warns "heed: line 4: the input is too long"
holds test "$(tr '\n' ' ' <out)" = 'ab-cd    abc-d '
run_with in.txt translate spans --json
status 3
warns "heed: line 3: the input is empty"
holds test "$(wc -l <out)" = 2
run eval spans spans.tsv --by-length 3 --alignment diagonal --within 4
says "tokens of a source"
says "within 4 of the diagonal, of 10 generated tokens"
says "  attention "
run eval rnn pairs.tsv --alignment fields
refuses 3 "expected a third column"
printf 'ab cd\tab-cd\t0-2 3-9\n' >wrong.tsv
run eval spans wrong.tsv --alignment fields
refuses 3 "line 1 has no fields"
run eval spans spans.tsv --alignment sideways
status 2

# A vocabulary for each side; both are kept, and resumed with.
ok train seq2seq pairs.tsv -o two $TINY --schedule constant --warmup 0 --layers 1 --heads 2 --ff 32 --no-share-vocab --tokenizer word --source-tokenizer char
warns "source"
run tokenizer info two --json
json kind word
run tokenizer info two/source-tokenizer --json
json kind char
ok translate two aei --json --attention --head 2
json attention.layer 1
json attention.source.0 a
for head in mean max; do
    ok translate two aei --json --attention --head $head
    "$JSON" attention.weights.0.0 <out >$head.weight
done
holds test "$(cat mean.weight)" != "$(cat max.weight)"
refused <<'END'
2 translate two aei --attention --head 3 | --head 3: expected 1 to 2, mean or max
2 translate two aei --attention --head 0 | --head 0: expected 1 to 2, mean or max
END
run translate two aei --attention --layer 2
status 2
warns "--layer 2"
ok eval two --json
json bleu
ok resume two --steps 8
ok train seq2seq pairs.tsv -o taken $TINY --layers 1 --heads 2 --tokenizer two --no-share-vocab
holds cmp -s taken/tokenizer.json two/tokenizer.json
holds cmp -s taken/source-tokenizer/tokenizer.json two/source-tokenizer/tokenizer.json
run train rnn -c two/config.conf -o again
refuses 3 "two/config.conf:"
ok train seq2seq -c two/config.conf -o again
holds cmp -s again/model.safetensors two/model.safetensors
run train rnn pairs.tsv -o both --share-vocab --source-tokenizer word $TINY
refuses 2 "--source-tokenizer"
absent both

# A run without attention shows where its one context comes from.
ok train rnn pairs.tsv -o fixed $TINY --attention none --val-split 0
warns "validation none"
hides "perplexity"
ok translate fixed aei
ok translate fixed aei --attention
says "no attention"
run translate fixed aei --attention --json
json attention.weights.0.0 0.5
json attention.weights.0.1 0.0
json attention.weights.0.3 0.5
run eval fixed --json
json pairs 48

# JSONL, longer pairs, unknown letters.
printf '{"src":"ab","tgt":"ba"}\n{"src":"abc","tgt":"cba"}\n{"src":"bc","tgt":"cb"}\n{"src":"ca","tgt":"ac"}\n{"src":"abcabcabc","tgt":"cba"}\n' >few.jsonl
ok data check rnn few.jsonl --block 4 --val-split 0 --json
json left_out 1
json source.longest 10
run data check rnn few.jsonl --block 4 --val-split 0
says "1 pair is longer than --block 4 and left out of training: --block 10 keeps all"
says "1 pair is cut at --block 4 for evaluation"
hides "wordpiece" # one of five
says "-o runs/first --minutes 2 --block 10 --val-split 0"
printf '{"src":"ab","tgt":"ba","n":1}\n\n{"src":"b","tgt":"a"}\n' >keys.jsonl
run data check rnn keys.jsonl
says "further keys in 1 line are ignored"
says "1 empty line is skipped"
ok train rnn few.jsonl -o few $TINY --block 4 --val few.jsonl
warns "left out"
warns "5 validation sources are also in the training part"
ok translate few zz
warns "unknown to the vocabulary: z"
run translate few aéb --attention --json
json attention.source.1 é
run translate few abcab bc " "
status 3
warns "too long"
warns "empty"
holds test "$(wc -l <out)" = 1
printf 'a\377b\nab\n' >bad.txt
run_with bad.txt translate few
status 3
warns "line 1: the input is not text"
holds test "$(wc -l <out)" = 2
holds test -z "$(head -1 out)"

# Wrong runs, wrong files.
facts >facts.txt
train_gpt gpt
refused <<'END'
2 translate gpt abc | heed generate gpt
2 generate rnn | heed translate rnn
2 classify rnn x.png | heed translate rnn
3 translate nowhere abc | nowhere
2 translate | RUN
END
run translate rnn aei --beam 2 --sample
status 2
warns "beam"
: >empty.tsv
printf 'one column\n' >column.tsv
printf 'a\tb\nc\n' >lacks.tsv
printf 'a\t\n' >half.tsv
printf 'caf\351\tx\n' >latin.tsv
printf '{"src": 1}\n' >key.jsonl
printf 'no json\n' >no.jsonl
printf 'src\ttgt\n' >header.tsv
for file in empty.tsv column.tsv lacks.tsv half.tsv latin.tsv key.jsonl no.jsonl header.tsv facts.txt nowhere.tsv; do
    run train rnn $file -o run $TINY
    refuses 3 "$file"
    absent run
    run data check seq2seq $file
    refuses 3 "$file"
    run eval rnn $file
    refuses 3 "$file"
done
run train rnn pairs.tsv -o run $TINY --tokenizer wrod
refuses 2 "did you mean word?"
rm -rf run
cp -r two run
rm -r run/source-tokenizer
run translate run aei
status 3
warns "tokenizer"
silent

# Words of validation targets that training lacks: a vocabulary of words cannot write them.
awk 'BEGIN { for (i = 0; i < 60; i++) printf "number %d\tzahl eins%dx\n", i, i }' >rare.tsv
ok data check seq2seq rare.tsv --tokenizer word
tr '\n' ' ' <out | tr -s ' ' >line
holds grep -q "[0-9.]* % of the words of validation targets are unknown, so the model cannot write them: --tokenizer wordpiece or char can" line
run data check seq2seq rare.tsv --tokenizer word --json
json val_target_unknown
run data check seq2seq rare.tsv --tokenizer char
hides "cannot write them"
