# Options, commands and tasks as other programs call them: each error names what this program has.
facts >facts.txt

# asks WORDS EXPECTED: the command with these words is refused, and the error has EXPECTED.
asks() {
    run $1
    refuses 2 "$2"
}

# NAME of another program, and the option of `train` that it means.
while read -r task name ours; do
    run train "$task" facts.txt -o run "--$name" 1
    refuses 2 "unknown option --$name: did you mean $ours? ("
done <<EOF
gpt batch_size --batch
gpt per_device_train_batch_size --batch
gpt n_embd --width
gpt native_amp --precision bf16
gpt decoder_embed_dim --width
gpt val_loss_every --eval-every
gpt learning_rate --lr
gpt warmup_steps --warmup
gpt fp16 --precision bf16
gpt output_dir --out
gpt gradient_checkpointing --recompute
gpt lora_r --lora
mlm mlm_probability --mask-share
seq2seq label_smoothing --smoothing
vit imgsz --image-size
vit fliplr --flip
gpt train_file --data
gpt betas --beta1
gpt nesterov --optimizer nesterov
vit qkv_bias --bias
seq2seq joined_dictionary --share-vocab
textcls text_column_names --columns
vit nbs --accumulate
rnn cell_type --cell
gpt trainer.max_epochs --epochs
EOF
run train gpt facts.txt -o run --trainer.threads 1
refuses 2 "unknown option --trainer.threads: did you mean --threads?"
absent run

# What an option of another command is called there; the run and the data have no names.
asks "generate run --max_new_tokens 5" "did you mean --n? (tokens to make)"
asks "generate run --num_samples 5" "did you mean --samples?"
asks "generate run --temp 1" "did you mean --temperature?"
asks "generate run --topk 1" "did you mean --top-k?"
asks "generate run --start x" "did you mean --prompt?"
asks "translate run --num_beams 5" "did you mean --beam?"
asks "generate run --model x" "arguments have no names: expected heed generate RUN [PROMPT]"
asks "generate --out_dir=run" "arguments have no names: expected heed generate RUN [PROMPT]"
asks "eval run --output_dir x" "did you mean --translations? (pairs: write what is predicted for each source)"
asks "eval run --dataset x" "arguments have no names: expected heed eval RUN [DATA]"
asks "train gpt facts.txt --model gpt2" "expected heed train TASK DATA... -o RUN"
asks "train gpt facts.txt --device cuda" "heed has no GPU"
asks "train gpt --dataset facts.txt" "(what to train on; usually the second argument, without a name)"
asks "train gpt facts.txt --accumulation_steps 2" "--accumulate? (batches for each update)"
asks "train gpt facts.txt --eval_only" 'hint: `heed eval RUN` evaluates a run'
asks "train gpt facts.txt --mlm_probability 1" 'hint: tokens are hidden by `heed train mlm` alone'
asks "train vit facts.txt --mixup 1" "what augments pictures is --flip"
asks "train gpt facts.txt --save_total_limit 2" "the best and the last"
asks "train gpt facts.txt --no-cuda" "heed has no GPU"
asks "train gpt facts.txt --resume" 'hint: `heed resume RUN` continues a run'
asks "train gpt facts.txt --wandb_log" '`heed plot RUN` draws them'
asks "train gpt facts.txt -lr 0.1" "unknown option -lr: did you mean --lr?"
asks "train gpt facts.txt -b 8" "did you mean --batch?"
asks "train gpt facts.txt epochs=3 -o run" "options begin with two dashes: epochs=3: did you mean --epochs 3?"
asks "train vit facts.txt imgsz=64 -o run" "did you mean --image-size?"

# Settings of a file of nanoGPT.
printf 'batch = 8 # fine\nn_embd = 384\n' >nano.conf
run train gpt facts.txt -o run -c nano.conf
refuses 3 'unknown setting "n_embd": nano.conf:2: did you mean --width?'

# Commands and tasks.
while read -r name ours; do
    run "$name" run
    refuses 2 "unknown command $name: did you mean $ours? ("
done <<EOF
sample generate
test eval
tokenize tokenizer encode
encode embed
unmask fill
dataset data check
run_glue train
fairseq-interactive translate
sample.py generate
EOF
asks compile "hint: there is nothing to compile"
asks "predict run" 'hint: `heed info RUN` names the task'
train_mlm masked
train_gpt causal
asks "predict masked x" "unknown command predict: did you mean fill?"
asks "inference --model causal" "did you mean generate?"
asks "chat masked" 'did you mean generate? (continue a prompt, token by token); hint: a run of mlm has `heed fill` instead'
asks "finetune run" '`heed train TASK DATA --from RUN`'
asks "trian run" "did you mean train?"
while read -r name ours; do
    run train "$name" facts.txt -o run
    refuses 2 "unknown task $name: did you mean $ours? ("
done <<EOF
bert mlm
resnet cnn
ner tag
EOF
absent run

# Names of settings that this program has not, each with what it does instead.
while read -r name why; do
    run train gpt facts.txt -o run "--$name" 1
    refuses 2 "unknown option --$name: $why"
done <<EOF
drop_last training makes full batches alone
zero_stage a program built by make MPI=1
min_frequency a vocabulary keeps the most frequent tokens
revision nothing is downloaded
warmup_init_lr the learning rate rises from 0
EOF
asks "train gpt facts.txt --top_k 5" 'hint: `heed generate RUN`'
asks "train vit facts.txt --iou 1" "it belongs to object detection"
while read -r task name ours; do
    run train "$task" facts.txt -o run "--$name" 1
    refuses 2 "unknown option --$name: did you mean $ours? ("
done <<EOF
cnn num_filters --width
gpt gamma --step-gamma
gpt clipnorm --clip
gpt b2 --beta2
EOF
for name in jpg jpeg pdf; do
    run plot run "--$name" x
    refuses 2 "unknown option --$name: did you mean --png?"
done
refused <<'END'
2 reconstruct run --svg x | unknown option --svg: did you mean --png?
2 plot run --vector x | unknown option --vector: did you mean --svg?
END
