# heed attend: what models of every kind attend to, on terminals of every width, and as files.
NOTE="Attention alone is no explanation"
# fits WIDTH: no line is wider (bytes of UTF-8 that continue a character do not count) or ends with a blank.
fits() {
    if LC_ALL=C awk -v most="$1" '{gsub(/[\200-\277]/, ""); if (length($0) > most || / $/) {print; bad = 1}} END {exit bad}' out >long; then
        pass
    else
        fail "wider than $1 or ends with a blank: $(head -1 long)"
    fi
}
plain() { if grep -q "$(printf '\033')" out; then fail "escape sequences"; else pass; fi; }

facts >facts.txt
train_mlm mlm
status 0
train_gpt gpt
TEXT="Paris is the capital of [MASK] ."

# Text: the matrix of the last layer, its legend, the guesses, the note.
ok attend mlm "$TEXT"
quiet
plain
says "(most concentrated of 2 heads)"
says "percent of a row's attention"
says "[MASK]:"
hides "0.00 " # a probability between 0 and 1 is not shown as either
run attend mlm "$TEXT" --head mean
says "encoder, layer 1 of 1, mean of 2 heads"
says "$NOTE"
says "--occlude"
fits 100
for width in 40 80 200; do
    COLUMNS=$width run attend mlm "$TEXT"
    status 0
    fits $width
    COLUMNS=$width run attend gpt "Paris is the cap" --numbers --head 2
    says "head 2"
    fits $width
    COLUMNS=$width run attend mlm "$TEXT" --query Paris --top 3
    says "token 2, Paris"
    says "head 2"
    fits $width
done
says "what token 2, Paris, attends to"
NO_COLOR=1 run attend mlm "$TEXT"
plain
# A dash is the standard input's lines; what looks like a flag is no text, but behind --.
cp out alone
echo "$TEXT" >line
NO_COLOR=1 run_with line attend mlm -
status 0
quiet
holds cmp -s out alone
run attend mlm "$TEXT" -l 1
refuses 2 "unknown option -l: expected two dashes"
mkdir -p folder
run attend folder "$TEXT"
refuses 3 "not a run: folder: expected a folder with config.conf"
ok attend gpt -- -l
# A text that is too long is not cut within a character.
run attend mlm "$(printf '日本語%.0s' 1 2 3 4 5 6 7 8 9 10) 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"
status 3
warns "the input is too long"
hides '\x'
refused <<'END'
2 attend gpt "Paris is" --layer 0 | --layer 0: expected 1 to 1 of the decoder, or last
2 fill mlm "a [MASK]" --layer 2 | --layer 2: expected 1 to 1, or last
END
run attend gpt "Paris is" --layer last
says "decoder, layer 1 of 1"
says "predicts token 9"
holds grep -q "^most probable, row by row:  P→[^ ]* 0" out
run attend mlm "$TEXT" --head max --hide-special
says "largest of 2 heads"
says "Special tokens are hidden"
hides "[SEP]"
run attend mlm "$TEXT" --query 4
says "token 4, the"
run attend gpt "Paris is" --query 3
holds test "$(sed -n 5p out | tr -s ' ')" = " P a r"
# The column of a token, for each head; of a causal layer from itself on; the numbers are those of the matrix.
run attend gpt "Paris is" --key 6
says "which tokens attend to token 6, ␣: decoder, layer 1 of 1, mean of"
holds test "$(sed -n 5p out | tr -s ' ')" = " ␣ i s"
run attend mlm "$TEXT" --head 2 --numbers --query 4
row=$(grep -m1 '^head 2' out)
run attend mlm "$TEXT" --head 2 --numbers --key 3 --png column.png
column=$(grep -m1 '^head 2' out)
holds test "$(echo $row | cut -d' ' -f5)" = "$(echo $column | cut -d' ' -f6)"
for other in "--query 1" --occlude --rollout; do
    run attend mlm "$TEXT" --key 3 $other
    refuses 2 "--key and ${other%% *}: expected one of them"
