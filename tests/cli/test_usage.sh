# Wrong arguments: exit status 2, one line, no run.
facts >facts.txt
run train gpt facts.txt
refuses 2 "missing -o"
warns "hint: add -o runs/first"
refused <<'END'
3 train vit facts.txt | hint: `heed train mlm facts.txt -o runs/first`, if it is a text
2 train gpt -o run | missing DATA
END
# A value that was forgotten: what is expected, with an example of a file.
refused <<'END'
2 eval run --confusion | --confusion is wrong: expected a path, found the end of the line; hint: --confusion confusion.png
2 attend run text --npz --html page.html | expected a path, found --html; hint: --npz attend.npz
2 train gpt facts.txt -o | hint: -o runs/first
END
# Of two outputs one would be ignored.
refused <<'END'
2 train gpt facts.txt -o one -o two | -o is given twice: expected one of one and two
2 train | missing TASK
2 train mml facts.txt -o run | did you mean mlm?
3 train gpt facts.txt extra -o run | extra
2 train textcls facts.txt extra -o run | too many: extra
END
run train gpt facts.txt -o run --layrs 2
refuses 2 "did you mean"
warns "layers"
refused <<'END'
2 train gpt facts.txt -o run --layers two | --layers
2 train gpt facts.txt -o run --layers 0 | --layers
2 train gpt facts.txt -o run --lr | --lr
2 train gpt facts.txt -o run --no-lr | --no-lr is wrong: not a switch: expected --lr=VALUE
3 plot nothing.csv | cannot read nothing.csv
2 train gpt facts.txt -o run --norm middle | pre
2 train gpt facts.txt -o run --heads 7 --width 64 | heads
END
printf "%04000d" 0 >zeros.txt # one letter: the first matrices are small
run train gpt zeros.txt -o run --width 1000000 --ff 10000000 --layers 64 --block 2 --steps 1
refuses 1 "out of memory"
holds grep -q 'cannot allocate [0-9]* MB' err
# What cannot fit is refused by its sizes alone; where a single matrix is too large, too.
run train gpt zeros.txt --estimate --width 16384 --heads 8 --layers 64 --block 2
status 1
holds grep -q 'training is too large: 206,[0-9,]* parameters and a step need at least 1\.6 TB of memory\|out of memory' err
run train gpt zeros.txt --estimate --tokenizer byte --block 1000 --batch 1048576 --width 256
refuses 1 'training is too large: '
warns 'and a step need at least 1.1 TB of memory'
absent run
refused <<'END'
2 train gpt facts.txt -o run --tokenizer wrod | did you mean word?
2 train gpt facts.txt -o run --isa sse2 | isa
2 train gpt facts.txt -o run --isa generic --precision bf16 | bf16 is not available: --precision
END
absent run
refused <<'END'
2 fill | missing RUN
2 heads a b c | too many: c
2 bench --workload some | --workload
2 bench --workload mlp-mnist --set widht=1 --seconds 0 | unknown setting "widht": --set
2 tokenizer train facts.txt | missing -o
2 gradcheck --op nothing | matches no op
2 train gpt facts.txt -o run --beta -0.5 | beta is out of range
END
mkfifo pipe
(cat facts.txt >pipe) 2>/dev/null &
run train gpt pipe -o run
refuses 3 "not a regular file: pipe"
cat pipe >/dev/null
wait
absent run

# A run goes into a folder of its own, whatever --force says.
cp facts.txt facts.copy
run train gpt facts.txt -o . $SMALL
refuses 2 "folder is not empty: . holds"
mkdir own
echo "mine = 1" >own/config.conf
run train gpt facts.txt -o own $SMALL --force
refuses 2 "own holds config.conf, but no run"
holds grep -qx "mine = 1" own/config.conf
rm -r own facts.copy

# A folder in place of an output is refused before anything is done or printed.
mkdir folder
run attend run text --png folder
refuses 1 "cannot write folder: expected a file, found a folder"
rmdir folder

# The task is the first word that is neither a flag nor a flag's value.
ok train -o gpt mlm facts.txt $SMALL
holds grep -q '^task = mlm' gpt/config.conf
mkdir "my texts"
cp facts.txt "my texts/gpt"
ok train --force --threads 1 gpt "my texts/gpt" -o "it's" $SMALL --optimizer gd --steps 2
says "heed plot 'it'\\''s'"
warns "epoch      1 step of "
run train gpt facts.txt -o four $SMALL --accumulate 4
warns "steps of 4 x 4 x 16 tokens"
run data check gpt "my texts/gpt"
says "heed train gpt 'my texts/gpt'"
run data check -c gpt/config.conf "my texts/gpt"
says "heed train mlm"

# Flag before file before preset before default.
printf 'layers = 3\nwidth = 32\n# a comment\nheads = 4\n' >my.conf
run init gpt -c my.conf --preset tiny --layers 5
says "layers = 5"
says "width = 32"
says "batch = 32"
says "block = 64"
printf '\357\273\277task = "gpt" # a language model\nlayers = 3\n' >quoted.conf
run init -c quoted.conf
says "layers = 3"
printf 'layers = 3\nwdth = 32\n' >bad.conf
run init gpt -c bad.conf
refuses 3 "bad.conf:2"
warns "width"
run init gpt -c nowhere.conf
refuses 3 "nowhere.conf"

# Settings and commands that a message names are shown as they are typed; the user's own text is shown as it is.
refused <<'END'
3 eval '`lr`' | run is missing: `lr`: expected the folder of a run, found nothing; hint: `heed train` makes one
3 eval '`train x`' | run is missing: `train x`: expected
2 train rnn pairs.tsv -o x --bridge copy --bidirectional --lr '`steps`' | "`steps`"
END
# The program's name is that of its file; commands to type begin as this one did, unless PATH finds the name.
ln -s "$HEED" own-name
HEED_WAS=$HEED PATH_WAS=$PATH
HEED=./own-name
run eval nothing
warns 'own-name: run is missing: nothing: expected the folder of a run, found nothing; hint: `./own-name train` makes one'
run help train vit
says "Usage: ./own-name train TASK DATA... -o RUN [--key value]"
run help --man eval
says '.B own-name eval'
hides "./own"
HEED=$PWD/own-name PATH=$PWD:$PATH
run eval nothing
status 3
warns 'own-name: run is missing: nothing: expected the folder of a run, found nothing; hint: `own-name train` makes one'
run frobnicate
status 2
warns 'own-name: unknown command frobnicate; hint: `own-name --help` lists all'
run help train vit
says "Usage: own-name train TASK DATA... -o RUN [--key value]"
says "  own-name train vit flowers -o runs/vit"
hides "heed train"
HEED=$HEED_WAS PATH=$PATH_WAS

# An option with _ for - takes its value as well as the one with -.
facts >facts.txt
ok train --val_split 0.1 gpt facts.txt -o dashes --layers 1 --heads 2 --width 8 --steps 2
for option in --lr_min --lr-min; do
    run train gpt facts.txt -o none $option --foo
    refuses 2 "$option is wrong: expected a number from 0 to 1000000, found --foo"
done
# A file in the place of a run is no misspelt name of itself.
run resume facts.txt
refuses 3 "run is missing: facts.txt: expected the folder of a run, found a file; hint: if it is a text, \`heed train mlm facts.txt -o runs/first\` makes one"
