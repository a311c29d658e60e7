# data/digits.c: pictures that are a function of the seed, whole files, usage.
maker=$here/../../data/digits.c
for level in 0 2; do ${CC:-cc} -std=c11 -O$level -ffp-contract=off -o digits$level "$maker" -lz -lm; done
make_set() {
    COMMAND="digits $*"
    ./digits2 "$@" >out 2>err
    STATUS=$?
}
bytes() { od -An -v -tu1 -j "$2" -N "$3" "$1" | tr -s ' \n' ' '; }

make_set a --train 30 --test 20 --seed 7
status 0
quiet
silent
holds test "$(bytes a/train-images-idx3-ubyte 0 16)" = " 0 0 8 3 0 0 0 30 0 0 0 28 0 0 0 28 "
holds test "$(bytes a/t10k-labels-idx1-ubyte 0 19)" = " 0 0 8 1 0 0 0 20 0 1 2 3 4 5 6 7 8 9 0 "
holds test "$(wc -c <a/train-images-idx3-ubyte)" = $((16 + 30 * 784))
holds test "$(wc -c <a/t10k-images-idx3-ubyte)" = $((16 + 20 * 784))
./digits0 b --train 30 --test 20 --seed 7
holds diff -r a b
# A longer set begins with the shorter one; a part and a seed are pictures of their own.
make_set c --train 40 --seed 7
holds test "$(bytes a/train-images-idx3-ubyte 16 23520)" = "$(bytes c/train-images-idx3-ubyte 16 23520)"
make_set d --train 30 --test 20 --seed 8
holds test "$(bytes a/t10k-images-idx3-ubyte 16 784)" != "$(bytes d/t10k-images-idx3-ubyte 16 784)"
holds test "$(bytes a/t10k-images-idx3-ubyte 16 784)" != "$(bytes a/train-images-idx3-ubyte 16 784)"
# Ink and paper: 30 to 392 of a picture's 784 pixels are darker than three quarters of its mean shade.
for i in 0 7 12 19; do
    dark=$(bytes a/t10k-images-idx3-ubyte $((16 + i * 784)) 784 |
        awk '{for (i = 1; i <= NF; i++) s += $i; for (i = 1; i <= NF; i++) n += $i < 0.75 * s / NF; print n}')
    holds test "$dark" -ge 30 -a "$dark" -le 392
done

make_set p --png --train 20 --test 10
status 0
holds test "$(find p -name '*.png' | wc -l)" = 30
holds test -s p/train/7/00017.png
holds test "$(bytes p/test/3/00003.png 0 8)" = " 137 80 78 71 13 10 26 10 "

for wrong in "" "a b" "a --train" "a --train -1" "a --train 5x" "a --test 100000" "a --nothing"; do
    make_set $wrong
    status 2
    warns "usage"
done
make_set /dev/null/set
status 1
warns "/dev/null/set"
