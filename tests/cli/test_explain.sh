# The worked example: steps, settings, files, sheets.
ok explain
quiet
says "features of the same name are different numbers."
says "lion     [0 1 3 0 0 0 0 0 0 0]   NOUN [0 2 0]   [1 6 0]"
says "11x10                 ·      10x3    = 11x3"
says "Q[lion, 2] = 1·0 + 3·2 = 6"
says "raw[lion, attacked] = 1·2 + 6·6 = 38"
says "scaled[lion, attacked] = 0.5774·38 = 21.94"
says "zebra    [2.50 3.50]"
says "NOUN queries VERB; VERB queries NOUN, OBJ,"

# Settings.
ok explain --hard --beta 3 --tex hard.tex
run explain --hard --beta 3
says "Here beta = 3 instead of the usual 1/sqrt(3) = 0.5774."
says "9. Weights: weights = 1 at the largest of each row"
says "Each token receives the one value that its row of weights chooses."
holds grep -qF 'zebra} & 0 & 0 & 0 & 1^{*} & 0 & 0 & 0^{=} & 0' hard.tex
run explain --hard
says "zebra    [   0     0     0     1*    0     0     0=    0     0     0     0 ]"
says "zebra (2 keys, first"
run explain --causal --cell weights:lion,hungry
says "-inf"
says "weights[lion, hungry] = exp(2.31)"
run explain --notation columns
says "H = V A"
says "Q[2, lion] = 1·0 + 3·2 = 6"
says "m = t = N_X = 11 tokens, each with a key and a value"
run explain --precision 4 --beta 0
says "output[lion, 1] = "
says "1.7273"
run explain --backward
says "dW_Q above      [28.578839990244]"
says "They differ by "
run explain --cell lion,12
refuses 2 "numbers up to 11,11"
run explain --hide the,zebra --json
json hidden "[0,0,0,0,1,0,1,0,1,0,0]"
json weights.2.6 0.0
ok explain --hide 1,2,3,4,5,6,7,8,9,10,11
says "A row whose scores are all hidden has nothing to choose from"
run explain --hide the
hides "nothing to choose from"
run explain --hide cat
refuses 2 "--hide is wrong"
for beta in much 1e308 -2e6 nan; do
    run explain --beta $beta
    refuses 2 "--beta is wrong: expected a number from -1e+06 to 1e+06"
done
run explain --from nope
refuses 3 "cannot read nope: No such file or directory"
echo '{"title": 5, "X": [[1]], "W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}' >title.json
refused <<'END'
3 explain --from title.json | title is wrong: title.json: expected a text
2 explain --exercise --json | --json has no effect here
2 explain --solution --step | --step has no effect here
2 explain --exercise --learn 3 | --learn has no effect here
2 explain --json --step | --step has no effect here: --json
2 explain --list lion | --list prints all examples
END
ok explain --json --html one.html
holds test "$(wc -l <out)" = 1
refused <<'END'
2 explain --rate 3 | --rate has no effect here: expected --learn N
2 explain --blanks 0.5 | --blanks has no effect here
END

# Forty columns: bands of columns, nothing wider.
COLUMNS=40 run explain --backward
status 0
says "columns 1-5"
holds test "$(tr -d '\200-\277' <out | LC_ALL=C awk 'length($0) > 40' | wc -l)" = 0
COLUMNS=80 run explain --backward
holds test "$(tr -d '\200-\277' <out | LC_ALL=C awk 'length($0) > 80' | wc -l)" = 0

# Predictions through a pipe.
printf '\n\n6\n8,5\nfour\n' >answers
ok_with answers explain --step
says "What is Q[lion, 2]? "
says "Right: Q[lion, 2] is 6."
says "Not this time: K[attacked, 3] is 9."
says "That is not a number: V[attacked, 1] is 4."
says "1 of 2 predictions were right."

