# How a training run shows itself.
facts >facts.txt
ok train gpt facts.txt -o a $SMALL --progress none
quiet
says "step 6"
ok train gpt facts.txt -o b $SMALL --progress json --memory-report
cp err out
json event start
holds grep -q '"memory":{"before":[1-9]' err
holds grep -q '"event":"evaluation"' err
holds grep -q '"val_loss":' err
TERM=dumb
export TERM
ok train gpt facts.txt -o dumb $SMALL --progress bar
if grep -q "$(printf '[\r\033]')" err; then fail "a dumb terminal gets escapes"; else pass; fi
TERM=xterm
ok train gpt facts.txt -o c $SMALL --progress bar
holds grep -q "$(printf '\r')" err
warns "6/6"
ok train gpt facts.txt -o d $SMALL --progress line --memory-report
holds grep -q '^one step ' err
holds grep -q '^  affine x [0-9]' err
if grep -q "$(printf '\r')" err; then fail "a line is redrawn"; else pass; fi
ok train gpt facts.txt -o e $SMALL --val-split 0
ok train gpt facts.txt -o f $SMALL --val facts.txt
ok train gpt facts.txt -o g --layers 1 --heads 2 --width 16 --block 16 --batch 4 --minutes 0.01
holds grep -q '^minutes = 0' g/config.conf
holds grep -q '^timed = 0.01' g/config.conf
holds grep -q '^plan = 0:' g/config.conf
# The plans of the clock give the training again; more time makes it longer.
ok train gpt -c g/config.conf -o again
holds cmp -s g/last/model.safetensors again/last/model.safetensors
holds cmp -s g/model.safetensors again/model.safetensors
step=$(sed -n 's/^ *"step": \([0-9]*\),/\1/p' g/last/state.json)
ok resume g --minutes 0.01
holds test "$(sed -n 's/^ *"step": \([0-9]*\),/\1/p' g/last/state.json)" -gt "$step"
holds grep -q "^plan = .* $step+" g/config.conf
ok train gpt -c g/config.conf -o longer
holds cmp -s g/last/model.safetensors longer/last/model.safetensors
run resume g --minutes 0.01 --steps 5
refuses 2 "two lengths of the training"

# The table and the bar fit into the terminal: whole columns and whole fields go.
for columns in 40 60 80; do
    COLUMNS=$columns
    export COLUMNS
    ok train gpt facts.txt -o w$columns $SMALL --progress bar --val-split 0.3
    tr '\r' '\n' <err | sed "s/$(printf '\033')\\[K//" >bars
    holds awk -v most=$columns '/%  step|train    valid|\*$/ && length($0) >= most {exit 1}' bars
    holds grep -q 'train    valid' bars
    holds grep -q '\*$' bars
    holds grep -q '%  step 6/6' bars
    warns "the best so far, by loss"
done
unset COLUMNS
hides perplexity
warns "bits/byte"
run train gpt facts.txt -o w100 $SMALL
warns "perplexity"
# Values that are too wide for their columns are shortened, and a space always separates them.
printf 'the text is so short that an epoch ends quickly\n' >short.txt
ok train mlm short.txt -o short --block 12 --layers 1 --heads 2 --width 16 --steps 2000
holds grep -q '^  2,000   [0-9]' err
run train gpt facts.txt -o wild $SMALL --lr 1e6 --clip 0 --warmup 0 --schedule constant
holds grep -q '^ *1 .*e+' err
hides "000000"
holds awk '/^ *[0-9]+ / && NF < 10 {exit 1}' err

# The sentence at the end, of whose kinds tests/train/test_judge.c has more. The table of a run of 60 steps is edited, and its last evaluation is made anew, at step 61.
judged() {
    rm -rf judged
    cp -r $1 judged
    awk -F , -v OFS=, -v losses="$2" -v metrics="$3" '
        BEGIN { split(losses, loss, " "); split(metrics, metric, " ") }
        $3 == "val" { n++; if (n in loss) $4 = loss[n]; if (n in metric) $5 = metric[n] }
        { print }' $1/metrics.csv >judged/metrics.csv
    ok resume judged --steps 61 --eval-every 6
}
joined() { # a sentence that may be wrapped
    tr '\n' ' ' <out >line
    holds grep -q -e "$1" line
}
WIDTH16="--layers 1 --heads 2 --width 16 --block 16 --batch 4 --steps 60"
ok train gpt facts.txt -o text $WIDTH16 --lr 0.01 --val-split 0.3
says "still improving: the validation loss fell by"
judged text ".1 .2 .3 .4 .5 .6 .7 .7 .7 .7" ".8 .8 .8 .8 .8 .8 .8 .8 .8 .8"
says "overfitting since step 6: the validation loss rose from 0.1 to "
awk 'BEGIN { for (i = 0; i < 2000; i++) printf "ab" }' >same.txt
ok train gpt same.txt -o same $WIDTH16 --lr 0.03 --steps 100 --val-split 0
says "learned: the training perplexity is 1.0"
hides "still improving"
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do printf 'pos\tgood film %s\nneg\tbad film %s\n' $i $i; done >texts.tsv
ok train textcls texts.tsv -o learned $WIDTH16 --lr 0.01 --val-split 0.3
says "learned: the validation accuracy is 100.0 %, so more steps change little"
# Without a validation part a training loss that falls may be one of sentences learned by heart.
ok train gpt facts.txt -o nothing $WIDTH16 --lr 0.01 --val-split 0
says "still falling: the training loss fell by"
joined "no validation part was kept, so this cannot tell whether"
joined "heart: --val-split 0.1 measures it"
hides "resume"
# A loss that hardly falls, in a run that has read little of its data.
cat facts.txt facts.txt facts.txt facts.txt >facts4.txt
ok train gpt facts4.txt -o brief $WIDTH16 --lr 0.01 --val-split 0.3
real=$(grep ',val,' brief/metrics.csv | tail -1 | cut -d , -f 4)
judged brief "$real $real $real $real $real $real $real $real $real $real"
says "too short to judge: the validation loss went from "
joined "passes over the data; hint: "
says "--steps 122 --lr 0.01"
# A schedule that began anew is compared with what was there before.
ok train gpt facts.txt -o anew $WIDTH16 --lr 0.01 --val-split 0.3 --eval-every 6
ok resume anew --steps 120 --lr 1e-9
says "no better than before: the validation loss went from "
joined " since step 60, where the schedule began anew; try"
hides "still improving"
