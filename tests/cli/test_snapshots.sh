# Attention kept while a model learns: train --snapshots.
facts >facts.txt
TINY="--layers 2 --heads 2 --width 16 --ff 32 --block 16 --batch 4 --progress none"
same() {
    for f in model.safetensors last/model.safetensors last/optimizer.safetensors; do
        holds cmp -s $1/$f $2/$f
    done
}

# The same bits with and without; the first step and the last are among them.
run train gpt facts.txt -o without $TINY --dropout 0.1 --steps 12
ok train gpt facts.txt -o with $TINY --dropout 0.1 --steps 12 --snapshots 4 --snapshot-items 2
same without with
holds test "$(ls with/snapshots | tr '\n' ' ')" = "1-00000000.npz 1-00000004.npz 1-00000008.npz \
1-00000012.npz 2-00000000.npz 2-00000004.npz 2-00000008.npz 2-00000012.npz "
absent without/snapshots
holds grep -q '^snapshots = 4' with/config.conf
# A text of the validation part is cut, which is said, to as many tokens as asked for.
ok train gpt facts.txt -o cut $TINY --block 64 --steps 2 --snapshots 1
warns "snapshots show the first 24 tokens of each text"
warns "snapshot-tokens 32 shows all of it"
run snapshots cut --json
holds test "$(grep -o '"queries":\[[^]]*\]' out | grep -o '","' | wc -l)" = 23
run train gpt facts.txt -o whole-text $TINY --block 64 --steps 2 --snapshots 1 --snapshot-tokens 64
hides "snapshots show the first"
run snapshots whole-text --json
holds test "$(grep -o '"queries":\[[^]]*\]' out | grep -o '","' | wc -l)" = 31
# A run that replaces another leaves none of the other's.
run train gpt facts.txt -o with $TINY --steps 6 --snapshots 1 --force
holds test "$(ls with/snapshots)" = 1-00000006.npz

# Killed and gone on with, the snapshots are those of a training run that never stopped.
ok train gpt facts.txt -o whole $TINY --steps 400 --snapshots 9 --snapshot-input "Paris is"
COMMAND="train with snapshots, killed"
for try in 1 2 3; do # until one is killed at work
    rm -rf parts
    "$HEED" train gpt facts.txt -o parts $TINY --steps 400 --snapshots 9 --snapshot-input "Paris is" \
        --save-every 4 >out 2>err &
    pid=$!
    i=0
    until [ -e parts/snapshots/1-00000100.npz ] || [ $i -gt 1000 ]; do
        i=$((i + 1))
        sleep 0.02
    done
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    STATUS=$?
    [ $STATUS = 137 ] && break
