# heads and ablate: what heads do, and what is lost without them.
facts >facts.txt
train_mlm mlm
status 0
ok heads mlm
quiet
says "mlm, facts.txt, validation part: means over"
says "layer 1, head 2"
says "all alike"
says "entropy"
says "special"
says "Attention alone is no explanation"
says "shows what is lost without it"
hides induction
ok heads mlm facts.txt --sort entropy --csv heads.csv --json
json heads.1.head
json heads.0.path encoder.0.attn
json heads.0.layer 1
json alike.encoder.distance
json data "facts.txt, validation part"
holds test "$(head -1 heads.csv)" = "queries,path,stack,layer,head,entropy,distance,first,self,previous,next,same,special"
holds test "$(cut -d, -f3-5 heads.csv | sort | tr "\n" " ")" = '"encoder",1,1 "encoder",1,2 stack,layer,head ' # from 1
run heads mlm --json
json heads.0.queries
# Both are over the queries that have such a token, which padding is none of.
holds test "$("$JSON" alike.encoder.previous <out)" = "$("$JSON" alike.encoder.next <out)"
run heads mlm --sort induction
refuses 2 "--sort induction: heads of this model have no such measure"

cp mlm/model.safetensors before
ok ablate mlm --png harm.png --svg harm.svg
says "wrote harm.svg"
holds grep -q ">added to the loss<\|  added to the loss<" harm.svg
quiet
says "nothing  "
says "layer 1, head 1"
says "+- "
says "accuracy"
says "loss that is added without the head"
says "Heads can replace one another"
says "Attention alone is no explanation"
says "wrote harm.png"
holds test "$(head -c 4 harm.png | tail -c 3)" = PNG
holds cmp -s mlm/model.safetensors before
says "(95 %)"
ok ablate mlm --batches 1
hides "(95 %)" # there is none of one batch
# Questions are read as heed eval reads them.
grep -v Paris facts.txt | head -3 | sed 's/ \([^ ]*\) \([^ ]*\)$/ [MASK] \2\t\1/' >ask.tsv
ok eval mlm ask.tsv --json
"$JSON" loss <out >loss
ok ablate mlm ask.tsv --json
json loss "$(cat loss)"
json batches 3
json data "ask.tsv, questions"
run ablate mlm ask.tsv --json --batches 2
json batches 2
ok heads mlm ask.tsv
says "mlm, ask.tsv, questions: means over"
printf '\n\n' >blank.tsv
run eval mlm blank.tsv
refuses 3 "no question"
cp ask.tsv bad.tsv
echo "no question" >>bad.tsv
run ablate mlm bad.tsv
refuses 3 "bad.tsv:4: expected a tab before the answer"

train_gpt gpt
ok heads gpt --batches 1 --sort induction
says induction
hides next
ok ablate gpt --batches 2
says "2 batches of 4"

# A head without W_h, keys and values of their own widths, no biases.
ok train gpt facts.txt -o odd $SMALL --no-attn-out --no-bias --key-width 3 --value-width 8 --layers 2
ok ablate odd --batches 1 --json
json heads.3.loss
run train gpt facts.txt -o cells --layers 1 --width 16 --block 16 --batch 4 --steps 6 --cell gru
refused <<'END'
2 heads cells | the model does not attend
2 ablate cells | the model does not attend
END

# Pairs: self-attention of both sides, and cross; a recurrent decoder's.
for i in 1 2 3 4 5 6 7 8; do
    for w in abc bcd cde efg; do printf '%s%d\t%d%s\n' $w $i $i $w; done
done >pairs.tsv
TINY="--width 16 --block 8 --batch 8 --steps 6"
run train seq2seq pairs.tsv -o pairs $TINY --heads 2 --layers 1
ok heads pairs --json
json heads.5.stack cross
json alike.cross.diagonal
run heads pairs
says "cross layer 1, head 2"
says "decoder all alike"
# The map has the signs of the list; what is rounded to 0 has none.
run ablate pairs
holds awk '/, head/ { n += $7 <= -0.0005 } /^[a-z]+ layer 1 / { m += ($4 ~ /^-/) + ($5 ~ /^-/) } END { exit n != m }' out
if grep -qE '[-+]0[.]0+( |$)' out; then fail "a sign of 0"; else pass; fi
for kind in additive dot scaled general; do
    run train rnn pairs.tsv -o rnn-$kind $TINY --attention $kind
    ok ablate rnn-$kind --json
    json heads.0.stack cross
    json heads.0.harm
done
ok heads rnn-dot
says diagonal

