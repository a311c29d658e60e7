# data/experiment.sh: every run of the experiment on a handful of pictures; kept the second time; usage.
${CC:-cc} -std=c11 -O2 -o digits "$here/../../data/digits.c" -lz -lm
./digits few --train 40 --test 20
experiment() {
    COMMAND="experiment.sh $*"
    sh "$here/../../data/experiment.sh" "$@" >out 2>err </dev/null
    STATUS=$?
}
experiment few -o all --quick -- --batch 8 --threads 1 --patch 7
status 2
warns "--patch"
experiment few -o all --quick -- --batch 20 --threads 1
status 0
runs=$(wc -l <err)
holds test "$runs" = 25
says "Optimizers, vit"
says "Adam, cnn, one thing changed"
says "cnn-without-residual-1"
holds grep -q "accuracy" all/optimizers-mlp.txt
holds test -s all/parts-vit.png
experiment few -o all --quick -- --batch 20 --threads 1
status 0
quiet
says "Adam, vit, one thing changed"
experiment few --slow
status 2
warns "--slow is unknown"
# data/augment.sh: the same of two models, with and without augmentation.
augment() {
    COMMAND="augment.sh $*"
    sh "$here/../../data/augment.sh" "$@" >out 2>err </dev/null
    STATUS=$?
}
augment few -o pairs --seeds "1 2" -- --image-size 32 --width 8 --batch 20 --threads 1 --epochs 1
status 0
runs=$(wc -l <err)
holds test "$runs" = 8
says "seeds together"
says "cnn-plain"
says "vit-augmented"
holds test -s pairs/augment.png
augment
status 2
warns "expected a set of pictures"
