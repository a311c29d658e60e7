#!/bin/sh
# augment.sh DATA [-o FOLDER] [--seeds "1 2 3"] [-- SETTINGS...] -- what augmentation is worth: a CNN and a ViT on 32 x 32 pictures, with flips and
# shifts of up to 4 pixels and without, under three seeds each; the table by `heed compare`. DATA: a set of pictures (sh data/get.sh cifar10). Runs
# that stand in FOLDER (runs/augment) are kept, unfinished ones go on. SETTINGS go to every training.
root=$(cd "$(dirname "$0")/.." && pwd)
heed=${HEED:-$root/heed} data= out=runs/augment seeds="1 2 3"
usage='sh data/augment.sh DATA [-o FOLDER] [--seeds "1 2 3"] [-- SETTINGS...]'
while [ $# -gt 0 ]; do
    case $1 in
    -o) out=${2:?expected a folder}; shift ;;
    --seeds) seeds=${2:?expected numbers}; shift ;;
    --) shift; break ;;
    -*) echo "augment.sh: $1 is unknown; hint: $usage" >&2; exit 2 ;;
    *) data=$1 ;;
    esac
    shift
done
settings=$*
[ -n "$data" ] || { echo "augment.sh: expected a set of pictures; hint: $usage" >&2; exit 2; }
case $data in /*) ;; *) data=$(pwd)/$data ;; esac
mkdir -p "$out" && cd "$out" || exit 1

# train NAME SEED MODEL SETTINGS...
train() {
    run=$1-$2 seed=$2 model=$3
    shift 3
    if [ -e "$run/config.conf" ]; then
        "$heed" resume "$run" --progress none >/dev/null || exit
    else
        echo "$run" >&2
        "$heed" train "$model" "$data" -o "$run" --seed "$seed" --progress none "$@" $settings >/dev/null || exit
    fi
}
for seed in $seeds; do
    for model in cnn vit; do
        case $model in
        cnn) shape="--preset cnn32 --epochs 30" ;;
        vit) shape="--preset vit32 --patch 8 --epochs 30" ;;
        esac
        train $model-augmented "$seed" $model $shape --flip 0.5 --pad 4
        train $model-plain "$seed" $model $shape --flip 0 --pad 0
    done
done
"$heed" compare cnn-* vit-* --png augment.png >augment.txt || exit 1
echo "with and without augmentation ($out/augment.txt, $out/augment.png)"
if grep -q '^seeds together' augment.txt; then
    sed -n '/^seeds together/,/^+-/p' augment.txt
else
    sed -n '/^run /,/^$/p' augment.txt
fi
