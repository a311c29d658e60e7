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
run attend mlm "$TEXT"
status 0
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
run attend gpt -- -l
status 0
# A text that is too long is not cut within a character.
run attend mlm "$(printf '日本語%.0s' 1 2 3 4 5 6 7 8 9 10) 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16"
status 3
warns "the input is too long"
hides '\x'
long=a$(printf 'é%.0s' 1 2 3 4 5 6 7 8 9 10)
long=$long$long$long$long$long$long$long$long$long
run fill mlm "$long"
status 3
warns "no [MASK] in the input: aéé"
hides "é·"
hides '\x'
run attend mlm "$long" --occlude
status 3
warns "nothing is predicted here: aéé"
hides '\x'
run attend gpt "Paris is" --layer 0
refuses 2 "--layer 0: expected 1 to 1 of the decoder, or last"
run fill mlm "a [MASK]" --layer 2
refuses 2 "--layer 2: expected 1 to 1, or last"
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
holds grep -q "^ *share of a row's attention (1 = 100 %)$" out # there are no shades
hides percent
row=$(grep -m1 '^head 2' out)
run attend mlm "$TEXT" --head 2 --numbers --key 3 --png column.png
says "wrote column.png"
holds grep -q "^ *share of each token's attention (1 = 100 %)$" out
column=$(grep -m1 '^head 2' out)
holds test "$(echo $row | cut -d' ' -f5)" = "$(echo $column | cut -d' ' -f6)"
for other in "--query 1" --occlude --rollout; do
    run attend mlm "$TEXT" --key 3 $other
    refuses 2 "--key and ${other%% *}: expected one of them"
done
# Numbers of a matrix end where the labels over them do.
COLUMNS=80 run attend mlm "$TEXT"
sed -n '/ \[CLS\]  *Paris/,/ percent of/p' out | sed '$d' >map
holds awk 'NR == 1 { top = $0; next }
    { for (i = index(top, "[CLS]") + 4; i <= length(top); i += 8) { n++; bad += substr($0, i, 2) !~ /^[0-9 ]? ?$/ } }
    END { exit bad || n != 81 }' map
if grep -q '[^0-9 ][0-9]' map; then fail "shades stand at numbers"; else pass; fi
run attend mlm "the king of the [MASK] ." --query the
status 0
warns "occurs 2 times"

# Predictions, of which one may be a comma, stand apart by blanks.
run attend mlm "$TEXT" --top 3
holds grep -qE '^7 \[MASK\]: [^ ]+ 0\.[0-9]{2}  [^ ]+ 0\.[0-9]{2}  [^ ]+ 0\.[0-9]{2}$' out
# Without [MASK] there are none, and a slip of it is told; no empty line stands for what is not there.
for slip in "[mask]" ___; do
    run attend mlm "Paris is the capital of $slip ."
    status 0
    says "Nothing is predicted: the text has no [MASK]; hint: write [MASK] for the word to guess"
