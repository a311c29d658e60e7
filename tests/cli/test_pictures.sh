# Classifiers of pictures, from drawn digits to attention.
digits_maker
./digits idx --train 120 --test 30
./digits png --train 30 --test 10 --png
TINY="--steps 6 --batch 8 --layers 1 --heads 2 --width 8"

# Training and what it leaves.
ok train vit idx -o run $TINY
says "run: step 6"
says "test part, read once with the best weights: accuracy"
says "of 30 pictures"
hides "training waited for pictures"
says "heed classify run"
warns "110 for training, 10 for validation, 30 for the test"
warns "10: 0, 1, 2"
warns "28 x 28, grey"
warns "no flip"
warns "img/s"
hides "perplexity"
for f in config.conf model.safetensors metrics.csv train.log loss.png labels.txt last/state.json; do
    holds test -s run/$f
done
holds test "$(sed -n 3p run/labels.txt)" = 2
holds grep -q '^image-size = 28' run/config.conf
holds grep -q '^classes = 10' run/config.conf
holds grep -q '^flip = 0$' run/config.conf
holds grep -q '^mean = 0\.' run/config.conf
holds grep -q '^6,,test,' run/metrics.csv
# How pictures are read is the run's own.
cp -r run remean
edit 's/^mean = .*/mean = 0.4/' remean/config.conf
run classify remean png/test/3/00003.png
refuses 3 "config.conf was changed: mean: the run was trained with 0."
ok classify remean png/test/3/00003.png --edited
warns "ignored in remean/config.conf, where resuming restores it: mean = 0.4 (trained with 0."
ok eval remean --edited
ok compare run remean
edit '/^mean = /d' remean/config.conf
run resume remean --steps 9
refuses 3 "config.conf was changed: mean: the run was trained with 0."
run classify remean png/test/3/00003.png --edited
warns "mean missing (trained with"
cp out as-edited
run classify run png/test/3/00003.png
holds cmp -s out as-edited
ok train cnn png -o folder --steps 2 --batch 4 --width 4 --stages 2 --progress none --json
quiet
json_has val_loss test_accuracy waited
ok train mlp idx -o mlp --steps 2 --batch 4 --layers 1 --width 8 --flip 0.5 --progress json
holds grep -q '"event":"evaluation"' err
holds grep -q '^flip = 0.5' mlp/config.conf

# The same bits with any number of workers and threads, and after a resume.
for n in 0 3; do
    run train vit idx -o workers $TINY --workers $n --threads 3 --pad 2 --force
    cp workers/model.safetensors workers.$n
done
holds cmp -s workers.0 workers.3
STEADY="--batch 8 --layers 1 --heads 2 --width 8 --schedule constant --warmup 0 --eval-every 3"
run train vit idx -o whole $STEADY --steps 6
run train vit idx -o parts $STEADY --steps 3
ok resume parts --steps 6
holds cmp -s whole/last/model.safetensors parts/last/model.safetensors
ok resume parts
hides "test part"
# Killed while threads make batches ahead, and resumed: the same bits, the test part read once.
KILLED="--batch 8 --layers 1 --heads 2 --width 8 --steps 400 --eval-every 8 --workers 3 --pad 2"
run train vit idx -o steady $KILLED
for delay in 0 0.1; do
    killed $delay train vit idx $KILLED
    ok resume killed
    holds cmp -s steady/last/model.safetensors killed/last/model.safetensors
    holds cmp -s steady/model.safetensors killed/model.safetensors
    holds test "$(grep -c ',test,' killed/metrics.csv)" = 1
done
COMMAND="train vit, killed"
holds test $KILLS -gt 0

