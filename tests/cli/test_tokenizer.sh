# Tokenizers by themselves.
facts >facts.txt
for kind in char byte word wordpiece bpe; do
    ok tokenizer train facts.txt -o $kind --kind $kind --vocab 300
    quiet
    says "$kind tokenizer"
    ok tokenizer encode $kind "Paris is the capital of France ."
    quiet
    cp out ids
    ok_with ids tokenizer decode $kind
    says "Paris is the capital of France"
    run tokenizer info $kind --json
    json kind $kind
    json vocab
done
# As for train: the standard input, several texts and patterns.
ok_with facts.txt tokenizer train - -o piped --kind word
holds cmp -s piped/vocab.txt word/vocab.txt
ok tokenizer train 'fact*.txt' -o matched --kind word
holds cmp -s matched/vocab.txt word/vocab.txt
refused <<'END'
3 tokenizer train - -o none | standard input is empty
3 tokenizer train missing.txt -o none | cannot read missing.txt
2 tokenizer train facts.txt -o word --kind char | --force
END
ok tokenizer train facts.txt -o word --kind word --force
# The tokenizer of another kind that was in the folder is gone.
ok tokenizer train facts.txt -o word --kind bpe --vocab 300 --force
run tokenizer info word --json
json kind bpe
absent word/vocab.txt
# In data special tokens are texts, which data check counts; what is typed is read as it is by default.
printf 'a\tb [SEP] c\nd [PAD]\te\nf\tg\nh\ti\n' >special.tsv
ok data check seq2seq special.tsv --tokenizer word --json
json special_lines 2
run data check seq2seq special.tsv --tokenizer word
says "2 lines have the text of a special token"
for i in 0 1 2 3 4 5 6 7 8 9; do for j in 0 1 2 3 4 5 6 7 8 9; do echo "the cat <|endoftext|> sat on $i$j"; done; done >special.txt
run data check gpt special.txt --tokenizer bpe --json
json special_lines 100
printf 'a\t[CLS]\nb\t[CLS]\nc [MASK]\tx\nd\tx\n' >special.tsv
run data check textcls special.tsv --json
json special_lines 2
seq 200 | sed 's/^5$/a [MASK] b/' >special.txt
run data check mlm special.txt --block 16 --json
json special_lines 1
run tokenizer encode wordpiece "[MASK]" --json
json tokens.0 "[MASK]"
train_gpt model
run tokenizer train facts.txt -o model --force
refuses 2 "a run exists already"
ok tokenizer train facts.txt -o word --kind word --force
run tokenizer encode word "Rome is ." --tokens
says "Rome is ."
run tokenizer encode word "Rome is ." --json
json tokens.0 Rome
# A token of byte 0 is a character of the text, in JSON as elsewhere; what a terminal obeys is escaped.
run tokenizer decode byte "97 0 116" --json
holds grep -qxF '{"text":"a\u0000t"}' out
run tokenizer decode byte "97 127 194 133 195 169" --json
holds grep -qxF '{"text":"a\u007f\u0085é"}' out
run tokenizer info nowhere
refuses 3 nowhere

# Tokens of characters and bytes are never kept, also by a saved tokenizer.
for kind in char byte; do
    run train gpt facts.txt -o refused --tokenizer $kind $SMALL --no-token-cache
    refuses 2 "--token-cache has no effect here: expected a tokenizer other than char or byte, found --tokenizer $kind"
    ln -s $kind saved-$kind
    run train gpt facts.txt -o refused --tokenizer saved-$kind $SMALL --no-token-cache
    refuses 2 "found --tokenizer saved-$kind, which is $kind"
done
run train gpt facts.txt -o refused --from model $SMALL --no-token-cache
refuses 2 "which is char"
absent refused

ok data check mlm facts.txt --tokenizer word --packing lines --val-split 0.1
quiet
says "vocabulary"
says "overlap"
says "10 of 10 validation lines are also in the training part: the validation loss"
says "heed train mlm facts.txt"
i=0
while [ $((i += 1)) -le 400 ]; do printf 'the king went home '; done >one.txt
run data check gpt one.txt
says "overlap      unknown: lines are cut into pieces, "
ok data check gpt facts.txt --json
json_has tokens chosen
# A run with byte-level BPE trains, generates and resumes; its tokenizer.json alone serves another.
ok train gpt facts.txt -o pairs --tokenizer bpe --vocab 280 $SMALL
holds test -f pairs/tokenizer.json
ok generate pairs --prompt "The capital" --n 5
says "The capital"
ok resume pairs
mkdir shared && cp pairs/tokenizer.json shared/
ok tokenizer encode shared "The capital<|endoftext|>" --json
json ids
sed 's/"BPE"/"Unigram"/' pairs/tokenizer.json >shared/tokenizer.json
run train gpt facts.txt -o another --tokenizer shared $SMALL
refuses 3 "model.type: expected WordLevel, WordPiece or BPE"

ok train gpt facts.txt -o run --tokenizer word $SMALL
ok train gpt facts.txt -o other --tokenizer run $SMALL
# A line of the standard input ends with LF or CR LF: another CR is a character.
printf 'abc' >cr.txt
ok tokenizer train cr.txt --kind byte -o cr
for text in 'a\r:97 13' 'a\rb:97 13 98' 'a\r\n:97' 'a\r\r\n:97 13'; do
    printf "${text%:*}" >cr.in
    run_with cr.in tokenizer encode cr
    holds test "$STATUS:$(cat out)" = "0:${text#*:}"
done