# A sheet and its solution differ in the blanks alone.
run explain --exercise --seed 3
cp out exercise
says "____"
run explain --solution --seed 3
hides "____"
sed -n '/^1[.]/,$p' exercise | sed 's/_/./g; s/\[/\\[/g; s/\]/\\]/g; s/^/^/; s/$/$/' >patterns
sed -n '/^1[.]/,$p' out >solution
# shellcheck disable=SC2016
holds awk 'NR == FNR { p[FNR] = $0; next } $0 !~ p[FNR] { bad++ } END { exit bad > 0 || FNR < 80 }' patterns solution
ok explain --exercise --seed 3 --hard --tex sheet.tex
run explain --exercise --seed 3 --hard
says "5. Weights: 1 at the largest of each row"
holds grep -qF 'section*{Exercise 3: The hungry lion' sheet.tex
holds grep -q 'Fill in the [0-9]* blanks' sheet.tex
holds grep -qF '& \blank' sheet.tex
hides '\^{'
run explain --exercise --seed 4
holds sh -c '! cmp -s out exercise'
ok explain --exercise --seed 3 --html exercise.html
ok explain --solution --seed 3 --html solution.html
holds grep -q '"sheet":"Exercise 3"' exercise.html
holds grep -q '"sheet":"Solution 3"' solution.html
holds grep -q '"blanks":{"Q":..0,0,0.,.1,' exercise.html
holds grep -q '"blanks":{"Q":..0,0,0.,.2,' solution.html
# The page of an exercise holds no answers; it computes them from X and W, which are given.
holds sh -c 'grep -q "\"W_Q\":" exercise.html && ! grep -q "\"scores\":" exercise.html'
holds test "$(grep -o '"raw":' exercise.html | wc -l)" = 1 # the flags of its blanks
holds grep -q '"scores":' solution.html
run explain --exercise --solution
refuses 2 "two sheets"

# Learning.
ok explain --learn 200 --json
json learn.steps.50.step 200
json learn.rate 0.1
run explain --learn 200
says "200 [ 0.2"
says "log10 of the loss"
run explain --learn 20 --rate 1000000
status 4

# A teacher's own numbers.
run explain --json
cp out lion.json
run explain --from lion.json --json
holds cmp -s out lion.json
own() { printf '%s' "$1" >own.json; run explain --from own.json; }
own '{"X": [[1, 0], [0, 1]], "W_Q": [[1], [2]], "W_K": [[1], [0.5]], "W_V": [[1], [-1]]}'
status 0
says "Q = X W_Q"
own '{"X": [[1, 0], [0]], "W_Q": [[1], [2]], "W_K": [[1], [2]], "W_V": [[1], [-1]]}'
refuses 3 "X is wrong: own.json: row 2: expected 2 numbers as in row 1, found 1"
own '{"X": [[1, 0], [0, 1]], "W_Q": [[1]], "W_K": [[1], [2]], "W_V": [[1], [-1]]}'
refuses 3 "W_Q is wrong: own.json: expected 2 rows, one for each column of X; found 1"
own '{"X": [[1, 0], [0, 1]], "W_Q": [[1], [2]], "W_K": [[1, 2], [2, 1]], "W_V": [[1], [-1]]}'
refuses 3 "W_K is wrong: own.json: expected 1 columns, as many as W_Q has; found 2"
own '{"X": [[1, "0"]], "W_Q": [[1], [2]], "W_K": [[1], [2]], "W_V": [[1], [-1]]}'
refuses 3 "X is wrong: own.json: row 1, column 2: expected a number"
head='"X": [[1]], "W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]'
for part in '"notes": []' '"units": ["a"]' '"units": "a"'; do
    own "{$head, $part}"
    refuses 3 "expected an object"