done
run attend mlm "$TEXT" --query "[mask]"
refuses 2 "did you mean [MASK]?"
run attend mlm "$TEXT" --query Paris
hides "Nothing is predicted"
if awk '!NF && !last { bad = 1 } { last = NF } END { exit !bad }' out; then fail "two empty lines"; else pass; fi
# One head that is left of several keeps its number.
run attend mlm "$TEXT" --heads 2 --svg two.svg
status 0
says "layer 1 of 1, head 2"
holds grep -q "layer 1 of 1, head 2, token 7, " two.svg
run attend mlm "$TEXT" --heads 2 --head 1
refuses 2 "--head 1: expected one of 2, mean or max"
# The first token of a causal layer has one choice: the scale is that of the others.
run attend gpt "Paris is the cap" --svg causal.svg
says " and more  percent of a row's attention"
hides " 100 and more"
holds grep -q '>0[.][0-9]* and more  of a row' causal.svg
run attend mlm "$TEXT"
hides "and more"
run attend gpt P
says " 100  percent of a row's attention"

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
run help attend
says "layers and heads count from 1 on the screen, in"
run attend mlm "$TEXT" --png a.png --svg a.svg --npz a.npz --csv a.csv --html a.html
status 0
says "wrote a.svg"
holds test "$(head -c 4 a.png | tail -c 3)" = PNG
holds grep -q '^</svg>' a.svg
holds grep -q '>Paris</text>' a.svg
holds test "$(head -c 2 a.npz)" = PK
holds grep -q '</html>' a.html
holds grep -q '"opening":"stack=encoder&layer=1"' a.html
run attend mlm "$TEXT" --layer 1 --html b.html
holds grep -q '"opening":"view=head&stack=encoder&layer=1&head=[12]"' b.html
run attend mlm "Paris is the capital of [MASK] ." --occlude --html b.html
status 0
holds grep -q '"opening":"view=compare&stack=encoder&layer=1&head=[12]"' b.html
holds test "$(wc -l <a.csv)" = $((1 + 2 * 9 * 9))
# Letters that only one kind of picture can draw.
run attend mlm "中 is the capital" --svg boxes.svg
hides "boxes for letters"
run attend mlm "中 is the capital" --png boxes.png
status 0
warns "boxes.png has boxes for letters that its font lacks; an SVG has the letters"
holds grep -q '^encoder.0.attn,encoder,1,2,9,2,"[[]SEP]","Paris",' a.csv # positions count from 1
run attend mlm "$TEXT" --json
status 0
quiet
json heed "attention 2"
json axes.0.labels.1 Paris
json blocks.0.path encoder.0.attn
json blocks.0.weights.1.8.8
json blocks.0.q.1.8.7
json guesses.0.says "[MASK]"
json guesses.0.position 7
json guesses.0.tokens.4.p
run attend mlm "$TEXT" --json --no-qk --heads 2 --top 1
json blocks.0.heads.0 2
json note "head 2 alone"
hides '"scores"'
printf '%s\n' "$TEXT" "Rome is the capital of [MASK] ." >two.txt
run_with two.txt attend mlm --html both.html # one page has all texts
says "wrote both.html"
absent both-2.html
holds test "$(grep -o '"title":"[A-Z][a-z]* is the capital of \[MASK\] ."' both.html | sort -u | wc -l)" = 2
run_with two.txt attend mlm --svg two.svg
status 0
holds test -s two-2.svg
# A head has one scale on all inputs of a command, on the screen and in pictures.
end_of() { sed -n 's/.* \([0-9.]*\)  percent of a row.*/\1/p; s/.*>\([0-9.]*\)  of a row.*/\1/p' "$1" | sort -u; }
longest="Paris is the capital of [MASK] and Rome is the capital ."
run attend mlm "$TEXT" "$longest" --head 2 --svg one.svg
status 0
holds test "$(grep -c "percent of a row" out)" = 2
holds test "$(end_of out | wc -l)" = 1
holds test "$(cat one.svg one-2.svg | end_of - | wc -l)" = 1
end_of out >all
: >each
for text in "$TEXT" "$longest"; do
    run attend mlm "$text" --head 2
    end_of out >>each
done
holds test "$(sort -u each | wc -l)" = 2
holds test "$(sort -g each | tail -1)" = "$(cat all)"
for mode in "--query 2" "--query 7 --occlude"; do
    run attend mlm "$TEXT" "$longest" $mode --svg one.svg
    holds test "$(cat one.svg one-2.svg | end_of - | wc -l)" = 1
done

# Pairs: cross attention by itself, the other stacks when asked for, a target of the user's.
for a in a b c d e f; do for b in g h i j; do printf '%s%s\t%s%s\n' $a $b $b $a; done; done >pairs.tsv
TINY="--width 16 --block 8 --batch 8 --steps 6"
run train seq2seq pairs.tsv -o s2s $TINY --layers 2 --heads 2
run attend s2s ag --target ga
status 0
says "ag → ga"
says "(most concentrated of 4 heads in 2 layers)"
run attend s2s ag --target ga --png pair.png
quiet
run attend s2s ag --target "gΩ"
status 0
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
run attend letters "Paris is" --words --csv words.csv --npz words.npz --png words.png --svg words.svg --html words.html
status 0
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
run attend mlm "$TEXT" --key 2,5 --numbers --head 1
says "which tokens attend to token 2, Paris, and token 5, capital:"
row >both
for key in 2 5; do
    run attend mlm "$TEXT" --key $key --numbers --head 1
    row >row-$key
done
holds awk 'FNR == 1 {f++} {for (i = 1; i <= NF; i++) x[f, i] = $i; n = NF}
    END {for (i = 1; i <= n; i++) if ((x[1, i] - x[2, i] - x[3, i]) ^ 2 > 4e-6) exit 1}' both row-2 row-5
for wrong in "2,99 no such token" "2, no such token" "2,2 token 2 is chosen twice"; do
    run attend mlm "$TEXT" --query "${wrong%% *}"
    refuses 2 "${wrong#* }"
done
run attend mlm "$TEXT" --query 2,5 --rollout
refuses 2 "--query of several tokens and --rollout: expected one of them"

