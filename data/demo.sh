#!/bin/sh
# make demo: two small language models on facts about 80 countries, then a classifier of drawn digits: from a file to attention, in a minute.
cd "$(dirname "$0")/.." || exit 1
start=$(date +%s) dir=build/demo
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$(printf '\033[1m') off=$(printf '\033[0m'); else bold= off=; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$off"; }
show() { printf '\n%s$ %s%s\n' "$bold" "$*" "$off"; }
mkdir -p $dir
sh data/capitals.sh $dir/facts.txt $dir/heldout.tsv || exit 1
say "The corpus: $(wc -l <$dir/facts.txt) sentences of a table of $(($(wc -l <data/capitals.tsv) - 1)) countries; $(wc -l <$dir/heldout.tsv) more are held out."
sed -n '1p;5p;9p;12p' $dir/facts.txt | sed 's/^/  /'

show "./heed train mlm $dir/facts.txt -o $dir/mlm -c data/demo-mlm.conf"
./heed train mlm $dir/facts.txt -o $dir/mlm -c data/demo-mlm.conf --force "$@" || exit 1
show './heed fill '$dir'/mlm "Paris is the capital of [MASK] ."'
./heed fill $dir/mlm "Paris is the capital of [MASK] ." || exit 1
echo "${bold}Another relation word, another answer:$off" # heed fill ends with an empty line
for question in "Paris is the home of [MASK] ." "Paris is the pride of [MASK] ." "The continent of France is [MASK] ."; do
    printf '  %-36s %s\n' "$question" "$(./heed fill $dir/mlm "$question" --no-attention --top 1 | sed -n 3p | sed 's/^ *//')"
done
say "Sentences that training never saw (their facts, yes, in other words):"
./heed eval $dir/mlm $dir/heldout.tsv | sed -n 's/^  accuracy /  right /p' || exit 1

show "./heed train gpt $dir/facts.txt -o $dir/gpt -c data/demo-gpt.conf"
./heed train gpt $dir/facts.txt -o $dir/gpt -c data/demo-gpt.conf --force "$@" || exit 1
show './heed generate '$dir'/gpt --prompt "Paris is the capital of" --n 1 --temperature 0 --attention'
./heed generate $dir/gpt --prompt "Paris is the capital of" --n 1 --temperature 0 --attention || exit 1

${CC:-gcc} -std=c11 -O2 -o $dir/maker data/digits.c -lz -lm || exit 1
$dir/maker $dir/digits --train 12000 --test 2000 && $dir/maker $dir/new --png --train 0 --test 10 --seed 2 || exit 1
say "Pictures: 12,000 digits drawn by data/digits.c, each by a hand, a pen and on a paper of its own; 2,000 more for the test."
show "./heed train vit $dir/digits -o $dir/vit -c data/demo-vit.conf"
./heed train vit $dir/digits -o $dir/vit -c data/demo-vit.conf --force "$@" || exit 1
show "./heed classify $dir/vit $dir/new/test/[2358]/*.png --top 1"
./heed classify $dir/vit $dir/new/test/[2358]/*.png --top 1 || exit 1
show "./heed classify $dir/vit $dir/new/test/3/00003.png --overlay $dir/attention.png --cells"
./heed classify $dir/vit $dir/new/test/3/00003.png --overlay $dir/attention.png --cells || exit 1
say "Done in $(($(date +%s) - start)) s. The attention of [CLS] over the picture: $dir/attention.png; loss curves: $dir/*/loss.png. Next:"
echo "  ./heed fill $dir/mlm \"People in Japan speak [MASK] .\""
echo "  ./heed attend $dir/mlm \"Paris is the capital of [MASK] .\" --occlude --html $dir/paris.html    # a page to look into it"
echo "  ./heed explain                                     # attention computed step by step, with numbers"
echo "  ./heed train gpt YOUR_TEXT.txt -o runs/mine"
echo "  ./heed eval $dir/vit --confusion confusion.png --mistakes mistakes.png"
echo "  ./heed train vit YOUR_PICTURES -o runs/pictures    # a folder with one subfolder per class"
