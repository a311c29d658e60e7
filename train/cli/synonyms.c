/* synonyms.c -- what other programs call the settings, commands and tasks of this one: nanoGPT,
 * transformers, Keras, Ultralytics, timm, fairseq, and habits of argparse. An error about a name
 * that does not exist ends with the right one. */
#include "cli/program.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    const char *theirs; /* names between spaces, in lower case, with dashes */
    const char *ours; /* settings, of which the first that the command has is meant; one may have a
                         value, "precision=bf16"; or NULL */
    const char *note; /* what to say if the command has none of them; ARGUMENT; or NULL */
} synonym;

static const char ARGUMENT[] = ""; /* it is given without a name */

static const synonym settings[] = {
    /* the model */
    {" n-embd n-embed d-model hidden-size hidden-dim embed-dim embedding-dim embedding-size "
     "emb-dim "
     "model-dim dim encoder-embed-dim decoder-embed-dim encoder-hidden-size n-units units "
     "num-hiddens n-hidden num-hidden hidden hidden-units rnn-size filters n-filters num-filters "
     "base-filters width-mult ",
     "width", NULL},
    {" n-layer n-layers num-layers num-layer num-hidden-layers encoder-layers num-encoder-layers "
     "hidden-layers depth num-blocks n-blocks ",
     "layers", NULL},
    {" num-decoder-layers n-decoder-layers ", "decoder-layers", NULL},
    {" n-head n-heads num-heads num-attention-heads attention-heads encoder-attention-heads "
     "decoder-attention-heads nhead "
     "nheads ",
     "heads", NULL},
    {" n-kv-head n-kv-heads num-key-value-heads num-kv-heads ", "kv-heads", NULL},
    {" intermediate-size ffn-dim d-ff dff dim-feedforward mlp-dim n-inner ff-dim ffn-embed-dim "
     "encoder-ffn-embed-dim decoder-ffn-embed-dim feed-forward-size ffn-hidden-size mlp-ratio ",
     "ff", NULL},
    {" head-dim head-size d-k key-dim d-head ", "key-width", NULL},
    {" block-size context-length context-size context n-ctx ctx-len ctx-size n-positions "
     "max-seq-length max-seq-len max-sequence-length seq-len seq-length sequence-length "
     "max-position-embeddings max-source-length max-tokens-per-sample sequence-len bptt ",
     "block n", NULL},
    {" vocab-size n-vocab num-tokens-vocab ", "vocab", NULL},
    {" dropout-rate drop-rate drop p-dropout attention-dropout attn-dropout attn-pdrop resid-pdrop "
     "embd-pdrop hidden-dropout-prob attention-probs-dropout-prob resid-dropout embd-dropout ",
     "dropout", NULL},
    {" hidden-act hidden-activation act act-fn activation-fn activation-function ", "activation",
     NULL},
    {" norm-first pre-norm prenorm ", "norm=pre", NULL},
    {" post-norm postnorm ", "norm=post", NULL},
    {" layer-norm-eps layer-norm-epsilon rms-norm-eps ", "norm-eps", NULL},
    {" position-embedding position-embedding-type positional-encoding pos-embed pos-enc rope "
     "use-rope ",
     "positions", NULL},
    {" initializer-range init-scale init-stddev ", "init-std", NULL},
    {" tie-weights tie-word-embeddings weight-tying tie-embeddings share-embeddings "
     "share-all-embeddings ",
     "tie share-vocab", NULL},
    {" mlm-probability mlm-prob mask-prob mask-probability masking-ratio mask-ratio ",
     "mask-share mask", "tokens are hidden by `train mlm` alone"},
    {" patch-size patchsize ", "patch", NULL},
    {" imgsz img-size img input-size image-width image-height resolution crop-size target-size ",
     "image-size", NULL},
    {" in-chans in-channels num-channels n-channels ", "channels", NULL},
    {" num-classes num-labels n-classes nb-classes nc ", "classes", NULL},
    {" model arch architecture model-type task-name run-dir ", NULL, ARGUMENT},
    {" rope-scaling rope-type ", NULL, "scaled rotary positions are not supported"},
    {" partial-rotary-factor rotary-pct rotary-dim ", NULL,
     "rotary positions of a part of a head are not supported"},
    {" sliding-window use-sliding-window ", NULL, "attention to a sliding window is not supported"},
    {" qk-norm use-qk-norm ", NULL, "norms of queries and keys are not supported"},
    /* the length */
    {" max-iters max-iter max-steps max-step num-steps n-steps num-iters num-iterations iterations "
     "iters niter train-steps num-train-steps training-steps total-steps max-update steps-total ",
     "steps", NULL},
    {" num-epochs num-epoch num-train-epochs n-epochs nepochs nb-epoch max-epochs max-epoch "
     "train-epochs epoch e ",
     "epochs", NULL},
    {" max-time max-train-time train-time time hours time-limit ", "minutes", NULL},
    {" batch-size batchsize train-batch-size per-device-train-batch-size per-gpu-train-batch-size "
     "mini-batch-size minibatch-size minibatch device-batch-size micro-batch-size micro-batch "
     "max-sentences bs b bsz ",
     "batch", NULL},
    {" eval-batch-size per-device-eval-batch-size val-batch-size test-batch-size ", "batch", NULL},
    {" gradient-accumulation-steps grad-accum grad-accum-steps grad-accumulation "
     "accumulation-steps accum-steps accumulate-grad-batches update-freq total-batch-size "
     "global-batch-size desired-batch-size ",
     "accumulate", NULL},
    {" random-seed manual-seed random-state rng-seed seed-everything ", "seed", NULL},
    {" fp16 bf16 amp native-amp amp-dtype half mixed-precision half-precision use-amp use-bf16 ",
     "precision=bf16", "only training has another precision: `train TASK DATA --precision bf16`"},
    {" dtype torch-dtype compute-dtype ", "precision", NULL},
    /* the optimizer */
    {" learning-rate lr0 base-lr lr-base max-lr initial-lr init-lr peak-lr start-lr ", "lr", NULL},
    {" min-lr lrf final-lr end-lr eta-min ", "lr-min", NULL},
    {" weight-decay weight-decay-rate kernel-regularizer wd l2 ", "decay", NULL},
    {" warmup-steps warmup-iters warmup-ratio warmup-epochs warmup-updates num-warmup-steps "
     "warmup-proportion ",
     "warmup", NULL},
    {" lr-scheduler lr-scheduler-type scheduler sched decay-lr cos-lr lr-schedule lr-policy "
     "lr-decay learning-rate-decay learning-rate-schedule cos-lr ",
     "schedule", NULL},
    {" gamma decay-rate lr-gamma ", "step-gamma", NULL},
    {" step-size lr-steps milestones decay-epochs decay-steps ", "step-every", NULL},
    {" lr-decay-iters lr-decay-steps learning-rate-decay-frac ", NULL,
     "the learning rate falls until the last step; its --schedule says how"},
    {" optim opt optimiser ", "optimizer", NULL},
    {" grad-clip clip-grad clip-grad-norm clip-norm max-grad-norm max-norm gradient-clip "
     "gradient-clip-val gradient-clip-norm clipnorm clipvalue global-clipnorm clip-value ",
     "clip", NULL},
    {" adam-beta1 betas adam-betas beta-1 b1 opt-betas ", "beta1", NULL},
    {" adam-beta2 beta-2 b2 ", "beta2", NULL},
    {" adam-epsilon epsilon opt-eps adam-eps ", "eps", NULL},
    {" label-smoothing label-smoothing-factor smooth ", "smoothing", NULL},
    {" class-weight class-weights sample-weight balanced weighted-loss weighted-sampler ",
     "balance", NULL},
    {" freeze-layers freeze-encoder freeze-backbone frozen ", "freeze", NULL},
    {" layer-decay layerwise-lr lr-mult backbone-lr ", "lr-scale", NULL},
    {" lora-r lora-rank use-lora peft ", "lora", NULL},
    {" target-modules lora-target-modules ", "lora-targets", NULL},
    {" gradient-checkpointing activation-checkpointing checkpoint-activations grad-checkpointing "
     "remat ",
     "recompute", NULL},
    {" drop-path drop-path-rate stochastic-depth layerdrop ", NULL,
     "whole blocks are not dropped: --dropout drops single values"},
    {" drop-last dataloader-drop-last drop-remainder ", NULL,
     "training makes full batches alone, and an evaluation reads every example"},
    {" amsgrad ", NULL, "adam and adamw have no such variant"},
    {" nesterov use-nesterov ", "optimizer=nesterov", NULL},
    {" ema model-ema ema-decay use-ema ", NULL,
     "averages of weights over steps are not made: a run keeps its best and its last weights"},
    {" batch-first ", NULL, "a batch is always the first dim"},
    /* the run and its evaluations */
    {" eval-only test-only ", NULL, "`eval RUN` evaluates a run"},
    {" always-save-checkpoint save-total-limit keep-last keep-checkpoints max-to-keep save-top-k ",
     NULL, "a run keeps two checkpoints, the best and the last"},
    {" output-dir output-directory out-dir outdir output save-dir save-path save project log-dir "
     "logdir checkpoint-dir ckpt-dir model-dir run-name exp-name experiment name run ",
     "out png npy overlay translations", NULL},
    {" overwrite overwrite-output-dir exist-ok replace ", "force", NULL},
    {" resume resume-from resume-from-checkpoint continue init-from restore load-checkpoint ", NULL,
     "`resume RUN` continues a run; `train TASK DATA --from RUN` starts from its weights"},
    {" pretrained pretrained-weights pretrained-model weights checkpoint ckpt init-checkpoint "
     "load-from finetune-from-model base-model from-pretrained model-name model-name-or-path "
     "warm-start ",
     "from", ARGUMENT},
    {" eval-interval eval-steps eval-freq evaluation-strategy eval-strategy val-interval "
     "val-check-interval validate-interval val-loss-every validation-freq test-interval ",
     "eval-every", NULL},
    {" eval-iters eval-iter limit-val-batches max-eval-samples validation-steps ", "eval-batches",
     NULL},
    {" save-steps save-interval save-period save-freq save-strategy checkpoint-interval "
     "checkpoint-every save-every-n-epochs ",
     "save-every", NULL},
    {" logging-steps log-interval log-steps print-freq print-every log-freq ", "log-every", NULL},
    {" early-stopping-patience early-stopping early-stop ", "patience", NULL},
    {" monitor best-metric metric-for-best-model load-best-model-at-end save-best-only ", "best",
     NULL},
    {" verbose quiet silent v q progress-bar no-progress disable-tqdm ", "progress", NULL},
    {" wandb wandb-log wandb-project use-wandb report-to tensorboard tensorboard-logdir tb-log "
     "logger log-to ",
     NULL, "the curves of a run are in its metrics.csv and loss.png, and `plot RUN` draws them"},
    {" push-to-hub hub-model-id hub-token ", NULL,
     "`export RUN --format hf` writes a model that transformers opens"},
    {" do-train do-eval do-predict do-test ", NULL,
     "`train` trains, `eval` evaluates a run, and a command for each use predicts"},
    {" dry-run debug fast-dev-run ", "estimate memory-report", NULL},
    {" config cfg config-file config-path yaml conf settings ", NULL,
     "-c FILE reads settings from a file"},
    /* the data */
    {" train-file train-data train-path train-dir train input-bin input-data-pattern dataset "
     "dataset-name dataset-path data-dir "
     "data-path data-root data-file input-file text-file corpus root ",
     "data", ARGUMENT},
    {" validation-file valid-file val-file eval-file dev-file val-data valid-data validation-data "
     "eval-data val-dir valid-dir input-val-bin input-val-data-pattern validation valid dev ",
     "val", NULL},
    {" validation-split valid-split validation-split-percentage test-size test-split val-fraction "
     "val-ratio val-size holdout ",
     "val-split", NULL},
    {" tokenizer-name tokenizer-path tokenizer-type tokenizer-file vocab-file encoding ",
     "tokenizer", NULL},
    {" do-lower-case lowercase uncased ", "lower", NULL},
    {" text-column label-column text-col label-col text-field label-field text-key label-key "
     "column column-name column-names input-column target-column source-column x-col y-col "
     "source-lang target-lang src-lang tgt-lang ",
     "columns", NULL},
    {" line-by-line ", "packing=lines", NULL},
    {" shuffle no-shuffle ", NULL, "training reads the examples in a random order, by its --seed"},
    {" fliplr flipud hflip vflip horizontal-flip random-flip flip-prob ", "flip", NULL},
    {" color-jitter colour-jitter jitter hsv-v ", "brightness", NULL},
    {" hsv-s ", "saturation", NULL},
    {" random-crop random-resized-crop crop rrc ", "scale", NULL},
    {" augment augmentation data-augmentation aug aa auto-augment randaugment ", "flip", NULL},
    {" mixup mixup-alpha cutmix mosaic close-mosaic reprob random-erasing erasing cutout hsv-h "
     "degrees rotation rotate shear perspective translate ",
     NULL,
     "what augments pictures is --flip, --pad, --scale, --brightness, --contrast, --saturation"},
    {" cache-images cache-ram ", "cache-mb token-cache", NULL},
    {" steps-per-epoch initial-epoch ", "steps", NULL},
    {" channels-last data-format memory-format ", NULL,
     "pictures are computed with channels last, always"},
    {" callbacks callback ", NULL,
     "what callbacks do are settings: --patience, --best, --save-every, --eval-every"},
    {" kernel-size kernel conv-kernel stride strides padding pool-size ", NULL,
     "convolutions are 3 x 3; --stages and --blocks say how many there are"},
    {" bn batchnorm use-bn ", "batch-norm", NULL},
    {" flash flash-attn flash-attention use-flash-attention use-flash-attn attn-implementation "
     "attention-impl sdp sdpa ",
     "attention", NULL},
    {" max-train-samples max-samples max-examples subset ", NULL,
     "training reads all of the data; to use a part of it, put that part into a separate file"},
    {" bos-token eos-token pad-token unk-token special-tokens add-bos add-eos ", NULL,
     "the tokenizer has its special tokens: `tokenizer info RUN` lists them"},
    {" criterion loss loss-fn objective ", NULL, "the task has its loss"},
    {" sample-every ", "eval-every", NULL},
    {" rect single-cls overlap-mask ", NULL,
     "it is of the detection of objects, which is no task here"},
    {" group-by-length ", NULL, "pairs of texts are sorted into batches of like length, always"},
    {" auto-find-batch-size ", NULL,
     "--estimate prints the memory that training with --batch takes"},
    {" overfit-single-batch overfit fraction limit-train-batches ", NULL,
     "training reads all of the data; to use a part of it, put that part into a separate file"},
    {" pin-memory persistent-workers prefetch-factor prefetch ", NULL,
     "data is read ahead by itself, and there is no GPU to copy it to"},
    {" num-workers n-workers num-worker workers dataloader-num-workers loader-workers ",
     "workers threads", NULL},
    {" grayscale greyscale gray grey rgb ", "channels convert", NULL},
    /* the machine */
    {" device devices cuda use-cuda gpu gpus n-gpu ngpu num-gpus gpu-id gpu-ids mps accelerator "
     "tpu "
     "no-cuda use-gpu ",
     NULL, "heed has no GPU: it computes on CPUs, and --threads says with how many threads"},
    {" num-threads n-threads nthreads n-jobs cpus cpu-threads jobs j t ", "threads", NULL},
    {" local-rank local-world-size nproc nproc-per-node world-size nnodes num-nodes distributed "
     "ddp "
     "backend launcher strategy deepspeed fsdp ddp-backend zero-stage ",
     NULL, "a program built by make MPI=1 trains in several processes: mpirun -n 4 heed train ..."},
    {" compile jit torch-compile torchscript xla jit-compile ", NULL,
     "there is nothing to compile: the kernels are chosen for this CPU"},
    {" load-in-8bit load-in-4bit quantize quantization int8 ", NULL,
     "heed computes in fp32, and trains in bf16 with --precision bf16"},
    /* the use of a run */
    {" max-new-tokens max-tokens num-tokens n-tokens tokens max-length length gen-length n-predict "
     "output-length max-gen-len min-length ",
     "n block most", NULL},
    {" num-samples n-samples num-return-sequences nsamples count ", "samples most", NULL},
    {" start start-text text input inputs prefix seed-text query-text message ", "prompt",
     ARGUMENT},
    {" temp ", "temperature", NULL},
    {" topk num-predictions n-best top5 k ", "top-k top", NULL},
    {" topp nucleus p top-probability ", "top-p", NULL},
    {" do-sample sampling ", "sample temperature", NULL},
    {" lenpen length-penalty-weight ", "length-penalty",
     "translations have a length penalty: `translate RUN --length-penalty X`"},
    {" num-beams beam-size nbest beam-width beams n-beams ", "beam", NULL},
    {" use-cache kv-cache ", "cache", NULL},
    {" stream streaming ", NULL, "a text is printed while it is made"},
    {" output-attentions show-attention attentions return-attention plot-attention ",
     "attention png", NULL},
    {" layer-index layer-idx layer-num ", "layer", NULL},
    {" head-index head-idx head-num ", "head", NULL},
    {" image picture images photo source src img-path image-path ", NULL, ARGUMENT},
    {" save-plot save-fig savefig plot fig figure save-image out-file output-file o ",
     "png out overlay csv", NULL},
    {" jpg jpeg pdf eps-file gif webp ", "png", "pictures are written as PNG, some also as SVG"},
    {" vector vector-graphics ", "svg png", NULL},
    {" svg ", "png", "pictures are written as PNG"},
    {" output-format format json-output as-json ", "json", NULL},
    {NULL, NULL, NULL}};

