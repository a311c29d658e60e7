# Captions of pictures: the maker, data check, train, eval, caption, attend, and what is refused.
for level in 0 2; do
    ${CC:-cc} -std=c11 -O$level -o shapes$level "$here/../../data/shapes.c" -lz || fail "cannot build data/shapes.c"
done
make_shapes() {
    COMMAND="shapes $*"
    ./shapes2 "$@" >out 2>err
    STATUS=$?
}
make_shapes s --train 90 --val 12 --unseen 30 --size 32
status 0
quiet
silent
./shapes0 t --train 90 --val 12 --unseen 30 --size 32
holds diff -r s t
make_shapes t --train 90 --val 12 --size 32 --seed 2
holds test "$(cksum <s/train.tsv)" != "$(cksum <t/train.tsv)"
make_shapes t --train 40 --val 1 --captions 2
# A second caption says the same from the other shape: "A left of B", "B right of A".
holds awk -F'\t' 'NR > 1 && $1 == file && split($2, b, / (left of|right of|above|below) /) == 2 {
    n++; split(before, a, / (left of|right of|above|below) /); if (a[1] != b[2] || a[2] != b[1]) exit 1 }
    { file = $1; before = $2 } END { exit n < 10 }' t/train.tsv
# What unseen.tsv combines is in no other file; every picture of it has one such combination.
combinations() { grep -o '[a-z]* \(circle\|square\|triangle\|cross\)' "$1" | sort -u; }
combinations s/train.tsv >seen
combinations s/unseen.tsv >all
holds test "$(comm -13 seen all | wc -l)" = 4
comm -13 seen all >new
holds test "$(grep -cF -f new s/unseen.tsv)" = 30
# Boxes lie in the picture, and their phrases in the captions.
holds awk -F'\t' 'FNR == 1 { next } NR == FNR { caption[$1] = $2; next }
    ($1 in caption) && (!index(caption[$1], $2) || $3 < 0 || $4 < 0 || $3 + $5 > $7 || $4 + $6 > $7) { exit 1 }' s/train.tsv s/boxes.tsv
for wrong in "" "a b" "a --train 0" "a --size 31" "a --captions 3" "a --val" "a --depth 2"; do
    make_shapes $wrong
    status 2
    warns usage
done
make_shapes /dev/null/x
status 1
warns /dev/null/x

run data check caption s/train.tsv
status 0
quiet
says "81 captions of 81 pictures"
says "9 captions of 9 pictures"
says 'captions say "'
says "s/train/00000.png"
says "heed train caption s/train.tsv"
says "batch 8, steps 4,000: reaches a lower loss"
run data check caption t/train.tsv --val t/val.tsv --json
status 0
json chosen.0.settings "batch 8, steps 4000"
json pictures 40
json val_pictures 1
json most 2
json fewest 1
json directions true
json skipped '[]'
run data check caption s/train.tsv --val s/train.tsv
says "90 of validation and test have the pixels of a training picture"

TINY="--filters 4 --width 16 --batch 8 --threads 1 --block 12"
run train caption s/train.tsv --val s/val.tsv -o run $TINY --steps 6 --pad 2 --snapshots 2
status 0
warns "90 captions of 90 pictures"
warns 'captions say "'
says "12 validation pictures captioned"
says "heed caption run PICTURE"
holds awk -F'\t' 'NF == 3 && $1 ~ /val/ { n++ } END { exit n < 4 }' run/samples.txt
holds test -s run/snapshots/1-00000006.npz
run eval run
status 0
quiet
says "12 pictures"
says "BLEU"
run eval run --json --beam 2 --most 5 --translations made.tsv
status 0
json pictures 5
json exact
json token_accuracy
holds awk -F'\t' 'NF != 3 { exit 1 } END { exit NR != 5 }' made.tsv
head -2 s/train.tsv >s/one.tsv # a header and a caption
run eval run s/one.tsv
status 0
says "s/one.tsv, 1 picture"
run eval run s/val.tsv
says "s/val.tsv, the validation data of the run, 12 pictures"
run eval run s/unseen.tsv --json
status 0
json pictures 30
# A file that is cut off, and validation on the training's own file.
head -c $(($(wc -c <s/train.tsv) - 9)) s/train.tsv >s/cut.tsv
run train caption s/cut.tsv --val s/val.tsv -o cut $TINY --steps 1
status 0
warns "the last line has no end: s/cut.tsv: the file may have been cut off"
run train caption s/train.tsv --val s/../s/train.tsv -o same $TINY --steps 1
status 0
warns "--val is the training file: s/../s/train.tsv"
# The same bits with other threads, and where a training run went on after a stop.
STEADY="--filters 4 --width 16 --batch 8 --pad 2 --schedule constant --warmup 0 --progress none"
run train caption s/train.tsv -o one $STEADY --steps 14 --threads 1
cp s/train.tsv s/copied.tsv
run eval one
kept=$(sed 1d out)
run eval one s/copied.tsv
status 0
says "s/copied.tsv, validation part"
holds test "$(sed 1d out)" = "$kept"
run eval one s/one.tsv
status 0
says "s/one.tsv, 1 picture"
# A folder with metadata.jsonl, as an image folder of Hugging Face's.
mkdir folder
cp s/train/*.png folder
awk -F'\t' 'NR > 1 { sub(".*/", "", $1); printf "{\"file_name\": \"%s\", \"text\": \"%s\"}\n", $1, $2 }' s/train.tsv >folder/metadata.jsonl
run data check caption folder
status 0
says "81 captions of 81 pictures"
run train caption folder -o of-folder $STEADY --steps 14 --threads 1
status 0
holds cmp -s one/model.safetensors of-folder/model.safetensors
run eval of-folder
status 0
says "folder, validation part"
run train caption s/train.tsv -o two $STEADY --steps 9 --threads 3 --workers 0
run resume two --steps 14 --threads 2
status 0
holds cmp -s one/last/model.safetensors two/last/model.safetensors

