#!/bin/sh
# finetune.sh pictures IDX_FOLDER | texts FILE... [-o FOLDER] [--quick] -- what it is worth to start from what was learned without labels. 100 labelled
# examples, the same number of each class, learned from scratch, fine-tuned whole, and fine-tuned by LoRA of rank 4; the same labels, updates and
# learning rates for all. Pictures: an auto-encoder of masked patches, then a ViT of the classes. Texts: a masked language model of passages of all
# the files, then a classifier that says which file a passage is from. The learning rate of each way of learning is the one of the highest accuracy over
# a few seeds on examples that are neither trained on nor tested, and so is, with texts, whether what begins with learned weights (LoRA: its adapters) has
# that rate or a tenth of it, the new head all of it; then ten other seeds, each with other labels, are tested. Prints a table with the 95 %
# interval of the paired differences. Runs found in FOLDER (runs/finetune-pictures, runs/finetune-texts) are kept. --quick: little of everything.
usage='pictures IDX_FOLDER | texts FILE... [-o FOLDER] [--quick]'
out= kind= files= learn=8000 steps=300 rates="0.0001 0.0003 0.001 0.003 0.01 0.03" seeds="1 2 3 4 5 6 7 8 9 10" tuning="101 102 103 104 105" passages=500
quick() { learn=50 steps=10 rates="0.001 0.003" seeds="1 2" tuning="101" passages=100; }
word() {
    if [ -n "$kind" ]; then
        file=$(whole "$1") || exit
        files="$files $file"
    else
        kind=$1
        case $kind in pictures) tuning="101 102 103" parts=1 ;; texts) parts="1 0.1" ;; *) misuse "expected pictures or texts" ;; esac
    fi
}
. "$(dirname "$0")/lib.sh"
[ -n "$files" ] || misuse "expected pictures or texts, and data"
out=${out:-runs/finetune-$kind}
mkdir -p "$out" && cd "$out" || exit 1

