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
gpt batch-size --batch
gpt per_device_train_batch_size --batch
gpt n_embd --width
gpt hidden_size --width
gpt d_model --width
gpt n_layer --layers
gpt num_hidden_layers --layers
gpt n_head --heads
gpt num_attention_heads --heads
gpt intermediate_size --ff
gpt dim-feedforward --ff
gpt block_size --block
gpt max_seq_length --block
gpt vocab_size --vocab
gpt attention_dropout --dropout
gpt lr_base --lr
gpt native_amp --precision bf16
gpt decoder_embed_dim --width
gpt encoder-attention-heads --heads
gpt validation_freq --eval-every
gpt val_loss_every --eval-every
gpt steps_per_epoch --steps
gpt hidden_act --activation
gpt max_iters --steps
gpt max_steps --steps
gpt num_train_epochs --epochs
gpt num_epochs --epochs
gpt learning_rate --lr
gpt lr0 --lr
gpt min_lr --lr-min
gpt weight_decay --decay
gpt warmup_steps --warmup
gpt warmup_iters --warmup
gpt warmup_ratio --warmup
gpt lr_scheduler_type --schedule
gpt gradient_accumulation_steps --accumulate
gpt grad_clip --clip
gpt max_grad_norm --clip
gpt adam_beta1 --beta1
gpt adam_epsilon --eps
gpt optim --optimizer
gpt random_state --seed
gpt eval_interval --eval-every
gpt eval_iters --eval-batches
gpt save_steps --save-every
gpt log_interval --log-every
gpt early_stopping_patience --patience
gpt fp16 --precision bf16
gpt dtype --precision
gpt output_dir --out
gpt out_dir --out
gpt project --out
gpt overwrite_output_dir --force
gpt validation_split --val-split
gpt val_file --val
gpt model_name_or_path --from
gpt gradient_checkpointing --recompute
gpt lora_r --lora
gpt num_threads --threads
gpt initializer_range --init-std
gpt tie_word_embeddings --tie
mlm mlm_probability --mask-share
seq2seq label_smoothing --smoothing
seq2seq num_decoder_layers --decoder-layers
textcls num_labels --classes
textcls class_weight --balance
vit imgsz --image-size
vit img_size --image-size
vit patch_size --patch
vit num_classes --classes
vit fliplr --flip
vit color_jitter --brightness
vit num_workers --workers
gpt num_workers --threads
gpt train_file --data
gpt seed_everything --seed
gpt betas --beta1
gpt nesterov --optimizer nesterov
gpt tf32 --precision bf16
gpt preprocessing_num_workers --threads
vit qkv_bias --bias
vit preprocessing_num_workers --workers
seq2seq joined_dictionary --share-vocab
seq2seq encoder_normalize_before --norm pre
seq2seq max_target_positions --block
seq2seq trainpref --data
seq2seq srcdict --tokenizer
gpt tokens_per_sample --block
gpt val_max_steps --eval-batches
gpt data_seed --seed
gpt recurrent_dropout --dropout
gpt metric_name --best
gpt keep_linebreaks --packing lines
textcls text_column_names --columns
textcls pooling_mode --pool
vit value_dim --value-width
vit interpolation --resample
vit crop_pct --resize-to
vit color_mode --channels
vit global_pool --pool
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
chat generate
evaluate eval
validate eval
test eval
fit train
new init
summary info
tokenize tokenizer encode
detokenize tokenizer decode
visualize attend
encode embed
benchmark bench
unmask fill
dataset data check
tutorial explain
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
GPT2 gpt
nanogpt gpt
resnet cnn
transformer seq2seq
lstm rnn
ner tag
sentiment textcls
EOF
absent run

# Names of settings that this program has not, each with what it does instead.
while read -r name why; do
    run train gpt facts.txt -o run "--$name" 1
    refuses 2 "unknown option --$name: $why"
done <<EOF
drop_last training makes full batches alone
drop_path whole blocks are not dropped: --dropout
channels_last pictures are computed with channels last
callbacks what callbacks do are settings: --patience
criterion the task has its loss
group_by_length pairs of texts are sorted
fraction training reads all of the data
max_train_samples training reads all of the data
zero_stage a program built by make MPI=1
sentence_avg the loss of a batch is the mean over its tokens
remove_bpe output is text, in which pieces of words are joined
min_frequency a vocabulary keeps the most frequent tokens
revision nothing is downloaded
detect_anomaly a loss or gradient that is not finite ends training
warmup_init_lr the learning rate rises from 0
label_smoothing_factor the loss of a language model has no smoothing
EOF
asks "train gpt facts.txt --top_k 5" 'hint: `heed generate RUN`'
asks "train vit facts.txt --iou 1" "it belongs to object detection"
while read -r task name ours; do
    run train "$task" facts.txt -o run "--$name" 1
    refuses 2 "unknown option --$name: did you mean $ours? ("
done <<EOF
cnn num_filters --width
gpt n_hidden --width
gpt gamma --step-gamma
gpt milestones --step-every
gpt clipnorm --clip
gpt b2 --beta2
gpt device_batch_size --batch
gpt total_batch_size --accumulate
gpt ffn_hidden_size --ff
gpt flash_attn --attention
cnn bn --batch-norm
EOF
for name in jpg jpeg pdf; do
    run plot run "--$name" x
    refuses 2 "unknown option --$name: did you mean --png?"
done
run reconstruct run --svg x
refuses 2 "unknown option --svg: did you mean --png?"
run plot run --vector x
refuses 2 "unknown option --vector: did you mean --svg?"
