# What may be odd about pictures, settings and runs of pictures.
${CC:-cc} -o picture "$here/picture.c"
for i in 1 2 3 4 5 6 7 8; do
    mkdir -p colours/red colours/blue
    ./picture colours/red/$i.bmp 20 250 $((i * 9)) 0
    ./picture colours/blue/$i.bmp 20 0 $((i * 9)) 250
done
LITTLE="--image-size 16 --batch 4 --width 8 --layers 1"

# Presets serve any number of classes; what is asked for is meant.
run train mlp colours -o preset --preset mlp-mnist --convert --steps 1
status 0
holds grep -q '^classes = 2' preset/config.conf
run train mlp colours -o classes $LITTLE --classes 4
refuses 3 "hint: leave out --classes"
run train vit colours -o patches --image-size 31
refuses 2 "--image-size 30"
