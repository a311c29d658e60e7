# What to do next: commands that a training run suggests have words of its data, and a mistake names what was probably meant.
facts >facts.txt

# A text without the usual letters, of one line, of short lines, without spaces, of nothing that can be typed.
suggests() {
    ok train gpt text.txt -o "a run" --force $SMALL
    says "heed generate 'a run'$1"
    command=$(sed -n "s/^  heed //p" out | head -n 1)
    eval "run $command"
    status 0
    hides "unknown to the vocabulary"
}
for i in 1 2 3 4 5 6 7 8 9; do echo "abab cdcd abab"; done >text.txt
suggests ' --prompt "abab cdcd abab"'
tr '\n' ' ' <text.txt >line.txt && mv line.txt text.txt
suggests ' --prompt "abab cdcd abab"'
for i in 1 2 3 4 5 6 7 8 9; do echo "-- abab cdcd abab"; done >text.txt
suggests ' --prompt "abab cdcd abab"'
for i in 1 2 3 4 5 6 7 8 9; do printf 'emma\nolivia = 1\n'; done >text.txt
suggests ' --prompt "emma"'
for i in 1 2 3 4 5 6 7 8 9; do printf '我喜欢吃苹果，也喜欢香蕉。\n'; done >text.txt
suggests ' --prompt "我喜欢吃苹果，也喜欢香蕉。"'
for i in 1 2 3 4 5 6 7 8 9; do printf '(){}[]$\n'; done >text.txt
suggests ''
run train mlm text.txt -o "a run" --force --tokenizer char $SMALL
says "heed fill 'a run' \"[MASK]\""

# A sentence that is suggested is whole, where one is short enough.
for i in 1 2 3 4 5 6 7 8 9; do
    echo "I am a big cat and I sit on the mat so I go to my big bed."
    echo "A boy who is small sang an old song before lunch for all the people who had come to hear it that day."
    echo "A small boy sang an old song before lunch, but nobody noticed."
done >whole.txt
run train mlm whole.txt -o whole $SMALL --block 32
says 'heed fill whole "A small boy sang an old song before lunch, but nobody [MASK]."'
sed '/nobody/d; /cat/d; s/song before/song, before/' whole.txt >long.txt
run train mlm long.txt -o whole --force $SMALL --block 32
says 'heed fill whole "A boy who is small sang an old [MASK]"'

# Pairs and texts of a CSV file.
(echo label,text && for i in 1 2 3 4; do printf 'good,"a $ film, it is"\nbad,"no film, it is"\n'; done) >texts.csv
ok train textcls texts.csv -o class --width 16 --steps 2
says 'heed classify class "no film, it is"'

# Texts with quotes or brackets are suggested whole, in the shell's quotes.
(echo label,text && for i in 1 2 3 4; do printf 'good,"a ""film"" it is"\nbad,"no [PAD] it'"'"'s"\n'; done) >quoted.csv
ok train textcls quoted.csv -o quoted --width 16 --steps 2
holds grep -qxF -e "  heed classify quoted 'a \"film\" it is'" -e "  heed classify quoted 'no [PAD] it'\\''s'" out

# A file or a run that does not exist: one of a similar name, or what was expected.
refused <<'END'
3 train gpt fatcs.txt -o run | cannot read fatcs.txt: No such file or directory; did you mean facts.txt?
3 train gpt FACTS.TXT -o run | did you mean facts.txt?
3 train gpt facts -o run | did you mean facts.txt?
3 train gpt zz.txt -o run | cannot read zz.txt: No such file or directory; expected a text file
3 train vit nowhere/pictures -o run | nowhere/pictures: No such file or directory; there is no folder nowhere
3 view weights.npz | weights.npz: No such file or directory; hint: `heed view --help`
3 train gpt facts.txt -o run -c nowhere.conf | hint: `heed train gpt --help`
END
for command in eval generate info plot resume "eval class" "train gpt facts.txt -o run --from"; do
    case $command in "eval class") near=texts.csv path=text.csv ;; *) near=class path=clas ;; esac
    run $command $path
    refuses 3 "did you mean $near?"
