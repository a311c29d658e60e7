# What commands print fits the terminal: at 40, 80 and 200 columns, and piped as one line a fact.
facts >facts.txt
train_mlm mlm
train_gpt gpt
run train gpt facts.txt -o other $SMALL --seed 2
for i in 1 2 3 4 5 6; do
    printf 'altogether agreeable\ta good film %s\naltogether appalling\ta bad film %s\n日本語の映画\tso so %s\n' $i $i $i
done >texts.tsv
TINY="--width 16 --block 8 --batch 4 --steps 4"
ok train textcls texts.tsv -o class $TINY
for i in a b c d e f g h; do printf '%s%s%s\t%s%s\n' $i x $i x $i; done >pairs.tsv
ok train rnn pairs.tsv -o pairs $TINY
digits_maker
./digits idx --train 40 --test 20
ok train vit idx -o vit --width 8 --batch 4 --steps 4 --layers 1 --heads 2

{ tail -n +2 texts.tsv && head -1 texts.tsv; } >others.tsv # not what `class` was trained on
# The same where wide characters take two columns.
fits_wide() {
    tr -d '\200-\277' <out | LC_ALL=C sed "s/$(printf '[\343-\351]')/xx/g" >narrow
    if awk -v most="$1" 'length($0) > most { exit 1 }' narrow; then pass; else fail "wider than $1"; fi
}
for width in 40 80 200; do
    COLUMNS=$width
    export COLUMNS
    while read -r line; do
        ok $line
        fits $width
    done <<END
eval mlm
eval gpt
eval pairs --by-length 2 --alignment diagonal
eval vit
compare mlm gpt
compare gpt other
compare class vit
info mlm
info vit
info vit/model.safetensors
data check gpt facts.txt
data check mlm facts.txt --tokenizer word --no-lower
data check rnn pairs.tsv
data check vit idx
tokenizer info mlm
tokenizer info gpt
doctor
END
    ok data check textcls texts.tsv
    fits_wide $width
    ok eval class others.tsv
    fits_wide $width
    holds grep -q "the rows'" out
    says "1 altogether agreeable "
    says "3 日本語"
    # Every class has its count in a column of its own: rows and columns are as many.
    holds test "$(grep -c '^  [1-3] [a日]' out)" = 3
    unset COLUMNS
done
# Names that fit over a count stand there.
run eval vit
says "          0   1   2   3   4   5   6   7   8   9"
COLUMNS=40 run eval vit
says "          0   1   2   3   4   5   6   7
"
says "          8   9
"
# Patches whose size follows from that of the pictures have it.
run info vit
says "image-size 28, patch 7,"
# Nothing of a table is lost where it stands in several blocks.
COLUMNS=40 run info vit
for word in shape numbers mean deviation embed.patch.bias; do says $word; done
COLUMNS=40 run compare gpt other
for word in steps "train loss" "valid loss" "best loss" time "seeds together"; do says "$word"; done
# The legend of a curve continues below itself.
fits_in 40 plot vit
holds grep -q "^         o validation, best" out
# The command that is printed works as it is typed.
COLUMNS=40 run data check rnn pairs.tsv --tokenizer word --no-share-vocab
sed -n '/^Try:/,$p' out | sed -e 1d -e 's/--minutes 2/--steps 1/' >try.sh
holds grep -q ' \\$' try.sh
sed "s|^  heed|'$HEED'|" try.sh >try2.sh
holds sh try2.sh >typed 2>&1
holds test -f runs/first/config.conf

# The banner of a training run, on stderr.
COLUMNS=40 run train gpt facts.txt -o slim $SMALL
status 0
holds awk 'length($0) > 40 { bad = 1 } /^             [a-z]/ { n++ } END { exit bad || n < 2 }' err
run train gpt facts.txt -o wide $SMALL
warns "in all: weights, gradients, optimizer, one step"

# Errors and the results of a training run are wrapped between words, but not within a command that is to be copied.
widest() { holds awk -v w=40 '{ line = $0; gsub(/`[^`]*`[^ ]*/, "", line) } length(line) > w && !/^  / { bad = 1 } END { exit bad }' "$1"; }
COLUMNS=40
export COLUMNS
run train gtp facts.txt
widest err
holds test "$(wc -l <err)" -gt 1
run train gpt facts.txt -o slim
widest err
holds grep -q '`heed resume slim`' err
cp -r other a-run-with-a-name-as-long-as-the-line
run train gpt facts.txt -o a-run-with-a-name-as-long-as-the-line
widest err
holds grep -q '`heed resume a-run-with-a-name-as-long-as-the-line`' err
run fill mlm "no mask"
widest err
run train rnn pairs.tsv -o slim-pairs $TINY
widest out
widest err
says "validation pairs"
run train textcls texts.tsv -o slim-class $TINY
widest out
widest err
run --help
widest out
unset COLUMNS
run train gpt facts.txt -o slim
refuses 2 "expected no run there; hint: "
# Piped, a fact is one line, whatever its length.
run doctor
holds test "$(grep -c '^ ' out)" = 0
run data check rnn pairs.tsv
holds grep -q 'the longest text has .*, \[SEP\] counted$' out
run eval class others.tsv
holds grep -q '^  accuracy     .* (95 %: .*) of 18 texts$' out
