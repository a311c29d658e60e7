#!/bin/sh
# experiment.sh [DATA] [-o FOLDER] [--part PART] [--quick] [-- SETTINGS...] -- the same pictures learned in many ways, three seeds of each; tables and
# curves by `heed compare`. The parts, all of them without --part:
#   optimizers      gradient descent, SGD, momentum, RMSProp and Adam, each with dense, convolutional and attention layers, 8 passes
#   layers          with and without batch norm and residual connections, 8 passes
#   regularization  few pictures and many passes, so that a plain model learns them by heart; then with dropout, weight decay, early stopping, shifted
#                   pictures (augmentation), and all of these together
# DATA: a set of pictures; none: digits drawn here. Runs that are already in FOLDER (runs/experiment) are kept, unfinished ones continue. --quick: one
# seed, two passes. SETTINGS go to every training run.
usage='[DATA] [-o FOLDER] [--part PART] [--quick] [-- SETTINGS...]'
data= out=runs/experiment seeds="1 2 3" epochs=8 long=60 patch=0 parts="optimizers layers regularization"
quick() { seeds=1 epochs=2 long=2; }
option() {
    [ "$1" = --part ] || misuse "$1 is unknown"
    case $2 in
    optimizers | layers | regularization) parts=$2 ;;
    *) misuse "--part: expected optimizers, layers or regularization" ;;
    esac
}
word() { data=$(whole "$1") || exit; }
. "$(dirname "$0")/lib.sh"
settings=$*
trap 'echo "experiment.sh: interrupted; the same command again goes on with this run and all others" >&2; exit 130' INT
mkdir -p "$out" && cd "$out" || exit 1
few=$data validation=
if [ -z "$data" ]; then
    data=digits few=few patch=7 validation="--val-split 0.33"
    maker digits
    ./maker "$data" --train 1000 --test 2000 && ./maker "$few" --train 300 --test 2000 || exit 1
fi
optimizers="gd sgd momentum rmsprop adam"

# What a layer's kind is here: two of dense layers, six of convolution, two of attention over patches.
shape() {
    case $1 in
    mlp) echo "mlp --layers 2 --width 256" ;;
    cnn) echo "cnn --stages 3 --width 8" ;;
    vit) echo "vit --layers 2 --width 64 --ff 128 --patch $patch --init-std 0.1 --dropout 0" ;;
    esac
}
# The learning rate of MODEL-OPTIMIZER: the one of the lowest validation loss among four that differ by factors of about 3.
rate() {
    case $1 in
    mlp-gd | cnn-gd | cnn-sgd) echo 1 ;;
    mlp-sgd | cnn-momentum | vit-gd | vit-sgd) echo 0.1 ;;
    mlp-momentum | vit-momentum) echo 0.03 ;;
    cnn-adam) echo 0.01 ;;
    cnn-rmsprop | vit-adam) echo 0.003 ;;
    *) echo 0.001 ;;
    esac
}
# train NAME MODEL PICTURES SETTINGS...: a run for each seed, by the plain update: no warm-up, decay or clipping.
train() {
    name=$1 model=$2 pictures=$3
    shift 3
    for seed in $seeds; do
        learn "$name-$seed" $(shape "$model") "$pictures" --seed "$seed" --warmup 0 --decay 0 --clip 0 "$@" $settings >/dev/null
        status=$?
        [ $status = 0 ] || [ $status = 4 ] || exit $status # 4: too large a rate diverges, which is an answer too
    done
}
# show NAME TITLE RUNS...: the whole of heed compare goes to NAME.txt, the curves to NAME.png, the means here.
show() {
    name=$1 title=$2
    shift 2
    "$heed" compare "$@" --png "$name.png" >"$name.txt" || exit 1
    printf '\n%s (%s.txt, %s.png)\n' "$title" "$out/$name" "$out/$name"
    if grep -q '^seeds together' "$name.txt"; then
        sed -n '/^seeds together/,/^+-/p' "$name.txt"
    else
        sed -n '/^run /,/^$/p' "$name.txt"
    fi
}

by_optimizer() { # MODEL OPTIMIZER
    train "$1-$2" "$1" "$data" --optimizer "$2" --lr "$(rate "$1-$2")" --epochs $epochs --flip 0
}
optimizers() {
    for model in mlp cnn vit; do
        for optimizer in $optimizers; do by_optimizer $model $optimizer; done
        show optimizers-$model "Optimizers, $model" $(for o in $optimizers; do echo $model-$o-[1-3]; done)
    done
}
# One thing more, or one less, with Adam.
one_layer() { # MODEL NAME SETTING
    train "$1-$2" "$1" "$data" --optimizer adam --lr "$(rate "$1-adam")" --epochs $epochs --flip 0 "$3"
}
layers() {
    for model in mlp cnn; do
        by_optimizer $model adam
        one_layer $model without-batch-norm --no-batch-norm
        case $model in
        mlp) one_layer mlp with-residual --residual ;;
        cnn) one_layer cnn without-residual --no-residual ;;
        esac
        show layers-$model "Adam, $model, one thing changed" $model-adam-[1-3] $model-with*-[1-3]
    done
}
# A single evaluation: the weights are those after the last pass, except with early stopping.
arm() { # MODEL NAME SETTINGS...
    model=$1 name=$2
    shift 2
    train "few/$model-$name" "$model" "$few" --optimizer adamw --lr "$(rate "$model-adam")" --epochs $long $validation --evals 1 "$@"
}
regularization() {
    for model in mlp cnn vit; do
        arm $model plain --flip 0
        case $model in mlp) dropout=0.5 decay=30 ;; *) dropout=0.2 decay=1 ;; esac # by seeds 11 to 13
        arm $model dropout --flip 0 --dropout $dropout
        arm $model decay --flip 0 --decay $decay
        arm $model early-stopping --flip 0 --evals 60 --best accuracy --patience 20
        arm $model augmentation --pad 2
        arm $model all --pad 2 --dropout 0.1 --decay 0.3
        show regularization-$model "Few pictures, many passes, $model" $(for a in plain dropout decay early-stopping augmentation all; do echo few/$model-$a-[1-3]; done)
    done
}
for part in $parts; do
    $part
done
