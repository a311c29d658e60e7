# Options, commands and tasks as other programs call them: each error names what this program has.
facts >facts.txt
train_mlm masked
train_gpt causal
printf 'batch = 8 # fine\nn_embd = 384\n' >nano.conf # of nanoGPT

# WORDS|EXPECTED: the command with these words is refused, and the error has EXPECTED.
while IFS='|' read -r words expected; do
    run $words
    case $words in *nano.conf) refuses 3 "$expected" ;; *) refuses 2 "$expected" ;; esac
done <<'END'
train gpt facts.txt -o run --batch_size 1|unknown option --batch_size: did you mean --batch? (
train gpt facts.txt -o run --num_hidden_layers 1|unknown option --num_hidden_layers: did you mean --layers? (
train gpt facts.txt -o run --native_amp 1|unknown option --native_amp: did you mean --precision bf16? (
train gpt facts.txt -o run --nesterov 1|unknown option --nesterov: did you mean --optimizer nesterov? (
train gpt facts.txt -o run --num_workers 1|unknown option --num_workers: did you mean --threads? (
train vit facts.txt -o run --num_workers 1|unknown option --num_workers: did you mean --workers? (
train vit facts.txt -o run --imgsz 1|unknown option --imgsz: did you mean --image-size? (
train seq2seq facts.txt -o run --encoder_normalize_before 1|did you mean --norm pre? (
train gpt facts.txt -o run --trainer.max_epochs 1|unknown option --trainer.max_epochs: did you mean --epochs? (
train gpt facts.txt -o run --trainer.threads 1|unknown option --trainer.threads: did you mean --threads?
train gpt facts.txt --accumulation_steps 2|--accumulate? (batches for each update)
train gpt facts.txt -lr 0.1|unknown option -lr: did you mean --lr?
train gpt facts.txt epochs=3 -o run|options begin with two dashes: epochs=3: did you mean --epochs 3?
train vit facts.txt imgsz=64 -o run|did you mean --image-size?
train gpt facts.txt -o run -c nano.conf|unknown setting "n_embd": nano.conf:2: did you mean --width?
generate run --max_new_tokens 5|did you mean --n? (tokens to make)
generate run --model x|arguments have no names: expected heed generate RUN [PROMPT]
eval run --output_dir x|did you mean --translations? (pairs: write what is predicted for each source)
train gpt facts.txt --no-cuda|unknown option --no-cuda: heed has no GPU
train gpt facts.txt --label_smoothing 1|unknown option --label_smoothing: the loss of a language model has no smoothing
train gpt facts.txt --eval_only|hint: `heed eval RUN` evaluates a run
train gpt facts.txt --top_k 5|hint: `heed generate RUN`
plot run --pdf x|unknown option --pdf: did you mean --png?
sample run|unknown command sample: did you mean generate? (
run_glue run|unknown command run_glue: did you mean train? (
sample.py run|unknown command sample.py: did you mean generate? (
tokenize run|unknown command tokenize: did you mean tokenizer encode? (
compile|hint: there is nothing to compile
finetune run|`heed train TASK DATA --from RUN`
trian run|did you mean train?
infer run|hint: `heed info RUN` names the task
infer masked x|unknown command infer: did you mean fill?
inference --model causal|did you mean generate?
chat masked|did you mean generate? (continue a prompt, token by token); hint: a run of mlm has `heed fill` instead
train GPT2 facts.txt -o run|unknown task GPT2: did you mean gpt? (
train transformer facts.txt -o run|unknown task transformer: did you mean seq2seq? (
END
absent run