done
ok attend mlm "the king of the [MASK] ." --query the
warns "occurs 2 times"

# Predictions, of which one may be a comma, stand apart by blanks.
run attend mlm "$TEXT" --top 3
holds grep -qE '^7 \[MASK\]: [^ ]+ 0\.[0-9]{2}  [^ ]+ 0\.[0-9]{2}  [^ ]+ 0\.[0-9]{2}$' out
run attend mlm "$TEXT" --query "[mask]"
refuses 2 "did you mean [MASK]?"
# One head that is left of several keeps its number.
ok attend mlm "$TEXT" --heads 2 --svg two.svg
says "layer 1 of 1, head 2"
holds grep -q "layer 1 of 1, head 2, token 7, " two.svg
run attend mlm "$TEXT" --heads 2 --head 1
refuses 2 "--head 1: expected one of 2, mean or max"
# The first token of a causal layer has one choice: the scale is that of the others.
run attend gpt "Paris is the cap" --svg causal.svg
says " and more  percent of a row's attention"
hides " 100 and more"
holds grep -q '>0[.][0-9]* and more  of a row' causal.svg

# A terminal of many colours, of 256, and none.
if command -v script >/dev/null 2>&1; then
    COMMAND="attend in a terminal"
    terminal() { script -qec "env $* COLUMNS=36 TERM=xterm '$HEED' attend gpt 'Paris is the cap'" /dev/null </dev/null 2>err | tr -d '\r' >out; }
    terminal COLORTERM=truecolor
    says "$(printf '\033[38;2;')"
    says "▀"
    terminal COLORTERM=
    says "$(printf '\033[38;5;')"
    terminal NO_COLOR=1
    plain
    says "P"
fi

# Files: drawn, and as numbers.
ok attend mlm "$TEXT" --png a.png --svg a.svg --npz a.npz --csv a.csv --html a.html
says "wrote a.svg"
holds test "$(head -c 4 a.png | tail -c 3)" = PNG
holds grep -q '^</svg>' a.svg
holds grep -q '>Paris</text>' a.svg
holds test "$(head -c 2 a.npz)" = PK
holds grep -q '</html>' a.html
holds grep -q '"opening":"stack=encoder&layer=1"' a.html
run attend mlm "$TEXT" --layer 1 --html b.html
holds grep -q '"opening":"view=head&stack=encoder&layer=1&head=[12]"' b.html
ok attend mlm "Paris is the capital of [MASK] ." --occlude --html b.html
holds grep -q '"opening":"view=compare&stack=encoder&layer=1&head=[12]"' b.html
holds test "$(wc -l <a.csv)" = $((1 + 2 * 9 * 9))
# Letters that only one kind of picture can draw.
run attend mlm "中 is the capital" --svg boxes.svg
hides "boxes for letters"
ok attend mlm "中 is the capital" --png boxes.png
warns "boxes.png has boxes for letters that its font lacks; an SVG has the letters"
holds grep -q '^encoder.0.attn,encoder,1,2,9,2,"[[]SEP]","Paris",' a.csv # positions count from 1
run attend mlm "$TEXT" --json --no-qk --heads 2 --top 1
json blocks.0.heads.0 2
json note "head 2 alone"
hides '"scores"'
printf '%s\n' "$TEXT" "Rome is the capital of [MASK] ." >two.txt
run_with two.txt attend mlm --html both.html # one page has all texts
says "wrote both.html"
absent both-2.html
holds test "$(grep -o '"title":"[A-Z][a-z]* is the capital of \[MASK\] ."' both.html | sort -u | wc -l)" = 2
ok_with two.txt attend mlm --svg two.svg
holds test -s two-2.svg
# A head has one scale on all inputs of a command, on the screen and in pictures.
end_of() { sed -n 's/.* \([0-9.]*\)  percent of a row.*/\1/p; s/.*>\([0-9.]*\)  of a row.*/\1/p' "$1" | sort -u; }
longest="Paris is the capital of [MASK] and Rome is the capital ."
ok attend mlm "$TEXT" "$longest" --head 2 --svg one.svg
holds test "$(grep -c "percent of a row" out)" = 2
holds test "$(end_of out | wc -l)" = 1
holds test "$(cat one.svg one-2.svg | end_of - | wc -l)" = 1

