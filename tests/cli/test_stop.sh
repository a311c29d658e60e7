# Ctrl-C, resume, divergence.
facts >facts.txt

# Waits until FILE has TEXT, ten seconds at most.
wait_for() {
    i=0
    until grep -qF -- "$2" "$1" 2>/dev/null; do
        i=$((i + 1))
        [ $i -gt 200 ] && return 1
        sleep 0.05
    done
}

# No evaluation and no checkpoint but the first one; a row of metrics.csv every few milliseconds.
ENDLESS="--steps 1000000 --eval-every 1000000 --log-every 100"
# A run is at work, between its checkpoints.
at_work() { wait_for "$1/metrics.csv" ,train,; }

COMMAND="train, interrupted"
"$HEED" train gpt facts.txt -o run $SMALL $ENDLESS --progress json >out 2>err &
pid=$!
holds at_work run
kill -INT $pid
wait $pid
STATUS=$?
status 130
silent
warns "heed resume run"
cp err out
json
holds test -s run/last/state.json
reached() { tr -d , <out | grep -qE "step $1( |\$)"; } # "step 1,234, validation"
step=$(sed -n 's/.*interrupted at step \([0-9]*\).*/\1/p' err)
holds test "$step" -gt 0
cp -r run beyond
ok resume beyond --steps 1
warns "beyond the 1 asked for: nothing is trained"
holds reached $step
holds diff -r run beyond # so that `heed resume` still trains the steps that remain
if grep -q "of step 0" out; then fail "a step that was never evaluated"; else pass; fi
ok resume run --steps $((step + 5)) --eval-every 1000
holds reached $((step + 5))
ok resume run --steps $((step + 5))
edit "s/\([0-9]\),\([0-9]\)/\1\2/g" err
warns "the run is finished at step $((step + 5)): nothing is left to do"
holds reached $((step + 5))
ok resume run --steps 2
edit "s/\([0-9]\),\([0-9]\)/\1\2/g" err
warns "the run is at step $((step + 5)), beyond the 2 asked for: nothing is trained"
ok resume run --steps 0 --lr 0
holds reached $((step + 5))

# A terminal that is closed (it may say so twice) stops a training run as Ctrl-C does; nohup keeps it.
ignored=$(sed -n 's/^SigIgn:[^0-9a-f]*//p' /proc/self/status 2>/dev/null)
signals="HUP TERM"
[ $((0x${ignored:-0} & 1)) = 1 ] && signals=TERM # these tests run under nohup themselves
for signal in $signals; do
    COMMAND="train, ended by SIG$signal"
    : >err
    "$HEED" train gpt facts.txt -o $signal $SMALL $ENDLESS --progress json >out 2>err &
    pid=$!
    holds at_work $signal
    kill -$signal $pid
    [ $signal = HUP ] && kill -HUP $pid 2>/dev/null
    wait $pid
    STATUS=$?
    status 130
    warns "heed resume $signal"
    holds test "$(sed -n 's/.*"step": \([0-9]*\),.*/\1/p' $signal/last/state.json | head -1)" -gt 0
done
COMMAND="train, under nohup"
: >err
nohup "$HEED" train gpt facts.txt -o kept $SMALL $ENDLESS --progress json >out 2>err &
pid=$!
holds at_work kept
kill -HUP $pid
holds kill -0 $pid
kill -TERM $pid
wait $pid
STATUS=$?
status 130

# Nobody reads what it prints any more: it saves, and says so in its log.
COMMAND="train 2>&1 | head -1"
{
    "$HEED" train gpt facts.txt -o piped $SMALL $ENDLESS --progress json 2>&1
    echo $? >piped.status
} | head -1 >out
STATUS=$(cat piped.status)
status 130
holds grep -q ": interrupted$" piped/train.log
ok resume piped --steps 1

# The folder of the run is removed: the next save says so, and makes no half of a run in its place.
COMMAND="train, while its run is removed"
: >err
"$HEED" train gpt facts.txt -o removed $SMALL --steps 1000000 --log-every 1000000 --eval-every 1000000 --progress json >out 2>err &
pid=$!
holds wait_for err '"event":"step"'
mv removed elsewhere
kill -INT $pid
wait $pid
STATUS=$?
status 1
warns "run was removed while it trained: removed"
hides "resume removed"
warns 'removed was removed or moved while its training was running; hint: `heed resume NEW_FOLDER` if it was moved; otherwise train again with the same command'
absent removed
COMMAND="resume, while its run is removed"
: >err
"$HEED" resume elsewhere --progress json >out 2>err &
pid=$!
holds wait_for err '"event":"step"'
mv elsewhere removed
kill -INT $pid
wait $pid
STATUS=$?
status 1
warns 'elsewhere was removed or moved while its training was running; hint: `heed resume NEW_FOLDER` if it was moved; otherwise train again'
hides "train again with the same command" # that would be resume
absent elsewhere

# A limit of file sizes is an error of the write that meets it.
COMMAND="train, with ulimit -f 64" # blocks of 512 bytes or of 1,024: room for config.conf alone
(ulimit -f 64 && "$HEED" train gpt facts.txt -o limited $SMALL --width 64) >out 2>err
STATUS=$?
status 1
warns "ulimit -f"
warns "the run had no checkpoint yet: nothing is kept of it"
absent limited

