# Overview, help, version, unknown commands.
run
status 0
quiet
says "Usage: heed COMMAND"
says "tokenizer train"
ok --help
says "heed help COMMAND"
says "heed caption runs/caption photo.jpg"
says "heed train textcls reviews.tsv --from runs/mlm -o runs/textcls"
ok --version
quiet
holds grep -qx 'heed [0-9]*\.[0-9]*\.[0-9]*' out

for command in view init "data check" "tokenizer train" "tokenizer encode" "tokenizer decode" "tokenizer info" train resume \
    eval fill generate classify info plot compare gradcheck bench doctor; do
    ok $command --help
    quiet
    says "Usage: heed $command"
    says "Examples:"
    cp out first
    ok help $command
    holds cmp -s out first
done

ok train mlm --help
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
refused <<'END'
2 help train gtp | unknown task gtp: did you mean gpt?
2 train gtp --help | did you mean gpt?
2 data check "" | TASK is empty: expected one of mlm,
END
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
    ok help "$words"
    says "Usage: heed $(echo $words) "
done
ok "data check" --help
says "Usage: heed data check"
run "data nonsense"
refuses 2 "unknown command data nonsense"
ok help tokenizer
says "heed tokenizer train FILE"

refused <<'END'
2 tokenizer encod | unknown command tokenizer encod: did you mean tokenizer encode?
2 "" | the command is empty; hint: is a variable of the shell not set?
2 help nonsense | unknown command nonsense
END
ok doctor
quiet
says "compiler"
says "threads"
says "load"
says "oversubscribed"
ok doctor --json
json_has version threads cpus load oversubscribed
ok init gpt
quiet
says "layers = 4"
says "# "
cp out gpt.conf
ok init gpt -c gpt.conf
holds cmp -s out gpt.conf
run init gpt --layers 7
says "layers = 7"
run init mlm --preset nano
says "layers = 2"
says "tokenizer = wordpiece"
refused <<'END'
2 init | missing TASK
2 init gtp | did you mean gpt?
2 init gpt --preset huge | preset
END

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
