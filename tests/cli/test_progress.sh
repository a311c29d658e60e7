# How a training run shows itself.
facts >facts.txt
run train gpt facts.txt -o a $SMALL --progress none
status 0
quiet
says "step 6"
run train gpt facts.txt -o b $SMALL --progress json --memory-report
status 0
cp err out
json event start
holds grep -q '"memory":{"before":[1-9]' err
holds grep -q '"event":"evaluation"' err
holds grep -q '"val_loss":' err
TERM=dumb
export TERM
run train gpt facts.txt -o dumb $SMALL --progress bar
status 0
if grep -q "$(printf '[\r\033]')" err; then fail "a dumb terminal gets escapes"; else pass; fi
TERM=xterm
run train gpt facts.txt -o c $SMALL --progress bar
status 0
holds grep -q "$(printf '\r')" err
warns "6/6"
run train gpt facts.txt -o d $SMALL --progress line --memory-report
status 0
holds grep -q '^one step ' err
holds grep -q '^  affine x [0-9]' err
if grep -q "$(printf '\r')" err; then fail "a line is redrawn"; else pass; fi
run train gpt facts.txt -o e $SMALL --val-split 0
status 0
run train gpt facts.txt -o f $SMALL --val facts.txt
status 0
run train gpt facts.txt -o g --layers 1 --heads 2 --width 16 --block 16 --batch 4 --minutes 0.01
status 0
holds grep -q '^minutes = 0' g/config.conf
holds grep -q '^timed = 0.01' g/config.conf
holds grep -q '^plan = 0:' g/config.conf
# The plans of the clock give the training again; more time makes it longer.
run train gpt -c g/config.conf -o again
status 0
holds cmp -s g/last/model.safetensors again/last/model.safetensors
holds cmp -s g/model.safetensors again/model.safetensors
step=$(sed -n 's/^ *"step": \([0-9]*\),/\1/p' g/last/state.json)
run resume g --minutes 0.01
status 0
holds test "$(sed -n 's/^ *"step": \([0-9]*\),/\1/p' g/last/state.json)" -gt "$step"
holds grep -q "^plan = .* $step+" g/config.conf
run train gpt -c g/config.conf -o longer
status 0
holds cmp -s g/last/model.safetensors longer/last/model.safetensors
run resume g --minutes 0.01 --steps 5
refuses 2 "two lengths of the training"

# The table and the bar fit into the terminal: whole columns and whole fields go.
for columns in 40 60 80; do
    COLUMNS=$columns
    export COLUMNS
    run train gpt facts.txt -o w$columns $SMALL --progress bar --val-split 0.3
    status 0
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
run train mlm short.txt -o short --block 12 --layers 1 --heads 2 --width 16 --steps 2000
status 0
holds grep -q '^  2,000   [0-9]' err
run train gpt facts.txt -o wild $SMALL --lr 1e6 --clip 0 --warmup 0 --schedule constant
holds grep -q '^ *1 .*e+' err
hides "000000"
holds awk '/^ *[0-9]+ / && NF < 10 {exit 1}' err