# Pairs: cross attention by itself, the other stacks when asked for, a target of the user's.
for a in a b c d e f; do for b in g h i j; do printf '%s%s\t%s%s\n' $a $b $b $a; done; done >pairs.tsv
TINY="--width 16 --block 8 --batch 8 --steps 6"
run train seq2seq pairs.tsv -o s2s $TINY --layers 2 --heads 2
ok attend s2s ag --target ga
says "ag → ga"
says "(most concentrated of 4 heads in 2 layers)"
run attend s2s ag --target ga --png pair.png
quiet
ok attend s2s ag --target "gΩ"
warns "unknown to the vocabulary: Ω"
# Words instead of their pieces: what the test adds up itself, in every output. Tokens of the gpt are letters.
train_gpt letters
added() { # TOKENS.csv WORDS.csv SIZES...: the second file is the first one, added up over words of so many tokens
    awk -F, -v sizes="$3" '
        BEGIN {n = split(sizes, size, " "); for (w = 1; w <= n; w++) for (i = 0; i < size[w]; i++) of[++t] = w}
        FNR == 1 {next}
        NR == FNR {sum[$3, $4, of[$5], of[$6]] += $NF / size[of[$5]]; next}
        {rows[$3, $4, $5] += $NF; seen++; d = $NF - sum[$3, $4, $5, $6]; if (d * d > 1e-10) bad = 1}
        END {for (r in rows) if ((rows[r] - 1) ^ 2 > 1e-10) bad = 1; exit bad || seen != length(sum)}' "$1" "$2"
}
run attend letters "Paris is" --csv tokens.csv --npz tokens.npz
ok attend letters "Paris is" --words --csv words.csv --npz words.npz --png words.png --svg words.svg --html words.html
says "is predicts token 9"
says "Pieces of a word are shown as one: attention to it is their sum, attention from it their mean."
holds added tokens.csv words.csv "5 1 2"
holds grep -q '>Paris<' words.svg
run view words.npz
says "2 heads of 3 x 3"
run attend letters "Paris is" --words --rollout --json
json axes.0.labels.0 Paris
json axes.0.labels.1 " "
json axes.0.labels.2 is
json maps.0.name rollout
run attend letters "Paris is" --words --query is --numbers --head 1
says "what token 3, is, attends to"
run attend mlm "$TEXT" --words --occlude
refuses 2 "--words and --occlude, which is of tokens: expected one of them"
run attend mlm "$TEXT" --words --query Paris,capital --numbers --head 1
says "what token 2, Paris, and token 5, capital, attend (their mean) to"
row() { sed -n 's/^head 1 *\(.*\)/\1/p' out | head -1; }
row >both
for query in 2 5; do
    run attend mlm "$TEXT" --query $query --numbers --head 1
    row >row-$query
done
holds awk 'FNR == 1 {f++} {for (i = 1; i <= NF; i++) x[f, i] = $i; n = NF}
    END {for (i = 1; i <= n; i++) if ((x[1, i] - (x[2, i] + x[3, i]) / 2) ^ 2 > 4e-6) exit 1}' both row-2 row-5
for wrong in "2,99 no such token" "2, no such token" "2,2 token 2 is chosen twice"; do
    run attend mlm "$TEXT" --query "${wrong%% *}"
    refuses 2 "${wrong#* }"
done
run attend mlm "$TEXT" --query 2,5 --rollout
refuses 2 "--query of several tokens and --rollout: expected one of them"

