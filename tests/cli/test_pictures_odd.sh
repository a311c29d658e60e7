# What may be odd about pictures, settings and runs of pictures.
${CC:-cc} -o picture "$here/picture.c"
for i in 1 2 3 4 5 6 7 8; do
    mkdir -p colours/red colours/blue
    ./picture colours/red/$i.bmp 20 250 $((i * 9)) 0
    ./picture colours/blue/$i.bmp 20 0 $((i * 9)) 250
done
LITTLE="--image-size 16 --batch 4 --width 8 --layers 1"

# Presets serve any number of classes; what is asked for is meant.
ok train mlp colours -o preset --preset mlp-mnist --convert --steps 1
holds grep -q '^classes = 2' preset/config.conf
refused <<'END'
3 train mlp colours -o classes $LITTLE --classes 4 | hint: leave out --classes
2 train vit colours -o patches --image-size 31 | --image-size 30
END

# A run among the pictures would be a class the next time; what is called alike is elsewhere.
ln -s colours/red link
for out in colours/run colours/new/run link/run ./colours/../colours/run; do
    run train mlp colours -o $out $LITTLE --steps 1
    refuses 2 "run is wrong: $out "
done
absent colours/run
mkdir colours2 && run train mlp colours -o colours2/run $LITTLE --steps 1
status 0

# An endless picture is refused, in no more memory than the largest that is read.
run train mlp colours -o run $LITTLE --steps 2
COMMAND="classify /dev/zero, with ulimit -v 500000"
(ulimit -v 500000 && "$HEED" classify run /dev/zero) >out 2>err
STATUS=$?
refuses 3 "is too large"
run train mlp colours -o none --preset foo
refuses 2 "expected one of mlp-mnist"

# Photographs are drawn among the mistakes, too.
for c in red blue; do
    mkdir -p big/$c
    ./picture big/$c/1.bmp 700 250 0 0
    ./picture big/$c/2.bmp 700 0 0 250
done
ok eval run big --mistakes big.png --json
quiet
json accuracy 0.5
holds test -s big.png
rm -r run

# Pictures of other channels can be evaluated, and all pictures of a set without parts are told as such.
ok train mlp colours -o grey $LITTLE --channels 1 --convert --steps 2
ok train mlp colours -o run $LITTLE --steps 2
cp -r colours broken
echo text >broken/red/1.bmp
for mode in none json; do
    ok train mlp broken -o unseen $LITTLE --steps 1 --progress $mode --force
    warns "skipped pictures: 1; the first: broken/red/1.bmp is not a picture"
done
ok eval run broken
says "of 15 pictures"
warns "1 picture cannot be decoded and was skipped"
run eval run broken --json
json part all
run eval run
says "colours, validation part"
run eval run broken --part train
says "of 15 pictures"
run eval run broken --strict
refuses 3 "1.bmp"
digits_maker
./digits png --train 20 --test 0 --png
mkdir greys && mv png/train/0 greys/red && mv png/train/1 greys/blue
ok eval run greys
warns "4 of 4 pictures are grey: converted to colour"
ok eval run greys --convert
quiet

# A run that does not say how its pictures are normalised says nothing of them.
for lines in '' 'std = 0.3,0.2' 'std = 0,0,0'; do
    rm -rf bare
    cp -r run bare
    sed '/^std = /d' run/config.conf >bare/config.conf
    if [ -n "$lines" ]; then echo "$lines" >>bare/config.conf; else edit '/^mean = /d' bare/config.conf; fi
    for command in classify eval; do
        run $command bare colours
        silent
        if [ -n "$lines" ]; then warns std; else warns mean; fi
        holds test "$STATUS" != 0
    done
done

# The last batch of gradient descent is tried before a folder is made: one picture has no variance.
run train mlp colours -o gd $LITTLE --optimizer gd --val-split 0 --batch 15 --steps 2 --batch-norm
status 2
warns "hint: another --batch"
absent gd