static const synonym commands[] = {
    {" sample chat complete completion gen continue-text write text-generation samples ",
     "generate", NULL},
    {" predict infer inference apply run use ask query prompt ", "generate",
     "`info RUN` names the task of a run, and with it the command: fill, generate, classify, "
     "translate, caption, reconstruct or embed"},
    {" evaluate evaluation validate validation val test score perplexity benchmark-model accuracy "
     "metrics ",
     "eval", NULL},
    {" fit learn pretrain pre-train training run-mlm run-clm lm ", "train", NULL},
    {" finetune fine-tune fine-tuning transfer adapt lora tune sft ", NULL,
     "`train TASK DATA --from RUN` starts from what a run has learned"},
    {" new create config settings template generate-config prepare setup project ", "init", NULL},
    {" continue restart load-checkpoint restore ", "resume", NULL},
    {" summary describe show model print inspect-model params parameters list ls stats ", "info",
     NULL},
    {" unmask fill-mask mask guess cloze ", "fill", NULL},
    {" recognize recognise label tag detect categorize image-classification classification ner ",
     "classify", NULL},
    {" translation interactive mt decode-text ", "translate", NULL},
    {" describe-image image-to-text captioning annotate ", "caption", NULL},
    {" autoencode denoise decode-image inpaint ", "reconstruct", NULL},
    {" encode vectors vectorize features extract similarity sentence-embedding embeddings "
     "embedding "
     "feature-extraction ",
     "embed", NULL},
    {" tokenize tokenise tok tokens ", "tokenizer encode", NULL},
    {" detokenize detokenise ", "tokenizer decode", NULL},
    {" train-tokenizer build-vocab vocab make-vocab learn-bpe ", "tokenizer train", NULL},
    {" attention visualize visualise visualization attentions show-attention bertviz look inspect "
     "interpret head-view model-view neuron-view ",
     "attend", NULL},
    {" html page web ui serve server gui app browser dashboard ", "view", NULL},
    {" loss curve curves logs log metrics-plot tensorboard history ", "plot", NULL},
    {" convert-from load from-pretrained download pull get hub ", "import", NULL},
    {" convert save save-pretrained onnx push upload ", "export", NULL},
    {" diff versus vs experiment sweep grid search hpo ", "compare", NULL},
    {" dataset check-data preprocess data-stats data-info analyze analyse inspect-data ",
     "data check", NULL},
    {" benchmark speed timing profile perf time ", "bench", NULL},
    {" env environment diagnose system version-info devices self-check checks hw ", "doctor", NULL},
    {" grad-check gradient-check gradients selftest self-test ", "gradcheck", NULL},
    {" tutorial lesson lessons teach learn-attention notes demo ", "explain", NULL},
    {" saliency occlusion attribution attribute captum shap lime ", "influence", NULL},
    {" prune-heads prune remove-head ", "ablate", NULL},
    {" draw diagram architecture torchviz netron plot-model ", "graph", NULL},
    {" merge-lora merge-adapter merge-and-unload fuse ", "merge", NULL},
    {" version ", NULL, "`--version` prints the version"},
    {NULL, NULL, NULL}};

