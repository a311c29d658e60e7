#!/bin/sh
# make demo: two small language models on facts about 80 countries, from a text file to attention, in a minute.
cd "$(dirname "$0")/.." || exit 1
start=$(date +%s) dir=build/demo
if [ -t 1 ] && [ -z "${NO_COLOR:-}" ]; then bold=$(printf '\033[1m') off=$(printf '\033[0m'); else bold= off=; fi
say() { printf '\n%s%s%s\n' "$bold" "$*" "$off"; }
show() { printf '\n%s$ %s%s\n' "$bold" "$*" "$off"; }
mkdir -p $dir
${CC:-gcc} -std=c11 -O1 -o $dir/capitals data/capitals.c || exit 1
$dir/capitals data/capitals.tsv $dir/facts.txt $dir/heldout.tsv || exit 1
say "The corpus: $(wc -l <$dir/facts.txt) sentences of a table of $(($(wc -l <data/capitals.tsv) - 1)) countries; $(wc -l <$dir/heldout.tsv) more are held out."
sed -n '1p;5p;9p;12p' $dir/facts.txt | sed 's/^/  /'

show "./heed train mlm $dir/facts.txt -o $dir/mlm -c data/demo-mlm.conf"
./heed train mlm $dir/facts.txt -o $dir/mlm -c data/demo-mlm.conf --force "$@" || exit 1
show './heed fill '$dir'/mlm "Paris is the capital of [MASK] ." --layer 1'
./heed fill $dir/mlm "Paris is the capital of [MASK] ." --layer 1 || exit 1
say "Another relation word, another answer:"
for question in "Paris is the continent of [MASK] ." "Paris is the language of [MASK] ." "The capital of France is [MASK] ."; do
    printf '  %-36s %s\n' "$question" "$(./heed fill $dir/mlm "$question" --no-attention --top 1 | sed -n 3p | sed 's/^ *//')"
done
say "Sentences that training never saw (their facts, yes, in other words):"
./heed eval $dir/mlm $dir/heldout.tsv | sed -n 's/^  accuracy /  right /p' || exit 1

show "./heed train gpt $dir/facts.txt -o $dir/gpt -c data/demo-gpt.conf"
./heed train gpt $dir/facts.txt -o $dir/gpt -c data/demo-gpt.conf --force "$@" || exit 1
show './heed generate '$dir'/gpt --prompt "Paris is the capital of" --n 2 --attention'
./heed generate $dir/gpt --prompt "Paris is the capital of" --n 2 --temperature 0 --attention || exit 1
say "Done in $(($(date +%s) - start)) s. Loss curves: $dir/mlm/loss.png, $dir/gpt/loss.png. Next:"
echo "  ./heed fill $dir/mlm \"People in Japan speak [MASK] .\""
echo "  ./heed train gpt YOUR_TEXT.txt -o runs/mine"
