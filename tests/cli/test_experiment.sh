# data/experiment.sh: every run of the experiment on a handful of pictures; kept the second time; usage.
digits_maker
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
holds test "$runs" = 37
says "Optimizers, vit"
says "Adam, cnn, one thing changed"
says "cnn-without-residual-1"
says "Few pictures, many passes, vit"
says "few/mlp-early-stopping-1"
holds grep -q "accuracy" all/optimizers-mlp.txt
holds grep -q "^few/cnn-all-1 .*pad=2" all/regularization-cnn.txt
holds test -s all/layers-cnn.png
experiment few -o all --quick --part regularization -- --batch 20 --threads 1
status 0
quiet
says "Few pictures, many passes, cnn"
hides "Optimizers"
experiment few --slow
status 2
warns "--slow is unknown"
