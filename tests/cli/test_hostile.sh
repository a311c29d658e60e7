# Inputs that nobody means: a clear error, the right status, no run left behind.
facts >facts.txt
: >empty.txt
printf 'a' >one.txt
printf 'abc\000def\n' >nul.txt
printf 'caf\351 au lait\n' >latin.txt
printf '\377\376a\000b\000' >utf16.txt
head -c 4096 "$HEED" >binary.txt
printf 'short text\n' >short.txt
mkdir folder

for task in gpt mlm; do
    for file in empty nul latin utf16 binary; do
        run train $task $file.txt -o run $SMALL
        refuses 3 "$file.txt"
        absent run
        run data check $task $file.txt
        refuses 3 "$file.txt"
    done
    run train $task nowhere.txt -o run $SMALL
    refuses 3 "nowhere.txt"
    run train $task folder -o run $SMALL
    refuses 3 "folder"
    absent run
    for file in one short; do
        run train $task $file.txt -o run $SMALL --block 64
        holds test "$STATUS" = 3 -o "$STATUS" = 0
        if [ "$STATUS" = 3 ]; then absent run; fi
        rm -rf run
    done
done
warns "short.txt"

mkdir -p a.folder
cp utf16.txt a.folder/table.csv
cp latin.txt a.folder/plain
refused <<'END'
3 data check textcls a.folder/table.csv | hint: `iconv -f UTF-16 -t UTF-8 'a.folder/table.csv' > 'a.folder/table.utf8.csv'`
3 data check gpt a.folder/plain | 'a.folder/plain' > 'a.folder/plain.utf8'
END

echo file >taken
run train gpt facts.txt -o taken $SMALL
refuses 2 "taken"
holds test "$(cat taken)" = file
run train gpt facts.txt -o /proc/none/run $SMALL
status 1
silent
run train gpt facts.txt -o taken/run $SMALL
refuses 1 "cannot make the folder taken/run: Not a directory"
if [ -d /sys/kernel ]; then # where nobody makes folders: the reason is what mkdir said, not that there is none
    run train gpt facts.txt -o /sys/kernel/heed-run $SMALL
    refuses 1 "cannot make the folder /sys/kernel/heed-run"
    hides "No such file"
fi

# Run files that are missing, cut short, or changed.
train_gpt good

# A path that is longer than names of files may be in the program; from a nearer folder it is not.
part=$(printf '%0240d' 0)
deep=deep/$part/$part/$part/$part
mkdir -p $deep && cp -r good $deep/run
refused <<'END'
2 resume $deep/run | a path is too long: expected at most 960 bytes, found 972: deep/000
2 train gpt facts.txt -o $deep/new $SMALL | a path is too long
END
absent $deep/new
COMMAND="info, from a nearer folder"
(cd deep/$part && "$HEED" info $part/$part/$part/run) >out 2>err
STATUS=$?
status 0
spoil() { rm -rf run && cp -r good run; }
for f in config.conf model.safetensors; do
    spoil
    rm run/$f
    run generate run --n 3
    status 3
    silent
done
spoil
: >run/model.safetensors
run generate run --n 3
refuses 3 "model.safetensors"
spoil
head -c 700 good/model.safetensors >run/model.safetensors
refused <<'END'
3 generate run --n 3 | model.safetensors
3 info run | model.safetensors
END
spoil
rm run/last/state.json
run resume run --steps 9
refuses 3 "state.json"
spoil
head -c 20 good/last/state.json >run/last/state.json
run resume run --steps 9
status 3
silent
spoil
printf 'step,split,loss\n1,val\n' >run/metrics.csv
run plot run
refuses 3 "metrics.csv:2"
printf 'step,split,loss\n1,val,2\n2,va' >run/metrics.csv
ok plot run
printf 'step,split,loss\n' >run/metrics.csv
run plot run
refuses 3 "no numbers yet"
spoil
echo 1,2,3 >>run/metrics.csv
ok resume run --steps 9 --eval-every 9
warns "metrics are wrong: run/metrics.csv"
rm run/metrics.csv
run plot run
refuses 3 "metrics.csv"
ln -s nowhere link
run export good -o link
refuses 1 "to link: Not a directory"
absent link.heed-export