run caption run s/val/00000.png s/val/00001.png
status 0
holds awk -F'\t' 'NF != 2 || $1 != "s/val/0000" NR - 1 ".png" { exit 1 } END { exit NR != 2 }' out
run caption run s/val/00000.png --json --weights --attention a.png
status 0
json input s/val/00000.png
json caption
json words.0.word
json words.0.probability
json attention.rows 8
holds test "$(head -c 4 a.png | tail -c 3)" = PNG
# The probabilities of the words are that of the caption; the weights of a word sum to 1.
holds awk '{ match($0, /"log_probability":-[0-9.e-]*/); all = substr($0, RSTART + 18, RLENGTH - 18) + 0
    n = split($0, p, /"probability":/); for (i = 2; i <= n; i++) sum += log(p[i] + 0)
    sub(/.*"weights":\[\[/, ""); sub(/\].*/, ""); n = split($0, w, ","); for (i = 1; i <= n; i++) one += w[i]
    exit (all - sum) ^ 2 > 1e-6 || (one - 1) ^ 2 > 1e-6 || n != 64 }' out
run caption run s/val/00000.png --png no.png
refuses 2 "did you mean --attention FILE?"
run attend run s/val/00000.png --svg title.svg # the name of the file, without its folder
holds grep -q ">00000.png → " title.svg
run caption run s/val/00000.png --samples 3 --temperature 2 --seed 4 --json
status 0
json captions.2.caption
cp out first
run caption run s/val/00000.png --samples 3 --temperature 2 --seed 4 --json
holds cmp first out
# Nearly uniform draws: no special token that captions do not hold.
run caption run s/val/00000.png --samples 12 --temperature 50
status 0
hides "[PAD]"
hides "[CLS]"
hides "[MASK]"
run caption run s/val/0000[01].png --attention b.png --cells
status 0
holds test -s b-00000.png -a -s b-00001.png
run caption run s/val
status 0
holds test "$(wc -l <out)" = 12
# One that cannot be decoded: the others still print.
echo nothing >c.png
run caption run s/val/00000.png c.png none.png s/val/00001.png
status 3
holds test "$(wc -l <out)" = 2
warns c.png
warns none.png
ls s/val/0000[0-2].png >list
run_with list caption run
status 0
holds test "$(wc -l <out)" = 3
run_with s/val/00000.png caption run
says "-	"

run attend run s/val/00001.png
status 0
says "attention of each word"
says "strongest patches"
run attend run s/val/00001.png --query 2 --top 2
says "attention of token 2"
says "head 1"
run attend run s/val/00001.png --target "a large red cross" --png c.png --html c.html --npz c.npz --csv c.csv --json
status 0
json axes.1.labels '["a","large","red","cross","[SEP]"]'
json axes.0.grid.rows 8
holds test "$(wc -l <c.csv)" = $((1 + 5 * 64))
holds grep -q 'a large red cross' c.html
run attend run s/val/00001.png --target "a large red cross" --occlude --query 3
status 0
says occlusion
run influence run s/val/00001.png --target "a red"
status 0
run heads run --batches 1
status 0
run ablate run --batches 1
status 0
run snapshots run
status 0

