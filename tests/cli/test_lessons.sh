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

# Four stages: without parameters Paris gets least; with W_q, W_k and W_v the gap attends to Paris and to capital.
run explain paris --json
near "steps.1.matrices.what each word counts.0.0" 0 0
near "steps.1.matrices.what each word counts.0.3" 3 0
near "steps.2.matrices.what each word counts.1.0" "1 / (1 + 3 * exp(2) + exp(3))" 1e-8
near "steps.3.matrices.what each word counts.0.3" "3 / sqrt(5)" 1e-8
near "steps.4.matrices.what each word counts.1.0" "exp(9 / sqrt(2)) / (exp(9 / sqrt(2)) + exp(8 / sqrt(2)) + 3)" 1e-8
near "steps.4.matrices.what each word counts.1.3" "exp(8 / sqrt(2)) / (exp(9 / sqrt(2)) + exp(8 / sqrt(2)) + 3)" 1e-8
near weights.0.3 "exp(8 / sqrt(2)) / (exp(9 / sqrt(2)) + exp(8 / sqrt(2)) + 3)" 1e-8
json sources '["Paris","is","the","capital","of"]'
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

# h = X a.
run explain mix --json
near "steps.1.matrices.h = X a.0.0" "2 * .5 + .45" 1e-12
near steps.1.matrices.size.0.0 1 1e-12
near steps.1.matrices.size.3.0 1.45 1e-12
# The notes' example, whose third row is faulty, as it is and divided by its sums.
json "steps.2.matrices.A as printed.0" '[0.0,1.0,0.0]'
near "steps.2.matrices.A as printed.1.0" .7 0
near "steps.2.matrices.A as printed.1.1" .3 0
near "steps.2.matrices.A as printed.2.2" .5 0
near "steps.2.matrices.its sums.0.0" 1 1e-12
near "steps.2.matrices.its sums.1.0" 1 1e-12
near "steps.2.matrices.its sums.2.0" 1.45 1e-12
near "steps.2.matrices.A / its sums.2.0" ".5 / 1.45" 1e-8
near "steps.2.matrices.A / its sums.2.1" ".45 / 1.45" 1e-8
near steps.1.matrices.size.0.2 3 0
near steps.1.matrices.size.1.2 1 0
json notation columns
run explain mix --json
for k in 0 1 2; do near "steps.2.matrices.their sums.$k.0" 1 1e-12; done
near steps.1.matrices.size.4.1 1 1e-12
near steps.1.matrices.size.4.0 0 1e-12
near weights.0.1 "exp(2) / (exp(4) + exp(2) + 1)" 1e-8

# The hard choice, the mean, and what lies between.
run explain store --hard --json
near output.0.0 5 0
near output.1.0 9 0
run explain store --beta 0 --json
near output.0.0 "14 / 3" 1e-8
near output.1.0 "14 / 3" 1e-8
run explain store --json
near output.1.0 "(5 * exp(4 * .936) + 9 * exp(4 * .96)) / (exp(4 * .28) + exp(4 * .936) + exp(4 * .96))" 1e-7
# A store is managed: overwritten values count, deleted ones do not.
near "steps.3.matrices.get(orange).2.0" 9 0
near "steps.3.matrices.get(orange).3.0" 8 0
near "steps.3.matrices.get(orange).3.1" "(5 * exp(4 * .936) + 8 * exp(4 * .96)) / (exp(4 * .28) + exp(4 * .936) + exp(4 * .96))" 1e-7
near "steps.3.matrices.get(orange).4.1" "8 * exp(4 * .96) / (exp(4 * .28) + exp(4 * .96))" 1e-7
json steps.3.matrices.stored.4 '[0.0,null,8.0]'
run explain beta --json
json steps.0.rows.output.0 0
near steps.0.matrices.output.0.0 "14 / 3" 1e-8
near steps.0.matrices.entropy.0.0 "log(3) / log(2)" 1e-8
json steps.0.rows.output.24 1000
near steps.0.matrices.output.24.0 9 1e-9
for k in 3 9 15 21; do
    b=$(awk "BEGIN {printf \"%.17g\", 10 ^ (-2 + 5 * ($k - 1) / 23)}")
    near steps.0.matrices.output.$k.0 "(5 * exp($b * .936) + 9 * exp($b * .96)) / (exp($b * .28) + exp($b * .936) + exp($b * .96))" 1e-6
