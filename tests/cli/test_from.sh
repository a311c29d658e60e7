# A training run that starts from the weights of a run: what is taken and said, to the same bits; what is refused.
facts >facts.txt
sed 's/capital/cåpital/' facts.txt >others.txt
train_gpt one
ok train gpt others.txt --from one -o two --steps 4 --batch 4
warns "one: gpt, best weights of step 6; of its settings: layers = 1, heads = 2, width = 16, ff = 32"
warns "(36,16)"
warns "35 tokens taken, 1 new"
warns "its vocabulary is extended by å"
warns "decoder.0.*"
warns "12 tensors  taken"
says "on the validation part of one: loss"
holds grep -q '^from = one$' two/config.conf
holds grep -q '^tokenizer = one$' two/config.conf
holds grep -q '^width = 16$' two/config.conf
holds grep -q '^step 0: from one: decoder.0.mlp.up.weight (32,16): taken$' two/train.log
holds grep -q 'on the validation part of one, from which it started: loss .* before, .* after' two/train.log

# Its own settings file repeats it, at another thread count as well.
ok train gpt -c two/config.conf -o again --threads 3 --progress json --json
json forgotten.run one
holds grep -q '"from":{"run":"one","taken":15,"matched":1,"resized":0,"new":0,"unfit":0,"unused":0}' err
holds cmp -s two/model.safetensors again/model.safetensors
# The first checkpoint is written at once; without it, a resume starts from the same weights.
cp -r two died
rm -r died/last died/model.safetensors died/metrics.csv
ok resume died
says "on the validation part of one: loss"
holds cmp -s two/last/model.safetensors died/last/model.safetensors
rm -r died/last died/model.safetensors
mv one gone
run resume died
refuses 3 "run is missing: one"
ok resume two --steps 6
hides "on the validation part"
holds grep -q 'what was forgotten of one is not measured: run is missing' two/train.log
mv gone one

# What was given wins: another length, another width, another tokenizer, settings from a file.
ok train gpt facts.txt --from one -o longer --block 24 --steps 2 --batch 2
warns "16 positions taken, 8 new"
ok train gpt facts.txt --from one -o wide --width 32 --steps 2 --batch 2
warns "new: the run's (35,16) is of another width"
warns "more that do not fit; train.log in the run has all"
ok train gpt facts.txt --from one -o words --tokenizer word --steps 2 --batch 2
hides "extended"
hides "on the validation part"
holds grep -q 'is not measured: the tokenizer is another' words/train.log
echo 'norm-eps = 0.5' >eps.conf
ok train gpt facts.txt --from one -o filed -c eps.conf --steps 2 --batch 2
holds grep -q '^norm-eps = 0.5$' filed/config.conf
ok train gpt facts.txt --from one -o frozen --steps 2 --batch 2 --freeze 'decoder.*' --lr-scale 'embed.*=0.1'
warns "12 tensors"
run info frozen
cp out frozen.txt
run info one
for name in decoder.0.attn.qkv.weight decoder.0.mlp.up.weight; do
    holds test "$(grep "^$name" out)" = "$(grep "^$name" frozen.txt)"
done

# A classifier of a masked model: every tensor but the head. Then with other labels: the head is new again.
train_mlm mlm
sed -n 's/^\(.* is the \([cl]\).*\)/\2\t\1/p' facts.txt >labels.tsv
ok train textcls labels.tsv --from mlm -o textcls --steps 4 --batch 4
warns "embed.*      5 tensors   taken"
warns "12 tensors  taken"
warns "head.weight  (2,16)      new"
warns "4 tensors   only in the run, not used"
warns "bracket = true"
hides "pool = cls"
holds grep -q '^bracket = true$' textcls/config.conf
hides "on the validation part"
ok train textcls labels.tsv --from mlm -o plain --no-bracket --steps 1 --batch 4
hides "bracket = "
holds grep -q '^bracket = false$' plain/config.conf
ok train mlm facts.txt --from mlm -o pooler --pooler --steps 1 --batch 4
ok train textcls labels.tsv --from pooler -o pooled --steps 1 --batch 4
warns "pool = cls"
holds grep -q '^pool = cls$' pooled/config.conf
ok train textcls labels.tsv --from mlm -o other --tokenizer word --steps 1 --batch 4
printf 'a\n\nb\n' >texts.txt
ok_with texts.txt embed mlm --npy rows.npy
says "rows.npy: 3 vectors of 16 numbers"
ok classify textcls "Paris is the capital of France ."
ok train textcls labels.tsv --from textcls -o textcls2 --steps 2 --batch 4
warns "head.*       2 tensors   taken"
says "on the validation part of textcls: loss"
sed 's/^c/z/' labels.tsv >renamed.tsv
ok train textcls renamed.tsv --from textcls -o textcls3 --steps 2 --batch 4
warns "new: the run's (2,16) is of other classes"
holds grep -q 'is not measured: the classes are others' textcls3/train.log
ok data check textcls labels.tsv --from mlm
says "--from mlm"
hides "--preset"

