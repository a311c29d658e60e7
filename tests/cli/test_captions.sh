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

ok data check caption s/train.tsv
quiet
says "81 captions of 81 pictures"
says "9 captions of 9 pictures"
says 'captions say "'
says "s/train/00000.png"
says "heed train caption s/train.tsv"
says "batch 8, steps 4,000: reaches a lower loss"
ok data check caption t/train.tsv --val t/val.tsv --json
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
ok train caption s/train.tsv --val s/val.tsv -o run $TINY --steps 6 --pad 2 --snapshots 2
warns "90 captions of 90 pictures"
warns 'captions say "'
says "12 validation pictures captioned"
says "heed caption run PICTURE"
holds awk -F'\t' 'NF == 3 && $1 ~ /val/ { n++ } END { exit n < 4 }' run/samples.txt
holds test -s run/snapshots/1-00000006.npz
ok eval run
quiet
says "12 pictures"
says "BLEU"
ok eval run --json --beam 2 --most 5 --translations made.tsv
holds awk -F'\t' 'NF != 3 { exit 1 } END { exit NR != 5 }' made.tsv
head -2 s/train.tsv >s/one.tsv # a header and a caption
ok eval run s/one.tsv
says "s/one.tsv, 1 picture"
run eval run s/val.tsv
says "s/val.tsv, the validation data of the run, 12 pictures"
ok eval run s/unseen.tsv --json
json pictures 30
# A file that is cut off, and validation on the training's own file.
head -c $(($(wc -c <s/train.tsv) - 9)) s/train.tsv >s/cut.tsv
ok train caption s/cut.tsv --val s/val.tsv -o cut $TINY --steps 1
warns "the last line has no end: s/cut.tsv: the file may have been cut off"
ok train caption s/train.tsv --val s/../s/train.tsv -o same $TINY --steps 1
warns "--val is the training file: s/../s/train.tsv"
# The same bits with other threads, and where a training run went on after a stop.
STEADY="--filters 4 --width 16 --batch 8 --pad 2 --schedule constant --warmup 0 --progress none"
run train caption s/train.tsv -o one $STEADY --steps 14 --threads 1
# A folder with metadata.jsonl, as an image folder of Hugging Face's.
mkdir folder
cp s/train/*.png folder
awk -F'\t' 'NR > 1 { sub(".*/", "", $1); printf "{\"file_name\": \"%s\", \"text\": \"%s\"}\n", $1, $2 }' s/train.tsv >folder/metadata.jsonl
ok data check caption folder
says "81 captions of 81 pictures"
ok train caption folder -o of-folder $STEADY --steps 14 --threads 1
holds cmp -s one/model.safetensors of-folder/model.safetensors
ok eval of-folder
says "folder, validation part"
run train caption s/train.tsv -o two $STEADY --steps 9 --threads 3 --workers 0
ok resume two --steps 14 --threads 2
holds cmp -s one/last/model.safetensors two/last/model.safetensors

ok caption run s/val/00000.png s/val/00001.png
holds awk -F'\t' 'NF != 2 || $1 != "s/val/0000" NR - 1 ".png" { exit 1 } END { exit NR != 2 }' out
ok caption run s/val/00000.png --json --weights --attention a.png
holds test "$(head -c 4 a.png | tail -c 3)" = PNG
# The probabilities of the words are that of the caption; the weights of a word sum to 1.
holds awk '{ match($0, /"log_probability":-[0-9.e-]*/); all = substr($0, RSTART + 18, RLENGTH - 18) + 0
    n = split($0, p, /"probability":/); for (i = 2; i <= n; i++) sum += log(p[i] + 0)
    sub(/.*"weights":\[\[/, ""); sub(/\].*/, ""); n = split($0, w, ","); for (i = 1; i <= n; i++) one += w[i]
    exit (all - sum) ^ 2 > 1e-6 || (one - 1) ^ 2 > 1e-6 || n != 64 }' out