static const synonym tasks[] = {
    {" bert roberta distilbert albert masked masked-lm fill-mask encoder electra deberta ", "mlm",
     NULL},
    {" gpt2 gpt-2 gpt3 nanogpt llama lm clm causal causal-lm causallm language-model text "
     "text-generation decoder charlm char-rnn mistral qwen transformer-lm ",
     "gpt", NULL},
    {" deit image-classification image-classifier images pictures vision vision-transformer "
     "visiontransformer classify-images swin ",
     "vit", NULL},
    {" resnet convnet lenet conv convolutional vgg convnext ", "cnn", NULL},
    {" ann dense perceptron fnn ffn feedforward ", "mlp", NULL},
    {" transformer t5 bart translation translate nmt mt encoder-decoder marian summarization "
     "text2text ",
     "seq2seq", NULL},
    {" lstm gru seq2seq-rnn bahdanau elman recurrent ", "rnn", NULL},
    {" text-classification text-classifier classifier classification classify sentiment "
     "sequence-classification sst2 imdb reviews ",
     "textcls", NULL},
    {" ner pos token-classification tagger tagging sequence-labeling sequence-labelling ", "tag",
     NULL},
    {" image-to-text captioning captions image-captioning show-attend-and-tell ", "caption", NULL},
    {" ae vae mae auto-encoder autoencoders denoising masked-autoencoder ", "autoencoder", NULL},
    {NULL, NULL, NULL}};

