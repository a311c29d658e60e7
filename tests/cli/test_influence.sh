# heed influence: the norm of d y_t / d x_s.
facts >facts.txt
ok train gpt facts.txt -o linear --layers 1 --width 16 --block 16 --batch 4 --steps 6 --cell rnn --cell-activation identity --no-final-norm
# A linear recurrent layer: each diagonal is one number, and nothing comes from the future.
ok influence linear "Paris is" --json
quiet
json heed "attention 2"
json axes.0.labels.0 P
json maps.0.name influence
json maps.0.values.2.3 0
number() { "$JSON" "$1" <out | cut -c 1-6; }
for d in 0 1 3; do
    holds test "$(number maps.0.values.$((3 + d)).3)" = "$(number maps.0.values.$((4 + d)).4)"
    holds test "$(number maps.0.values.$((3 + d)).3)" != 0
done
says "exact, over all 16 units"
ok influence linear "Paris is" --draws 64 --png i.png --npz i.npz
says "64 random directions of 16 units"
says "wrote i.png"
says "wrote i.npz"
says "in percent of the largest"
holds test -s i.npz
says "100"
hides "0."
run influence linear "Paris is" --draws 64 --svg i.svg
holds test "$(tr '\n' ' ' <i.svg | sed 's/<[^>]*>/ /g' | tr -s ' ' | grep -c 'An estimate from 64 random directions')" = 1
holds test "$(grep -o -i 'norm of d y_t' i.svg | wc -l)" = 1 # in the title only
holds grep -q ">Paris is<" i.svg
run influence linear "Paris is" --draws 64 --json
cp out first
run influence linear "Paris is" --draws 64 --json
holds cmp -s first out
fits_in 40 influence linear "Paris is"
fits_in 80 influence linear "Paris is"
run influence linear "Paris is" --draws 64 --exact
refuses 2 "expected --exact or --draws, not both"
# Attention; several runs side by side.
train_gpt book
ok influence book,linear facts.txt
holds test "$(grep -c 'facts.txt is read as the text, though a file has this name' err)" = 1
ok explain book facts.txt
warns "facts.txt is read as the text, though a file has this name"
hides "hint: <"
ok influence book,linear "Paris is" --png side.png --svg side.svg --numbers
quiet
says "wrote side.svg"
holds grep -q ">linear ([a-z]*)<" side.svg
holds test "$(tr '\n' ' ' <side.svg | sed 's/<[^>]*>/ /g' | tr -s ' ' | grep -o 'Input: Paris is' | wc -l)" = 2
says "book: influence"
says "linear: influence"
holds test "$(head -c 4 side.png | tail -c 3)" = PNG
train_mlm blanks
ok influence blanks,blanks "Paris is Oslo ."
holds test "$(grep -c 'unknown to the vocabulary: Oslo' err)" = 1
echo "a note between two warnings" >Oslo
run influence blanks,blanks Oslo
holds test "$(grep -c 'unknown to the vocabulary: Oslo' err)" = 1
ok influence blanks "Paris is the [MASK] of France ."
says "[MASK]"
# Pairs: targets over the source.
for i in a b c d e f g h; do printf '%s%s%s\t%s%s\n' $i x $i x $i; done >pairs.tsv
for m in rnn seq2seq; do
    run train $m pairs.tsv -o $m --width 16 --block 8 --batch 4 --steps 4
    ok influence $m axa --target xa --json
    json axes.0.name target
    json maps.0.values.2.3
    holds grep -q '"note":"Of a pair this is the target over the source' out
    run influence $m axa --target xa
    says "Of a pair this is the target over the source."
    says "that is not shown"
done
run influence linear "Paris is"
hides "Of a pair"
# Labels, and pictures: of a cnn a cell sees its own pixels and those around it.
for i in 1 2 3 4 5 6; do printf 'pos\tgood %s\nneg\tbad %s\n' $i $i; done >texts.tsv
for e in rnn attention; do
    run train textcls texts.tsv -o $e --encoder $e --width 16 --block 8 --batch 4 --steps 4
    ok influence $e "good 1"
done
digits_maker
./digits idx --train 40 --test 10
./digits png --train 20 --test 4 --png
picture=$(find png -name '*.png' | head -1)
run train cnn idx -o cnn --steps 2 --width 4 --stages 2 --batch 4
ok influence cnn "$picture" --json --draws 2
json axes.0.grid.rows 14
json maps.0.values.0.0
json maps.0.values.0.100 0
run train vit idx -o vit --steps 2 --width 8 --heads 2 --layers 1 --batch 4
ok influence vit "$picture" --json
json axes.0.labels.0 "[CLS]"
json axes.1.labels.0 1,1
says '"axes"'
run heads vit
says "share on [CLS]"
hides "[SEP]"
run influence linear,vit "Paris is"
refuses 2 "linear reads a text and vit a picture: expected runs with the same kind of input"
run influence vit "$picture" --svg over.svg # over the picture, as attention is
says "wrote over.svg"
holds grep -q ">influence on \[CLS\]<" over.svg
holds test "$(grep -c '<image ' over.svg)" = 2
run influence cnn "$picture" --draws 2 --svg over.svg
holds grep -q ">influence on all<" over.svg
run train mlp idx -o mlp --steps 2 --width 8 --batch 4
run influence mlp "$picture"
refuses 2 "mlp has no positions"
# What is wrong is said.
run_with /dev/null influence linear
refuses 3 "standard input: no lines"
refused <<'END'
2 influence vit | missing INPUT
3 influence nowhere "a" | nowhere
2 influence linear "" | an argument is empty
3 influence vit facts.txt | facts.txt
2 influence linear,book "Paris is" --json | one run
3 influence linear "$(printf 'a\377b')" | not text
END
for runs in , linear, linear,,book; do
    run influence $runs "a"
    refuses 2 "missing RUN"
    run attend $runs "a"
    refuses 2 "missing RUN"
done