# A run that was stopped early can go on, with more patience or none.
ok train mlp colours -o early $LITTLE --lr 1e-9 --eval-every 1 --patience 1 --steps 5 --schedule constant
warns "stopped early: 1 evaluation without a better"
ok resume early
warns "stopped early at step 3 of 5 by --patience 1; hint: --patience 0"
ok resume early --patience 0
says "early: step 5"
run resume early --steps 6 --data broken
refuses 3 "hint: restore the data that the run began with"

# Seeds of equal minutes are taken together, whatever steps these were.
for seed in 1 2; do run train mlp colours -o timed-$seed $LITTLE --seed $seed --minutes 0.002; done
edit 's/^steps = .*/steps = 77/' timed-2/config.conf
run compare timed-1 timed-2 --json
json groups.0.name timed
json groups.0.runs.1 timed-2

# Pictures of 2 x 9 pixels: too little of them would be left at a size that they choose.
mkdir -p narrow/a narrow/b
printf 'BM\176\0\0\0\0\0\0\0\066\0\0\0\050\0\0\0\002\0\0\0\011\0\0\0\001\0\030\0' >narrow/a/1.bmp
head -c 96 /dev/zero >>narrow/a/1.bmp
for name in a/2 a/3 a/4 b/1 b/2 b/3 b/4; do cp narrow/a/1.bmp narrow/$name.bmp; done
run train cnn narrow -o no --steps 1
refuses 3 "pictures are too narrow: narrow: the median of their short sides is 2: expected at least 4 pixels; hint: --image-size 32"
ok data check cnn narrow --image-size 8
says "read as 8 x 8"

# An empty standard input is no list.
for text in '' '
 '; do
    printf '%s' "$text" >empty
    run_with empty classify run
    refuses 3 "standard input: no lines"
    run_with empty classify run -
    refuses 3 "standard input: no lines"
done

# All that is skipped is told somewhere.
for i in 2 3 4 5; do echo text >broken/blue/$i.bmp; done
ok data check mlp broken
for i in 2 3 4 5; do says "blue/$i.bmp is not a picture"; done
run train mlp broken -o skips $LITTLE --steps 2
warns "and 2 more, which train.log lists"
holds test "$(grep -c '^skipped: .*bmp is not a picture' skips/train.log)" = 5
# A class without a picture that can be read names one of its own.
mkdir -p unread/one unread/two unread/ten
cp colours/red/[1-3].bmp unread/ten
for c in one two; do echo text >unread/$c/$c.bmp; done
cp colours/red/[1-3].bmp unread/one
run train mlp unread -o refused $LITTLE --steps 2
refuses 3 'class "two" has no picture that can be read: unread: the first is unread/two/two.bmp: is not a'
# So is a picture of a format that is not read.
printf 'RIFF\000\000\000\000WEBPVP8 ' >broken/blue/6.webp
ok data check mlp broken
says "blue/6.webp is a WebP picture"

# The test part is read once for each end of a training run: again after more steps, and later if it was missed.
for c in red blue; do
    mkdir -p parts/train/$c parts/test/$c
    cp colours/$c/[1-6].bmp parts/train/$c
    cp colours/$c/[678].bmp parts/test/$c
done
tests() { grep -c ',test,' ends/metrics.csv; }
run train mlp parts -o ends $LITTLE --steps 2
warns "2 of validation and test have the pixels of a training picture"
holds test "$(tests)" = 1
run resume ends --steps 4
says "test part, read once"
holds test "$(tests)" = 1
holds grep -q '^4,,test,' ends/metrics.csv
edit '/,test,/d' ends/metrics.csv
ok resume ends
says "test part, read once"
holds test "$(tests)" = 1
run resume ends
hides "test part"

# Rows of a list without a path or a label are left out, and counted.
printf 'path,label\ncolours/red/1.bmp,a\ncolours/blue/1.bmp,b\ncolours/red/2.bmp,\n,a\n,\ncolours/red/3.bmp,a\n' >list.csv
ok data check cnn list.csv --val-split 0 --json
json empty 2
