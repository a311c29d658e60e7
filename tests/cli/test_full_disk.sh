# A disk that is full: an error that says so, nothing half written, and the last checkpoint as it was. The disk is one of a
# megabyte in memory, where the system lets us mount it.
facts >facts.txt
input="Paris is the capital of France ."
train_mlm good
status 0
ok train mlm facts.txt -o whole --tokenizer word --packing lines $SMALL --steps 8000 --eval-every 40
mkdir disk
if mount -t tmpfs -o size=1m heed-test disk 2>/dev/null; then
    trap 'umount disk' EXIT
    fill() { cat /dev/zero >disk/filler 2>/dev/null; }
    free() { rm disk/filler; }

    # Files that are asked for, and folders.
    fill
    for file in html png svg npz csv; do
        run attend good "$input" --$file disk/made.$file
        status 1
        warns "cannot write disk/made.$file: No space left on device"
    done
    run tokenizer train facts.txt -o disk/words
    refuses 1 "cannot write disk/words/tokenizer.json: No space left on device"
    run plot good --png disk/loss.png
    status 1
    warns "cannot write disk/loss.png: No space left on device"
    run graph good --svg disk/graph.svg
    refuses 1 "cannot write disk/graph.svg: No space left on device"
    run export good --onnx disk/model.onnx
    refuses 1 "cannot write disk/model.onnx: No space left on device"
    run train gpt facts.txt -o disk/new $SMALL
    status 1
    silent
    warns "cannot write disk/new/config.conf: No space left on device"
    holds test "$(ls -A disk)" = filler
    free

    # No room for the first checkpoint.
    run train gpt facts.txt -o disk/new $SMALL --width 128 --ff 512
    status 1
    warns "No space left on device"
    warns "the run had no checkpoint yet: nothing is kept of it"
    holds test -z "$(ls -A disk)"

    # A run that is replaced, and one that goes on.
    cp -r good disk/run
    fill
    run train gpt facts.txt -o disk/run $SMALL --force
    refuses 1 "No space left on device"
    holds diff -r good disk/run
    run resume disk/run --steps 9
    status 1
    warns "No space left on device"
    warns 'the run has the checkpoint that it had before; hint: `heed resume disk/run`'
    for file in model.safetensors last config.conf; do holds diff -r good/$file disk/run/$file; done
    free
    ok resume disk/run --steps 9
    run resume good --steps 9
    holds cmp good/last/model.safetensors disk/run/last/model.safetensors
    rm -r disk/run

    # The disk is full in the middle of a training run: its last checkpoint goes on to what it would have been.
    COMMAND="train, while the disk fills"
    "$HEED" train mlm facts.txt -o disk/run --tokenizer word --packing lines $SMALL --steps 8000 --eval-every 40 >out 2>err &
    pid=$!
    i=0
    until [ -e disk/run/last/state.json ] || [ $((i += 1)) -gt 1000 ]; do sleep 0.02; done
    fill
    wait $pid
    STATUS=$?
    status 1
    warns "No space left on device"
    holds grep -q 'the run has its checkpoint of step [0-9,]*0; hint: `heed resume disk/run`$' err
    ok info disk/run
    free
    ok resume disk/run
    for file in model.safetensors last/model.safetensors last/optimizer.safetensors; do holds cmp whole/$file disk/run/$file; done
else
    echo "skip    $TRANSCRIPT: no file system can be mounted here"
fi
