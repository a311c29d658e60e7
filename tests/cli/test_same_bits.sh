# Models of sequences: the same bits with 1 and 2 threads, and where a training run went on after a stop.
for i in 1 2 3 4 5 6 7 8; do
    for w in abcd bcde cdef defg; do printf '%s%s\t%s%s\n' $w $i $i $w; done
done >pairs.tsv
sed 's/^\(.\)\(.*\)	.*/\1\t\2 \1 x/' pairs.tsv >classes.tsv
sed 's/^\(.\)\(.\)\(.\).*/\1 \2 \3\t\2 \1 \1/' pairs.tsv >tags.tsv
for i in 1 2 3 4; do cat pairs.tsv; done >text.txt
PLAIN="--width 64 --batch 32 --lr 0.01 --schedule constant --warmup 0 --val-split 0.1 --progress none"
# same NAME TASK DATA SETTINGS...
same() {
    name=$1 task=$2 data=$3
    shift 3
    ok train $task $data -o $name-1 $PLAIN "$@" --steps 4 --threads 1
    run train $task $data -o $name-2 $PLAIN "$@" --steps 4 --threads 2
    holds cmp -s $name-1/last/model.safetensors $name-2/last/model.safetensors
    run train $task $data -o $name-3 $PLAIN "$@" --steps 2 --threads 2
    ok resume $name-3 --steps 4 --threads 1
    holds cmp -s $name-1/last/model.safetensors $name-3/last/model.safetensors
}
# bf16, where the CPU has it: a run keeps its precision, and its weights are others than those of fp32.
if run bench --workload mlp-mnist --precision bf16 --seconds 0 --min-steps 1 --warmup-seconds 0 && [ "$STATUS" = 0 ]; then
    same bf16 gpt text.txt --layers 1 --heads 4 --block 16 --precision bf16
    same fp32 gpt text.txt --layers 1 --heads 4 --block 16
    holds grep -q '^precision = bf16' bf16-3/config.conf
    run resume bf16-3 --steps 6 --isa avx2
    refuses 2 "bf16 is not available: --precision"
    same bf16-again gpt text.txt --layers 1 --heads 4 --block 16 --precision bf16 --recompute
    holds cmp -s bf16-1/last/model.safetensors bf16-again-1/last/model.safetensors
    run train gpt text.txt -o narrow --width 16 --ff 16 --heads 2 --precision bf16 --steps 1
    if grep -q "computed in fp32, which is faster" out err; then
        status 0
        holds cmp -s bf16-1/last/model.safetensors fp32-1/last/model.safetensors
    else
        refuses 2 "has no effect here"
        absent narrow
        holds sh -c '! cmp -s bf16-1/last/model.safetensors fp32-1/last/model.safetensors'
    fi
fi
GPT="gpt text.txt --layers 2 --heads 4 --block 16 --dropout 0.2"
same recompute $GPT --recompute
run train $GPT -o kept $PLAIN --steps 4
holds cmp -s recompute-1/last/model.safetensors kept/last/model.safetensors
same rnn rnn pairs.tsv
same seq2seq seq2seq pairs.tsv --layers 1 --heads 2 --dropout 0.2
same conv textcls classes.tsv --layers 2 --encoder conv --pool last --dropout 0.2
same tags tag tags.tsv --encoder rnn --cell lstm --layers 1
same gpt-gru gpt text.txt --cell gru --layers 1 --block 16
same gpt-llama gpt text.txt --preset llama-nano --heads 4 --layers 1 --block 16 --dropout 0.2