/* Whether the list has the word: case does not matter, and _ and blanks are dashes. */
static bool lists(const char *list, const char *word) {
    char name[66] = " ";
    size_t n = strlen(word);
    if (n == 0 || n > sizeof name - 3) return false;
    for (size_t i = 0; i < n; i++) {
        int ch = tolower((unsigned char)word[i]);
        name[i + 1] = ch == '_' || ch == ' ' ? '-' : (char)ch;
    }
    name[n + 1] = ' ';
    return strstr(list, name) != NULL;
}

static const synonym *look_up(const synonym *table, const char *word) {
    while (table->theirs && !lists(table->theirs, word)) table++;
    return table->theirs ? table : NULL;
}

/* The setting of f that the next word of *list names, and its value or ""; NULL: f lacks it. */
static const heed_option *next_setting(const heed_config *f, const char **list, char value[32]) {
    char key[64];
    size_t n = strcspn(*list, " "), name = strcspn(*list, " =");
    snprintf(key, sizeof key, "%.*s", (int)name, *list);
    snprintf(value, 32, "%.*s", n > name ? (int)(n - name - 1) : 0, *list + name + (n > name));
    *list += n + ((*list)[n] == ' ');
    for (int i = 0; i < heed_config_count(f); i++) {
        const heed_option *o = heed_config_at(f, i, NULL);
        if (strcmp(o->name, key) == 0) return o;
    }
    return NULL;
}