done

# The variance of q'k is d within three times its margin of 95 %, on any seed.
for seed in 1 2; do
    run explain variance --seed $seed --json
    for k in 0 1 2 3 4 5 6 7 8; do
        near "steps.0.matrices.variance of q'k.$k.0" "$((4 << k))" "3 * $("$JSON" "steps.0.matrices.variance of q'k.$k.1" <out)"
        near "steps.0.matrices.entropy, bits.$k.1" 3.4 0.25
    done
    near "steps.0.matrices.entropy, bits.8.0" 0 0.3
    near steps.0.matrices.gradient.8.0 0 0.1
    near steps.0.matrices.gradient.8.1 0.3 0.03
done

# Scores move with the words to the last bit, outputs to the rounding of sums; not so with positions or a mask.
for seed in 1 5; do
    run explain shuffle --seed $seed --json
    near "steps.0.matrices.largest |f(s(x)) - s(f(x))|.0.0" 0 0
    near "steps.0.matrices.largest |f(s(x)) - s(f(x))|.0.1" 0 1e-15
    near "steps.0.matrices.largest |f(s(x)) - s(f(x))|.0.2" 0 1e-14
    holds awk "BEGIN {exit !($("$JSON" "steps.0.matrices.largest |f(s(x)) - s(f(x))|.1.2" <out) > 0.1 && $("$JSON" "steps.0.matrices.largest |f(s(x)) - s(f(x))|.2.2" <out) > 0.1)}"
    # A memory in another order gives the same context; a ViT without positions, outputs that move with their patches.
    near steps.1.matrices.c.1.0 "$("$JSON" steps.1.matrices.c.0.0 <out)" 1e-6
    holds awk "BEGIN {exit !($("$JSON" steps.1.matrices.weights.0.0 <out) > 0.01)}"
    near "steps.2.matrices.by positions.0.0" 0 1e-5
    near "steps.2.matrices.by positions.0.1" 0 1e-6
    holds awk "BEGIN {exit !($("$JSON" "steps.2.matrices.by positions.1.0" <out) > 0.1 && $("$JSON" "steps.2.matrices.by positions.1.1" <out) > 0.01)}"
done

run explain heads --json
for k in 0.0 3.5; do near "steps.3.matrices.one layer of 3 heads.$k" "$("$JSON" "steps.3.matrices.one head at a time, added.$k" <out)" 1e-6; done
run explain similarity --json
for k in 1 2 3 4 5; do near "steps.$k.matrices.context by heed_attend.0.1" "$("$JSON" steps.$k.matrices.context.0.1 <out)" 1e-5; done
near steps.3.matrices.scores.0.0 "$("$JSON" steps.2.matrices.scores.0.0 <out) / 2" 1e-7
near steps.4.matrices.scores.0.1 "$("$JSON" steps.3.matrices.scores.0.1 <out)" 0

# Keys and values are products of what is shown.
near steps.5.matrices.K.1.0 "$("$JSON" steps.0.matrices.H.1.0 <out) * $("$JSON" steps.5.matrices.W_k.0.0 <out) + $("$JSON" steps.0.matrices.H.1.1 <out) * $("$JSON" steps.5.matrices.W_k.1.0 <out) + $("$JSON" steps.0.matrices.H.1.2 <out) * $("$JSON" steps.5.matrices.W_k.2.0 <out) + $("$JSON" steps.0.matrices.H.1.3 <out) * $("$JSON" steps.5.matrices.W_k.3.0 <out)" 1e-7

# Q = z W_q + B_q, each with its own bias: by hand.
run explain bias --json
json Q '[[3.5,1.5],[0.5,2.5],[1.5,0.5]]'
json K '[[1.0,1.0],[1.0,2.0],[0.0,1.0]]'
json V '[[1.0,1.0,1.0],[1.0,3.0,-1.0],[1.0,2.0,-1.0]]'
near weights.0.0 "exp(5 / sqrt(2)) / (exp(5 / sqrt(2)) + exp(6.5 / sqrt(2)) + exp(1.5 / sqrt(2)))" 1e-8

