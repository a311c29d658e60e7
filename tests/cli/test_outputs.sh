# Files to write: never over an input, never two in one, never without a name. Refused before any work.
# keeps FILE ARGS...: refused with status 2, and the file is as it was.
keeps() {
    kept=$1
    shift
    cp "$kept" kept.copy
    run "$@"
    refuses 2 "output would replace the input: --"
    holds cmp -s "$kept" kept.copy
}
facts >facts.txt
train_mlm mlm
status 0
ok attend mlm "Paris is [MASK]" --npz ok.npz --csv ok.csv
keeps ok.npz view ok.npz --html ok.npz
warns "--html ok.npz: expected another file; hint: "
keeps ok.npz view ok.npz --html ./ok.npz
ln -s ok.npz link.npz
keeps ok.npz view ok.npz --html link.npz
keeps facts.txt heads mlm facts.txt --csv facts.txt
keeps facts.txt eval mlm facts.txt --translations facts.txt
run explain --json
cp out m.json
keeps m.json explain --from m.json --html m.json
cp m.json pic.png
keeps pic.png attend mlm pic.png --svg "$PWD/pic.png"

# Files of the run, what it was trained on, pictures of a folder and of a pattern, numbered files.
for file in config.conf model.safetensors metrics.csv last/state.json; do
    cp mlm/$file kept.copy
    run attend mlm Paris --csv mlm/$file
    refuses 2 "output would replace a file of the run: --csv mlm/$file"
    holds cmp -s mlm/$file kept.copy
done
cp -r mlm other
for command in "explain --html other/config.conf" "attend mlm Paris --npz other/model.safetensors"; do
    run $command
    refuses 2 "output would replace a file of the run: --"
    holds diff -r mlm other
done
ok explain --html other/page.html
run attend mlm Paris --csv mlm/last/new.csv
refuses 2 "a file of the run"
absent mlm/last/new.csv
run influence mlm,other Paris --png ./mlm/train.log
refuses 2 "a file of the run"
keeps facts.txt heads mlm --csv facts.txt
mkdir many
cp pic.png many/one.png
cp pic.png many/out-2.png
keeps many/one.png classify mlm many --overlay many/one.png
keeps many/out-2.png classify mlm many --overlay many/out.png
mkdir many/deep
cp pic.png many/deep/two.png
keeps many/deep/two.png classify mlm . --overlay many/deep/two.png
keeps many/deep/two.png classify mlm many --overlay "$PWD/many/../many/deep/two.png"
keeps many/out-2.png classify mlm many/one.png many/out-2.png --overlay many/out.png
keeps many/one.png classify mlm 'many/o*.png' --overlay many/one.png
run attend mlm Paris Rome --png a --svg a-2
refuses 2 "two outputs in one file: --"
ok attend mlm Paris --png a --svg a-2
run attend mlm Paris --csv mlm/mine.csv
ok attend mlm Paris --csv mlm/mine.csv
ok plot mlm --png mlm/loss.png
mv mlm/loss.png drawn.png
echo text >linked.txt
ln -s ../linked.txt mlm/loss.png
run plot mlm --png mlm/loss.png
refuses 2 "output would replace a file of the run"
holds test "$(cat linked.txt)" = text
mv drawn.png mlm/loss.png

mkdir folder
for pair in "--png s.x --svg s.x" "--npz a.y --html ./a.y" "--csv folder/c --html folder/../folder/c"; do
    run attend mlm Paris $pair
    refuses 2 "two outputs in one file: --"
done
refused <<'END'
2 explain --tex x.z --html x.z | expected a file for each
2 influence mlm Paris --png q.z --npz q.z | two outputs in one file: --png q.z and --npz q.z
2 eval mlm --confusion z.z --mistakes z.z | two outputs in one file: --
END
for file in s.x a.y folder/c x.z q.z z.z; do absent $file; done

refused <<'END'
2 attend mlm Paris --png "" | --png: expected a file name, found an empty one
2 attend mlm Paris --html= | --html: expected a file name, found an empty one
2 compare mlm --png "" | --png: expected a file name
END

# The same base name in two folders, a device twice and a file of before are fine.
ok attend mlm Paris --csv c --npz folder/c
ok attend mlm Paris --csv c --npz folder/c
ok attend mlm Paris --csv /dev/null --svg /dev/null

# Help that could not be printed is a failure like any other.
if [ -c /dev/full ]; then
    for words in --help --version "help attend" "attend --help" "help tokenizer"; do
        "$HEED" $words >/dev/full 2>err
        STATUS=$? COMMAND=$words
        : >out
        refuses 1 "cannot write to standard output"
    done
    printf 'ab\tba\nba\tab\ncd\tdc\ndc\tcd\n' >pairs.tsv
    ok train rnn pairs.tsv -o rnn --val pairs.tsv --width 16 --block 8 --batch 2 --steps 2
    run eval rnn --translations /dev/full
    status 1
    warns "cannot write /dev/full: No space left"
fi
# A folder that is not there is said before another file is written, and before any work.
run attend mlm "Paris is" --png first.png --svg first.svg --html nowhere/first.html
refuses 1 "cannot write nowhere/first.html: there is no folder nowhere; hint: mkdir -p nowhere"
absent first.png
absent first.svg
run explain --html first.html --tex nowhere/first.tex
refuses 1 "nowhere/first.tex"
absent first.html
mkdir -p stands
ok attend mlm "Paris is" --svg stands/first.svg

# A picture has the name of its kind.
for name in a.jpg a.svg a.webp; do
    run attend mlm "Paris is" --png $name
    refuses 2 "--png $name: what is written is PNG: expected a name that ends in .png"
    absent $name
done
refused <<'END'
2 attend mlm "Paris is" --svg a.png | --svg a.png: what is written is SVG: expected a name that ends in .svg
2 classify mlm many --overlay a.svg | --overlay a.svg: what is written is PNG
END
ok attend mlm "Paris is" --png plain --svg A.SVG
holds test -s plain
holds test -s A.SVG
