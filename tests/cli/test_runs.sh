# Every model and kind of tokenizer trains the weights that were recorded in tests/runs, and every command says what it said of
# these runs; so it does of runs that were recorded as files, which are resumed to the same bits.
runs=$here/../runs
mkdir -p expected
: >out
: >err
gzip -dc "$runs/expected.tar.gz" | tar -xf - -C expected
sh "$runs/make.sh" "$HEED" work 2>err
for turn in trained recorded; do
    [ $turn = trained ] || gzip -dc "$runs/runs.tar.gz" | tar -xf - -C work
    sh "$runs/run.sh" "$HEED" work $turn
    for file in expected/*; do
        name=${file##*/}
        COMMAND="$turn runs: $name"
        if cmp -s "$file" $turn/"$name"; then pass; else
            fail "$name is not what it was"
            diff "$file" $turn/"$name" | head -6 | cut -c1-300
        fi
    done
done