# The position code by its formula; equal distances, equal products.
run explain positions --json
near steps.0.matrices.E.3.2 "sin(.3)" 1e-8
near steps.0.matrices.E.11.1 "cos(11)" 1e-8
near "steps.2.matrices.E E'.0.3" "$("$JSON" "steps.2.matrices.E E'.5.8" <out)" 1e-12
# A kernel is the same for every text, attention is not.
run explain templates --json
json "steps.0.matrices.kernel, text 1" "$("$JSON" "steps.0.matrices.kernel, text 2" <out)"
near "steps.1.matrices.attention, text 2.1.3" "exp(12 / sqrt(3)) / (1 + exp(8 / sqrt(3)) + exp(2 / sqrt(3)) + exp(12 / sqrt(3)))" 1e-8
# The decoder sees nothing later; its feed-forward network is a convolution of width 1.
run explain decoder --json
json "steps.1.matrices.A, self.0" '[1.0,0.0,0.0]'
near steps.3.matrices.F.2.1 "$("$JSON" "steps.3.matrices.F by convolutions.2.1" <out)" 1e-6
# Recurrences by hand: h[1] and h[2], a[1], c[1] and s[1].
of() { "$JSON" "steps.$1" <out; }
tanh() { awk "BEGIN {x = $1; printf \"%.17g\", (exp(2 * x) - 1) / (exp(2 * x) + 1)}"; }
run explain rnn --json
for i in 0 1; do
    near steps.3.matrices.h.0.$i "$(tanh "$(of 0.matrices.W_hx.$i.0) * $(of 3.matrices.x.0.0) + $(of 0.matrices.W_hx.$i.1) * $(of 3.matrices.x.0.1) + $(of 0.matrices.b_h.0.$i)")" 1e-6
    near steps.3.matrices.h.1.$i "$(tanh "$(of 0.matrices.W_hx.$i.0) * $(of 3.matrices.x.1.0) + $(of 0.matrices.W_hx.$i.1) * $(of 3.matrices.x.1.1) + $(of 0.matrices.W_hh.$i.0) * $(of 3.matrices.h.0.0) + $(of 0.matrices.W_hh.$i.1) * $(of 3.matrices.h.0.1) + $(of 0.matrices.b_h.0.$i)")" 1e-6
    near steps.5.matrices.s_0.0.$i "$(of 3.matrices.h.2.$i)" 0
    near steps.7.matrices.c.1.$i "$(of 6.matrices.a.1.0) * $(of 3.matrices.h.0.$i) + $(of 6.matrices.a.1.1) * $(of 3.matrices.h.1.$i) + $(of 6.matrices.a.1.2) * $(of 3.matrices.h.2.$i)" 1e-6
done
near steps.6.matrices.a.0.1 "exp($(of 6.matrices.e.0.1)) / (exp($(of 6.matrices.e.0.0)) + exp($(of 6.matrices.e.0.1)) + exp($(of 6.matrices.e.0.2)))" 1e-6
near steps.9.matrices.y.1.0 "1 - ($(of 9.matrices.y.1.1)) - ($(of 9.matrices.y.1.2))" 1e-9
json steps.4.matrices.moment '[[1.0,2.0,3.0],[1.0,1.0,1.0]]'
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

# Patches: m d = p, the mean of each patch, and the library's convolution with the same numbers.
run explain patches --json
near steps.2.matrices.z.1.6 "$("$JSON" steps.1.matrices.x.0.14 <out)" 0
near steps.3.matrices.zE.0.0 "3 / 16" 1e-12
near steps.3.matrices.zE.1.1 "-3" 1e-12
near "steps.3.matrices.by heed_conv.1.1" -3 1e-6
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
# Convolutions that are dense layers.
run explain conv --json
for k in 1 2; do near "steps.$k.matrices.dense layer.1.1" "$("$JSON" steps.$k.matrices.convolution.1.1 <out)" 1e-6; done
holds awk "BEGIN {d = $("$JSON" "steps.1.matrices.dense layer.0.0" <out); exit !(d * d > 0)}"
# Who sees whom: 5 places, all before, all; what is not seen is exactly 0.
run explain recap --json
json steps.3.matrices.seen.0.0 54.0
json steps.3.matrices.seen.1.0 78.0
json steps.3.matrices.seen.2.0 144.0
near steps.0.matrices.convolution.0.3 0 0
holds awk "BEGIN {exit !($("$JSON" steps.0.matrices.convolution.0.2 <out) > 0.1)}"
near steps.1.matrices.recurrence.4.5 0 0
holds awk "BEGIN {exit !($("$JSON" steps.1.matrices.recurrence.11.0 <out) > 0)}"

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