# Evaluation.
ok eval run
quiet
says "idx, test part"
says "of 30 pictures"
says "accuracy"
says "top 5"
says "precision"
says "rows: the class"
ok eval run --json --confusion confusion.png --mistakes mistakes.png --worst 5
holds test -s confusion.png
holds test -s mistakes.png
# Five tiles in a row, each with room for "predicted" and a name.
holds test "$(od -An -tu1 -j16 -N4 mistakes.png | tr -s ' ')" = " 0 0 4 192"
run eval run --part val --json
json part val
kept=$("$JSON" items <out)
cp -r idx copied
run eval run copied --part val --json
json items "$kept"
run eval run --part train --json
json items 110
ok eval run png --json
json items 10
run eval run png --part train --json
json items 30
ok eval run png/train --json
json items 30
run train mlp png/train -o seen --steps 2 --batch 4 --layers 1 --width 8 --val-split 0
warns "the best so far, by loss" # no accuracy is measured
ok eval seen
says "training part"
warns "measured on the training pictures"
run eval seen --part train --json
quiet
json part train
run eval run nowhere
refuses 3 "nowhere"
# A picture that is of the class predicted: there is no mistake, and no file is said to be written.
run classify run "$(find png/train -name '*.png' | head -1)" --top 1 --json
mkdir -p "right/$("$JSON" predictions.0.class <out)"
cp "$(find png/train -name '*.png' | head -1)" right/*/
ok eval run right --mistakes none.png
warns "no mistakes: none.png is not written"
hides "wrote"
absent none.png
refused <<'END'
2 eval run --mistakes mistakes.png --worst 301 | --worst
2 eval run --part tset | auto, train, val, test
END
ok eval folder idx
for setting in "--beam 2" "--by-length 3" "--translations made.tsv" "--worst 3"; do
    run eval run $setting
    refuses 2 "${setting%% *} has no effect here: "
done
run resume run --val png
refuses 2 "--val has no effect here: a run of vit has no such setting"

# Classification.
one=$(ls png/test/*/*.png | head -1)
ok classify run $one
quiet
says "$one"
holds test "$(grep -c ' 0\.[01]' out)" = 5
ok classify run $one --top 2 --json
json input "$one"
json_has predictions.1.class predictions.0.p
ok classify run png/test --json
json
holds test "$(wc -l <out)" = 10
ok classify run png/test --top 2 --csv classes.csv
says "wrote classes.csv"
holds test "$(head -1 classes.csv)" = "input,rank,class,p"
holds test "$(wc -l <classes.csv)" = $(($(find png/test -name '*.png' | wc -l) * 2 + 1))
holds grep -q '^"png/test/[^"]*",2,"[^"]*",0\.[0-9]*$' classes.csv
run classify run 'png/test/*/*.png' --json
holds test "$(wc -l <out)" = 10
ls png/test/*/*.png >list
ok_with list classify run --json
holds test "$(wc -l <out)" = 10
run_with list classify run - --json
holds test "$(wc -l <out)" = 10
ok_with "$one" classify run - --json
json input -
echo text >bad.png
: >empty.png
head -c 60 "$one" >short.png
run classify run bad.png empty.png short.png nowhere.png 'no*.png' "$one" --json
status 3
holds test "$(wc -l <out)" = 1
for name in bad.png empty.png short.png nowhere.png 'no*.png'; do warns "$name"; done
ok classify run "$one" --overlay overlay.png
says "wrote overlay.png"
holds test -s overlay.png
run classify run png/test/0 png/test/1 --overlay many.png --layer 1 --cells --json
holds test -s many-00000.png -a -s many-00001.png
run classify run "$one" --overlay overlay.png --layer 4
status 2
warns "--layer 4"
refused <<'END'
2 classify folder "$one" --overlay overlay.png | expected one of vit
2 classify run "$one" --cells | --cells has no effect here: expected --overlay, too
END
mkdir none
run classify run none
refuses 3 "none"

# Folders that a pattern finds are gone into; a pipe among the pictures keeps nobody waiting; what cannot be read hides nothing.
mkfifo png/test/0/pipe.png
mkdir -p png/test/0/deep/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17
cp "$one" png/test/0/deep/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17
ln -s nowhere.png png/test/0/a.png
for what in png/test 'png/test/*' 'png/test/*/*'; do
    COMMAND="classify run $what, with a pipe"
    $(command -v timeout >/dev/null && echo timeout 20) "$HEED" classify run "$what" --json >out 2>err </dev/null
    STATUS=$?
    status 3
    warns '"png/test/0/a.png" cannot be read'
    holds test "$(wc -l <out)" = 11
done
rm -r png/test/0/pipe.png png/test/0/deep png/test/0/a.png