done
own '{"X": [[1, NaN]]}'
refuses 3 "not valid JSON"
own '{"X": [[1, 1e300]], "W_Q": [[1], [2]], "W_K": [[1], [2]], "W_V": [[1], [-1]]}'
refuses 3 "expected a number from -1e+06 to 1e+06"
own '{"X": [[1, 0]], "W_Q": [[1], [2]], "W_K": [[1], [2]]}'
refuses 3 "W_V is wrong: own.json: missing"
own '{"X": [[1, 0]], "WQ": [[1], [2]]}'
refuses 3 "did you mean W_Q?"
own '{"X": [[1, 0]], "tokens": ["a", "b"], "W_Q": [[1], [2]], "W_K": [[1], [2]], "W_V": [[1], [-1]]}'
refuses 3 "tokens is wrong: own.json: expected a list of 1 labels, found 2"
own '[1, 2]'
refuses 3 "expected an object"
own ''
refuses 3 "text is empty"
# What the rounded terms do not give is no "=".
own '{"X": [[1, 0], [0, 1], [1, 1]], "W_Q": [[1, 0], [0, 1]], "W_K": [[0.6, 0], [0, 0]], "W_V": [[2], [4]]}'
run explain --from own.json --cell output:1,1
says "output[1, 1] = 0.38·2 + 0.25·4 + 0.38·6 ≈ 4.00"
run explain --from own.json --cell V:3,1
says "V[3, 1] = 1·2 + 1·4 = 6"
refused <<'END'
3 explain --from absent.json | absent.json
3 explain --from . | found a folder
END

# What stands behind a head: W_h, the other heads, add and norm, and the way back through them.
layer='"X": [[1, 3]], "W_Q": [[1], [1]], "W_K": [[1], [1]], "W_V": [[1], [0]], "W_h": [[2, 5]], "B_O": [[1, 0]], "others": [[0, 1]]'
own "{$layer}"
says "share[1, 2] = 1·5 = 5"
says "The other heads and the layer's bias B_O add theirs."
echo "{$layer}" >layer.json
run explain --from layer.json --backward --json
json all_heads "[[3.0,6.0]]"
json backward.loss 22.5
json backward.dU "[[3.0,6.0]]"
json backward.dB_O "[[3.0,6.0]]"
json backward.dW_h "[[3.0,6.0]]"
json backward.dO "[[36.0]]"
json backward.dW_V "[[36.0],[108.0]]"
json backward.check.1.of W_h
ok explain --from layer.json --backward --tex layer.tex
run explain --from layer.json --backward
says "13. Loss: dU = all heads"
says "dW_h[1, 2] = 1·6 = 6"
says "dO[1, 1] = 3·2 + 6·5 = 36"
says "They differ by"
holds grep -qF '{dW_h\ (1\times 2)}' layer.tex
holds grep -qF '{\text{share}\ (1\times 2)}' layer.tex
holds test "$(tr -cd '{' <layer.tex | wc -c)" = "$(tr -cd '}' <layer.tex | wc -c)"
echo "{$layer, \"gain\": [[2, 3]], \"bias\": [[0, 1]], \"eps\": 0}" >layer.json
run explain --from layer.json --backward --json
json normed "[[-2.0,4.0]]"
json backward.dY "[[-3.0,1.0]]"
json backward.dgain "[[3.0,1.0]]"
json backward.dbias "[[-3.0,1.0]]"
cp out again
# One row may be a plain list.
own "{$layer, \"gain\": [2, 3], \"bias\": [0, 1], \"eps\": 0}"
status 0
run explain --from own.json --json
json normed "[[-2.0,4.0]]"
own '{"X": [1, 2], "W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}'
refuses 3 "X is wrong: own.json: expected a list of rows"
own '{"X": [[1]], "W_Q": [[1]], "W_K": [[1]], "W_V": [[1]], "W_H": [[1]]}'
refuses 3 "did you mean W_h?"
# A cell that is shown is one that shows something.
own '{"X": [[3, 0], [0, 1], [0, 2]], "W_Q": [[2], [0.0000001]], "W_K": [[1], [2]], "W_V": [[1], [2]]}'
says "Q[1, 1] = 3·"
hides "= (1 smaller term)"
# A long sum shows its largest terms, here two of fourteen ones that come last.
own '{"X": [[1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 9, 8]], "W_Q": [[1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1]], "W_K": [[0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [0], [1]], "W_V": [[1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1], [1]]}'
tr '\n' ' ' <out >line
holds grep -qF "1·1 + 9·1 + 8·1 + (2 smaller terms) = 29" line
run explain --from again --backward --json
holds cmp -s out again
run explain --from layer.json --notation columns --backward
says "dW_h' = dU H'"
says "dO = W_h dU"
echo "{$layer, \"target\": [[3]]}" >layer.json
run explain --from layer.json --backward
says "W_h stands behind the output and"
# What is small is not all zeros.
own '{"X": [[1, 0.5]], "W_Q": [[0.001], [0.002]], "W_K": [[1], [2]], "W_V": [[1], [2]]}'
says "0.0020"
own "{$head, \"B_O\": [[1]]}"
refuses 3 "B_O is wrong: own.json: expected W_h beside it"
own "{$head, \"W_h\": [[1, 2]], \"gain\": [[1, 2]]}"
refuses 3 "W_h is wrong: own.json: expected 1 columns, as many as X has, for the norm; found 2"
own "{$head, \"W_h\": [[1, 2]], \"others\": [[1]]}"
refuses 3 "others is wrong: own.json: expected 2 columns, as many as W_h has; found 1"
own "{$head, \"W_h\": [[1]], \"gain\": [[1]], \"eps\": -1}"
refuses 3 "eps is wrong: own.json: expected a number from 0 to 1"