for width in 40 80; do
    fits_in $width heads mlm
    fits_in $width heads pairs
    says diagonal
    fits_in $width attend mlm "Paris is the capital of France ."
    says "attends to"
done
for width in 40 80; do
    for run in mlm pairs; do
        fits_in $width ablate $run
        for word in nothing loss harm accuracy "layer 1, head 1" "added to the loss"; do says "$word"; done
    done
done

# Pictures: patches hidden by what points to them.
digits_maker
./digits small --train 60 --test 20
ok train vit small -o vit --layers 1 --heads 2 --width 16 --patch 14 --batch 10 --steps 6
ok heads vit
says "test part"
says "distance"
hides previous
fits_in 40 ablate vit --patches --pictures 4
says "more than by random"
ok ablate vit --patches --pictures 4
says "vit, small, test part: 4 pictures"
says "1 of 4 patches hidden"
says "attention: [CLS]"
says rollout
says random
ok ablate vit --patches --pictures 2 --share 0.5 --json
json hidden 2
json_has by.rollout.more_95 by.random.fall
run train vit small -o mean --layers 1 --heads 2 --width 16 --patch 14 --batch 10 --steps 6 --pool mean
run ablate mean --patches --pictures 2
says "attention: the mean of all positions"
status 0
refused <<'END'
2 ablate mlm --patches | --patches has no effect here: mlm is a run of mlm: expected one of vit
2 ablate vit --patches --png x.png | --png draws heads
2 ablate vit --patches --svg x.svg | --svg draws heads
END

# Beside the attention: bars for one prediction, matrices of a pair, panels over a picture.
run attend mlm "Paris is the capital of [MASK] ." --gradient --npz maps.npz
run view maps.npz
says "gradient                     encoder, layer 1, head 2: 9 x 9"
ok attend mlm "Paris is the capital of [MASK] ." --rollout --occlude --gradient --png maps.png
quiet
says "what each token has to do with the prediction at token 7:"
tr '\n' ' ' <out >line
hides "--occlude."
holds test "$(head -c 4 maps.png | tail -c 3)" = PNG
run attend mlm "Paris is the capital of [MASK] ." --rollout --svg maps.svg
holds grep -q '>rollout: 0 to 0[.][0-9]*<' maps.svg # its own scale
run attend mlm "Paris is the capital of [MASK] ." --rollout --occlude --gradient
holds test "$(grep -c '^  Paris ' out)" -ge 1
COLUMNS=40
export COLUMNS
# Of all heads the largest, beside a map of the largest.
for head in mean max; do
    ok attend mlm "Paris is the capital of [MASK] ." --occlude --head $head
    awk '/^ +attention/ { on = 1 } on && /\./ { sum += $2 } /^A full/ { exit } END { print int(1000 * sum) }' out >$head.sum