# Channels.
${CC:-cc} -o picture "$here/picture.c"
for i in 1 2 3 4 5 6 7 8; do
    mkdir -p colours/red colours/blue
    ./picture colours/red/$i.bmp $((20 + i)) 250 $((i * 9)) 0
    ./picture colours/blue/$i.bmp $((20 + i)) 0 $((i * 9)) 250
done
run data check gpt colours/red/1.bmp
refuses 3 'is one picture: gpt reads a text file; hint: `heed data check vit colours`'
ok classify run colours/red/1.bmp
warns "the picture is in colour: converted to grey"
ok classify run colours/red colours/blue/1.bmp --convert
quiet
echo "These are made by a program." >colours/red/notes.txt
ok train vit colours -o colour $TINY --brightness 0.2
warns "flip 0.5"
warns "brightness 0.2"
warns "21 to 28 wide, 21 to 28 high; read as 24 x 24, colour"
warns "chosen     image-size 24: the median of the short sides"
warns "1 file is not a picture: colours/red/notes.txt"
run train vit colours $TINY --estimate
says "14 pictures are few for attention over patches: a CNN (heed train cnn) often learns"
run train gpt colours -o text --steps 1
warns 'left out: 16 pictures of colours, which are not texts; hint: `heed train vit` and `heed train cnn` train on pictures'
holds grep -qx 'image-size = 24' colour/config.conf
ok classify colour "$one" colours/red/1.bmp
warns "1 of 2 pictures is grey: converted to colour"
cp "$one" colours/red/0.png
ok train vit colours -o grey $TINY --image-size 16
warns "1 of 17 pictures is grey: converted to colour"
ok train vit colours -o grey $TINY --image-size 16 --channels 1 --force
warns "16 of 17 pictures are in colour: converted to grey"
rm colours/red/0.png
ok classify grey colours/red/1.bmp
ok train vit colours -o one $TINY --image-size 16 --head binary
run classify one colours/red/1.bmp --json
json predictions.1.class

# What is wrong with data.
cp bad.png colours/red/9.png
cp colours/red/1.bmp colours/red/1b.bmp
ok data check vit colours --image-size 16 --sheet sheet.png --pad 2 --dropout 0 --val-split 0.5
quiet
says "2 classes"
says "colours/red/9.png is not a picture"
says "1 file is not a picture: colours/red/notes.txt"
says "heed train vit colours -o runs/first"
says "heed train cnn colours -o runs/first" # as the note recommends
says "--pad 2"
hides "Chosen"
says "wrote sheet.png"
holds test -s sheet.png
run data check vit colours
says "Chosen for this data:"
says "Or cnn, for the reason in the note:"
tr '\n' ' ' <out | tr -s ' ' >line
holds grep -q "from them, but has no attention to show; to keep the attention, --from RUN starts from" line
says "image-size 24: the median"
ok data check vit colours --image-size 16 --json
json skipped.0.path colours/red/9.png
json ignored 1
json classes.0.class blue
json duplicates
run data check cnn png --json
json train 20
json test 10
run train vit colours -o strict $TINY --image-size 16 --strict
refuses 3 "9.png"
absent strict
mkdir -p hollow/full hollow/bare single/only
cp colours/red/1.bmp hollow/full
cp colours/red/1.bmp single/only
for data in hollow single none nowhere colours/red/1.bmp; do
    run train vit $data -o run2 $TINY --image-size 16
    refuses 3 "$data"
    run data check vit $data
    refuses 3 "$data"
    absent run2
done
refused <<'END'
3 train vit hollow -o run2 | bare
2 train vit idx -o run2 --patch 5 | --patch
3 train vit idx -o run2 --classes 4 | classes
2 train vit idx -o run2 --image-sise 4 | did you mean --image-size?
2 train vit idx -o run2 --mean 0.5 | --std
2 train vit idx -o run2 --mean 1,2 --std 1 | --mean
2 train vit idx -o run2 --mean 1 --std 0 | --std
END
absent run2
cp -r idx changed
head -c 300 idx/train-images-idx3-ubyte >changed/train-images-idx3-ubyte
run train vit changed -o run2
refuses 3 "train-images"
run resume run --data png --steps 9
status 3

