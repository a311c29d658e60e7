# A causal model from text to text.
facts >facts.txt
train_gpt run
status 0
says "run: step 6"
says 'heed generate run --prompt "Paris is the"'
warns "parameters"
warns "validation"
warns "10 of 10 validation lines are also in the training part: the validation loss"
warns "step"
warns " *"
holds grep -q '^    ' err
for f in config.conf model.safetensors metrics.csv train.log samples.txt loss.png last/model.safetensors \
    last/optimizer.safetensors last/state.json; do
    holds test -s run/$f
done
holds grep -q '^task = gpt' run/config.conf
holds grep -q '^data = facts.txt' run/config.conf
hides "$(printf '\033')"

ok generate run --prompt "Paris is" --n 30 --seed 3
quiet
holds grep -q '^Paris is' out
cp out first
run generate run --prompt "Paris is" --n 30 --seed 3 --no-cache
holds cmp -s out first
run generate run --prompt "Paris is" --n 30 --seed 4
if cmp -s out first; then fail "two seeds, one text"; else pass; fi
ok generate run Paris --n 5 --samples 2
says "---"
ok generate run --prompt "Rome" --n 4 --samples 2 --json --attention
quiet
json prompt Rome
run generate run --prompt "Rome" --n 2 --attention
holds grep -q '^attention of token 5, "." *, which made ".*", layer 1' out
says "head 2"
says "mean"
ok generate run Paris --n 0
ok generate run Paris --n 3 --top_k 3
quiet
run generate run Paris --temperature 0 --n 10
cp out first
run generate run Paris --temperature 0 --n 10 --seed 8
holds cmp -s out first
run generate run Paris --temperature 0 --n 40
cp out first
run generate run Paris --temperature 0 --n 40 --repetition-penalty 1
holds cmp -s out first
run generate run Paris --temperature 0 --n 40 --repetition-penalty 5
if cmp -s out first; then fail "the penalty has no effect"; else pass; fi
run generate run Paris --repetition-penalty 0
refuses 2 "--repetition-penalty"
# The output ends before a stop text, though it is made of several tokens, and of each sample.
run generate run Paris --temperature 5 --n 200 --samples 3 --json --seed 2
for i in 0 1 2; do
    "$JSON" samples.$i.text <out >text
    rest=$(cat text)
    rest=${rest#Paris}
    stop=$(printf '%s' "$rest" | head -c $((30 + i)) | tail -c 3; echo .)
    stop=${stop%.}
    printf 'Paris%s\n' "${rest%%"$stop"*}" >wanted.$i
    printf '%s' "$stop" >stop.$i
done
run generate run Paris --temperature 5 --n 200 --json --seed 2 --stop "$(cat stop.0)"
"$JSON" samples.0.text <out >text
holds cmp -s text wanted.0
ok generate run Paris --temperature 5 --n 200 --seed 2 --stop "$(cat stop.0)" --stop "never made"
quiet
holds cmp -s out wanted.0
run generate run Paris --temperature 5 --n 200 --samples 3 --json --seed 2 --stop "$(cat stop.2)"
"$JSON" samples.2.text <out >text
holds cmp -s text wanted.2
# Of several, the first that occurs counts; what is only a part of one at the end is printed.
run generate run Paris --temperature 5 --n 200 --seed 2 --stop "$(cat stop.1)" --stop "$(cat stop.0)"
holds test "$(wc -c <out)" -le "$(wc -c <wanted.0)"
n=$(($(wc -m <wanted.0) + 1 - 5))
run generate run Paris --temperature 5 --n $n --seed 2
cp out first
run generate run Paris --temperature 5 --n $n --seed 2 --stop "$(cat stop.0)"
holds cmp -s out first
ok generate run --prompt "QQQ" --n 3
warns "unknown to the vocabulary: Q"
# A line of config.conf that says other than the weights is not ignored.
cp -r run changed
edit 's/^tie = true/tie = false/' changed/config.conf
run generate changed Paris --n 3
refuses 3 "config.conf was changed: tie: the run was trained with true, found false; hint: restore"
ok generate changed Paris --n 3 --edited
# A vocabulary of GPT-2's kind is found from either of its files, also in the current folder.
printf '{"a": 0, "b": 1, "ab": 2}' >vocab.json
printf '#version: 0.2\na b\n' >merges.txt
for file in vocab.json merges.txt ./merges.txt; do
    ok tokenizer encode $file abba --json
    json ids '[2,1,0]'
done
rm vocab.json merges.txt
# Weights that are not finite numbers answer nothing, even where they were edited on purpose.
cp -r run not-finite
size=$(wc -c <run/model.safetensors)
head -c $((size - 4)) run/model.safetensors >not-finite/model.safetensors
printf '\000\000\300\177' >>not-finite/model.safetensors
for command in "generate not-finite Paris" "eval not-finite" "attend not-finite Paris" "export not-finite -o not-finite-hf" \
    "train gpt facts.txt --from not-finite -o from-not-finite --steps 1"; do
    run $command --edited
    refuses 3 "not-finite/model.safetensors: "
    warns "found nan"
done
absent not-finite-hf
run train gpt facts.txt --from changed -o from-changed --steps 1
refuses 3 "config.conf was changed: tie: "
ok train gpt facts.txt --from changed -o from-changed --steps 1 --edited
run train gpt facts.txt -o alone --steps 1 --edited
refuses 2 "--edited has no effect here: expected --from, too"
# With --edited, a resume continues as if nothing had been changed, and restores the lines.
cp -r run as-it-was
ok resume as-it-was --steps 8
cp -r changed longer
edit 's/^lr = .*/lr = 0.5/; s/^lora = 0/lora = 2/' longer/config.conf
refused <<'END'
3 resume longer --steps 8 | config.conf was changed: lora: the run was trained with 0, found 2; hint: restore
3 generate longer Paris --n 3 | config.conf was changed: 
END
ok resume longer --steps 8 --edited
warns "ignored in longer/config.conf, where resuming restores it: "
warns "lr = 0.5 (trained with "
holds cmp -s longer/model.safetensors as-it-was/model.safetensors
holds cmp -s longer/config.conf as-it-was/config.conf
edit 's/^lora = 0/lora = 2/' longer/config.conf
run generate longer Paris --n 3
refuses 3 "config.conf was changed: lora: the run was trained with 0, found 2; hint: restore"
edit 's/^tie = false/tie = true/; s/^norm-eps = .*/norm-eps = 0.000010/' changed/config.conf
ok generate changed Paris --n 3

ok generate run --prompt "Warsaw is the capital of Poland ." --n 3
says "Warsaw is the capital of Poland ."
{ facts; echo "Le café de Zürich ."; } >accents.txt
ok train gpt accents.txt -o bytes --tokenizer byte $SMALL
ok generate bytes --prompt "café" --n 60 --temperature 5 --json
json samples.0.text
run generate bytes --prompt "café" --n 60 --temperature 5
holds grep -q '^café' out

# A model of lines ends its text with the line.
ok train gpt facts.txt -o lines --tokenizer word --packing lines --val-split 0 $SMALL --steps 150 --lr 1e-2
for prompt in "Paris is the capital of" "Polish is the"; do
    ok generate lines --prompt "$prompt" --n 40
    quiet
    says "$prompt "
    hides "[SEP]"
    holds test "$(wc -w <out)" -lt 12
done
holds test "$(grep -c SEP lines/samples.txt)" = 0
# Without a validation part, the weights of the least training loss are kept.
ok train gpt facts.txt -o rises --packing lines --val-split 0 $SMALL --steps 60 --schedule constant --lr 1 --clip 0 --evals 20 --progress none
says "rises: step 60, training loss "
says ", is kept"
step=$(sed -n 's/.*, of step \([0-9]*\), is kept.*/\1/p' out)
holds grep -q "\"best_step\": $step," rises/last/state.json
# It has not learned how a line begins: samples begin as a line of the text does.
ok train gpt facts.txt -o letters --tokenizer char --packing lines --val-split 0 $SMALL --steps 20 --evals 10 --block 40
first=$(sed -n '/^----/{n;s/^\(.\).*/\1/p;}' letters/samples.txt | sort -u | tr -d '\n')
holds test "$(printf %s "$first" | tr -d FSIJGPMRTAW)" = "" -a -n "$first"
ok generate letters --prompt "Paris is" --n 4
for prompt in "" "--prompt="; do
    run generate letters $prompt --n 4
    refuses 2 'missing --prompt: the run was trained on single lines (--packing lines), and has not learned how a line begins; hint: `heed generate letters --prompt "Paris is the"`'
done
mv facts.txt away.txt # without the data, a token of the vocabulary is as good
run generate letters
refuses 2 'hint: `heed generate letters --prompt "A"`'
ok generate letters --prompt "A" --n 4
mv away.txt facts.txt

ok eval run
quiet
says "perplexity"
run eval run --json
kept=$("$JSON" items <out)
# The data of the run, however it is named, is not read whole: most of it was learned.
cp facts.txt copy.txt
for own in facts.txt copy.txt "$PWD/copy.txt"; do
    ok eval run "$own" --json
    quiet
    json part val
    json items "$kept"
done
mkfifo pipe
cat facts.txt >pipe & # a pipe is read once
ok eval run pipe --json
json part all
rm pipe
# So is the validation file, and a copy of the data beside it.
head -20 facts.txt >val.txt
cp val.txt copied.txt
run train gpt facts.txt -o beside $SMALL --val val.txt
run eval beside
kept=$(sed 1d out)
says "facts.txt, validation part"
run eval beside copy.txt
says "copy.txt, validation part"
holds test "$(sed 1d out)" = "$kept"
for val in val.txt copied.txt; do
    ok eval beside $val
    quiet
    says "$val, the validation data of the run"
    holds test "$(sed 1d out)" = "$kept"
    run eval beside $val --json
    json part val
done
tail -20 facts.txt >other.txt
run eval beside other.txt --json
json data other.txt
json part all
rm val.txt
run eval beside
refuses 3 "val = val.txt"
head -20 facts.txt >part.txt
ok eval run part.txt --json
json data part.txt
json part all
for setting in "--confusion none.png" "--mistakes none.png" "--part val" "--translations none.tsv"; do
    run eval run $setting
    refuses 2 "${setting%% *} has no effect here: run is a run of gpt: expected one of "
done
absent none.png
run generate run --n 2 --layer 1
refuses 2 "--layer has no effect here: expected --attention, too"
run train gpt facts.txt -o seen $SMALL --val-split 0
ok eval seen
says "facts.txt, training text"
warns "measured on its training text"
run eval seen --json
json part train
echo "Rome is" >short.txt
ok eval run short.txt --json
quiet
json items
{ echo "QQ"; cat facts.txt; } >other.txt
ok eval run other.txt
warns "unknown to the vocabulary"
run fill run "a [MASK]"
refuses 2 "heed generate run"

ok info run
quiet

mkdir -p full
cp -r run full/run
rm full/run/loss.png
mkdir full/run/loss.png
run plot full/run
status 1
warns "hint: --png FILE.png writes it elsewhere"
# What leads on: from a folder without the data, from a run's misspelt name, from the end of a run.
sed 's/facts.txt/gone.txt/' run/config.conf >full/run/config.conf
refused <<'END'
3 eval full/run | the data of the run is missing: full/run/config.conf: data = gone.txt; hint: run from the folder that it was trained in, or `heed eval full/run PATH`, where PATH is a text file
3 eval full/rum | run is missing: full/rum: expected the folder of a run, found nothing; did you mean full/run?
END
cp run/config.conf full/run/config.conf
ok resume full/run --lr 0.001
warns "continues it; --lr beside it starts a new schedule"
cp run/loss.png drawn.png # when the training run ended
ok plot run
quiet
says "wrote run/loss.png"
best=$(sed -n 's/.*"best_step": \([0-9]*\),.*/\1/p' run/last/state.json)
holds grep -q "validation, best evaluation: loss [0-9.]*, step $best\$" out
holds cmp run/loss.png drawn.png
ok plot run --svg curves.svg --png curves.png
says "wrote curves.svg"
holds grep -q ">training<" curves.svg
run plot run --png picture.png --json
json training.step
holds test -s picture.png
ok train gpt -c run/config.conf -o again --seed 2 --width 32
run compare run again --png both.png --svg both.svg
holds grep -q ">again<" both.svg
status 0
says "width"
says "seed"
holds test -s both.png
ok compare run
says "no setting differs"

# The training loss of compare is what the training run printed.
run train gpt facts.txt -o flat $SMALL --steps 60 --val-split 0
loss=$(sed -n 's/^flat: step 60, training loss \([0-9.]*\).*/\1/p' out)
run compare flat run
holds grep -q "^flat *60 *$loss  *- " out
says "train loss  valid loss  best loss"
cp -r flat many
awk -F, -v OFS=, 'NR > 1 { $1 *= 20 } 1' flat/metrics.csv >many/metrics.csv
run compare flat many
holds grep -q "^many *1,200 " out

# The same settings give the same weights, at any number of threads.
run train gpt facts.txt -o one $SMALL --threads 1
run train gpt facts.txt -o three $SMALL --threads 3
holds cmp -s one/model.safetensors three/model.safetensors
holds cmp -s run/model.safetensors one/model.safetensors
run train gpt facts.txt -o seed-2 $SMALL --seed 2
fits_in 100 compare one seed-2
says "only the seed differs"
fits_in 100 compare one seed-2 again

# What a short text's error suggests works, and so does what the warning of a long warm-up suggests.
printf 'the cat sat on the mat\n' >short.txt
for task in gpt mlm; do
    run train $task short.txt -o short --steps 1 --batch 2
    refuses 3 "hint: --block"
    ok train $task short.txt -o short-$task --steps 1 --batch 2 $(sed -n 's/.*hint: //p' err)
done
printf a >one.txt
run train gpt short.txt --val one.txt -o short --steps 1 --block 8
refuses 3 "no text is left to validate: one.txt"
ok train gpt short.txt -o warm --steps 3 --batch 2 --block 8 --warmup 5
warns "--warmup 5 is longer than the 3 steps"
run resume warm --steps 4
warns "--warmup 5 is longer than the 4 steps"
ok resume warm --steps 6
hides "is longer than"