# Inputs that are not text.
train_mlm masked
printf 'caf\351 [MASK] .\nRome is the [MASK] of Italy .\n' >in.txt
run_with in.txt fill masked --json
status 3
holds test "$(wc -l <out)" = 1
json position
run_with binary.txt fill masked
status 3
warns "not text"
for command in "fill masked" "attend masked" "tokenizer encode masked" "explain --from -"; do
    run_with folder $command
    refuses 3 "cannot read standard input: "
done
run_with empty.txt fill masked
refuses 3 "standard input: no lines"

# What a foreign name says is shown, not done: no cursor moves, no line begins, UTF-8 stays.
esc=$(printf '\033')
name=$(printf 'caf\303\251 \033[2J\302\233K\nheed: all is well\351.txt')
run generate "$name"
refuses 3 'café \x1b[2J\xc2\x9bK\x0aheed: all is well\xe9.txt'
hides "$esc"
run "$name"
refuses 2 'unknown command café \x1b[2J'
cp facts.txt "odd$esc[2J.txt"
ok train gpt "odd$esc[2J.txt" -o odd $SMALL
warns 'odd\x1b[2J.txt'
hides "$esc"
mkdir -p pictures/train/a pictures/train/b
for class in a b; do echo text >"pictures/train/$class/1$esc[2J.png"; done
run data check vit pictures
hides "$esc"
header='{"a\u001b[2J":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}'
{ printf "$(printf '\\%03o' ${#header})\\0\\0\\0\\0\\0\\0\\0%s\\0\\0\\0\\0" "$header"; } >odd.safetensors
run info odd.safetensors
says 'a␛[2J'
hides "$esc"
printf '{"w\u001b[2J": [[0.5, 0.5], [0.25, 0.75]]}' >odd.json
run view odd.json
says 'w␛[2J'
hides "$esc"
sed "s/^/$esc[2J/" facts.txt >moves.txt
run data check gpt moves.txt
says '␛[2J'
hides "$esc"
run eval odd
hides "$esc"
# So is a text that a model makes, if it goes to a terminal; a pipe gets it as it is.
run generate good "a$esc[2J" --n 3
says "a$esc[2J"
if command -v script >/dev/null 2>&1; then
    COMMAND="generate, on a terminal"
    script -qec "'$HEED' generate good 'a$esc[2J' --n 3" /dev/null </dev/null >out 2>err
    says 'a␛[2J'
    hides "$esc"
fi

# A name that is no UTF-8 stands in JSON, with a sign for what cannot.
bytes=$(printf 'run\377')
cp -r good "$bytes"
for command in info eval plot compare; do
    ok $command "$bytes" --json
    json
    if [ $command = info ]; then json file "$(printf 'run\357\277\275')/model.safetensors"; fi
done

# A full disk.
if [ -w /dev/full ]; then
    "$HEED" doctor >/dev/full 2>err
    STATUS=$?
    COMMAND="doctor > /dev/full"
    status 1
    warns "cannot write"
fi

# Files may grow to 20 blocks of 512 bytes: the checkpoint does not fit, and no half of it stays.
COMMAND="train, with a limit on the size of files"
(
    trap '' XFSZ
    ulimit -f 20
    exec "$HEED" train gpt facts.txt -o full $SMALL --width 64 >out 2>err
)
STATUS=$?
status 1
silent
holds grep -q '^heed: .*full/' err
absent full/model.safetensors

# Where the stack is too small for the products of matrices, that is said, for each of a team's threads, too.
printf 'a b c d\n%.0s' 1 2 3 4 5 6 7 8 >stack.txt
for kB in 64 256 384; do
    COMMAND="train with a stack of $kB kB"
    (ulimit -s $kB 2>/dev/null && exec "$HEED" train gpt stack.txt -o stack --steps 1) >out 2>err
    STATUS=$?
    [ $STATUS = 0 ] || refuses 1 "stack is too small"
done
OMP_STACKSIZE=128k run train gpt stack.txt -o stack-threads --steps 1 --threads 2
[ "$STATUS" = 0 ] || refuses 1 "OMP_STACKSIZE=2M"