done
status 137
ok resume parts
same whole parts
for f in whole/snapshots/*; do holds cmp -s $f parts/${f#whole/}; done
holds test "$(ls whole/snapshots)" = "$(ls parts/snapshots)"

cp -r whole 'a[1]*'
ok snapshots 'a[1]*' --json
json snapshots.8.step 400
rm -r 'a[1]*'

# They are looked at: a token's attention over the steps, matrices, the page.
ok snapshots whole
quiet
says "attention of token 8, s, while the model learned, layer 2, mean of 2 heads"
says "step 400"
ok snapshots whole --layer 1 --head 2 --query 3 --png strip.png --svg strip.svg --html learning.html
says "attention of token 3, r, while the model learned, layer 1, head 2"
says "wrote strip.png"
says "wrote learning.html"
holds grep -q '"opening":"view=compare&stack=decoder&layer=1&head=2&row=3&record=9"' learning.html
holds grep -q '>0[.][0-9]* and more  of a row' strip.svg # the first token sees itself alone: its 1 is no end of the scale
holds test "$(head -c 4 strip.png | tail -c 3)" = PNG
holds test "$(grep -c '>r</text>' strip.svg)" = 18 # nine matrices, of which rows and columns are labelled
holds grep -q '>step 400</text>' strip.svg
holds grep -q '>Paris is</text>' strip.svg
holds grep -q "</html>" learning.html
# The mean of heads has a scale for itself, which ends at its largest weight; heads share one.
run snapshots whole --svg mean.svg
run snapshots whole --svg head.svg --head 1
holds test "$(grep -o '>[0-9.]* and more  of a row' mean.svg)" != "$(grep -o '>[0-9.]* and more  of a row' head.svg)"
ok snapshots whole --json --head 1
refused <<'END'
2 snapshots whole --layer 3 | --layer 3: expected 1 to 2 of the decoder, or last
2 snapshots whole --head 3 | expected 1 to 2
END
# A bad query is refused before anything is written.
run snapshots whole --query 9 --png none.png --html none.html
refuses 2 "--query 9: no such token of the text: expected P, a, r, i, s, "
absent none.png
absent none.html
ok snapshots whole --query a --head max
run snapshots whole --head 0
refuses 2 "--head 0: expected 1 to 2, mean or max"
# A causal layer sees nothing after the token: no column is empty.
run snapshots whole --query 3
holds test "$(sed -n 2p out | tr -s ' ')" = " P a r"
COLUMNS=40 run snapshots whole --query 8
holds test "$(grep -c 'step 0 ' out)" = 2
COLUMNS=40 run snapshots whole --query 4
holds test "$(grep -c 'step 0 ' out)" = 1
refused <<'END'
3 snapshots whole --item 2 | no snapshots
3 snapshots without | --snapshots 12
3 snapshots nowhere | run is missing: nowhere: expected the folder of a run, found nothing
END
# A file that is damaged, and one of another input.
cp -r whole odd
head -c 900 whole/snapshots/1-00000100.npz >odd/snapshots/1-00000100.npz
run snapshots odd
refuses 3 "1-00000100.npz"
cp with/snapshots/1-00000006.npz odd/snapshots/1-00000100.npz
run snapshots odd
refuses 3 "do not match"

# Other models.
ok train mlm facts.txt -o mlm --tokenizer word --packing lines $TINY --steps 4 --snapshots 2
holds test -s mlm/snapshots/1-00000004.npz
# A masked model has something to predict, which is shown.
run snapshots mlm
says ", [MASK], while the model learned"
run snapshots mlm "Paris is [MASK]"
refuses 2 "the input is chosen when the run is trained; hint: \`heed train ... --snapshots 12 --snapshot-input INPUT\`"
for i in a b c d e f g h; do printf '%s%s%s\t%s%s\n' $i x $i x $i; done >pairs.tsv
for m in rnn seq2seq; do
    run train $m pairs.tsv -o $m --width 16 --block 8 --batch 4 --steps 4 --snapshots 2 \
        --snapshot-input "axa	xa"
    status 0
    holds test -s $m/snapshots/1-00000000.npz
done
run train rnn pairs.tsv -o other --width 16 --block 8 --steps 4 --snapshots 2 --snapshot-input axa
refuses 2 "found no tab"
absent other
for i in 1 2 3 4 5 6; do printf 'pos\tgood %s\nneg\tbad %s\n' $i $i; done >texts.tsv
ok train textcls texts.tsv -o textcls --width 16 --block 8 --batch 4 --steps 4 --snapshots 2
holds test -s textcls/snapshots/1-00000004.npz
run train textcls texts.tsv -o none --encoder rnn --width 16 --steps 4 --snapshots 2
refuses 2 "does not attend"
absent none
digits_maker
./digits idx --train 40 --test 10
ok train vit idx -o vit --steps 4 --batch 8 --layers 1 --heads 2 --width 8 --snapshots 2
holds test -s vit/snapshots/1-00000004.npz
run snapshots vit
says "attention of [CLS], while the model learned, layer 1, mean of 2 heads"
says "Patches are named by row and"
run snapshots vit --query 2,3
says "attention of patch 2,3 (row, column), while the model learned"
run train cnn idx -o cnn --steps 4 --width 4 --snapshots 2
refuses 2 "does not attend"

# What is wrong is said before a run is made.
run train gpt facts.txt -o bad $TINY --steps 4 --snapshots 2 \
    --snapshot-input "Paris is the capital of France and of nothing else at all ."
refuses 3 "too long"
refused <<'END'
2 train gpt facts.txt -o bad $TINY --steps 4 --snapshot-input Paris | without --snapshots
3 train vit idx -o bad --steps 4 --width 8 --snapshots 2 --snapshot-input facts.txt | facts.txt
END
absent bad
# Shades are of the largest weight; lines fit the terminal.
fits_in 80 snapshots with
says "Shades are relative to the largest"
fits_in 40 snapshots with
