# A masked model: fill and its attention.
facts >facts.txt
train_mlm run
status 0
says 'heed fill run "Paris is the capital of [MASK] ."'
ok fill run "Paris is the capital of [MASK] ."
quiet
says "[MASK]"
says "mean"
says "head 1"
says "head 2"
holds grep -q "; here head [12] is the most concentrated of 2 heads" out
says "percent of a row's attention"
# Special tokens are guessed after all others.
run fill run "Paris is the capital of [MASK] ." --top 1000 --no-attention
holds test "$(grep -c '^  \[' out)" = 5
holds test "$(grep '^  [^ ]' out | tail -5 | grep -c '^  \[')" = 5
ok fill run "Paris is the capital of [MASK] ." --json --top 3
json predictions.2.token
json position 7
# The probabilities of given words are those among all words, in the given order.
run fill run "Paris is the capital of [MASK] ." --json --top 1000
"$JSON" predictions.2 <out >wanted.2
"$JSON" predictions.7 <out >wanted.7
words="$("$JSON" predictions.7.token <out),$("$JSON" predictions.2.token <out)"
ok fill run "Paris is the capital of [MASK] ." --json --words "$words"
quiet
"$JSON" predictions.0 <out >found.7
"$JSON" predictions.1 <out >found.2
holds cmp -s wanted.7 found.7
holds cmp -s wanted.2 found.2
run fill run "[MASK] is the [MASK] of Japan ." --json --words "$words"
json masks.1.predictions.1.p
run fill run "Paris is the capital of [MASK] ." --no-attention --words "$words"
says "${words%,*}"
holds test "$(grep -c '^  ' out)" = 2
run fill run "[MASK] is the [MASK] of Japan ." --json
json masks.1.position 5
run fill run "[MASK] is the [MASK] of Japan ." --no-attention
hides "head 1"
ok fill run "Berlin is the capital of [MASK] ."
warns "unknown to the vocabulary: Berlin"
says "Berlin"
run fill run "no blank here" "Rome is the capital of [MASK] ."
status 3
warns "no [MASK] in the input"
says "Rome is the capital"
printf 'Rome is the capital of [MASK] .\n\nnothing\nTokyo is the [MASK] of Japan .\n' >in.txt
run_with in.txt fill run --json
status 3
warns "nothing"
json
holds test "$(wc -l <out)" = 2
ok eval run --json
json perplexity
json bits_per_byte null
run eval run
hides "bits per byte"
run train mlm facts.txt -o shown --tokenizer word --packing lines --val-split 0.1 $SMALL
warns "perplexity"
hides "bits/byte"

ok train mlm facts.txt -o pieces $SMALL --vocab 60 --block 32
run fill pieces "Paris is the [MASK] of France ." --json
json predictions.0.token
fits_in 80 fill pieces "Paris is the [MASK] of France ." --top 60
holds grep -q '0\.0[0-9]*$' out # no bar, no blanks
run train mlm facts.txt -o pieces $SMALL
refuses 2 "heed resume pieces"
ok train mlm facts.txt -o pieces $SMALL --force --json
json val_loss
json run pieces
ok train mlm facts.txt -o letters $SMALL --tokenizer char
run fill letters "[MASK]aris" --json
json predictions.0.token
run tokenizer train facts.txt -o plain --kind char
run train mlm facts.txt -o without $SMALL --tokenizer plain
refuses 2 "[MASK]"
absent without

# config.conf keeps the bound of the vocabulary, so that it gives the run again.
{ facts; printf '\344\270\255\344\270\200\344\270\215\n'; } >mixed.txt
ok train mlm mixed.txt -o first $SMALL --vocab 60
holds grep -qx 'vocab = 60' first/config.conf
ok train mlm -c first/config.conf -o again
holds cmp -s first/vocab.txt again/vocab.txt
holds cmp -s first/model.safetensors again/model.safetensors
ok resume first --steps 7
holds grep -qx 'vocab = 60' first/config.conf
ok fill first "Paris is [MASK] ."
run data check mlm mixed.txt
says "Try:"
hides "--vocab"