# A second text is another source; a query is of the target, and the source's columns show who looks at them.
ok attend s2s ag ga
warns "the second text is a source, too; hint: a target is given with --target"
ok attend s2s ag --target ga --query g
printf 'ag\tgag\n' >longer.tsv
run heads s2s longer.tsv --json
json heads.0.queries 3
json heads.8.queries 4
json alike.cross.queries 4
ok heads s2s longer.tsv
says "means over 3 (encoder), 4 (decoder), 4 (cross) queries"
says "share on [CLS] and [SEP]"
run attend s2s ag --target ""
refuses 2 "--target is empty"
run attend s2s ag --target ga --stack decoder --layer 1
says "decoder, layer 1 of 2"
says "[CLS]"
run train rnn pairs.tsv -o rnn $TINY
run attend rnn ag --stack decoder
refuses 2 "--stack decoder: rnn has no such attention"
run train rnn pairs.tsv -o blind $TINY --attention none
run attend blind ag
refuses 2 "does not attend"
printf 'the dog runs\tD N V\nthe cat sees\tD N V\nthe king sleeps\tD N V\nthe dog sleeps\tD N V\n' >tags.tsv
run train tag tags.tsv -o tag $TINY --val-split 0 --encoder attention --layers 1 --heads 2
run attend tag "the king runs"
says "predicts the label: "
printf 'label\ttext\n' >texts.tsv
for w in good fine great; do printf 'pos\tthe film was %s\n' $w; done >>texts.tsv
for w in bad poor; do printf 'neg\tthe film was %s\n' $w; done >>texts.tsv
run train textcls texts.tsv -o class $TINY --val-split 0 --encoder attention --layers 1 --heads 2
run attend class "the film was good"
says "predicts the class: "
# Pictures: patches over the picture.
digits_maker
./digits png --train 20 --test 10 --png
ok train vit png -o vit --steps 2 --batch 4 --layers 2 --heads 2 --width 8 --val-split 0.2
one=$(find png/test -name '*.png' | head -1)
for width in 40 80 200; do
    COLUMNS=$width run attend vit "$one"
    status 0
    says "attention of [CLS], layer 2 of 2"
    says "picture"
    says "mean of heads"
    says "strongest patches"
    fits $width
done
run attend vit "$one" --query 2,3 --mass 0.5 --head 2 --png patches.png --cells
says "attention of patch 2,3"
says "hold 50 %"
says "wrote patches.png"
run attend vit "$one" --svg patches.svg --rollout
says "wrote patches.svg"
holds test "$(grep -c '<image .*href="data:image/png;base64,' patches.svg)" = 5 # the picture, mean, two heads, rollout
holds grep -q '>attention of \[CLS\], layer 2 of 2 (other measures: the whole model)<' patches.svg
two=$(find png/test -name '*.png' | sed -n 2p)
ok attend vit "$one" "$two" --svg pair.svg
says "wrote pair-$(basename "$two" .png).svg"
holds test "$(cat pair-*.svg | grep -c "  of a row&#39;s attention (1 = 100 %)<")" = 2
# Pictures of one name in several folders have their folder in the names of their files, however they are given.
mkdir one other
cp "$one" one/same.png
cp "$two" other/same.png
for inputs in "one/same.png other/same.png" "o*e*/same.png"; do
    set -f
    run attend vit $inputs --svg of.svg
    set +f
    says "wrote of-one-same.svg"
    says "wrote of-other-same.svg"
done
run_with "$one" attend vit - --json --layers 1
json axes.0.grid.rows
json picture.channels 1
json picture.png_base64
refused <<'END'
2 attend vit "$one" --query 99,1 | expected cls, a patch as ROW,COLUMN
2 attend gpt "$one" | is a picture
END

# What is wrong is said; nothing is written.
run attend mlm/model.safetensors "$TEXT"
refuses 3 "expected the folder of a run, found a file of the run mlm"
absent no.svg
# Nothing is written before all that was chosen is known to be there.
for wrong in "--query Pariss" "--query 99" "--head 3" "--layer 2" "--layers 1-7" "--heads 2-9" "--stack cross"; do
    run attend mlm "$TEXT" $wrong --png no.png --svg no.svg --npz no.npz --csv no.csv --html no.html
    status 2
    silent
    for kind in png svg npz csv html; do absent no.$kind; done
