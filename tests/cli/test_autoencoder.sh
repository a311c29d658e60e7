# Auto-encoders: pictures with and without classes, reconstruction, codes.
digits_maker
./digits idx --train 120 --test 30
./digits png --train 20 --test 10 --png
CODE="--code 3 --hidden 16 --depth 1 --batch 20 --image-size 14"
MASKED="--kind masked --layers 1 --heads 2 --width 8 --decoder-layers 1 --batch 20"

# A code: what training leaves, and better than before.
ok train autoencoder idx -o code $CODE --steps 60 --lr 0.01
says "test part, read once with the best weights: error 0."
says "heed reconstruct code PICTURE..."
warns "no flip"
hides "accuracy"
for f in config.conf model.safetensors loss.png reconstructions.png last/state.json; do holds test -s code/$f; done
absent code/labels.txt
holds test "$(head -c 8 code/reconstructions.png | od -An -tx1 | tr -d ' ')" = 89504e470d0a1a0a
holds grep -q '^60,,test,0\.[0-9]*,,,,,$' code/metrics.csv
hides "classes = "
ok resume code
hides "test part"

# Evaluation: the error, the codes as points and as numbers.
ok eval code --code codes.png --csv codes.csv
says "idx, test part"
says "pictures     30"
says "mean squared error, of pixels from 0 to 1"
says "wrote codes.png"
holds test -s codes.png
holds test "$(head -1 codes.csv)" = "input,class,z1,z2,z3"
holds test "$(wc -l <codes.csv)" = 31
ok eval code --json
json part test
json items 30
json hidden_patches 0
json error
# Without training it is 0.028.
holds awk -v e="$found" 'BEGIN { exit !(e > 0.001 && e < 0.022) }'
run eval code --csv nowhere/codes.csv
status 1
ok eval code idx --part val
says "pictures     10"

# Hidden patches: the same in every call, another share, nothing hidden where attention is shown.
ok train autoencoder idx -o masked $MASKED --steps 20
ok eval masked
says "of hidden patches, 12 of 16"
cp out first
run eval masked --threads 3
holds cmp -s first out
run eval masked --json
json hidden_patches 12
ok train autoencoder idx -o third $MASKED --steps 4 --hide 0.3 --norm-target
run eval third
says "of hidden patches, 5 of 16"
says "of each patch less its mean"
picture=png/test/3/00003.png
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
ok resume parts --steps 6
holds cmp -s whole/last/model.safetensors parts/last/model.safetensors

ok train vit idx --from masked -o vit --steps 2 --batch 8
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
ok reconstruct code png/test --json
holds test "$(grep -c '"hidden_patches": *0' out)" = 10
run reconstruct vit $picture
refuses 2 "reconstruct requires an auto-encoder of pictures"
ok eval vit idx --code features.png
says "wrote features.png"

# Pictures without classes: a folder of pictures, IDX files without labels.
mkdir flat && cp png/train/*/*.png flat
ok train autoencoder flat -o plain --code 3 --depth 1 --batch 20 --kind conv --filters 4 --steps 2
holds grep -q "folder, 1 class$" err
warns "18 for training, 2 for validation"
holds grep -q '^flip = 0$' plain/config.conf
ok eval plain flat --code plain.png --csv plain.csv
holds test "$(sed -n 2p plain.csv | cut -d, -f2)" = '"unlabelled"'
rm idx/*labels*
ok train autoencoder idx -o bare $CODE --steps 2
ok data check autoencoder flat
says "unlabelled"
run train cnn flat -o cnn --steps 2
status 3
warns "a folder for each class"

# Settings that do not fit.
refused <<'END'
2 train autoencoder flat -o bad --kind masked --patch 28 | at least 2 patches
2 train autoencoder flat -o bad --kind masked --positions rotary | rotary
END
run train autoencoder flat -o bad --kind dens
status 2
absent bad