/* Names of arguments, and notes that name a command, which only a hint may do. */
static void put_note(const program *p, const char *note, char text[HEED_EXPLAIN]) {
    if (note == ARGUMENT)
        snprintf(text, HEED_EXPLAIN, ": arguments have no names: expected %s %s %s", program_name(),
                 p->command->name, p->command->usage);
    else
        snprintf(text, HEED_EXPLAIN, "%s%s", strchr(note, '`') ? "; hint: " : ": ", note);
}

/* The bytes of a help up to the first semicolon; if these are many, up to the first comma. */
static int short_help(const char *help) {
    size_t n = strcspn(help, ";");
    return (int)(n > 60 ? strcspn(help, ",;") : n);
}

bool explain_setting(void *user, const heed_config *f, const char *key, char text[HEED_EXPLAIN]) {
    const synonym *s = look_up(settings, key);
    const heed_option *o = NULL;
    char value[32] = "";
    if (!s && (strncmp(key, "no-", 3) == 0 || strncmp(key, "no_", 3) == 0))
        s = look_up(settings, key + 3);
    for (const char *list = s && s->ours ? s->ours : ""; !o && *list;)
        o = next_setting(f, &list, value);
    if (o)
        snprintf(text, HEED_EXPLAIN, ": did you mean `%s%s%s`? (%.*s%s)", o->name,
                 *value ? " = " : "", value, short_help(o->help), o->help,
                 strcmp(o->name, "data") == 0 ? "; usually the second argument, without a name"
                                              : "");
    else if (s && s->note)
        put_note(user, s->note, text);
    return o || (s && s->note);
}

const char *known_command(const char *word, const char **note) {
    const synonym *s = look_up(commands, word);
    *note = s ? s->note : NULL;
    return s ? s->ours : NULL;
}

const char *known_task(const char *word) {
    const synonym *s = look_up(tasks, word);
    return s ? s->ours : NULL;
}