done
holds test "$(cat max.sum)" -gt "$(cat mean.sum)"
ok attend mlm "Paris is the capital of [MASK] ." --occlude --gradient
holds test "$(sed -n '/^what each/,/^occlusion:/p' out | awk '{ if (length > m) m = length } END { print m }')" -le 52
unset COLUMNS
# Bars of a column begin in one place, two behind its widest number.
for width in 40 80 200; do
    COLUMNS=$width run attend mlm "Paris is the capital of [MASK] ." --occlude --gradient
    holds awk '/^what each/ { on = 1; next } /^A full/ { exit } !on { next }
        NF == 0 || / (attention|occlusion|gradient)/ { delete at; next }
        { for (i = 2; i <= length($0); i++) if (substr($0, i, 2) ~ /^ [#-]$/ && substr($0, i - 1, 1) ~ /[0-9]/) {
              n++; c = int((i - 12) / 10); if (!(c in at)) at[c] = i; bad += at[c] != i } }
        END { exit bad || n < 8 }' out
done
run attend mlm "Paris is the capital ." --occlude
refuses 3 "nothing is predicted here"
warns "write [MASK] for a word"
run attend mlm "Paris [MASK]" --discard 1
refuses 2 "--discard"
ok attend gpt "Paris is" --rollout --occlude --gradient --query 2
says "it gathers on token 1"
says "at token 2:"
run attend pairs abc1 --occlude --gradient --png pair.png
warns "characters are hidden by [UNK]"
warns "hint: --query 1"
status 0
says "occlusion"
ok attend pairs abc1 --occlude --gradient --query 1 --png pair.png
hides "hint: --query"
says "at token 1:"
# A picture of cross attention has no place for it; the last row of the target is no row of the encoder.
run attend pairs abc1 --rollout --occlude --query 1 --png cross.png
warns "--png draws the attention and what is of the same tokens; not drawn: rollout (source over source)"
run attend pairs abc1 --rollout --stack encoder
says "each token, as the mean of the rows:"
run attend pairs abc1 --rollout
tr '\n' ' ' <out >line
holds grep -q "of the encoder: source over source, rows sum to 1; the cross attention and the decoder are not followed[.]" line
run attend mlm "Paris is the capital ." --rollout
hides "of the encoder"
for kind in additive dot; do
    ok attend rnn-$kind abc1 --gradient --occlude
    says "gradient: attention times"
done
run attend rnn-dot abc1 --rollout
refuses 2 "no self-attention to follow"
./digits one --png --train 0 --test 2
ok attend vit one/test/0/*.png --rollout --occlude --gradient --window 2 --png over.png
says "strongest patches"
says "rollout"
holds test "$(head -c 4 over.png | tail -c 3)" = PNG
# What is of a prediction is refused where nothing is predicted; the rollout is of any token.
for measure in --occlude --gradient; do
    run attend mlm "Paris is the capital of [MASK] ." --query Paris $measure --png none.png
    refuses 2 "--query Paris: nothing is predicted at token 2, Paris: $measure is of a prediction, as at token 7, [MASK]; hint: --query 7"
    absent none.png
done
ok attend mlm "Paris is the capital of [MASK] ." --query Paris --rollout
says "what each token has to do with token 2:"
# A drawing names the token that it is of, and the head; of a query alone it has a row a head.
TEXT="Paris is the capital of [MASK] ."
run attend mlm "$TEXT" --occlude --svg q.svg
holds grep -q "layer 1 of 1, token 7, \[MASK\]: [^<]* 0[.][0-9]* (other measures: the whole model)<" q.svg # with the answer
holds grep -q ">Darker is more. The most concentrated of 2 heads: layer 1, head [12]\." q.svg
holds grep -q ">occlusion<" q.svg
holds grep -qE ">occlusion: -[0-9.e-]+ to [0-9.e-]+, fall of the probability if hidden<" q.svg # its scale
holds grep -q "of a row&#39;s attention (1 = 100 %)<" q.svg
if grep -qe "--occlude" q.svg; then fail "a flag stands in a picture"; else pass; fi
run attend mlm "$TEXT" --occlude --svg q.svg --head 2 --hide-special
holds grep -q "layer 1 of 1, head 2, token 7, \[MASK\]: [^<]* 0[.][0-9]* (other measures: the whole model) (special tokens hidden)<" q.svg
holds grep -q ">attention<" q.svg
if grep -qF ">head 1<" q.svg || grep -qF ">[SEP]<" q.svg; then fail "all heads or tokens are drawn"; else pass; fi
run attend mlm "$TEXT" --query Paris --svg q.svg
holds grep -q "layer 1 of 1, token 2, Paris<" q.svg

# A model that has learned its facts: the word that the answer hangs on comes first, by a head and by occlusion.
run train mlm facts.txt -o taught --tokenizer word --packing lines --layers 1 --heads 2 --width 32 --ff 64 --block 16 --batch 16 --steps 400 --lr 5e-3
run attend taught "Paris is the capital of [MASK] ." --query "[MASK]" --top 1 --occlude
says "7 [MASK]: France"
holds grep -q '^  head [12]   Paris ' out
holds grep -q '^  Paris .*+0\.[0-9]* ################$' out

# A probability that stays near 1 whatever is hidden: occlusion says so, and what else there is.
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf 'pos\tgood film %s good great\nneg\tbad film %s bad awful\n' $i $i; done >sure.tsv
ok train textcls sure.tsv -o sure --layers 1 --heads 2 --width 16 --block 16 --batch 4 --steps 300 --lr 0.01 --val-split 0.3
run attend sure "bad film bad awful" --occlude
tr '\n' ' ' <out >line
holds grep -q "The probability is so near 1 that it changes by less than 0.0[0-9]* whatever is hidden" line
holds grep -q "if this is hidden: token [0-9]*, .* (by [-+][0-9.]*)\." line
holds grep -q "and --gradient shows what moves the logit" line
run attend sure "bad film bad awful" --occlude --svg sure.svg --html sure.html
holds grep -q "occlusion says little here" sure.svg
holds grep -q "occlusion says little here" sure.html
# Its changes look as small as they are: the scale has a least end.
holds grep -q "occlusion: -0.02 to 0.02" sure.svg
run attend sure "bad film bad awful" --occlude --gradient
hides "and --gradient"