# A second text is another source; a query is of the target, and the source's columns show who looks at them.
run attend s2s ag ga
status 0
warns "the second text is a source, too; hint: a target is given with --target"
run attend s2s ag bh ci
quiet
run attend s2s ag ga --target ga
quiet
run attend s2s ag --target ga --query g
status 0
run attend s2s ag --target gg --query a
refuses 2 "--query a: no such token of the target: expected g, g, [SEP] or a number from 1 to 3; hint: --key shows which tokens look at it"
run attend s2s ag --target gg --key a --numbers
says "which tokens attend to token 1, a: cross, layer"
says "share of each token's attention (1 = 100 %)"
run attend s2s ag --target bb --key b
refuses 2 "--key b: no such token of the source: expected a, g, [SEP] or a number from 1 to 3; hint: --query shows what it looks at"
run attend s2s ag --target gg --query z
refuses 2 "expected g, g, [SEP] or a number from 1 to 3"
hides hint
printf 'ag\tgag\n' >longer.tsv
run heads s2s longer.tsv --json
json heads.0.queries 3
json heads.8.queries 4
json alike.cross.queries 4
run heads s2s longer.tsv
status 0
says "means over 3 (encoder), 4 (decoder), 4 (cross) queries"
says "share on [CLS] and [SEP]"
run attend s2s ag --target ""
refuses 2 "--target is empty"
run attend s2s ag --target ga --stack decoder --layer 1
says "decoder, layer 1 of 2"
says "[CLS]"
run attend s2s ag --target ga --json --layers 2
json blocks.0.layer 2
json blocks.2.stack cross
json axes.1.labels.2 "[SEP]"
run train rnn pairs.tsv -o rnn $TINY
run attend rnn ag --target ga --json
status 0
json blocks.0.additive true
json blocks.0.scores.0.2.2
json blocks.0.q.0.2.0
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
run classify class "the film was good" --attention
refuses 2 "unknown option --attention; hint: \`heed attend RUN INPUT\` shows what a run attends to"
run classify class "the film was good" --overlay no.png
refuses 2 'hint: `heed attend class "TEXT"`'
# Nothing is predicted at one token: the attention beside other measures is the mean of the rows. A gradient, of which
# the positive part is shown, has no scale below 0.
run attend class "the film was good" --occlude --gradient --svg class.svg
says "attention: shares of a row, mean of the rows (1 = 100 %)"
holds grep -q '>[0-9.]*  of attention, mean of the rows (1 = 100 %)<' class.svg
run attend class "the film was good" --query 2 --occlude --gradient
says "token 2 (attention) and with the prediction (occlusion, gradient):"
run attend class "the film was good" --query 2 --rollout
says "what each token has to do with token 2:"
holds grep -q '>gradient: 0 to [0-9.e-]*, attention times' class.svg

# Pictures: patches over the picture.
digits_maker
./digits png --train 20 --test 10 --png
run train vit png -o vit --steps 2 --batch 4 --layers 2 --heads 2 --width 8 --val-split 0.2
status 0
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
# Nearly uniform rollout has the scale of nearly uniform heads, which is not repeated.
if grep -q '>rollout: 0 to 0' patches.svg; then fail "one scale twice"; else pass; fi
holds test "$(grep -o 'http[^"]*' patches.svg)" = http://www.w3.org/2000/svg
holds grep -q ">Darker is more. $NOTE" patches.svg
run attend vit "$one" --svg gradient.svg --gradient
holds grep -q '>0 to [0-9.e-]*<' gradient.svg # below the panel, not -0
two=$(find png/test -name '*.png' | sed -n 2p)
run attend vit "$one" "$two" --svg pair.svg
status 0
says "wrote pair-$(basename "$two" .png).svg"
holds test "$(cat pair-*.svg | grep -c "  of a row&#39;s attention (1 = 100 %)<")" = 2
# All heads have one scale, also if one is drawn: of a model whose heads are sharp.
run train vit png -o sharp --steps 1 --batch 4 --layers 1 --heads 2 --width 16 --init-std 1.5 --val-split 0.2
for head in 1 2; do run attend sharp "$one" --head $head --svg sharp$head.svg; done
holds test "$(cat sharp1.svg sharp2.svg | end_of - | wc -l)" = 1
# Each picture has the scale that it has alone, so that a sharp head of one does not make the others pale.
run train vit png -o keen --steps 2 --batch 4 --layers 2 --heads 2 --width 8 --val-split 0.2 --init-std 1
: >each
for picture in "$one" "$two"; do
    run attend keen "$picture"
    end_of out >>each
