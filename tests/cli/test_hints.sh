# What people try first: a prompt without --prompt, data of another kind, a text in place of a run.
facts >facts.txt
mkdir folder
printf P >folder/a.png
refused <<'END'
3 train gpt folder -o run | heed train vit folder -o run
3 train vit facts.txt -o run | heed train mlm facts.txt -o run
END
for class in a b; do
    mkdir -p new/test/$class
    printf 'P' >new/test/$class/a.png
done
run train vit new -o run
refuses 3 "found only test; hint: call the folder of the training pictures train"
absent run
run fill facts.txt "[MASK]"
refuses 3 "heed train mlm facts.txt -o runs/first"
train_gpt gpt
status 0
ok generate gpt "Paris is" --n 5
quiet
holds grep -q '^Paris is' out
run generate gpt "Paris is" --prompt Rome
refuses 2 "two prompts"
ok generate gpt "Paris is the capital of France . French" --n 2
warns "sees only the last 16 of them"

# Lines of a text that has one alone.
printf 'one line without its end' >one.txt
run train gpt one.txt -o run $SMALL --packing lines
refuses 2 "the text has one line and no newline"
warns "--packing blocks"
printf 'the one line of a text for a masked model\n' >single.txt
run train mlm single.txt -o run $SMALL --tokenizer word --packing lines
refuses 3 "found 1; hint: --packing blocks"
# One hint that works, for the two parts together; none for a text of almost nothing.
printf 'abc' >tiny.txt
refused <<'END'
3 train gpt tiny.txt -o run | found 3; hint: a longer text
3 train mlm tiny.txt -o run | found 3; hint: --block 3
END
head -c 30 facts.txt >short.txt
run train gpt short.txt -o run
refuses 3 "found 30; hint: --block 14"
absent run
ok train gpt short.txt -o run --block 14 --steps 1
rm -r run