done
for setting in "--mass 0.5" --cells "--discard 0.1" "--fuse max" "--window 2" --no-qk "--target x"; do
    run attend mlm "$TEXT" $setting
    refuses 2 "has no effect here"
done
for setting in "--head 1" "--layer 1"; do
    run translate s2s ag $setting
    refuses 2 "has no effect here: expected --attention"
done
refused <<'END'
2 attend mlm "$TEXT" --html no.html --layers 1-7 | --layers 1-7: expected 1 to
2 attend mlm "$TEXT" --html no.html --heads 2-9 | --heads 2-9: expected 1 to
2 attend mlm "$TEXT" --layers 2-1 | --layers 2-1: expected numbers from 1
END
run attend nowhere "$TEXT"
status 3
silent
run attend mlm "$TEXT" --svg nowhere/a.svg
status 1
warns "nowhere/a.svg"

# Hostile tokens are shown as they are, and do nothing.
long=$(head -c 10000 /dev/zero | tr '\0' a)
esc=$(printf '\033')
printf '%s\n' "</script> \" ${esc}[m שלום 👩 $long" >hostile.txt
ok_with hostile.txt attend mlm --json
json axes.0.labels.4
holds test "$(grep -c "$long" out)" = 1
holds grep -qF '\u001b' out
ok_with hostile.txt attend mlm --svg h.svg --csv h.csv
plain
says "␛"
fits 100
holds grep -q "$long" h.csv
for f in h.svg h.csv; do
    if grep -q "$esc" $f; then fail "a control character in $f"; else pass; fi
done
printf 'Paris \0 is\n' >nul.txt
run_with nul.txt attend mlm
refuses 3 "line 1: the input is not text: byte 0x00 at offset 6: expected UTF-8 without NUL"

# Several inputs are shown by one head, so that they can be compared; one that is chosen is kept.
ok attend mlm "Paris is the capital of [MASK] ." "Rome is the [MASK] of Italy ." "Oslo"
holds test "$(grep -c 'most concentrated of 2 heads over all 3 inputs' out)" = 3
holds test "$(grep -o '^encoder, layer [0-9] of [0-9], head [0-9]' out | sort -u | wc -l)" = 1
run attend mlm "Paris is [MASK]" "Rome is [MASK]" --head 2
hides "over all"

# Several runs on one text, side by side: the weights of each, and those less the first's.
facts >facts.txt
for seed in 1 2; do
    run train mlm facts.txt -o side-$seed --seed $seed --steps 2 --layers 2 --heads 2 --width 16 --block 16 --progress none
done
run train mlm facts.txt -o side-3 --steps 2 --layers 1 --heads 2 --width 16 --block 16 --progress none
ok attend side-1,side-2 "Paris is ." --png side.png --svg side.svg --html side.html
says "side-1: mlm of 2 layers"
says "side-2: mlm of 2 layers"
says "side-2 less side-1"
holds test "$(grep -c '^wrote' out)" = 3
holds grep -q 'side-2 less side-1' side.svg
holds grep -q '"run":"side-2"' side.html
ok attend side-1,side-2 "Paris is ." --json
holds test "$(wc -l <out)" = 2
holds grep -q '"run":"side-2"' out
run attend side-1,side-2 "Paris is ." --query 2
says "side-2 less side-1"
run attend side-1,side-1 "Paris is ." # a run less itself is 0
holds awk '/^side-1 less side-1/ { on = 1 } on && /[1-9][0-9]*$/ && /0\.[0-9]*[1-9]/ { bad = 1 } END { exit bad || !on }' out
refused <<'END'
2 attend side-1,side-3 "Paris is ." | the layers or heads of side-1 and side-3 differ
2 attend side-1,side-2 "Paris is ." --npz x.npz | --npz and --csv hold one run
3 attend side-1,nowhere "Paris is ." | nowhere
END
# view: two models are no moments of one training.
for seed in 1 2; do run attend side-$seed "Paris is ." --npz m$seed.npz; done
ok view m1.npz m2.npz --html two.html
holds grep -q '"run":"side-2"' two.html
