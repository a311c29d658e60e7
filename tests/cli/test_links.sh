# A run is not trusted: in the place of each file and folder that a run can have stands a link to something outside, a link to
# nothing, a pipe, or a file that has another name outside. Whatever command is given the run, what lies outside stays as it is,
# nothing of it is shown, and the command ends. HEED_LINKS=1 tries all (minutes), else one of so many combinations is tried.
every=${HEED_LINKS:-53}
facts >facts.txt
awk 'BEGIN {for (i = 0; i < 60; i++) print "a" i % 7 " a" i % 5 "\tb" i % 5 " b" i % 7}' >pairs.tsv
digits_maker
./digits pictures --train 6 --test 2
pictures=$(find pictures -name '*.png' | head -1)
ok_with facts.txt train gpt - -o clean/gpt --tokenizer word $SMALL --eval-every 3 --snapshots 2
ok train seq2seq pairs.tsv -o clean/seq2seq --tokenizer word --no-share-vocab $SMALL --eval-every 3
ok train mlp pictures -o clean/mlp --layers 1 --width 8 --steps 6 --eval-every 3 --batch 4
ok train autoencoder pictures -o clean/autoencoder --hidden 8 --code 2 --steps 6 --eval-every 3 --batch 4

# What a save or a replacement that was interrupted leaves.
for model in gpt seq2seq mlp autoencoder; do
    cp -R clean/$model/last clean/$model/last.new
    cp clean/$model/model.safetensors clean/$model/last.new/best.safetensors
done
cp -R clean/gpt/last clean/gpt/last.old
mkdir clean/gpt/.heed-replaced
cp -R clean/gpt/* clean/gpt/.heed-replaced
rm -rf clean/gpt/.heed-replaced/last.*
for file in .lock .heed-1-0.tmp tokens.bin adapter.safetensors scores.json vocab.txt vocab.json merges.txt heed-data.csv \
    source-tokenizer reconstructions.png labels.txt; do
    for model in gpt seq2seq mlp; do [ -e clean/$model/$file ] || echo 1 >clean/$model/$file; done
done

mkdir outside
cp -R clean outside/runs
echo 'SECRET = 1' >outside/secret
find outside -exec touch -t 200101010000 {} +
outside() { # all that may not change
    ls -lnR outside | awk '{$2 = ""; print}' # without the number of names
    find outside -type f -exec cksum {} + | LC_ALL=C sort
}
tries=0 changed=0 shown=0 hung=0
limit=
command -v timeout >/dev/null && limit="timeout 10"
plant() { # KIND PATH COPY: makes PATH what KIND says; COPY: the same file or folder outside
    rm -rf "$2"
    case $1 in
        file) ln -s "$PWD/outside/secret" "$2" ;;
        copy) ln -s "$PWD/$3" "$2" ;;
        folder) ln -s "$PWD/outside/runs" "$2" ;;
        nothing) ln -s "$PWD/outside/nothing" "$2" ;;
        pipe) mkfifo "$2" ;;
        hard) if [ -d "$3" ]; then ln -s "$PWD/outside" "$2"; else ln "$3" "$2"; fi ;;
    esac
}
try() { # MODEL ARGS...: one command, with every file in turn
    model=$1
    shift
    find clean/$model -mindepth 1 | LC_ALL=C sort >files
    while read -r file; do
        for kind in file copy folder nothing pipe hard; do
            number=$((number + 1))
            [ $((number % every)) = 0 ] || continue
            rm -rf R new plain exported
            cp -R clean/$model R
            name=${file#clean/$model/}
            plant $kind "R/$name" "outside/runs/$model/$name"
            outside >before
            COMMAND="$* (R/$name: $kind)"
            OMP_NUM_THREADS=1 $limit "$HEED" "$@" >out 2>err </dev/null
            STATUS=$?
            tries=$((tries + 1))
            outside >after
            [ $STATUS != 124 ] && [ $STATUS -lt 128 ] || { hung=$((hung + 1)); fail "no end"; }
            cmp -s before after || { changed=$((changed + 1)); fail "changed outside: $(diff before after | tail -1)"; }
            if [ "$kind" != hard ] && grep -q SECRET out err; then shown=$((shown + 1)); fail "shows what is outside"; fi
        done
    done <files
}
# Pipes instead of files that the command line names: without a writer an error, with one what it writes.
mkfifo pipe
for command in "info pipe" "eval clean/gpt pipe" "heads clean/gpt pipe" "view pipe" "train gpt facts.txt -c pipe -o new" "train gpt pipe -o new" \
    "train gpt facts.txt pipe -o new" "train gpt facts.txt --tokenizer pipe -o new" "train vit pipe -o new" "tokenizer train pipe -o new" \
    "merge clean/gpt --adapter pipe -o new" "classify clean/mlp pipe" "plot pipe" "import pipe -o new" "data check tag pipe"; do
    COMMAND=$command
    $limit "$HEED" $command >out 2>err </dev/null
    STATUS=$?
    holds test $STATUS = 3
    absent new
done
cat facts.txt >pipe &
ok eval clean/gpt pipe
COMMAND="plot, to a pipe that nobody reads"
$limit "$HEED" plot clean/gpt --svg pipe >out 2>err
STATUS=$?
status 1
(sleep 5 >pipe) & # a writer that says nothing
"$HEED" train gpt facts.txt pipe -o new >out 2>err &
pid=$!
sleep 0.5
kill -TERM $pid
wait $pid
STATUS=$?
status 130
rm -rf R
cp -R clean/gpt R
rm -f R/tokenizer.json
ln -s "$PWD/outside/secret" R/tokenizer.json
run tokenizer info R
refuses 3 "expected a plain file"
hides SECRET
run info R/
refuses 3 "cannot read R/tokenizer.json: "
run info R/.
hides "//"
number=0
try gpt info R
try gpt info R --config
try gpt eval R
try gpt eval R facts.txt
try gpt plot R
try gpt attend R "Paris is the"
try gpt attend R "Paris is the" --png picture.png
try gpt heads R
try gpt ablate R
try gpt influence R "Paris is the"
try gpt snapshots R
try gpt generate R "Paris" --n 2
try gpt compare R clean/gpt
try gpt explain R "Paris is the"
try gpt graph R
try gpt export R --to hf -o exported
try gpt export R --to npz -o exported.npz
try gpt export R --onnx model.onnx
try gpt merge R -o plain
try gpt import R -o plain
try gpt tokenizer info R
try gpt tokenizer encode R "Paris is"
try gpt train gpt facts.txt --from R -o new --steps 2
try gpt train gpt facts.txt --tokenizer R -o new $SMALL
try gpt train gpt facts.txt -o R $SMALL --force --snapshots 2
try gpt resume R
try gpt resume R --steps 8
try gpt tokenizer train facts.txt -o R --force
try seq2seq info R
try seq2seq eval R
try seq2seq translate R "a1 a2"
try seq2seq compare R clean/seq2seq
try seq2seq train seq2seq pairs.tsv -o R --no-share-vocab $SMALL --force
try seq2seq resume R --steps 8
try mlp info R
try mlp eval R
try mlp classify R "$pictures"
try mlp train mlp pictures -o R --layers 1 --width 8 --steps 2 --force
try mlp resume R --steps 8
try autoencoder reconstruct R "$pictures"
try autoencoder resume R --steps 8
echo "$tries combinations of links and commands: $changed changed something outside, $shown showed it, $hung did not end" >&2
holds test $tries -gt 100