# Blocks have attention of their own beside that to the picture, which is the one that is drawn.
run train caption s/train.tsv -o blocks $TINY --decoder transformer --decoder-layers 2 --heads 2 --steps 2 --progress none
run caption blocks s/val/00000.png --attention e.png --layer 1 --head 2 --weights --json
status 0
json attention.layer 1
json attention.rows 8
holds test -s e.png
run attend blocks s/val/00001.png --target "a red circle" --stack decoder
status 0
says "decoder, layer 2 of 2"
run caption blocks s/val/00000.png --attention e.png --layer 3
refuses 2 "--layer 3"

# What is refused.
run train caption s/train.tsv -o no $TINY --flip 0.5
refuses 2 'captions say "'
absent no
run caption run s/val/00000.png --beam 2 --samples 2
status 2
run caption run s/val/00000.png --weights
refuses 2 "--json"
run caption run s/val/00000.png --top-k 3
refuses 2 "--samples"
run attend run s/val/00001.png --rollout
refuses 2 "no self-attention"
run ablate run --patches
refuses 2 "--patches has no effect here"
run classify run s/val/00000.png
refuses 2 "heed caption run"
run train caption s/train.tsv -o fixed $TINY --steps 1 --attention none
run caption fixed s/val/00000.png
status 0
run caption fixed s/val/00000.png --attention d.png
refuses 2 "one fixed context"
absent d.png
run train caption s/train.tsv -o no $TINY --steps 1 --attention none --hard
refuses 2 "--hard has no effect here: expected --attention additive"
run train caption s/train.tsv -o no $TINY --kv-heads 2
refuses 2 "--kv-heads has no effect here: expected --encoder vit or --decoder transformer, found --encoder cnn and --decoder rnn"
run train caption s/train.tsv -o no $TINY --decoder transformer --rope-theta 100
refuses 2 "--rope-theta has no effect here: expected --positions rotary, found --positions sinusoidal"
absent no
# The picture that is drawn replaces neither the one that is read nor a file of the run.
cp s/val/00000.png keep.png
run caption run keep.png --attention keep.png
refuses 2 "output would replace the input: --attention keep.png"
run caption run keep.png --attention run/model.safetensors
refuses 2 "output would replace a file of the run: --attention"
run caption run keep.png --attention none/d.png
refuses 1 "there is no folder none"
holds cmp -s s/val/00000.png keep.png
for hard in '{"image": "val/00000.png"}' '{"image": "val/00000.png", "caption": ""}' '["val/00000.png"]' '{"image": 1'; do
    printf '%s\n' "$hard" >s/hard.jsonl
    run data check caption s/hard.jsonl --val-split 0
    refuses 3 "hard.jsonl:"
done
printf '{"image": "val/00000.png", "caption": "one"}\n{"image": "../s/val/00001.png", "caption": "two"}\n' >s/two.jsonl
run data check caption s/two.jsonl --val-split 0 --json
status 0
json pictures 2
# A column of parts is honoured: evaluation reads the test part, which training leaves out.
awk -F'\t' 'BEGIN { print "split,comment,image" } NR > 1 && !($1 in seen) {
    seen[$1]; n++; print (n > 40 ? "test" : n > 30 ? "val" : "train") ",\"" $2 "\"," $1 }' s/train.tsv | sed 50q >s/parts.csv
run data check caption s/parts.csv --json
json captions 30
json val_captions 10
json test_captions 9
run data check caption s/parts.csv
says "9 rows are of the test part, which only eval reads"
hides "further columns"
run train caption s/parts.csv -o parts $TINY --steps 1
status 0
run eval parts
says "parts.csv, test part, 9 pictures"
run eval parts s/parts.csv --json
json pictures 9
sed 's/^[^,]*,/test,/; 1s/test/split/' s/parts.csv >s/tests.csv
run eval parts s/tests.csv --json
json pictures 49
run train caption s/tests.csv -o none $TINY
refuses 3 "no captions: "
printf 'val/00000.png\ta\n..\tb\nval\tc\nno.png\td\n/dev/null\te\n' >s/mixed.tsv
run data check caption s/mixed.tsv --val-split 0 --json
status 0
json pictures 1
json skipped.3.why "it is no file"
run train caption s/mixed.tsv -o no $TINY --strict --val-split 0
refuses 3 "picture cannot be read"
run train caption s -o no
refuses 3 "s is a folder: caption reads a file"
run train caption none.tsv -o no
refuses 3 none.tsv
# data/captions-score.sh counts.
score() {
    COMMAND="captions-score.sh $*"
    sh "$here/../../data/captions-score.sh" "$@" >out 2>err </dev/null
    STATUS=$?
}
score run s/val.tsv s/boxes.tsv
status 0
json pictures 12
json exact
score run
status 2