# Prepares the data: unlabelled for learning before, labels/SEED with 100 labels to train on, and the examples that tune and that test.
prepare_pictures() {
    all=${files# }
    ${CC:-gcc} -std=c11 -O2 -o pick "$root/data/pick.c" -lz || exit 1
    for seed in $tuning; do ./pick "$all" "labels/$seed" --per-class 10 --held 2000 --seed "$seed" || exit 1; done
    for seed in $seeds; do ./pick "$all" "labels/$seed" --per-class 10 --seed "$seed" || exit 1; done
}
# Passages of 16 words; of each file the last 2 * passages are set apart, for tuning and for the test. Punctuation and capitals are left out:
# headings and quotation marks would say too much.
prepare_texts() {
    mkdir -p words
    classes=0
    for file in $files; do
        classes=$((classes + 1))
        tr -c 'A-Za-z' ' ' <"$file" | tr 'A-Z' 'a-z' | tr -s ' ' '\n' | awk 'NF { printf "%s%s", $0, ++n % 16 ? " " : "\n" }' |
            awk -v name="$(basename "${file%.*}")" '{ print name "\t" $0 }' >"words/$classes"
        lines=$(wc -l <"words/$classes")
        [ "$lines" -gt $((3 * passages)) ] || { echo "finetune.sh: $file: expected more than $((3 * passages)) passages of 16 words, found $lines" >&2; exit 3; }
        awk -v from=$((lines - 2 * passages)) 'NR <= from' "words/$classes" >"words/$classes.train"
        awk -v from=$((lines - 2 * passages)) -v to=$((lines - passages)) 'NR > from && NR <= to' "words/$classes" >"words/$classes.tune"
        awk -v from=$((lines - passages)) 'NR > from' "words/$classes" >"words/$classes.test"
    done
    cat words/*.train | cut -f 2 >unlabelled.txt
    cat words/*.tune >tune.tsv
    cat words/*.test >test.tsv
    for seed in $tuning $seeds; do
        for part in words/*.train; do # a linear congruential generator, by which the choice is the same everywhere: Lewis et al. 1969
            awk -v seed="$seed" -v each=$((100 / classes)) '{ line[NR] = $0 }
                END { for (i = -9; i <= each; i++) {
                    do { seed = (seed * 16807 + 11) % 2147483647; at = 1 + seed % NR } while (at in used)
                    used[at]; if (i > 0) print line[at] } }' "$part"
        done >"labels/$seed.tsv"
    done
}
mkdir -p labels
prepare_$kind
case $kind in
pictures)
    before=autoencoder learned=$all
    shape="--layers 4 --width 64 --heads 4 --ff 256 --patch 4 --init-std 0.05 --dropout 0" ;;
texts)
    before=mlm learned=unlabelled.txt
    shape="--layers 2 --width 64 --heads 4 --ff 256 --block 24 --init-std 0.05" ;;
esac
if [ ! -e before/config.conf ]; then
    echo "before: $before of $learned" >&2
    case $kind in
    pictures) "$heed" train autoencoder "$learned" -o before --kind masked --lr 0.001 $shape --steps $learn --batch 64 --progress none >/dev/null ;;
    texts) "$heed" train mlm "$learned" -o before $shape --packing lines --tokenizer word --vocab 4096 --steps $learn --batch 64 --progress none >/dev/null ;;
    esac || exit 1
fi

# run WAY RATE PART SEED DATA: trains on 100 labels, without a validation part, so that the last step counts; prints the accuracy on DATA. PART is the
# share of the learning rate by which what was learned before is trained.
run() {
    way=$1 rate=$2 part=$3 seed=$4
    name=$way-$rate-$seed
    [ "$part" = 1 ] || name=$way-$rate-part$part-$seed
    case $way in
    scratch) start=$shape ;;
    whole) start="--from before" ;;
    lora) start="--from before --lora 4" ;;
    esac
    [ "$part" = 1 ] || start="$start --lr-scale embed.*=$part,encoder.*=$part"
    case $kind in
    pictures) task="vit labels/$seed --pad 2" ;;
    texts) task="textcls labels/$seed.tsv --tokenizer before --no-bracket" ;;
    esac
    if [ ! -e "$name/model.safetensors" ]; then
        "$heed" train $task $start -o "$name" --steps $steps --batch 50 --lr "$rate" --seed "$seed" --val-split 0 --evals 1 --force --progress none \
            >/dev/null || exit 1
    fi
    "$heed" eval "$name" "$5" --json | number accuracy
}
# held SEED: what the run with this seed is judged on.
held() {
    case $kind in
    pictures) echo "labels/$1" ;;
    texts) [ "$1" -gt 100 ] && echo tune.tsv || echo test.tsv ;;
    esac
}

ways="scratch whole lora"
for way in $ways; do
    for rate in $rates; do
        for part in $parts; do
            [ "$way" != scratch ] || [ "$part" = 1 ] || continue
            for seed in $tuning; do
                accuracy=$(run "$way" "$rate" "$part" "$seed" "$(held "$seed")") || exit 1
                echo "$way $rate $part $accuracy"
            done
        done
    done
done >tuned.txt
# The rate and part of the highest mean accuracy of a way.
rate_of() {
    awk -v way="$1" '$1 == way { sum[$2 " " $3] += $4 } END { for (r in sum) if (sum[r] > best) { best = sum[r]; rate = r } print rate }' tuned.txt
}
for way in $ways; do
    chosen=$(rate_of "$way")
    rate=${chosen% *} part=${chosen#* }
    echo "$way: learning rate $rate, times $part for what was learned before" >&2
    for seed in $seeds; do
        accuracy=$(run "$way" "$rate" "$part" "$seed" "$(held "$seed")") || exit 1
        echo "$seed $way $accuracy"
    done
done >tested.txt

printf '\n%d labels, %d updates; accuracy on the test, mean of %d seeds\n\n' 100 $steps "$(echo "$seeds" | wc -w)"
for way in $ways; do
    awk -v way="$way" -v chosen="$(rate_of "$way")" '$2 == way { n++; s += $3; q += $3 * $3 }
        END { split(chosen, c, " "); deviation = n > 1 ? 100 * sqrt((q - s * s / n) / (n - 1)) : 0
              printf "  %-10s %6.2f %%  +- %.2f    learning rate %s%s\n", way, 100 * s / n, deviation, c[1], c[2] < 1 ? ", times " c[2] " except for the head" : "" }' tested.txt
done
# 95 % intervals of the mean difference of pairs, by Student's t with n - 1 degrees of freedom.
difference() {
    awk -v a="$1" -v b="$2" 'BEGIN { split("12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228", t) }
        { x[$2, $1] = $3; seed[$1] }
        END { for (i in seed) { d = x[a, i] - x[b, i]; n++; s += d; q += d * d }
            half = n > 1 ? t[n - 1] * sqrt((q - s * s / n) / (n - 1) / n) : 0
            printf "  %s - %s: %+.2f points, 95 %% interval %+.2f to %+.2f\n", a, b, 100 * s / n, 100 * (s / n - half), 100 * (s / n + half) }' tested.txt
}
echo
difference whole scratch
difference lora whole