done
run eval nothing
refuses 3 "hint: \`heed train\` makes one"
: >nothing.html # no run
refused <<'END'
3 eval nothing | hint: `heed train` makes one
3 eval class nothing.tsv | nothing.tsv: No such file or directory; expected a file of labels and texts
END

# The folder of one picture, where its path has one.
printf P >/tmp/heed-test-$$.png
run train gpt /tmp/heed-test-$$.png -o run
refuses 3 "hint: \`heed train vit FOLDER -o run\`, if it has a folder"
rm /tmp/heed-test-$$.png
mkdir -p "my pictures/a"
printf P >"my pictures/a/1.png"
run train gpt "my pictures/a/1.png" -o run
refuses 3 "hint: \`heed train vit 'my pictures' -o run\`"

# An empty standard input is refused, and helps say so.
run train gpt facts.txt -o gpt --packing blocks $SMALL
train_mlm mlm
: >empty.txt
for command in "fill mlm" "generate gpt" "attend mlm" "classify class" "embed mlm" "tokenizer encode gpt" "tokenizer decode gpt"; do
    run_with empty.txt $command
    refuses 3 "standard input: no lines"
    run help ${command% *}
    tr -s ' \n' '  ' <out >line
    if grep -q "must not be empty\|must be one" line; then pass; else fail "the help lacks it"; fi
done
ok_with empty.txt generate gpt --prompt "" --n 5

# A word that only its case, or one letter, makes unknown; of characters and word pieces nothing is said.
ok fill mlm "paris is the captial of [MASK] , Oslo ."
warns "unknown to the vocabulary: paris, captial, ,, Oslo; did you mean Paris, capital?"
run attend mlm "rome is"
warns "unknown to the vocabulary: rome; did you mean Rome?"
run classify class "no FILN"
warns "unknown to the vocabulary: FILN"
hides "did you mean"
run classify class "no FILM"
warns "unknown to the vocabulary: FILM; did you mean film?"
run attend gpt "Q"
warns "unknown to the vocabulary: Q"
hides "did you mean"

# A run that was killed before its first checkpoint.
rm -r gpt/last gpt/model.safetensors gpt/metrics.csv
run generate gpt
refuses 3 "cannot read gpt/model.safetensors: No such file or directory; hint: \`heed resume gpt\`"
ok resume gpt

# Arguments in the wrong order, a blank for a mask, a file for its lines; what is no command.
refused <<'END'
3 fill "Paris is [MASK] ." mlm | hint: `heed fill mlm ...`, with the run first
2 generate --run gpt | unknown option --run: arguments have no names: expected heed generate RUN [PROMPT]
END
run fill mlm facts.txt
status 3
warns "facts.txt is read as the text, though a file has this name; hint: \`heed fill mlm - < facts.txt\`"
for word in version -V; do
    run $word
    refuses 2 "unknown command $word; hint: \`heed --version\` prints the version"
done

# Pictures and models that do not exist; a run that is imported.
digits_maker
./digits shown --png --train 40 --test 10
ok train vit shown -o vit --width 8 --heads 2 --layers 1 --batch 4 --steps 1
cp "my pictures/a/1.png" rose.png
refused <<'END'
3 classify vit roze.png | "roze.png" cannot be read: No such file or directory; did you mean rose.png?
3 classify vit other.jpg | "other.jpg" cannot be read: No such file or directory; expected the file of a picture
3 classify vit nowhere/rose.png | there is no folder nowhere
3 import showm -o run | did you mean shown?
2 import vit -o run | vit is a run already: expected the folder of a model of transformers; hint: `heed classify vit`
2 export vit --to hf | unknown option --to: -o FOLDER writes the format of transformers, --onnx FILE writes ONNX
END

# A setting of training, given to another command.
for command in "generate gpt" "resume gpt" "eval gpt"; do
    run $command --width 8
    refuses 2 "unknown option --width: a run keeps the settings that it was trained with"
done
