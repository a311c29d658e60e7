/* synonyms_settings.c -- the settings as other programs call them; explained in synonyms.c. */
#include "cli/synonyms.h"

const char NAMELESS[] = "";

const synonym setting_synonyms[] = {
    /* the model */
    {" n-embd n-embed d-model hidden-size hidden-dim embed-dim embedding-dim embedding-size "
     "emb-dim model-dim dim encoder-embed-dim decoder-embed-dim encoder-hidden-size "
     "n-units units num-hiddens n-hidden num-hidden hidden hidden-units rnn-size filters "
     "n-filters num-filters base-filters width-mult embd num-units ",
     "width", NULL},
    {" n-layer n-layers num-layers num-layer num-hidden-layers encoder-layers "
     "num-encoder-layers hidden-layers depth num-blocks n-blocks blocks ",
     "layers", NULL},
    {" num-decoder-layers n-decoder-layers ", "decoder-layers", NULL},
    {" n-head n-heads num-heads num-attention-heads attention-heads encoder-attention-heads "
     "decoder-attention-heads nhead nheads ",
     "heads", NULL},
    {" n-kv-head n-kv-heads num-key-value-heads num-kv-heads ", "kv-heads", NULL},
    {" intermediate-size ffn-dim d-ff dff dim-feedforward mlp-dim n-inner ff-dim "
     "ffn-embed-dim encoder-ffn-embed-dim decoder-ffn-embed-dim feed-forward-size "
     "ffn-hidden-size mlp-ratio ",
     "ff", NULL},
    {" head-dim head-size d-k key-dim d-head ", "key-width", NULL},
    {" block-size context-length context-size context n-ctx ctx-len ctx-size n-positions "
     "max-seq-length max-seq-len max-sequence-length seq-len seq-length sequence-length "
     "max-position-embeddings max-source-length max-tokens-per-sample sequence-len bptt "
     "max-target-length val-max-target-length max-source-positions max-target-positions "
     "output-sequence-length tokens-per-sample context-len generation-max-length ",
     "block n", NULL},
    {" vocab-size n-vocab num-tokens-vocab nwordssrc nwordstgt max-vocab-size ", "vocab", NULL},
    {" dropout-rate rate drop-rate drop p-dropout attention-dropout attn-dropout attn-pdrop "
     "resid-pdrop embd-pdrop hidden-dropout-prob attention-probs-dropout-prob "
     "resid-dropout embd-dropout recurrent-dropout activation-dropout relu-dropout "
     "word-dropout spatial-dropout ",
     "dropout", NULL},
    {" hidden-act hidden-activation act act-fn activation-fn activation-function ", "activation",
     NULL},
    {" norm-first pre-norm prenorm encoder-normalize-before decoder-normalize-before "
     "normalize-before ",
     "norm=pre", NULL},
    {" post-norm postnorm ", "norm=post", NULL},
    {" layer-norm-eps layer-norm-epsilon rms-norm-eps ", "norm-eps", NULL},
    {" position-embedding position-embedding-type positional-encoding pos-embed pos-enc "
     "rope use-rope ",
     "positions", NULL},
    {" initializer-range init-scale init-stddev head-init-scale kernel-initializer "
     "bias-initializer embeddings-initializer initializer ",
     "init-std", NULL},
    {" tie-weights tie-word-embeddings weight-tying tie-embeddings share-embeddings "
     "share-all-embeddings share-decoder-input-output-embed ",
     "tie share-vocab", NULL},
    {" mlm-probability mlm-prob mask-prob mask-probability masking-ratio mask-ratio mask-share "
     "hide ",
     "mask-share hide mask", "tokens are hidden by `train mlm` alone"},
    {" patch-size patchsize ", "patch", NULL},
    {" imgsz img-size img input-size image-width image-height resolution crop-size "
     "target-size ",
     "image-size", NULL},
    {" in-chans in-channels num-channels n-channels ", "channels", NULL},
    {" num-classes num-labels n-classes nb-classes nc ", "classes", NULL},
    {" model arch architecture model-type task-name run-dir run ", NULL, NAMELESS},
    {" rope-scaling rope-type ", NULL, "scaled rotary positions are not supported"},
    {" partial-rotary-factor rotary-pct rotary-dim ", NULL,
     "rotary positions of a part of a head are not supported"},
    {" sliding-window use-sliding-window window-size ", NULL,
     "attention to a sliding window is not supported"},
    {" qk-norm use-qk-norm ", NULL, "norms of queries and keys are not supported"},
    {" value-dim d-v ", "value-width", NULL},
    {" use-bias qkv-bias attention-bias mlp-bias ", "bias", NULL},
    {" rope-base theta rope-freq-base ", "rope-theta", NULL},
    {" cell-type rnn-type rnn-cell ", "cell", NULL},
    {" no-token-positional-embeddings ", "positions=none", NULL},
    {" encoder-learned-pos decoder-learned-pos ", "positions=learned", NULL},
    {" joined-dictionary ", "share-vocab", NULL},
    {" layernorm-embedding ", "embed-norm", "the embeddings of this task have no norm"},
    {" global-pool gp pooling pooling-mode pool-type class-token ", "pool", NULL},
    {" init-values layer-scale num-registers reg-tokens ", NULL,
     "layer scales and register tokens are not supported"},
    {" bn-momentum bn-eps ", NULL, "batch norm has momentum 0.1 and eps 1e-5"},
    {" adaptive-input adaptive-softmax-cutoff ", NULL, "the softmax is over all tokens"},
    {" return-sequences return-state stateful mask-zero ", NULL,
     "the task says what its layers return and mask"},
    {" input-shape input-dim input-length output-dim ", NULL,
     "the sizes of inputs and outputs are those of the data"},
    {" include-top ignore-mismatched-sizes ", NULL,
     "--from RUN takes what fits, makes the rest new, and prints both"},
    {" teacher-forcing teacher-forcing-ratio ", NULL, "training always reads the true target"},
    /* the length */
    {" max-iters max-iter max-steps max-step num-steps n-steps num-iters num-iterations "
     "iterations iters niter train-steps num-train-steps training-steps total-steps "
     "max-update steps-total num-training-steps ",
     "steps", NULL},
    {" num-epochs num-epoch num-train-epochs n-epochs nepochs nb-epoch max-epochs max-epoch "
     "train-epochs epoch e ",
     "epochs", NULL},
    {" max-time max-train-time train-time time hours time-limit stop-time-hours time-hours ",
     "minutes", NULL},
    {" batch-size batchsize train-batch-size per-device-train-batch-size "
     "per-gpu-train-batch-size mini-batch-size minibatch-size minibatch device-batch-size "
     "micro-batch-size micro-batch max-sentences bs b bsz ",
     "batch", NULL},
    {" eval-batch-size per-device-eval-batch-size val-batch-size test-batch-size "
     "validation-batch-size valid-batch-size ",
     "batch", NULL},
    {" gradient-accumulation-steps grad-accum grad-accum-steps grad-accumulation "
     "accumulation-steps accum-steps accumulate-grad-batches update-freq total-batch-size "
     "global-batch-size desired-batch-size nbs ",
     "accumulate", NULL},
    {" random-seed manual-seed random-state rng-seed seed-everything data-seed "
     "worker-seeding seed-offset ",
     "seed", NULL},
    {" fp16 bf16 amp native-amp amp-dtype half mixed-precision half-precision use-amp "
     "use-bf16 tf32 allow-tf32 tensorcores fp16-opt-level fp16-backend "
     "half-precision-backend amp-impl memory-efficient-fp16 bf16-full-eval fp16-full-eval "
     "loss-scale fp16-init-scale ",
     "precision=bf16", "only training has another precision: `train TASK DATA --precision bf16`"},
    {" dtype torch-dtype compute-dtype ", "precision", NULL},
    /* the optimizer */
    {" learning-rate lr0 base-lr lr-base max-lr initial-lr init-lr peak-lr start-lr ", "lr", NULL},
    {" min-lr lrf final-lr end-lr eta-min min-lr-ratio min-lr-rate stop-min-lr ", "lr-min", NULL},
    {" weight-decay weight-decay-rate kernel-regularizer wd l2 ", "decay", NULL},
    {" warmup-steps warmup-iters warmup-ratio warmup-epochs warmup-updates num-warmup-steps "
     "warmup-proportion warmup-tokens lr-warmup lr-warmup-steps ",
     "warmup", NULL},
    {" lr-scheduler lr-scheduler-type scheduler sched decay-lr lr-schedule lr-policy "
     "lr-decay learning-rate-decay learning-rate-schedule cos-lr lr-scheduler-kwargs "
     "reduce-lr-on-plateau ",
     "schedule", NULL},
    {" gamma decay-rate lr-gamma ", "step-gamma", NULL},
    {" step-size lr-steps milestones decay-epochs decay-steps ", "step-every", NULL},
    {" lr-decay-iters lr-decay-steps learning-rate-decay-frac ", NULL,
     "the learning rate falls until the last step; its --schedule says how"},
    {" optim opt optimiser optim-args adafactor optimizer-type ", "optimizer", NULL},
    {" grad-clip clip-grad clip-grad-norm clip-norm max-grad-norm max-norm gradient-clip "
     "gradient-clip-val gradient-clip-norm clipnorm clipvalue global-clipnorm clip-value "
     "gradient-clip-algorithm clip-mode max-grad ",
     "clip", NULL},
    {" adam-beta1 betas adam-betas beta-1 b1 opt-betas ", "beta1", NULL},
    {" adam-beta2 beta-2 b2 ", "beta2", NULL},
    {" adam-epsilon epsilon opt-eps adam-eps ", "eps", NULL},
    {" label-smoothing label-smoothing-factor smooth ", "smoothing",
     "the loss of a language model has no smoothing"},
    {" class-weight class-weights sample-weight balanced weighted-loss weighted-sampler ",
     "balance", NULL},
    {" freeze-layers freeze-encoder freeze-backbone frozen ", "freeze", NULL},
    {" layer-decay layerwise-lr lr-mult backbone-lr ", "lr-scale", NULL},
    {" lora-r lora-rank use-lora peft ", "lora", NULL},
    {" target-modules lora-target-modules ", "lora-targets", NULL},
    {" gradient-checkpointing activation-checkpointing checkpoint-activations "
     "grad-checkpointing remat ",
     "recompute", NULL},
    {" drop-path drop-path-rate stochastic-depth layerdrop drop-block drop-block-rate ", NULL,
     "whole blocks are not dropped: --dropout drops single values"},
    {" drop-last dataloader-drop-last drop-remainder ", NULL,
     "training makes full batches alone, and an evaluation reads every example"},
    {" amsgrad ", NULL, "adam and adamw have no such variant"},
    {" nesterov use-nesterov ", "optimizer=nesterov", NULL},
    {" ema model-ema ema-decay use-ema ", NULL,
     "averages of weights over steps are not made: a run keeps its best and its last weights"},
    {" batch-first ", NULL, "a batch is always the first dim"},
    {" warmup-lr warmup-init-lr warmup-bias-lr warmup-momentum ", NULL,
     "the learning rate rises from 0 over --warmup steps, that of all parameters alike"},
    {" cooldown cooldown-epochs patience-epochs ", NULL,
     "the schedule does not watch the loss: --schedule says how the rate falls"},
    {" sentence-avg ", NULL, "the loss of a batch is the mean over its tokens"},
    {" gradient-noise neftune-noise-alpha ", NULL,
     "no noise is added to embeddings or gradients: --dropout regularizes"},
    {" reset-optimizer reset-lr-scheduler reset-dataloader no-resume-opt ", NULL,
     "`train TASK DATA --from RUN` starts anew from the weights of a run"},
    /* the run and its evaluations */
    {" eval-only test-only inference-only ", NULL, "`eval RUN` evaluates a run"},
    {" always-save-checkpoint save-total-limit keep-last keep-checkpoints max-to-keep "
     "save-top-k enable-checkpointing save-only-model checkpoint-hist no-epoch-checkpoints "
     "keep-last-epochs keep-best-checkpoints ",
     NULL, "a run keeps two checkpoints, the best and the last"},
    {" out-dir checkpoint-dir ckpt-dir model-dir run-name ", "out", NAMELESS}, /* also of a run */
    {" output-dir output-directory outdir output save-dir save-path save project "
     "log-dir logdir exp-name experiment name "
     "run default-root-dir weights-save-path output-path destdir ",
     "out png npy overlay translations", NULL},
    {" overwrite overwrite-output-dir exist-ok replace ", "force", NULL},
    {" resume resume-from resume-from-checkpoint continue init-from restore load-checkpoint "
     "start-epoch ",
     NULL, "`resume RUN` continues a run; `train TASK DATA --from RUN` starts from its weights"},
    {" pretrained pretrained-weights pretrained-model weights checkpoint ckpt "
     "init-checkpoint load-from finetune-from-model base-model from-pretrained model-name "
     "model-name-or-path warm-start ckpt-path initial-checkpoint ",
     "from", NAMELESS},
    {" eval-interval eval-steps eval-freq evaluation-strategy eval-strategy val-interval "
     "val-check-interval validate-interval val-loss-every validation-freq test-interval "
     "check-val-every-n-epoch validate-interval-updates eval-delay eval-on-start ",
     "eval-every", NULL},
    {" eval-iters eval-iter limit-val-batches max-eval-samples validation-steps "
     "val-max-steps ",
     "eval-batches", NULL},
    {" save-steps save-interval save-period save-freq save-strategy checkpoint-interval "
     "checkpoint-every save-every-n-epochs save-interval-updates recovery-interval "
     "ckpt-every ",
     "save-every", NULL},
    {" logging-steps log-interval log-steps print-freq print-every log-freq "
     "log-every-n-steps logging-first-step logging-strategy ",
     "log-every", NULL},
    {" early-stopping-patience early-stopping early-stop min-delta ", "patience", NULL},
    {" monitor best-metric metric-for-best-model load-best-model-at-end save-best-only "
     "eval-metric metric-name best-checkpoint-metric greater-is-better "
     "maximize-best-checkpoint-metric restore-best-weights ",
     "best", NULL},
    {" verbose quiet silent v q progress-bar no-progress disable-tqdm enable-progress-bar "
     "show-progress-bar enable-model-summary log-level log-format ",
     "progress", NULL},
    {" wandb wandb-log wandb-project use-wandb report-to tensorboard tensorboard-logdir "
     "tb-log logger log-to wandb-run-name log-wandb logging-dir ",
     NULL, "the curves of a run are in its metrics.csv and loss.png, and `plot RUN` draws them"},
    {" push-to-hub hub-model-id hub-token hub-strategy ", NULL,
     "`export RUN -o DIR` writes a model that transformers opens"},
    {" do-train do-eval do-predict do-test ", NULL,
     "`train` trains, `eval` evaluates a run, and a command for each use predicts"},
    {" dry-run debug fast-dev-run ", "estimate memory-report", NULL},
    {" config cfg config-file config-path yaml conf settings config-name ", NULL,
     "-c FILE reads settings from a file"},
    {" deterministic full-determinism ", NULL,
     "training is deterministic, with any number of threads"},
    {" detect-anomaly terminate-on-nan ", NULL,
     "a loss or gradient that is not finite ends training, always"},
    {" num-sanity-val-steps ", NULL,
     "model and data are tried on one batch before a run is made, always"},
    {" profile profiler benchmark ", NULL, "`bench --per-op` times each op"},
    {" print-config ", NULL, "`init TASK` prints all settings"},
    {" config-overrides model-kwargs ", NULL,
     "every setting is an option, or a line of the file of -c FILE"},
    {" test-file testpref ", NULL, "`eval RUN DATA` evaluates a run on other data"},
    {" eval-bleu eval-bleu-args eval-bleu-detok sacrebleu ", NULL, "`eval RUN` prints BLEU"},
    {" plots visualize ", "png overlay", "`plot RUN` draws curves, `attend RUN` attention"},
    {" save-txt save-json save-conf ", "csv json",
     "`classify RUN --csv FILE` and --json write predictions"},
    {" opset simplify dynamic ", NULL,
     "`export RUN --onnx FILE` writes ONNX of opset 17, for any batch and length"},
    /* the data */
    {" train-file train-data train-path train-dir train input-bin input-data-pattern "
     "dataset dataset-name dataset-path data-dir data-path data-root data-file input-file "
     "text-file corpus root trainpref train-subset ",
     "data", NAMELESS},
    {" validation-file valid-file val-file eval-file dev-file val-data valid-data "
     "validation-data eval-data val-dir valid-dir input-val-bin input-val-data-pattern "
     "validation valid dev validpref valid-subset val ",
     "val", "pictures of validation are in a folder val beside train"},
    {" validation-split valid-split validation-split-percentage test-size test-split "
     "val-fraction val-ratio val-size holdout ",
     "val-split", NULL},
    {" tokenizer-name tokenizer-path tokenizer-type tokenizer-file vocab-file encoding bpe "
     "srcdict tgtdict standardize ngrams output-mode ",
     "tokenizer", NULL},
    {" tokenizer ", "kind", NULL}, /* of `tokenizer train` */
    {" do-lower-case lowercase uncased ", "lower", NULL},
    {" text-column label-column text-col label-col text-field label-field text-key "
     "label-key column column-name column-names input-column target-column source-column "
     "x-col y-col source-lang target-lang src-lang tgt-lang text-column-names "
     "label-column-name length-column-name remove-unused-columns ",
     "columns", NULL},
    {" line-by-line keep-linebreaks sample-break-mode ", "packing=lines", NULL},
    {" shuffle no-shuffle shuffle-train-dataset shuffle-buffer curriculum ", NULL,
     "training reads the examples in a random order, by its --seed"},
    {" fliplr flipud hflip vflip horizontal-flip random-flip flip-prob ", "flip", NULL},
    {" color-jitter colour-jitter jitter hsv-v ", "brightness", NULL},
    {" hsv-s ", "saturation", NULL},
    {" random-crop random-resized-crop crop rrc zoom-range zoom-factor random-zoom ", "scale",
     NULL},
    {" augment augmentation data-augmentation aug aa auto-augment randaugment ", "flip", NULL},
    {" mixup mixup-alpha cutmix mosaic close-mosaic reprob random-erasing erasing cutout "
     "hsv-h degrees rotation rotate shear perspective translate copy-paste bgr multi-scale "
     "rotation-range rotation-factor width-shift-range height-shift-range aug-repeats "
     "aug-splits remode recount ",
     NULL,
     "what augments pictures is --flip, --pad, --scale, --brightness, --contrast, --saturation"},
    {" cache-images cache-ram cache overwrite-cache dataset-impl ", "cache-mb token-cache", NULL},
    {" steps-per-epoch initial-epoch ", "steps", NULL},
    {" channels-last data-format memory-format ", NULL,
     "pictures are computed with channels last, always"},
    {" callbacks callback ", NULL,
     "what callbacks do are settings: --patience, --best, --save-every, --eval-every"},
    {" kernel-size kernel conv-kernel stride strides padding pool-size ", NULL,
     "convolutions are 3 x 3; --stages and --blocks say how many there are"},
    {" bn batchnorm use-bn ", "batch-norm", NULL},
    {" flash flash-attn flash-attention use-flash-attention use-flash-attn "
     "attn-implementation attention-impl sdp sdpa attention-type attention-mechanism "
     "attn-type ",
     "attention", NULL},
    {" max-train-samples max-samples max-examples subset max-predict-samples "
     "num-train-samples train-num-samples ",
     NULL,
     "training reads all of the data; to use a part of it, put that part into a separate file"},
    {" bos-token eos-token pad-token unk-token special-tokens add-bos add-eos ", NULL,
     "the tokenizer has its special tokens: `tokenizer info RUN` lists them"},
    {" criterion metrics loss loss-fn objective jsd-loss bce-loss z-loss margin ", NULL,
     "the task has its loss and its measures"},
    {" sample-every ", "eval-every", NULL},
    {" rect single-cls overlap-mask iou max-det agnostic-nms retina-masks box cls dfl pose "
     "kobj nms ",
     NULL, "it belongs to object detection, which is not a task here"},
    {" group-by-length sortish-sampler ", NULL,
     "pairs of texts are sorted into batches of like length, always"},
    {" auto-find-batch-size auto-scale-batch-size ", NULL,
     "--estimate prints the memory that training with --batch takes"},
    {" overfit-single-batch overfit fraction limit-train-batches overfit-batches ", NULL,
     "training reads all of the data; to use a part of it, put that part into a separate file"},
    {" pin-memory persistent-workers prefetch-factor prefetch dataloader-pin-memory pin-mem "
     "no-prefetcher use-multi-epochs-loader ",
     NULL, "data is read ahead by itself, and there is no GPU to copy it to"},
    {" num-workers n-workers num-worker workers dataloader-num-workers loader-workers "
     "preprocessing-num-workers dataset-num-proc num-proc ",
     "workers threads", NULL},
    {" grayscale greyscale gray grey rgb color-mode ", "channels convert", NULL},
    {" cache-dir trust-remote-code use-fast use-fast-tokenizer revision model-revision "
     "token use-auth-token dataset-config dataset-config-name ",
     NULL, "nothing is downloaded: data and runs are local files"},
    {" min-frequency min-freq min-count thresholdsrc thresholdtgt ", NULL,
     "a vocabulary keeps the most frequent tokens: --vocab says how many"},
    {" remove-bpe post-process ", NULL, "output is text, in which pieces of words are joined"},
    {" class-names class-map label-names label-mode labels ", NULL,
     "classes are named by the folders of pictures or the labels of the lines"},
    {" do-regression ", NULL, "numbers are not predicted: each label is a class"},
    {" source-prefix forced-bos-token prompts ", NULL,
     "nothing is put before a text that is not in the data"},
    {" ignore-pad-token-for-loss pad-to-max-length pad-to-block-size ", NULL,
     "padding is automatic, and never counts in the loss"},
    {" skip-invalid-size-inputs-valid-test ", NULL,
     "pairs that are longer than --block are left out of training, and counted"},
    {" interpolation train-interpolation ", "resample", NULL},
    {" crop-pct crop-to-aspect-ratio ", "resize-to", NULL},
    {" rescale normalize ", "mean",
     "pictures are normalised by the mean and deviation of their data"},
    {" tta test-time-augmentation ", NULL, "a picture is classified once, as it is"},
    /* the machine */
    {" device devices cuda use-cuda gpu gpus n-gpu ngpu num-gpus gpu-id gpu-ids mps "
     "accelerator tpu no-cuda use-gpu use-cpu cpu ",
     NULL, "heed has no GPU: it computes on CPUs, and --threads says with how many threads"},
    {" num-threads n-threads nthreads n-jobs cpus cpu-threads jobs j t ", "threads", NULL},
    {" local-rank local-world-size nproc nproc-per-node world-size nnodes num-nodes "
     "distributed ddp backend launcher strategy deepspeed fsdp ddp-backend zero-stage "
     "sync-bn sync-batchnorm dist-bn split-bn find-unused-parameters "
     "ddp-find-unused-parameters ",
     NULL, "a program built by make MPI=1 trains in several processes: mpirun -n 4 heed train ..."},
    {" compile jit torch-compile torchscript xla jit-compile torch-compile-backend "
     "torchcompile fuser jit-mode-eval use-ipex inference-mode run-eagerly ",
     NULL, "there is nothing to compile: the kernels are chosen for this CPU"},
    {" load-in-8bit load-in-4bit quantize quantization int8 quant-noise-pq ", NULL,
     "heed computes in fp32, and trains in bf16 with --precision bf16"},
    /* the use of a run */
    {" max-new-tokens max-tokens num-tokens n-tokens tokens max-length length gen-length "
     "n-predict output-length max-gen-len min-length ",
     "n block most", NULL},
    {" num-samples n-samples num-return-sequences nsamples count ", "samples most", NULL},
    {" start start-text text input inputs prefix seed-text query-text message ", "prompt",
     NAMELESS},
    {" temp ", "temperature", NULL},
    {" topk top-k num-predictions n-best top5 k ", "top-k top",
     "`generate RUN` and `translate RUN` sample with --top-k"},
    {" topp top-p nucleus p top-probability ", "top-p",
     "`generate RUN` and `translate RUN` sample with --top-p"},
    {" do-sample sampling ", "sample temperature", NULL},
    {" lenpen length-penalty-weight ", "length-penalty",
     "translations have a length penalty: `translate RUN --length-penalty X`"},
    {" num-beams beam-size nbest beam-width beams n-beams generation-num-beams "
     "predict-with-generate ",
     "beam", "`translate RUN` and `eval RUN` search with --beam"},
    {" use-cache kv-cache ", "cache", NULL},
    {" stream streaming ", NULL, "a text is printed while it is made"},
    {" attention ", NULL, "`attend RUN INPUT` shows what a run attends to"},
    {" output-attentions show-attention attentions return-attention plot-attention ",
     "attention png", NULL},
    {" occlusion occluded ", "occlude", NULL},
    {" png ", "attention=FILE overlay",
     "`attend RUN INPUT --png FILE` draws a picture, and the page of `view FILE --html PAGE` saves "
     "one"},
    {" layer-index layer-idx layer-num ", "layer", NULL},
    {" head-index head-idx head-num ", "head", NULL},
    {" image picture images photo source src img-path image-path ", NULL, NAMELESS},
    {" save-plot save-fig savefig plot fig figure save-image out-file output-file o out ",
     "png out overlay csv", NULL},
    {" jpg jpeg pdf eps-file gif webp ", "png", "pictures are written as PNG, some also as SVG"},
    {" vector vector-graphics ", "svg png", NULL},
    {" svg ", "png",
     "`attend RUN INPUT --svg FILE` draws a picture, and the page of `view FILE --html PAGE` saves "
     "one"},
    {" html page ", "html", "`attend RUN INPUT --html FILE` writes a page"},
    {" output-format format json-output as-json ", "onnx json", NULL},
    {" to ", NULL, "-o FOLDER writes the format of transformers, --onnx FILE writes ONNX"},
    {NULL, NULL, NULL}};
