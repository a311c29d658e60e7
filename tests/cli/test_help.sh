# Overview, help, version, unknown commands.
run
status 0
quiet
says "Usage: heed COMMAND"
says "tokenizer train"
run --help
status 0
says "heed help COMMAND"
says "heed caption runs/caption photo.jpg"
says "heed train textcls reviews.tsv --from runs/mlm -o runs/textcls"
run --version
status 0
quiet
holds grep -qx 'heed [0-9]*\.[0-9]*\.[0-9]*' out

for command in view init "data check" "tokenizer train" "tokenizer encode" "tokenizer decode" "tokenizer info" train resume \
    eval fill generate classify info plot compare gradcheck bench doctor; do
    run $command --help
    status 0
    quiet
    says "Usage: heed $command"
    says "Examples:"
    cp out first
    run help $command
    status 0
    holds cmp -s out first
done

run train mlm --help
status 0
says "--mask-share X"
says "[0.15]"
says "--tokenizer TEXT"
run train gpt --help
says "[char]"
# Each task has an example of its own, and no other's; labels are no pairs.
for task in mlm gpt vit cnn mlp seq2seq rnn textcls tag; do
    run train $task --help
    holds grep -q "^  heed train $task [a-z.]* -o runs/" out
    holds test "$(grep '^  heed train ' out | grep -vc "^  heed train $task ")" = 0
    for command in "data check" init graph; do
        run $command $task --help
        holds test "$(sed -n '/^Examples:/,$p' out | grep -c "^  heed $command $task ")" -ge 1
        holds test "$(sed -n '/^Examples:/,$p' out | grep '^  heed' | grep -vc "^  heed $command $task ")" = 0
    done
    run train $task
    refuses 2 "hint: \`heed train $task "
done
for task in textcls tag; do
    run train $task --help
    says "Texts:"
    hides "Pairs:"
done
run help train gtp
refuses 2 "unknown task gtp: did you mean gpt?"
run train gtp --help
refuses 2 "did you mean gpt?"
run data check ""
refuses 2 "TASK is empty: expected one of mlm,"
run help train
holds test "$(grep -c '^  heed train ' out)" = 18
# A narrow terminal has its paragraphs filled anew; a pipe has them as they were written.
for command in train attend view explain "data check"; do
    COLUMNS=50 run help $command
    holds awk '/^[A-Z][A-Za-z ?]*:$/ { exit } NR > 1 && length($0) > 50 && !/^ / { bad = 1 } END { exit bad || NR < 5 }' out
done
COLUMNS=50 run
holds awk '/^A first model/ { exit } length($0) > 50 { bad = 1 } END { exit bad }' out
run help attend
says "Draws the attention weights of a layer: a row for each token, over the tokens that it
"
# A command may be quoted as messages quote it.
for words in "data check" "tokenizer train" "tokenizer encode" "tokenizer decode" "tokenizer info"; do
    run help "$words"
    status 0
    says "Usage: heed $(echo $words) "
done
run "data check" --help
status 0
says "Usage: heed data check"
run "data nonsense"
refuses 2 "unknown command data nonsense"
run help tokenizer
status 0
says "heed tokenizer train FILE"

run trian
refuses 2 "did you mean train?"
run xyzzyx
refuses 2 "unknown command xyzzyx"
run tokenizer
status 2
warns "heed tokenizer encode"
run tokenizer encod
refuses 2 "unknown command tokenizer encod: did you mean tokenizer encode?"
run help help
status 0
says "Usage: "
run help help train
status 0
says "train TASK DATA"
run ""
refuses 2 "the command is empty; hint: is a variable of the shell not set?"
run help nonsense
refuses 2 "unknown command nonsense"
run doctor
status 0
quiet
says "compiler"
says "threads"
says "load"
says "oversubscribed"
run doctor --json
status 0
json version
json threads
json cpus
json load
json oversubscribed
run init gpt
status 0
quiet
says "layers = 4"
says "# "
cp out gpt.conf
run init gpt -c gpt.conf
status 0
holds cmp -s out gpt.conf
run init gpt --layers 7
says "layers = 7"
run init mlm --preset nano
says "layers = 2"
says "tokenizer = wordpiece"
run init
refuses 2 "missing TASK"
run init gtp
refuses 2 "did you mean gpt?"
run init gpt --preset huge
refuses 2 "preset"

# One order of groups and keys for all tasks, whatever a task's own defaults are; the task's presets; the terminal's width.
for task in gpt mlm vit cnn mlp; do
    run train $task --help
    grep '^[A-Z][A-Za-z ]*:$' out | grep -v 'Text:\|Pictures:\|Augmentation' >groups.$task
    holds cmp -s groups.gpt groups.$task
    sed -n '/^Optimizer:/,/^Computing:/s/^  --\([^ ]*\).*/\1/p' out >keys.$task
    holds cmp -s keys.gpt keys.$task
    holds test "$(wc -l <keys.$task)" -gt 20
done
run train gpt --help
says "nanogpt-cpu: "
run train cnn --help
says "cnn28: "
hides "nanogpt-cpu"
COLUMNS=70
export COLUMNS
run train mlm --help
holds awk 'length($0) > 70 && /^  --|^     / {exit 1}' out
unset COLUMNS

# The help of a task begins with the ten settings that are used most; what runs record is only in --help all.
for task in gpt mlm vit cnn mlp seq2seq rnn textcls tag caption autoencoder; do
    run train $task --help
    holds test "$(sed -n '/^Common settings:/,/^$/p' out | grep -c '^  --')" = 10
    holds test "$(grep '^[A-Z].*:$' out | head -1)" = "Common settings:"
    hides "recorded in config.conf"
    hides ": benchmark"
    holds test "$(grep -o '^  --[^ ]*' out | sort | uniq -d | wc -l)" = 0
done
run train mlm --help all
says "--timed X"
says "mlm-nano: benchmark"
run help train mlm all
says "--timed X"
for width in 40 80 200; do
    COLUMNS=$width run train gpt --help
    sed -n '/^Common settings:/,/^Examples:/p' out | grep -v '^  --.*|' >part
    holds awk -v w="$width" 'length($0) > w { bad = 1 } END { exit bad || NR < 100 }' part
done
