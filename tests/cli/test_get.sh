# data/get.sh with a curl of our own: good files, wrong ones, broken off and taken up again; and with wget.
get=$here/../../data/get.sh
sum() { if command -v sha256sum >/dev/null; then sha256sum; else shasum -a 256; fi | cut -d ' ' -f 1; }
mkdir -p home bin made

# The program that fetches: from a folder instead of a URL, going on with what the output file holds. BREAK: only so many bytes, then a failure.
cat >bin/curl <<'END'
#!/bin/sh
for a; do [ "$before" = -o ] && file=$a; before=$a; done
from=home/${a##*/}
echo "$a" >>asked
[ -e "$from" ] || exit 22
have=0
[ -e "$file" ] && have=$(wc -c <"$file")
[ "$have" -ge "$(wc -c <"$from")" ] && exit 33
tail -c +$((have + 1)) "$from" | head -c "${BREAK:-100000000}" >>"$file"
[ -z "${BREAK:-}" ] || exit 18
END
chmod +x bin/curl

# The script itself, except for the sums: those of small files made here.
cp "$get" get.sh
publish() { # NAME SUM-IT-HAS CONTENTS
    printf '%s' "$3" | gzip >"home/$1"
    sed "s/$2/$(printf '%s' "$3" | sum)/" get.sh >get2.sh && mv get2.sh get.sh
}
publish train-images-idx3-ubyte.gz ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db "pictures for training"
publish train-labels-idx1-ubyte.gz 65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5 "labels for training"
publish t10k-images-idx3-ubyte.gz 0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7 "pictures for testing"
publish t10k-labels-idx1-ubyte.gz ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2 "labels for testing"
# get ARGS...: the script, with ours before every other curl.
get() {
    COMMAND="get.sh $*"
    PATH=$(pwd)/bin:$PATH sh get.sh "$@" >out 2>err </dev/null
    STATUS=$?
}
count() { find "$1" -type f | wc -l; }

get mnist set
status 0
says "mnist is in set"
says "heed train vit set"
holds test "$(count set)" = 4
holds test "$(gzip -dc <set/t10k-labels-idx1-ubyte.gz)" = "labels for testing"
rm asked
get mnist set
status 0
warns "there already"
absent asked

# A file that is damaged is fetched anew; a wrong one never gets its name, and both homes are asked.
echo damaged >set/t10k-labels-idx1-ubyte.gz
get mnist set
status 0
holds test "$(gzip -dc <set/t10k-labels-idx1-ubyte.gz)" = "labels for testing"
cp home/train-labels-idx1-ubyte.gz kept
echo nonsense | gzip >home/train-labels-idx1-ubyte.gz
rm asked
get mnist wrong
status 1
silent
warns "is not the published file"
warns "MIRROR=URL"
holds test "$(grep -c train-labels asked)" = 2
absent wrong/train-labels-idx1-ubyte.gz
holds test "$(count wrong)" = 1
mv kept home/train-labels-idx1-ubyte.gz
MIRROR=http://localhost/pictures get mnist wrong
status 0
holds grep -q '^http://localhost/pictures/train-labels' asked

# Broken off: no half file under the name, and the rest comes the next time.
BREAK=10 get mnist parts
status 1
absent parts/train-images-idx3-ubyte.gz
holds test "$(wc -c <parts/train-images-idx3-ubyte.gz.part1)" = 10
get mnist parts
status 0
holds test "$(count parts)" = 4
# What lies there is of another file: thrown away, then fetched whole.
head -c 1000 /dev/zero >set/t10k-images-idx3-ubyte.gz.part1
cp set/t10k-images-idx3-ubyte.gz.part1 set/t10k-images-idx3-ubyte.gz.part2
rm set/t10k-images-idx3-ubyte.gz
get mnist set
status 1
get mnist set
status 0
holds test "$(count set)" = 4

# CIFAR-10 comes as one archive, whose own sum counts.
mkdir made/cifar-10-batches-bin
for b in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do
    head -c 3073 /dev/zero >made/cifar-10-batches-bin/$b.bin
done
echo airplane >made/cifar-10-batches-bin/batches.meta.txt
tar -C made -czf home/cifar-10-binary.tar.gz cifar-10-batches-bin
get cifar10 cifar
status 1
warns "is not the published file"
sed "s/c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd/$(sum <home/cifar-10-binary.tar.gz)/" get.sh >get2.sh
mv get2.sh get.sh
get cifar10 cifar
status 1
warns "six files of 30,730,000 bytes"
sed 's/-eq 30730000/-eq 3073/' get.sh >get2.sh
mv get2.sh get.sh
get cifar10 cifar
status 0
holds test "$(count cifar)" = 7
rm asked
get cifar10 cifar
status 0
absent asked

# wget instead, where there is no curl.
mkdir wget
for tool in sh cut gzip tar sha256sum shasum perl mkdir mv rm wc head tail find grep sed cat tr; do
    command -v $tool >/dev/null && ln -s "$(command -v $tool)" wget/$tool
done
cat >wget/wget <<'END'
#!/bin/sh
for a; do [ "$before" = -O ] && file=$a; before=$a; done
exec cat "home/${a##*/}" >"$file"
END
chmod +x wget/wget
COMMAND="get.sh mnist, with wget"
PATH=$(pwd)/wget sh get.sh mnist third >out 2>err </dev/null
STATUS=$?
status 0
holds test "$(count third)" = 4
rm wget/wget
PATH=$(pwd)/wget sh get.sh mnist fourth >out 2>err </dev/null
STATUS=$?
status 1
warns "neither curl nor wget"
