# heed explain NAME: the further examples, their numbers against closed forms.
# near PATH VALUE TOLERANCE: what the JSON has there; VALUE and TOLERANCE may be expressions of awk.
near() {
    found=$("$JSON" "$1" <out) || { fail "not JSON, or without $1"; return; }
    if awk "BEGIN {d = ($found) - ($2); exit !(d <= $3 && -d <= $3)}"; then pass; else fail "$1 is $found, expected $2 within $3"; fi
}
# No line of stdout is wider than 80 columns.
narrow() {
    if tr -d '\200-\277' <out | LC_ALL=C awk 'length > 80 {exit 1}'; then pass; else fail "a line has more than 80 columns"; fi
}

run explain --list
for name in lion paris mix store bias beta variance shuffle heads similarity patches conv rnn positions templates decoder recap; do says "  $name "; done
for name in similarity paris beta; do
    run explain $name
    sed -n '/^try:/,$s/^\(try:\|    \) *heed //p' out >tries
    while read -r line; do
        case $line in
        *" -o "*) case $line in train*" data/"*" -o runs/"*) pass ;; *) fail "no run folder: $line" ;; esac ;;
        *) run $line && status 0 ;;
        esac
    done <tries
    holds test -s tries
done
for name in paris mix store beta variance shuffle heads similarity patches conv rnn positions templates decoder recap; do
    ok explain $name
    quiet
    narrow
    says "try: heed explain $name"
    says "ook at "
    ok explain $name --json
    json example $name
done

run explain paris --beta 0 --json
near weights.0.3 "1 / 5" 1e-8
near output.0.0 "2 / 5" 1e-8
# Stages, words and JSON follow the settings, here those of the hard and of the even choice.
near "steps.4.matrices.what each word counts.1.0" "1 / 5" 1e-12
run explain paris --beta 0
says "The gap attends to Paris (0.20), is (0.20), the (0.20), capital (0.20) and of"
run explain paris --hard
says "The hard selection gives all weight to the largest score: Paris (1.00)."
says "These fit best, equally well: France and baguette."
run explain paris --hide Paris,is,the,capital,of
says "All words are hidden, so that every weight is 0."
# q, K and V are shown.
run explain paris
says "    z                                         W_q                 q"
says "The gap attends to Paris (0.67) and capital (0.33)."
# Queries and inputs are counted apart.
run explain paris --notation columns
says "m = t = N_X = 5 tokens, each with a key and a value; N_Q = 1 queries; d = n ="
says "Inputs: 1"
run explain store --notation columns
says "m = t = N_X = 3 tokens, each with a key and a value; N_Q = 2 queries; d = n ="
# Remarks are on the given matrices, not on learned ones.
run explain
says "ADJ queries NOUN"
run explain --learn 3
hides "queries NOUN"
run explain paris --learn 3 --json
json notes '{}'
json units.q '["1","2"]'
# Either word alone leaves two answers that fit alike.
run explain paris --hide capital
says "France   [1.99]"
says "baguette [1.99]"
run explain paris --hide Paris
says "Japan    [1.98]"

# What an example prints as JSON, the command reads again.
for name in paris mix store bias; do
    run explain $name --json
    mv out $name.json
    ok explain --from $name.json --json
    json output "$("$JSON" output <$name.json)"
    json units "$("$JSON" units <$name.json)"
done

# The hard choice, the mean, and what lies between.
run explain store --hard --json
near output.0.0 5 0
near output.1.0 9 0
run explain store --beta 0 --json
near output.0.0 "14 / 3" 1e-8
near output.1.0 "14 / 3" 1e-8

# A run of an rnn, whatever its cell and attention: the steps give the model's own probabilities, or fail.
printf 'ab\tba\nabc\tcba\nca\tac\nbca\tacb\n' >pairs.tsv
train_rnn() { run train rnn pairs.tsv -o rnn --force --steps 3 --width 4 --block 6 --batch 2 --val-split 0 --progress none "$@" && status 0; }
train_rnn --cell rnn --one-bias --no-bidirectional --bridge copy
ok explain rnn abc
says "h[t] = g(W_h [x[t] ; h[t-1]] + b_h)"
says "s[0] = h[T]"
says "f_att is a small network"
narrow
train_rnn --cell gru --attention none
run explain rnn abc
says "c = the last state of each direction"
train_rnn --cell lstm --attention general --layers 2 --value-width 3
ok explain rnn abc --json
train_rnn --cell gru --attention scaled --key-width 3 --hard
run explain rnn abc
says "a[t] = 1 at the largest"
run explain rnn abc --beta 2
refuses 2 "--beta: example of a recurrent model has no single head to change"
rm -rf rnn