# Files.
ok explain --tex lion.tex --html lion.html
says "wrote lion.tex"
says "wrote lion.html"
says "The hungry lion attacked the slow zebra in the tall grass: 11 tokens have 10"
says "Without --html, --tex and --png the steps are printed."
hides "1. Tokens"
ok explain --exercise --html sheet.html
says "Exercise 1, 82 blanks"
hides "1. Queries"
holds test "$(grep -c '\\bordermatrix' lion.tex)" = 18
holds test "$(tr -cd '{' <lion.tex | wc -c)" = "$(tr -cd '}' <lion.tex | wc -c)"
holds grep -q 'W_Q' lion.html
ok explain --backward --tex lion.tex
holds grep -qF '{dQ\ (11\times 3)}' lion.tex
holds grep -qF 'Values: $dV\ =\ \text{weights}^\top \ dO$' lion.tex
holds grep -qF '28.578839990244' lion.tex
holds test "$(tr -cd '{' <lion.tex | wc -c)" = "$(tr -cd '}' <lion.tex | wc -c)"
hides dB_
run explain --backward --solution
refuses 2 "--backward has no effect here"
run explain --tex absent/lion.tex
status 1
absent absent
own '{"X": [[1]], "tokens": ["100% \\{a_b}~^&#$ \u2603 </script>"], "W_Q": [[1]], "W_K": [[1]], "W_V": [[1]]}'
status 0
ok explain --from own.json --tex odd.tex
holds grep -qF '100\% \textbackslash{}\{a\_b\}\textasciitilde{}\textasciicircum{}\&\#\$ [U+2603] </script>' odd.tex

# Labels and titles may hold anything: nothing of it moves the cursor or makes a line too wide.
a=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
cat >odd.json <<EOF
{"title": "\u001b[2J </title> \u202e $a", "tokens": ["</script>", "$a", "\u05e9\u05dc", "\u202e x", "\u001b[31m", "e", "f"],
 "X": [[1, 0], [0, 1], [2, 1], [1, 3], [0, 0], [1, 1], [2, 2]], "W_Q": [[1], [2]], "W_K": [[1], [0.5]], "W_V": [[1], [-1]],
 "W_h": [[1, 2]], "gain": [[1, 1]]}
EOF
for how in --backward "--hard --notation columns" --exercise; do
    for width in 40 80; do
        fits_in $width explain --from odd.json $how
        run explain --from odd.json $how
        hides "$(printf '\033')"
        hides "$(printf '\342\200\256')"
    done
done
ok explain --from odd.json --html odd.html
holds grep -qF 'u003c/script>' odd.html
holds sh -c '! grep -qF "\"</script>" odd.html'