# Stopped and resumed is the same as never stopped.
run train gpt facts.txt -o whole $SMALL --steps 20 --eval-every 20
COMMAND="train, stopped between"
"$HEED" train gpt facts.txt -o parts $SMALL --steps 20 --eval-every 20 --save-every 3 >out 2>err &
pid=$!
wait_for parts/last/state.json step
kill -INT $pid 2>/dev/null
wait $pid
ok resume parts
holds cmp -s whole/last/model.safetensors parts/last/model.safetensors

# Killed at any moment, and resumed.
run train gpt facts.txt -o steady $SMALL --steps 500 --eval-every 5
for delay in 0 0.1 0.3; do
    killed $delay train gpt facts.txt $SMALL --steps 500 --eval-every 5
    ok resume killed
    for file in last/model.safetensors model.safetensors config.conf; do holds cmp -s steady/$file killed/$file; done
done
COMMAND="train, killed"
holds test $KILLS -gt 0

# One training run at a time; who reads is not concerned; a killed one blocks nobody.
COMMAND="train, the first of two"
"$HEED" train gpt facts.txt -o both $SMALL $ENDLESS --progress json >out 2>err &
pid=$!
holds at_work both
run resume both --progress json
status 1
cp err out
json event error
run resume both
refuses 1 "another training run is active in both (process $pid)"
run train gpt facts.txt -o both $SMALL --force
refuses 1 "another training run is active in both (process $pid)"
ok generate both Paris --n 3
ok eval both facts.txt
kill -KILL $pid
wait $pid 2>/dev/null
ok resume both --steps 1
absent both/.lock

run train gpt facts.txt -o wild $SMALL --steps 200 --optimizer sgd --lr 1e6 --clip 0
status 4
silent
warns "step"
warns "hint"

mv facts.txt moved.txt
run resume whole --steps 22
refuses 3 "--data"
ok resume whole --steps 22 --data moved.txt
echo "more" >>moved.txt
refused <<'END'
3 resume whole --steps 24 --data moved.txt | cannot resume whole: the data moved.txt has changed: expected 
3 resume nowhere | nowhere
END
facts | head -5 >val.txt
run train gpt moved.txt -o judged $SMALL --val val.txt
mv val.txt there.txt
run resume judged --steps 8
refuses 3 'the validation data of the run is missing: judged/config.conf: val = val.txt; hint: run from the folder that it was trained in, or `heed resume judged --val PATH`, where PATH is a text file'
cp moved.txt again.txt
refused <<'END'
3 resume judged --steps 8 --data again.txt | `heed resume judged --data again.txt --val PATH`
3 resume judged --steps 8 --val no.txt | cannot read no.txt
END
ok resume judged --steps 8 --val there.txt
echo more >>there.txt
run resume judged --steps 9
refuses 3 "cannot resume judged: the data moved.txt or there.txt has changed: expected "

# A training run that is done stands; its scores may be had later.
i=0
while [ $((i += 1)) -le 200 ]; do printf 'a%sb c\tb c a%s\n' $i $i; done >pairs.tsv
COMMAND="train, interrupted while its pairs are translated"
"$HEED" train rnn pairs.tsv -o scored --steps 1 --width 128 --block 2048 --val-split 0.5 --progress json >out 2>err &
pid=$!
holds wait_for err '"event":"saved","step":1,'
kill -INT $pid
wait $pid
STATUS=$?
status 130
warns '"event":"interrupted","note":"interrupted after the last step, 1; for its scores, run heed resume scored"'
absent scored/scores.json
hides "heed translate"

# Two interrupts end the program at once.
COMMAND="train, interrupted twice"
"$HEED" train gpt moved.txt -o twice $SMALL $ENDLESS --progress json >out 2>err &
pid=$!
at_work twice
kill -INT $pid
kill -INT $pid 2>/dev/null
wait $pid
STATUS=$?
status 130

# Killed while it replaces a run: the one that was there waits in the folder, and resume brings it back.
facts >again.txt
run train gpt again.txt -o shelved $SMALL --steps 4 --eval-every 4
old=$(cksum <shelved/model.safetensors)
cp -r shelved original
set_aside() {
    rm -rf shelved
    mkdir -p shelved/.heed-replaced
    cp -r original/* shelved/.heed-replaced
    cp original/config.conf shelved/
}
restored() { diff -r original shelved >/dev/null; }
set_aside
unmended() { diff -r original shelved/.heed-replaced && [ "$(ls -A shelved)" = ".heed-replaced
config.conf" ]; }
ok generate shelved --prompt Paris --n 2
ok info shelved
ok eval shelved
ok attend shelved "Paris is"
ok plot shelved --png loss.png
holds unmended
run resume shelved
refuses 3 "holds the run that was there before"
ok resume shelved
holds test "$(cksum <shelved/model.safetensors)" = "$old" -a ! -e shelved/.heed-replaced

# So does another --force, whatever becomes of that training.
set_aside
run train gpt again.txt -o shelved
refuses 2 "run exists already"
run train gpt again.txt -o shelved --force $SMALL --width 15
status 2
holds restored
set_aside
COMMAND="train --force, with ulimit -f 8"
(ulimit -f 8 && "$HEED" train gpt again.txt -o shelved --force $SMALL --width 64) >out 2>err
STATUS=$?
refuses 1 "ulimit -f"
holds restored
set_aside
ok train gpt again.txt -o shelved --force $SMALL
absent shelved/.heed-replaced
