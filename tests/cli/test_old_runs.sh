# Runs that an earlier heed made (tests/runs): they open, say the same and are resumed to the same bits.
runs=$here/../runs
mkdir -p work said
: >out
: >err
gzip -dc "$runs/runs.tar.gz" | tar -xf - -C work
sh "$runs/run.sh" "$HEED" "$PWD/work" "$PWD/said"
for file in "$runs"/expected/*; do
    name=${file##*/}
    COMMAND="old run: $name"
    if cmp -s "$file" "said/$name"; then pass; else
        fail "$name is not what it was"
        diff "$file" "said/$name" | head -6 | cut -c1-300
    fi
done
