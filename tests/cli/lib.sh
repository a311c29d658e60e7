# lib.sh -- sourced by the transcripts: run a command, then say what must hold. HEED and JSON are set by run.sh.
PASSED=0
FAILED=0

pass() { PASSED=$((PASSED + 1)); }
fail() {
    FAILED=$((FAILED + 1))
    echo "FAILED $TRANSCRIPT: $*"
    echo "  after: heed $COMMAND (exit status $STATUS)"
    sed 's/^/  out| /' out | head -12
    sed 's/^/  err| /' err | head -12
}

# run ARGS...: stdout goes to the file out, stderr to err, the exit status to STATUS.
run() {
    COMMAND=$*
    "$HEED" "$@" >out 2>err </dev/null
    STATUS=$?
}
# run_with FILE ARGS...: the same with FILE as standard input.
run_with() {
    input=$1
    shift
    COMMAND="$* < $input"
    "$HEED" "$@" >out 2>err <"$input"
    STATUS=$?
}

# ok ARGS..., ok_with FILE ARGS...: the same of a command that must succeed.
ok() { run "$@" && status 0; }
ok_with() { run_with "$@" && status 0; }

status() { if [ "$STATUS" = "$1" ]; then pass; else fail "exit status $STATUS, expected $1"; fi; }
says() { if grep -qF -- "$1" out; then pass; else fail "stdout lacks: $1"; fi; }
warns() { if grep -qF -- "$1" err; then pass; else fail "stderr lacks: $1"; fi; }
hides() { if grep -qF -- "$1" out err; then fail "output has: $1"; else pass; fi; }
quiet() { if [ -s err ]; then fail "stderr is not empty"; else pass; fi; }
silent() { if [ -s out ]; then fail "stdout is not empty"; else pass; fi; }
holds() { if "$@"; then pass; else fail "does not hold: $*"; fi; }
# edit SCRIPT FILE: sed in place, as every sed can.
edit() { sed "$1" "$2" >"$2.edited" && mv "$2.edited" "$2"; }
absent() { if [ -e "$1" ]; then fail "exists: $1"; else pass; fi; }
# refuses STATUS TEXT: nothing on stdout, one line on stderr that starts with "heed: " and has TEXT.
refuses() {
    status "$1"
    silent
    warns "$2"
    if [ "$(grep -c . err)" = 1 ] && grep -q '^heed: ' err; then pass; else fail "not one line of heed's"; fi
}
# refused: of each line "STATUS ARGS | TEXT" of the standard input, that the command is refused so. ARGS are words of the shell.
refused() {
    while IFS= read -r line; do
        args=${line%% | *}
        eval "run ${args#* }"
        refuses "${line%% *}" "${line#* | }"
    done
}
# fits WIDTH: no line of stdout takes more columns, and none ends in blanks.
fits() {
    found=$(tr -d '\200-\277' <out | LC_ALL=C awk -v w="$1" 'length($0) > w || / $/ { print; exit }')
    if [ -z "$found" ]; then pass; else fail "wider than $1 columns, or blanks at its end: $found"; fi
}
# fits_in WIDTH ARGS...: the same of a command that is run on a terminal of that width.
fits_in() {
    columns=$1
    shift
    COLUMNS=$columns
    export COLUMNS
    run "$@"
    unset COLUMNS
    status 0
    fits "$columns"
}
# json: each line of stdout is JSON. json PATH: what stands there ("predictions.0.token"). json PATH VALUE: it is VALUE.
json() {
    found=$("$JSON" ${1+"$1"} <out) || { fail "not JSON, or without ${1-}: $found"; return; }
    if [ $# -lt 2 ] || [ "$found" = "$2" ]; then pass; else fail "$1 is $found, expected $2"; fi
}

# json_has PATH...: something stands at each.
json_has() { for path; do json "$path"; done; }

# A corpus of facts, a line each: six countries in two sentences of one frame.
facts() {
    for i in 1 2 3 4 5 6 7 8; do
        while read -r country capital language; do
            echo "$capital is the capital of $country ."
            echo "$language is the language of $country ."
        done <<EOF
France Paris French
Spain Madrid Spanish
Italy Rome Italian
Japan Tokyo Japanese
Greece Athens Greek
Poland Warsaw Polish
EOF
    done
}
# digits_maker: ./digits, built from data/digits.c once for all transcripts.
digits_maker() {
    [ -x ../digits ] || ${CC:-cc} -std=c11 -O1 -o ../digits "$here/../../data/digits.c" -lm -lz || fail "cannot build data/digits.c"
    cp ../digits .
}
# killed DELAY ARGS...: trains into the folder `killed`, and is killed that long after its first checkpoint. KILLS counts those
# that met it at work: at least one of several must, or nothing was tried.
KILLS=0
killed() {
    delay=$1
    shift
    COMMAND="$1 $2, killed after $delay s"
    rm -rf killed
    "$HEED" "$@" -o killed >out 2>err &
    pid=$!
    i=0
    until [ -e killed/last/state.json ] || [ $((i += 1)) -gt 1000 ]; do sleep 0.02; done
    sleep "$delay"
    kill -KILL $pid 2>/dev/null
    wait $pid 2>/dev/null
    [ $? = 137 ] && KILLS=$((KILLS + 1))
}
# A model as small as can be: SMALL is a list of settings for train.
SMALL="--layers 1 --heads 2 --width 16 --ff 32 --block 16 --batch 4 --steps 6"
# train_gpt RUN, train_mlm RUN: a run on facts.txt; of mlm a BERT, not what would be chosen from these sentences.
train_gpt() { run train gpt facts.txt -o "$1" $SMALL; }
BERT="--norm post --transform-head --init-std 0.05 --val-split 0.1"
train_mlm() { run train mlm facts.txt -o "$1" --tokenizer word --packing lines $BERT $SMALL; }