# What cannot be: nothing is made then.
for flags in "--from none:3:run is missing: none" "--from facts.txt:3:expected the folder of a run, found a file" \
    "--from .:3:not a run" "--from mlm --width 48 --ff 48 --norm pre:2:no weights of mlm fit" \
    "--from mlm --freeze none*:2:--freeze matches no parameter" "--from mlm --freeze *:2:--freeze leaves nothing to train" \
    "--from mlm --lr-scale none=2:2:--lr-scale matches no parameter"; do
    set -f
    run train textcls labels.tsv -o bad ${flags%%:*} --steps 2 --progress none
    set +f
    rest=${flags#*:}
    refuses "${rest%%:*}" "${rest#*:}"
    absent bad
done
run train gpt facts.txt --from one -o one --force --progress none
refuses 2 "run to start from is the one to be made: one"
holds test -s one/model.safetensors
cp -r one damaged
printf x | dd of=damaged/model.safetensors bs=1 seek=3000 conv=notrunc 2>/dev/null
refused <<'END'
3 train gpt facts.txt --from damaged -o bad --progress none | is damaged
3 resume damaged --steps 30 --progress none | damaged/model.safetensors is damaged
END
mkdir foreign
echo '{"model_type": "gpt2"}' >foreign/config.json
run train gpt facts.txt --from foreign -o bad --progress none
refuses 3 "not a run: foreign"
absent bad

# Pictures: another size interpolates the positions, the normalisation is the run's, classes are matched by name.
${CC:-cc} -std=c11 -o picture "$here/picture.c"
for n in 1 2 3 4 5 6 7 8; do
    mkdir -p colours/red colours/blue others/blue others/crimson
    ./picture colours/red/$n.bmp 8 $((200 + n)) 20 $((10 * n))
    ./picture colours/blue/$n.bmp 8 20 $((5 * n)) $((200 + n))
    cp colours/red/$n.bmp others/crimson/$n.bmp
    cp colours/blue/$n.bmp others/blue/$n.bmp
done
VIT="--steps 2 --batch 4 --val-split 0.25"
ok train vit colours -o vit --layers 1 --heads 2 --width 8 --head binary $VIT
ok train vit colours --from vit -o large --image-size 16 $VIT
warns "mean and std of its pixels"
warns "head.*                 2 tensors   taken"
warns "(65,8)      interpolated from (17,8)"
says "on the validation part of vit: loss"
ok train vit others --from vit -o others-run --pool mean $VIT
warns "head.weight            (2,8)       new: the run's (1,8) is of"
warns "embed.cls              (1,1,8)     only in the run, not used"
warns "(16,8)      16 of its 17 positions taken"
holds grep -q '^head = softmax$' others-run/config.conf
refused <<'END'
2 train textcls labels.tsv --from vit -o bad | run to start from reads other data: vit
2 train vit colours --from mlm -o bad | run to start from reads other data: mlm
END
absent bad
run train cnn others --from vit -o bad --steps 1
refuses 2 "no weights of vit fit: "
absent bad
for n in 1 2 3 4; do printf 'red/%s.bmp\tred %s\nblue/%s.bmp\tblue %s\n' $n $n $n $n; done >colours/captions.tsv
ok train caption colours/captions.tsv --from vit -o captions --encoder vit --steps 1 --batch 2
holds grep -q 'from vit: encoder.0.attn.qkv.weight (24,8): taken' captions/train.log