run train gpt idx -o run2
status 3
run data check gpt facts.txt --sheet x.png
refuses 2 "--sheet"
ok info run
says "vit, layers 1"
says "embed.patch.weight"
ok plot run
holds grep -q "validation, best accuracy [0-9.]* %: loss [0-9.]*, step [0-9]" out
cp -r run moved
rm -r moved/last # only the checkpoint knows which evaluation is the best
ok plot moved
says "validation"
hides ", best "
rm -r moved
ok init cnn
says "batch-norm = true"
says "flip = -1"

# Runs side by side; those that differ in their seed are taken together.
run train vit idx -o runs-2 $TINY --seed 2
run train vit idx -o runs-3 $TINY --seed 3
ok compare runs-2 runs-3 mlp --png all.png
says "seeds together"
says "runs  "
says "+-"
says "task=mlp"
holds test -s all.png
mkdir -p sets/all
cp -r runs-2 sets/all/vit-adam
cp -r mlp sets/all/vit-sgd
run compare sets/all/vit-adam sets/all/vit-sgd
says "* adam   o sgd"
quiet
says "  sets/all/vit-adam  sets/all/vit-sgd"
run compare mlp ./mlp mlp/ --json
holds test "$(grep -o '"run":' out | wc -l)" = 1
ok compare run folder
warns "different data: run on idx, folder on png"
run compare runs-2 runs-3 mlp --json
json groups.0.name runs
json groups.0.runs.1 runs-3
json groups.0.accuracy.high
json groups.1.name mlp
json runs.0.test_accuracy
run compare runs-2 runs-2/ mlp --json
json runs.1.run mlp
run compare runs-2 mlp
says "task "
hides "seeds together"

# A picture of the test part that training sees, too.
mkdir -p twins/train/red twins/train/blue twins/test/red twins/test/blue
cp colours/red/[1-4].bmp twins/train/red
cp colours/blue/[1-4].bmp twins/train/blue
cp colours/red/2.bmp twins/test/red/copy.bmp
cp colours/blue/8.bmp twins/test/blue
run data check mlp twins --image-size 16 --val-split 0 --json
json duplicates 1
run data check mlp twins --image-size 16 --val-split 0
says "twins/test/red/copy.bmp is twins/train/red/2.bmp"

# Classes of very different sizes: the command to try has what the note recommends. A name with a comma is quoted in a list.
mkdir -p "uneven/a,b" uneven/c
one=$(find png/train -name '*.png' | head -1)
for i in 1 2 3 4 5 6 7 8 9 10 11 12; do cp "$one" "uneven/c/$i.png"; done
cp "$one" "uneven/a,b/1.png"
cp "$one" "uneven/a,b/2.png"
mkdir -p single/a single/b
cp colours/red/1.bmp single/a
cp colours/blue/1.bmp single/b
run data check mlp single --val-split 0.5
says "no validation part: the classes have too few pictures for --val-split"
run data check mlp single --val-split 0
says "no validation part: --val-split 0.1"
run data check vit uneven
says "--minutes 2 --balance"
run data check vit uneven --balance --steps 5
hides "says little"
hides "--minutes"
says "-o runs/first --balance --steps 5"
ok train vit uneven -o uneven-run --steps 1 --width 8 --heads 2 --layers 1
warns '2: "a,b", c'
says "attend uneven-run PICTURE --png"
mkdir uneven/d
run data check vit uneven
refuses 3 "found none; hint: put pictures there"

# A picture that is in two classes is named; a class that training lacks is an error with a hint.
for i in 1 2 3; do
    mkdir -p twice/red twice/blue
    ./picture twice/red/$i.bmp $((20 + i)) 250 $((i * 9)) 0
    ./picture twice/blue/$i.bmp $((20 + i)) 0 $((i * 9)) 250
done
cp twice/red/1.bmp twice/blue/same.bmp
run data check vit twice --json
json conflicts 1
run data check vit twice
says "1 picture is in several classes"
says "same.bmp"
mkdir -p lacks/train lacks/val
cp -r twice/red twice/blue lacks/train
cp -r twice/red twice/blue lacks/val
mv lacks/val/red lacks/val/green
run data check vit lacks
refuses 3 "hint: move some of its pictures to the training part"
