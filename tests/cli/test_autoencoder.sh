# Auto-encoders: pictures with and without classes, reconstruction, codes.
digits_maker
./digits idx --train 120 --test 30
./digits png --train 20 --test 10 --png
CODE="--code 3 --hidden 16 --depth 1 --batch 20 --image-size 14"
MASKED="--kind masked --layers 1 --heads 2 --width 8 --decoder-layers 1 --batch 20"

# A code: what training leaves, and better than before.
run train autoencoder idx -o code $CODE --steps 60 --lr 0.01
status 0
says "test part, read once with the best weights: error 0."
says "heed reconstruct code PICTURE..."
warns "no flip"
hides "accuracy"
for f in config.conf model.safetensors loss.png reconstructions.png last/state.json; do holds test -s code/$f; done
absent code/labels.txt
holds test "$(head -c 8 code/reconstructions.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a
holds grep -q '^60,,test,0\.[0-9]*,,,,,$' code/metrics.csv
hides "classes = "
run resume code
status 0
hides "test part"

# Evaluation: the error, the codes as points and as numbers.
run eval code --code codes.png --csv codes.csv
status 0
says "idx, test part"
says "pictures     30"
says "mean squared error, of pixels from 0 to 1"
says "wrote codes.png"
holds test -s codes.png
holds test "$(head -1 codes.csv)" = "input,class,z1,z2,z3"
holds test "$(wc -l <codes.csv)" = 31
run eval code --json
status 0
json part test
json items 30
json hidden_patches 0
json error
# Without training it is 0.028.
holds awk -v e="$found" 'BEGIN { exit !(e > 0.001 && e < 0.022) }'
run eval code --code codes.jpg
refuses 2 "what is written is PNG"
run eval code --code both --csv both
refuses 2 "two outputs in one file"
run eval code --code code/model.safetensors
status 2
run eval code --csv nowhere/codes.csv
status 1
run eval code idx --part val
status 0
says "pictures     10"

# Hidden patches: the same in every call, another share, nothing hidden where attention is shown.
run train autoencoder idx -o masked $MASKED --steps 20
status 0
run eval masked
status 0
says "of hidden patches, 12 of 16"
cp out first
run eval masked --threads 3
holds cmp -s first out
run eval masked --json
json hidden_patches 12
run train autoencoder idx -o third $MASKED --steps 4 --hide 0.3 --norm-target
status 0
run eval third
says "of hidden patches, 5 of 16"
says "of each patch less its mean"
picture=png/test/3/00003.png
run attend masked $picture --json
status 0
json blocks.0.path encoder.0.attn
json blocks.1.path decoder.0.attn
json axes.0.count 17
run heads masked --batches 1
status 0
says "decoder layer 1, head 2"
says "over 340 queries"
run ablate masked --batches 1
status 0
says "encoder layer 1, head 1"
run attend masked $picture --occlude
refuses 2 "nothing is chosen here: autoencoder predicts pixels"
run ablate masked --patches
status 2
warns "nothing is chosen here"
run attend code $picture
status 2
warns "has no attention layers"

# The same bits with any number of threads and micro-batches of data, and after a resume.
STEADY="--schedule constant --warmup 0 --eval-every 3"
run train autoencoder idx -o whole $MASKED $STEADY --steps 6 --threads 3
run train autoencoder idx -o parts $MASKED $STEADY --steps 3 --threads 1
run resume parts --steps 6
status 0
holds cmp -s whole/last/model.safetensors parts/last/model.safetensors

# A classifier from its encoder.
# A model without patches takes what it has; here nothing.
run train mlp idx --from masked -o bad --steps 1
refuses 2 "no weights of masked fit"
# caption has another setting of the name `attention`.
run train caption none.tsv --from masked -o bad --steps 1
refuses 3 "none.tsv"
run train vit idx --from masked -o vit --steps 2 --batch 8
status 0
warns "encoder.0.*"
warns "only in the run, not used"

# Pictures: errors, a sheet, one that cannot be decoded.
echo damaged >bad.png
run reconstruct masked $picture bad.png png/test/4/00004.png --png sheet.png
status 3
says "  $picture"
says "  png/test/4/00004.png"
says "wrote sheet.png"
warns "bad.png"
holds test "$(grep -c '^0\.[0-9]' out)" = 2
holds test -s sheet.png
run reconstruct masked $picture --json
status 0
json input $picture
json hidden_patches 12
json error
run reconstruct code png/test --json
status 0
holds test "$(grep -c '"hidden_patches": *0' out)" = 10
run reconstruct vit $picture
refuses 2 "reconstruct requires an auto-encoder of pictures"
run classify code $picture
refuses 2 "\`heed reconstruct code\`"
run eval vit idx --code features.png
status 0
says "wrote features.png"

# Pictures without classes: a folder of pictures, IDX files without labels.
mkdir flat && cp png/train/*/*.png flat
run train autoencoder flat -o plain --code 3 --depth 1 --batch 20 --kind conv --filters 4 --steps 2
status 0
holds grep -q "folder, 1 class$" err
warns "18 for training, 2 for validation"
holds grep -q '^flip = 0$' plain/config.conf
run eval plain flat --code plain.png --csv plain.csv
status 0
holds test "$(sed -n 2p plain.csv | cut -d, -f2)" = '"unlabelled"'
rm idx/*labels*
run train autoencoder idx -o bare $CODE --steps 2
status 0
run data check autoencoder flat
status 0
says "unlabelled"
run train cnn flat -o cnn --steps 2
status 3
warns "a folder for each class"

# Settings that do not fit.
run train autoencoder flat -o bad --kind masked --patch 28
refuses 2 "at least 2 patches"
run train autoencoder flat -o bad --kind masked --positions rotary
refuses 2 "rotary"
run train autoencoder flat -o bad --balance
refuses 2 "--balance has no effect here"
run train autoencoder flat -o bad --hide 0.5
refuses 2 "--hide has no effect here: expected --kind masked, found --kind dense"
run train autoencoder flat -o bad --heads 2 --kind conv
refuses 2 "--heads has no effect here: expected --kind masked, found --kind conv"
run train autoencoder flat -o bad --code 3 --kind masked
refuses 2 "--code has no effect here: expected --kind dense or --kind conv, found --kind masked"
run train autoencoder flat -o bad --hidden 16 --depth 0
refuses 2 "--hidden has no effect here: expected --depth other than 0, found --depth 0"
run train autoencoder flat -o bad --kind masked --hide 0
refuses 2 "--hide"
run help train autoencoder
says "of classifiers: weigh classes"
run train autoencoder flat -o bad --kind dens
status 2
absent bad