done
run attend keen "$one" "$two"
holds test "$(sort -u each | wc -l)" = 2
holds test "$(end_of out)" = "$(sort -u each)"
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
run attend vit "$one" --occlusion
refuses 2 "did you mean --occlude?"
run_with "$one" attend vit - --json --layers 1
json axes.0.grid.rows
json picture.channels 1
json picture.png_base64
run attend vit facts.txt
refuses 3 "facts.txt"
run attend vit
refuses 2 "missing picture"
run attend vit "$one" --query 99,1
refuses 2 "expected cls, a patch as ROW,COLUMN"
run attend gpt "$one"
refuses 2 "is a picture"
run attend vit "$one" --query CLS
status 0

# What is wrong is said; nothing is written.
run attend mlm "$TEXT" --layer 2
refuses 2 "--layer 2: expected 1 to 1"
run attend mlm "$TEXT" --head 3
refuses 2 "--head 3: expected 1 to 2, mean or max"
run attend mlm "$TEXT" --head x
refuses 2 "expected 1 to 2, mean or max"
run attend mlm "$TEXT" --query Pariss --svg no.svg
refuses 2 "did you mean Paris?"
run attend mlm "$TEXT" --query mask
refuses 2 "did you mean [MASK]?"
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
for query in 0 2.5; do
    run attend mlm "$TEXT" --query $query
    refuses 2 "--query $query: no such token: expected a token or a number from 1"
done
for setting in "--mass 0.5" --cells "--discard 0.1" "--fuse max" "--window 2" --no-qk "--target x"; do
    run attend mlm "$TEXT" $setting
    refuses 2 "has no effect here"
done
for setting in "--head 1" "--layer 1"; do
    run translate s2s ag $setting
    refuses 2 "has no effect here: expected --attention"
done
run attend mlm "$TEXT" --html no.html --layers 1-7
refuses 2 "--layers 1-7: expected 1 to"
run attend mlm "$TEXT" --html no.html --heads 2-9
refuses 2 "--heads 2-9: expected 1 to"
run attend mlm "$TEXT" --layers 2-1
refuses 2 "--layers 2-1: expected numbers from 1"
run attend nowhere "$TEXT"
status 3
silent
run influence mlm "$TEXT" --target x
refuses 2 "--target has no effect"
run attend mlm "$TEXT" --svg nowhere/a.svg
status 1
warns "nowhere/a.svg"
: >empty.txt
run_with empty.txt attend mlm
silent

# Hostile tokens are shown as they are, and do nothing.
long=$(head -c 10000 /dev/zero | tr '\0' a)
esc=$(printf '\033')
printf '%s\n' "</script> \" ${esc}[m שלום 👩 $long" >hostile.txt
run_with hostile.txt attend mlm --json
status 0
json axes.0.labels.4
holds test "$(grep -c "$long" out)" = 1
holds grep -qF '\u001b' out
run_with hostile.txt attend mlm --svg h.svg --csv h.csv
status 0
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
run attend mlm "Paris is the capital of [MASK] ." "Rome is the [MASK] of Italy ." "Oslo"
status 0
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
run attend side-1,side-2 "Paris is ." --png side.png --svg side.svg --html side.html
status 0
says "side-1: mlm of 2 layers"
says "side-2: mlm of 2 layers"
says "side-2 less side-1"
holds test "$(grep -c '^wrote' out)" = 3
holds grep -q 'side-2 less side-1' side.svg
holds grep -q '"run":"side-2"' side.html
run attend side-1,side-2 "Paris is ." --json
status 0
holds test "$(wc -l <out)" = 2
holds grep -q '"run":"side-2"' out
run attend side-1,side-2 "Paris is ." --query 2
says "side-2 less side-1"
run attend side-1,side-1 "Paris is ." # a run less itself is 0
holds awk '/^side-1 less side-1/ { on = 1 } on && /[1-9][0-9]*$/ && /0\.[0-9]*[1-9]/ { bad = 1 } END { exit bad || !on }' out
run attend side-1,side-3 "Paris is ."
refuses 2 "the layers or heads of side-1 and side-3 differ"
run attend side-1,side-2 "Paris is ." --npz x.npz
refuses 2 "--npz and --csv hold one run"
run attend side-1,nowhere "Paris is ."
refuses 3 "nowhere"
# view: two models are no moments of one training.
for seed in 1 2; do run attend side-$seed "Paris is ." --npz m$seed.npz; done
run view m1.npz m2.npz --html two.html
status 0
holds grep -q '"run":"side-2"' two.html
