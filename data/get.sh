#!/bin/sh
# get.sh mnist|fashion-mnist|cifar10 [FOLDER] -- fetches a published set of pictures into FOLDER (pictures/NAME), with curl or wget.
# What arrives is compared with known SHA-256 sums (for .gz of the contents: mirrors compress anew), and only then gets its name. Run again, it goes
# on where it stopped. MIRROR=URL names another place for the same file names. Exit status: 0 all there, 1 not fetched, 2 usage.
set -u
say() { printf '%s\n' "$*" >&2; }
die() { say "get.sh: $1"; exit "${2:-1}"; }
has() { command -v "$1" >/dev/null 2>&1; }

name=${1:-}
folder=${2:-pictures/$name}
images=idx3-ubyte.gz labels=idx1-ubyte.gz
case $name in
mnist)
    mirrors="https://ossci-datasets.s3.amazonaws.com/mnist https://storage.googleapis.com/cvdf-datasets/mnist"
    files="ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db train-images-$images
           65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5 train-labels-$labels
           0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7 t10k-images-$images
           ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33f2 t10k-labels-$labels"
    settings="--preset vit28" ;;
fashion-mnist)
    mirrors="http://fashion-mnist.s3-website.eu-central-1.amazonaws.com https://raw.githubusercontent.com/zalandoresearch/fashion-mnist/master/data/fashion"
    files="c59f468a2f672dc815687fe0f83887768d799fd8a3f3276145d20f83aa44d888 train-images-$images
           bad3541b69d912435c50bb6ba87bec294ff4f6a2e1246121d8633921760443d9 train-labels-$labels
           5b4141f0afbad91edebe8549f8fcffe087ea10ca49f1dbef5c9a5cd8815ce37b t10k-images-$images
           0402a96d92fd2663957122ceb108a494c5af83dab82d92729df917d7dec38c34 t10k-labels-$labels"
    settings="--preset vit28 --flip 0.5" ;; # its classes are called 0 to 9, but are no digits
cifar10)
    mirrors="https://www.cs.toronto.edu/~kriz https://storage.googleapis.com/s4tf-hosted-binaries/datasets/CIFAR10"
    files="c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd cifar-10-binary.tar.gz"
    settings="--preset vit32" ;;
*) die "the set is unknown: expected mnist, fashion-mnist or cifar10, found '$name'; hint: sh data/get.sh mnist [FOLDER]" 2 ;;
esac
mirrors=${MIRROR:-$mirrors}

sha256() {
    if has sha256sum; then sha256sum; elif has shasum; then shasum -a 256; else openssl dgst -sha256 -r; fi | cut -d ' ' -f 1
}
right() { # FILE SUM: the file is there and holds what it should
    [ -f "$1" ] || return 1
    case $1 in
    *.tar.gz*) found=$(sha256 <"$1") ;;
    *) found=$(gzip -dc <"$1" 2>/dev/null | sha256) ;;
    esac
    [ "$found" = "$2" ]
}
download() { # URL FILE: goes on with what FILE holds
    say "  $1"
    if has curl; then
        if [ -t 2 ]; then curl -fL -# -C - --connect-timeout 20 -o "$2" "$1"; else curl -fLsS -C - --connect-timeout 20 -o "$2" "$1"; fi
    elif has wget; then
        wget -q -c -T 20 -t 2 -O "$2" "$1"
    else
        die "neither curl nor wget is here; fetch these by hand into $folder: $(for m in $mirrors; do printf '%s ' "$m/${1##*/}"; done)"
    fi
}
fetch() { # FILE SUM: a part of its own for each mirror, since their compressed bytes differ
    number=0
    for mirror in $mirrors; do
        number=$((number + 1))
        part=$folder/$1.part$number
        right "$part" "$2" || download "$mirror/$1" "$part"
        status=$?
        if right "$part" "$2"; then
            mv "$part" "$folder/$1" && rm -f "$folder/$1".part*
            return
        fi
        case $status in
        0)
            say "  is not the published file: expected SHA-256 $2, found $found; thrown away"
            rm -f "$part" ;;
        8 | 22 | 33 | 36) rm -f "$part" ;; # the server refuses, perhaps to go on: next time from the start
        esac
    done
    die "$1 could not be fetched; run the same command again to go on, or name another place: MIRROR=URL sh data/get.sh $name $folder"
}
unpacked() { # the six files of CIFAR-10, whole
    for b in data_batch_1 data_batch_2 data_batch_3 data_batch_4 data_batch_5 test_batch; do
        [ "$(wc -c 2>/dev/null <"$folder/$b.bin")" -eq 30730000 ] 2>/dev/null || return 1
    done
    [ -s "$folder/batches.meta.txt" ]
}
unpack() {
    rm -rf "$folder/unpacking"
    mkdir "$folder/unpacking" && tar -xzf "$folder/cifar-10-binary.tar.gz" -C "$folder/unpacking" &&
        mv "$folder"/unpacking/*/*.bin "$folder"/unpacking/*/batches.meta.txt "$folder/" && unpacked ||
        die "$folder/cifar-10-binary.tar.gz does not unpack into six files of 30,730,000 bytes"
}

mkdir -p "$folder" || exit 1
if [ $name != cifar10 ] || ! unpacked; then
    while read -r sum file <&3; do
        if right "$folder/$file" "$sum"; then say "$file: there already"; else say "$file"; fetch "$file" "$sum"; fi
    done 3<<END
$files
END
    [ $name != cifar10 ] || unpack
fi
[ $name != cifar10 ] || rm -rf "$folder/unpacking" "$folder/cifar-10-binary.tar.gz"
echo "$name is in $folder. Next:"
echo "  ./heed data check vit $folder"
echo "  ./heed train vit $folder -o runs/$name $settings"