# A text of nothing.
printf '\n\n  \n\t\n' >blank.txt
for command in "train mlm" "train mlm --tokenizer char" "train gpt" "data check gpt"; do
    set -- $command
    out="-o run"
    [ "$1" = data ] && out=
    run $1 $2 ${command#"$1 $2"} blank.txt $out
    refuses 3 "text has only blank lines: blank.txt: expected words"
done
run tokenizer train blank.txt -o words
refuses 3 "text has only blank lines"

# A task that is missing, where the data says which it may be; a task as a command; sampling from a masked model.
run data check facts.txt
refuses 2 "missing TASK before facts.txt"
warns "hint: \`heed data check mlm facts.txt\`"
for i in 1 2 3 4 5 6; do printf 'film %d was good,pos\nfilm %d was bad,neg\n' $i $i; done >classes.csv
run train classes.csv -o run
refuses 2 "hint: \`heed train textcls classes.csv\`"
tr , '\t' <classes.csv >classes.tsv
run train classes.tsv -o run
refuses 2 "hint: \`heed train textcls classes.tsv\`"
sed 's/pos/le film &/; s/neg/&atif/; s/\(film [0-9]*\) \(.*\),/\1 \2,\1 /' classes.csv >pairs.csv
run train pairs.csv -o run
refuses 2 "hint: \`heed train seq2seq pairs.csv\`"
printf 'a\tb\n' >some.tsv
run train some.tsv -o run
refuses 2 "hint: \`heed train seq2seq some.tsv\`"
for i in 1 2 3; do printf 'the dog runs\tD N V\na cat sleeps\tD N V\n'; done >tags.tsv
run data check tags.tsv
refuses 2 "hint: \`heed data check tag tags.tsv\`"
printf 'a X\nb Y\n\nc X\n' >words.txt
cp words.txt words.conll
printf '1\ta\ta\tX\t_\t_\t0\t_\t_\t_\n' >words.conllu
for file in words.txt words.conll words.conllu; do
    run data check $file
    refuses 2 "hint: \`heed data check tag $file\`"
done
printf '{"id":1,"tokens":["a","b"],"ner_tags":[0,1]}\n' >tags.jsonl
run data check tags.jsonl
refuses 2 "hint: \`heed data check tag tags.jsonl\`"
printf 'image,caption\na.jpg,"A dog, running"\nb.jpg,A cat\n' >captions.csv
cp captions.csv captions.txt
for file in captions.csv captions.txt; do
    run data check $file
    refuses 2 "hint: \`heed data check caption $file\`"
done
printf 'image_id,label\na.jpg,dog\nb.jpg,cat\n' >list.csv
run data check list.csv
refuses 2 "hint: \`heed data check vit list.csv\`"
for command in "help mlm" "mlm facts.txt" "bert" "mlm --help"; do
    run $command
    refuses 2 "hint: \`heed train mlm --help\` explains the task"
done

# Nothing is printed before --layer is refused; a model's article; whole numbers are whole.
train_mlm mlm
refused <<'END'
2 fill mlm "Paris is the [MASK] of France ." --layer 9 | --layer 9
2 generate mlm | heed: generate requires a causal language model: mlm holds an mlm
END
run sample mlm
refuses 2 "unknown command sample: did you mean generate?"
warns "hint: a run of mlm has \`heed fill\` instead"
run infer mlm
refuses 2 "unknown command infer: did you mean fill?"
hides instead
run predict mlm
refuses 2 "predict requires a model of numbers: mlm holds an mlm; hint: "

# A text without quotes.
refused <<'END'
2 fill mlm Paris is the capital of "[MASK]" . | hint: put "Paris is ..." in quotes
2 generate gpt Paris is | one argument too many: is: expected heed generate RUN [PROMPT]; hint: put a text of several words in quotes
END

# An empty argument is a variable that was not set; a blank text holds nothing to look at.
for words in "fill mlm" "attend mlm" "influence mlm" "explain mlm" "generate gpt" "tokenizer encode gpt"; do
    run $words ""
    refuses 2 "an argument is empty: expected heed ${words% *} "
done
run fill mlm "Paris is [MASK] ." ""
refuses 2 "an argument is empty"
for words in "attend mlm" "influence mlm" "explain mlm" "fill mlm"; do
    run $words " "
    refuses 3 "the input is empty"
done

# The vocabulary is the tokenizer's; a model of somebody's own has its tensors.
run info gpt
says ", vocab 35"
sed 's/^task = gpt/task = mine/' gpt/config.conf >own.conf
cp own.conf gpt/config.conf
ok info gpt
warns "task"
says "numbers in"

# Noise is no text in another encoding.
gzip -c "$HEED" | head -c 5000 >noise
run data check gpt noise
refuses 3 "this is not a text: noise"

# Settings are named as they are typed.
run train gpt facts.txt -o refused --isa neon
refuses 2 "not available: --isa: expected one of"
hides "leave isa"
refused <<'END'
2 train gpt facts.txt -o refused $SMALL --lr-min 5 | --lr-min is above --lr: expected at most
2 train gpt facts.txt -o refused $SMALL --lr-min 5 --schedule constant | --lr-min has no effect here: expected --schedule cosine or --schedule linear
END
ok train gpt facts.txt -o constant $SMALL --steps 1 --schedule constant
refused <<'END'
2 train gpt facts.txt -o refused $SMALL --optimizer sgd --beta1 0.5 | setting is not used: --beta1: expected a setting of optimizer sgd
2 train gpt facts.txt -o refused $SMALL --freeze nothing | --freeze matches no parameter: nothing
2 train gpt facts.txt -o refused $SMALL --freeze '*' | --freeze leaves nothing to train: *: expected
2 train gpt facts.txt -o refused $SMALL --lr-scale x | --lr-scale is wrong: expected PATTERN=FACTOR, found x
END
absent refused

# An unknown option leads to the help of the command, a foreign setting to its task.
run train gpt --foo
refuses 2 "unknown option --foo; hint: \`heed train gpt --help\` lists the options"
run train gpt facts.txt --learning-rate 1 --no-foo --steps=x -lr 2 -- --bar
status 2
silent
for option in --learning-rate --no-foo -lr; do warns "unknown option $option"; done
hides "--bar"
refused <<'END'
2 eval gpt --foo | unknown option --foo; hint: `heed eval --help` lists the options
2 train gpt --learning-rate 1 | unknown option --learning-rate: did you mean --lr?
2 init gpt -o x | unknown option -o:
END
echo "transform-head = true" >mlm.conf
refused <<'END'
3 train gpt facts.txt -o refused -c mlm.conf | unknown setting "transform-head": mlm.conf:1: it is a setting of mlm, not of gpt
2 train gpt --blocks 4 | unknown option --blocks: it is a setting of cnn, not of gpt; did you mean --layers? (blocks)
2 train cnn --val more | not of cnn; pictures of validation are in a folder val beside train
2 train gpt --patch 4 | unknown option --patch: it is a setting of vit, caption and autoencoder, not of gpt
2 train gpt --no-transform-head | unknown option --no-transform-head: it is a setting of mlm, not of gpt
2 train autoencoder --mask-share 0.5 | --mask-share: it is a setting of mlm, not of autoencoder; did you mean --hide? (masked: share of the patches
2 train gpt --depth 2 | --depth: it is a setting of autoencoder, not of gpt; did you mean --layers? (blocks)
2 train gpt --head 2 | did you mean --heads?
END
run train autoencoder --tokenizer char
hides "did you mean"

# A line without "=".
while IFS='|' read -r line hint; do
    echo "$line" >line.conf
    run train gpt facts.txt -o refused -c line.conf
    refuses 3 "line.conf:1: expected key = value, found \"$line\"; hint: $hint"
done <<EOF
lr 0.1|lr = 0.1
--layers: 3|layers = 3
width|width = VALUE
my settings|a comment begins with #
EOF

# The first line of a settings file is the command that uses it.
run init gpt
says "Use: heed train gpt DATA -c THIS_FILE -o RUN"
cp out gpt.conf
ok train gpt facts.txt -c gpt.conf -o filed $SMALL --steps 1

# A path where nothing exists: a run or file of a similar name is suggested.
while read -r command; do
    run $command
    status 3
    warns "did you mean gpt?"
done <<EOF
attend gtp Paris
info gtp
compare gtp gpt
plot gtp
EOF
cp facts.txt facts.json
run explain --from fcats.json
warns "did you mean facts.json?"
rm facts.json

# A file of another kind is not called damaged.
run info facts.txt
refuses 3 "not a .safetensors file: facts.txt"

# Warnings of a continued run are shown without progress, too.
run train gpt facts.txt -o refused --isa neon
if grep -q avx2 err; then
    ok resume constant --isa generic --steps 2 --progress none
    warns "warning: the checkpoint was made with avx"
fi

# A text from Windows says so.
sed "s/\$/$(printf '\r')/" facts.txt >crlf.txt
run data check gpt crlf.txt
says "CR LF: 96 carriage returns"
run data check gpt facts.txt
hides "CR LF"

# A rate far too high: the hint has one that is usual.
run train gpt facts.txt -o far $SMALL --lr 1e6 --steps 30
status 4
warns "hint: \`heed resume far\` with --lr 0.003 continues from the checkpoint of step"
ok resume far --lr 0.003

# A run in place of a file of weights, and a text without its run.
refused <<'END'
2 view far | far is a run: expected a file of weights; hint: `heed attend far INPUT`
2 fill "Paris is the capital of [MASK] ." | missing RUN: expected a run and a text, found only the text; hint: `heed fill RUN TEXT`
END

# A command that writes no such file says which does.
run translate far Paris --html x.html
refuses 2 'unknown option --html; hint: `heed attend RUN INPUT --html FILE` writes a page'
run train gpt far.txt --png x.png # its setting attention is another one
refuses 2 'unknown option --png; hint: `heed attend RUN INPUT --png FILE` draws a picture'