run explain patches --patch 2 --json
near steps.3.matrices.zE.1.0 "2 / 4" 1e-12
holds test "$("$JSON" steps.3.matrices.E <out | tr -cd '[' | wc -c)" = 5
run explain patches --patch 3
refuses 2 "--patch 3: expected a divisor of 8"
# Pictures of the user's: squares of whole patches, large ones made smaller.
${CC:-cc} -std=c11 -o picture "$here/picture.c"
./picture grey.bmp 8 200 200 200
ok explain patches grey.bmp --patch 3 --json
holds test "$("$JSON" steps.1.matrices.x <out | tr -cd , | wc -c)" = 35
near steps.1.matrices.x.0.0 "200 / 255" 0.05
near "steps.3.matrices.by heed_conv.0.0" "$("$JSON" steps.3.matrices.zE.0.0 <out)" 1e-5
./picture large.bmp 90 250 120 10
run explain patches large.bmp
says "A picture of 32 x 32 grey pixels"
says "m = 64"
narrow
run explain patches large.bmp --patch 64
says "A picture of 64 x 64 grey pixels"
run explain patches grey.bmp --patch 1
says "m = 64"
hides "Row 1 is"
refused <<'END'
3 explain patches nothing.png | "nothing.png"
2 explain patches grey.bmp --patch 9 | --patch 9: the picture has only 8 x 8 pixels
2 explain recap grey.bmp | one argument too many: grey.bmp: example recap has no input
2 explain lion --patch 2 | --patch: example lion has no patches
END

# Settings and files leave an example its own words; what is of the ten steps alone asks for those.
run explain store --hard --html store.html
says "put(key, value)"
says "The hard get of both queries"
says "orange [     0      0      1]  [   9]"
says "beta 64 [  0.00   0.18   0.82]  [8.29]"
says "wrote store.html"
holds grep -q '"hard":true' store.html
run explain store --beta 20
says "The soft get of both queries with beta = 20:"
run explain store --cell 1,1
says "7. Scale"
run explain mix --hard --beta 2 --tex mix.tex
says "Attention without parameters: h = X a"
says "A = hardmax(2 X' X) of each column"
says "runs  [   2    2    0]"
run explain mix --hide lion
says "0 for words that are hidden"
run explain paris --hard
says "    V[argmax q K']"
run explain store --causal
refuses 2 "none comes later"

# What an example has no use for is refused before anything is written.
refused <<'END'
2 explain variance --hard | --hard: example variance has no single head to change
2 explain similarity --exercise --tex similarity.tex | --exercise: example similarity has no single head to change
END
absent similarity.tex
# Every example has every form: picture, LaTeX, page, columns, and a reader who predicts its numbers.
printf '1\n1\n1\n' >answers
for name in lion paris mix store bias beta variance shuffle heads similarity patches conv rnn positions templates decoder recap; do
    ok explain $name --png $name.png --tex $name.tex --html $name.html
    says "wrote $name.png"
    holds [ "$(head -c 4 $name.png | tail -c 3)" = PNG ]
    holds test "$(tr -cd '{' <$name.tex | wc -c)" = "$(tr -cd '}' <$name.tex | wc -c)"
    holds grep -q 'bordermatrix' $name.tex
    holds grep -q '"lists":{"rows":' $name.html
    ok explain $name --notation columns
    quiet
    ok_with answers explain $name --step
    case $name in beta | variance | recap) ;; *) says "What is " ;; esac
done
# The picture is of the weights as they are computed: other settings, another picture.
run explain --png plain.png
run explain --png hard.png --hard
holds cmp -s plain.png lion.png
holds sh -c '! cmp -s plain.png hard.png'
run explain --png sheet.png --exercise
refuses 2 "--png has no effect here: --exercise asks for the weights"
absent sheet.png
run explain beta --png no/such/folder.png
status 1
silent
# Lines fit the terminal.
fits_in 80 explain variance
fits_in 80 explain beta
fits_in 40 explain --list
fits_in 80 explain --list
