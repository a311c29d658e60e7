#!/bin/sh
# experiment.sh [DATA] [-o FOLDER] [--quick] [--sweep] [-- SETTINGS...] -- the same pictures and the same number of passes over them, learned in many
# ways: by gradient descent, SGD, momentum, RMSProp and Adam, each with dense, convolutional and attention layers; then with and without batch norm,
# dropout, residual connections and augmentation. Three seeds of each; tables and curves by `heed compare`.
# DATA: a set of pictures; none: digits drawn here. Runs that stand in FOLDER (runs/experiment) are kept, unfinished ones go on. --quick: one seed,
# two passes. --sweep: the optimizers at several learning rates instead, by which those below were chosen. SETTINGS go to every training.
root=$(cd "$(dirname "$0")/.." && pwd)
heed=${HEED:-$root/heed} data= out=runs/experiment seeds="1 2 3" epochs=8 patch=0 sweep=
while [ $# -gt 0 ]; do
    case $1 in
    --quick) seeds=1 epochs=2 ;;
    --sweep) sweep=1 seeds=1 ;;
    -o) out=${2:?expected a folder}; shift ;;
    --) shift; break ;;
    -*) echo "experiment.sh: $1 is unknown; hint: sh data/experiment.sh [DATA] [-o FOLDER] [--quick] [--sweep] [-- SETTINGS...]" >&2; exit 2 ;;
    *) data=$1 ;;
    esac
    shift
done
settings=$*
case $data in '' | /*) ;; *) data=$(pwd)/$data ;; esac
trap 'echo "experiment.sh: interrupted; the same command again goes on with this run and all others" >&2; exit 130' INT
mkdir -p "$out" && cd "$out" || exit 1
if [ -z "$data" ]; then
    data=digits patch=7
    ${CC:-gcc} -std=c11 -O2 -o maker "$root/data/digits.c" -lz -lm && ./maker "$data" --train 1000 --test 2000 || exit 1
fi
optimizers="gd sgd momentum rmsprop adam"

# What a layer's kind is here: two of dense layers, six of convolution, two of attention over patches.
shape() {
    case $1 in
    mlp) echo "mlp --layers 2 --width 256" ;;
    cnn) echo "cnn --stages 3 --width 8" ;;
    vit) echo "vit --layers 2 --width 64 --ff 128 --patch $patch --init-std 0.1" ;;
    esac
}
# The learning rate of MODEL-OPTIMIZER: of those in --sweep the one of the lowest validation loss.
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
# train NAME MODEL SETTINGS...: a run for each seed, by the plain update: no warm-up, decay or clipping.
train() {
    name=$1 model=$2
    shift 2
    for seed in $seeds; do
        run=$name-$seed
        if [ -e "$run/config.conf" ]; then
            "$heed" resume "$run" --progress none >/dev/null
        else
            echo "$run" >&2
            "$heed" train $(shape "$model") "$data" -o "$run" --seed "$seed" --epochs "$epochs" --warmup 0 --decay 0 --clip 0 --flip 0 --progress none \
                "$@" $settings >/dev/null
        fi
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

if [ -n "$sweep" ]; then
    for model in mlp cnn vit; do
        for optimizer in $optimizers; do
            case $optimizer in
            gd | sgd) rates="0.03 0.1 0.3 1" ;;
            momentum) rates="0.003 0.01 0.03 0.1" ;;
            *) rates="0.0003 0.001 0.003 0.01" ;;
            esac
            for lr in $rates; do train "sweep/$model-$optimizer-$lr" $model --optimizer $optimizer --lr $lr; done
        done
        show sweep-$model "Learning rates, $model" sweep/$model-*
    done
    exit
fi

for model in mlp cnn vit; do
    for optimizer in $optimizers; do train $model-$optimizer $model --optimizer $optimizer --lr "$(rate $model-$optimizer)"; done
    show optimizers-$model "Optimizers, $model" $(for o in $optimizers; do echo $model-$o-[1-3]; done)
done

# One thing more, or one less, with Adam.
part() { # MODEL NAME SETTINGS...
    model=$1 name=$2
    shift 2
    train "$model-$name" "$model" --optimizer adam --lr "$(rate "$model-adam")" "$@"
}
for model in mlp cnn vit; do
    case $model in
    mlp) part mlp without-batch-norm --no-batch-norm; part mlp with-residual --residual ;;
    cnn) part cnn without-batch-norm --no-batch-norm; part cnn without-residual --no-residual ;;
    esac
    part $model with-dropout --dropout 0.2
    part $model with-augmentation --flip -1 --pad 2 --brightness 0.3 --contrast 0.3
    show parts-$model "Adam, $model, one thing changed" $model-adam-[1-3] $model-with*-[1-3]
done