ok caption run s/val/00000.png --samples 3 --temperature 2 --seed 4 --json
json captions.2.caption
cp out first
run caption run s/val/00000.png --samples 3 --temperature 2 --seed 4 --json
holds cmp first out
# Nearly uniform draws: no special token that captions do not hold.
ok caption run s/val/00000.png --samples 12 --temperature 50
hides "[PAD]"
hides "[CLS]"
hides "[MASK]"
ok caption run s/val/0000[01].png --attention b.png --cells
holds test -s b-00000.png -a -s b-00001.png
ok caption run s/val
holds test "$(wc -l <out)" = 12
# One that cannot be decoded: the others still print.
echo nothing >c.png
run caption run s/val/00000.png c.png none.png s/val/00001.png
status 3
holds test "$(wc -l <out)" = 2
warns c.png
warns none.png

ok attend run s/val/00001.png
says "attention of each word"
says "strongest patches"
run attend run s/val/00001.png --query 2 --top 2
says "attention of token 2"
says "head 1"
ok attend run s/val/00001.png --target "a large red cross" --png c.png --html c.html --npz c.npz --csv c.csv --json
json axes.1.labels '["a","large","red","cross","[SEP]"]'
json axes.0.grid.rows 8
holds test "$(wc -l <c.csv)" = $((1 + 5 * 64))
holds grep -q 'a large red cross' c.html
ok attend run s/val/00001.png --target "a large red cross" --occlude --query 3
says occlusion
ok snapshots run

# Blocks have attention of their own beside that to the picture, which is the one that is drawn.
run train caption s/train.tsv -o blocks $TINY --decoder transformer --decoder-layers 2 --heads 2 --steps 2 --progress none
ok caption blocks s/val/00000.png --attention e.png --layer 1 --head 2 --weights --json
json attention.layer 1
json attention.rows 8
holds test -s e.png
ok attend blocks s/val/00001.png --target "a red circle" --stack decoder
says "decoder, layer 2 of 2"
run caption blocks s/val/00000.png --attention e.png --layer 3
refuses 2 "--layer 3"

# What is refused.
run train caption s/train.tsv -o no $TINY --flip 0.5
refuses 2 'captions say "'
absent no
run caption run s/val/00000.png --beam 2 --samples 2
status 2
refused <<'END'
2 caption run s/val/00000.png --weights | --json
2 caption run s/val/00000.png --top-k 3 | --samples
2 attend run s/val/00001.png --rollout | no self-attention
2 ablate run --patches | --patches has no effect here
2 classify run s/val/00000.png | heed caption run
END
run train caption s/train.tsv -o fixed $TINY --steps 1 --attention none
ok caption fixed s/val/00000.png
run caption fixed s/val/00000.png --attention d.png
refuses 2 "one fixed context"
absent d.png
absent no
for hard in '{"image": "val/00000.png"}' '{"image": "val/00000.png", "caption": ""}' '["val/00000.png"]' '{"image": 1'; do
    printf '%s\n' "$hard" >s/hard.jsonl
    run data check caption s/hard.jsonl --val-split 0
    refuses 3 "hard.jsonl:"
done
printf '{"image": "val/00000.png", "caption": "one"}\n{"image": "../s/val/00001.png", "caption": "two"}\n' >s/two.jsonl
ok data check caption s/two.jsonl --val-split 0 --json
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
ok train caption s/parts.csv -o parts $TINY --steps 1
run eval parts
says "parts.csv, test part, 9 pictures"
run eval parts s/parts.csv --json
json pictures 9
sed 's/^[^,]*,/test,/; 1s/test/split/' s/parts.csv >s/tests.csv
run eval parts s/tests.csv --json
json pictures 49
printf 'val/00000.png\ta\n..\tb\nval\tc\nno.png\td\n/dev/null\te\n' >s/mixed.tsv
ok data check caption s/mixed.tsv --val-split 0 --json
json pictures 1
json skipped.3.why "it is no file"
refused <<'END'
3 train caption s/mixed.tsv -o no $TINY --strict --val-split 0 | picture cannot be read
3 train caption s -o no | s is a folder: caption reads a file
3 train caption none.tsv -o no | none.tsv
END
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