# A head of a trained model.
facts >facts.txt
train_mlm mlm
status 0
ok explain mlm "Paris is the capital of [MASK] ." --head 2
quiet
says "Layer 1, head 2 of 2 (encoder.0.attn)"
says "Q = X W_Q + B_Q"
says "raw[[MASK], "
says "W_h: share = output W_h"
says "LN(X + all heads)"
says "Worked out in double from the model's own numbers"
ok explain mlm "Paris is the capital of [MASK] ." --backward --tex mlm.tex --html mlm.html
says "Layer 1, head 1 of 2 (encoder.0.attn)"
hides "dB_Q"
run explain mlm "Paris is the capital of [MASK] ." --backward
quiet
says "dB_Q = sum of the rows of dQ"
says "softmax does not see that"
says "L = 1/2 sum (Y - X)^2"
says "dgain = sum of the rows of dY N"
says "dB_O = sum of the rows of dU"
says "dW_h = output' dU"
says "dO = dU W_h'"
says "Check: a cell of each by finite difference"
holds grep -qF '{dW_h\ (8\times 16)}' mlm.tex
holds grep -qF '{dB_O\ (1\times 16)}' mlm.tex
holds grep -q '"key":"dgain"' mlm.html
holds grep -q '"key":"dW_h"' mlm.html
holds grep -qF '{dB_V\ (1\times 8)}' mlm.tex
holds grep -q '"key":"dB_K"' mlm.html
holds grep -q '"opening":"stack=encoder&layer=1&head=1"' mlm.html
run explain mlm "Paris is the capital of [MASK] ." --backward --json
json_has backward.dB_Q.0.7 backward.dB_V.0.7 backward.dW_h.7.15 backward.dB_O.0.15
for k in 0 1 2 3 4; do # W_Q W_h B_O gain bias
    difference=$("$JSON" backward.check.$k.difference <out) gradient=$("$JSON" backward.check.$k.gradient <out)
    holds awk "BEGIN {d = ($difference) - ($gradient); exit !(d * d < 1e-16 && ($gradient) != 0)}"
done
cp out plain
# The picture of a head of a run names the head.
run explain mlm "Paris is the capital of [MASK] ." --png named.png
run explain --from plain --png unnamed.png
holds test -s unnamed.png
if cmp -s named.png unnamed.png; then fail "the picture does not name the head"; else pass; fi
run explain mlm "Paris is the capital of [MASK] ." --json --hard --causal
holds test "$("$JSON" normed.0.0 <out)" != "$("$JSON" normed.0.0 <plain)"
holds test "$("$JSON" others <out)" = "$("$JSON" others <plain)"
run explain --from plain --json
json normed "$("$JSON" normed <plain)"
run train mlm facts.txt -o pre --tokenizer word --packing lines --norm pre $SMALL
run explain pre "Paris is the capital of [MASK] ." --backward
says "This model norms before attention"
says "L = 1/2 sum (all heads)^2"
hides "dgain"
run explain mlm "$(printf 'Paris \377')"
refuses 3 "the input is not text: byte 0xFF"
cp -r mlm "$(printf 'odd\377')"
run explain "$(printf 'odd\377')" Paris --json
json title Paris
refused <<'END'
2 explain mlm Paris --head 3 | --head 3: expected 1 to 2
2 explain mlm Paris --layer 2 | --layer 2: expected 1 to 1
2 explain mlm Paris --stack cross | no such layers
END
echo Paris >line
run_with line explain mlm
says Paris
run_with /dev/null explain mlm
refuses 3 "standard input: no lines"
refused <<'END'
2 explain lion Paris | has no input
2 explain --head 2 | --head requires a run
3 explain nothing Paris | nothing
2 explain tiger | unknown example tiger
END
echo '{}' >file.json
run explain file.json
refuses 2 "file.json is a file: expected heed explain --from file.json"
cp file.json picture.png
run explain mlm picture.png
refuses 2 "picture.png is a picture: the run reads texts (mlm)"
