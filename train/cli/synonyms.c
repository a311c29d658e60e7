/* synonyms.c -- what other programs call the settings, commands and tasks of this one: nanoGPT,
 * llm.c, transformers, Keras, Ultralytics, timm, fairseq, Lightning. An error about a name that
 * does not exist ends with the right one. python/declare.py reads the table of settings, too. */
#include "cli/program.h"

#include <ctype.h>
#include <string.h>

typedef struct {
    const char *theirs; /* names between spaces, in lower case and with dashes */
    const char *ours; /* of several settings, the first that the command has is meant; one may have
                         a value, "norm=pre" */
    const char *note; /* if there is none: a phrase, or a hint with a command in backquotes */
} synonym;

#define UNNAMED "arguments have no names"

static const synonym commands[] = {
    {" sample chat complete completion continue-text write text-generation samples ", "generate"},
    {" infer inference apply run use ask query prompt ", "generate",
     "`info RUN` names the task of a run, and with it the command: fill, generate, classify, "
     "translate, caption, reconstruct or embed"},
    {" evaluate evaluation validate validation val test score perplexity accuracy metrics ",
     "eval"},
    {" fit learn pretrain training run-mlm run-clm run-glue run-translation train-gpt2 "
     "fairseq-train ",
     "train"},
    {" finetune fine-tune fine-tuning transfer adapt lora sft ", "",
     "`train TASK DATA --from RUN` starts from what a run has learned"},
    {" new create config settings template generate-config prepare setup ", "init"},
    {" continue restart load-checkpoint restore ", "resume"},
    {" summary describe show model print parameters list ls stats ", "info"},
    {" unmask fill-mask mask guess cloze ", "fill"},
    {" recognize label tag detect image-classification classification ner ", "classify"},
    {" translation fairseq-generate fairseq-interactive mt ", "translate"},
    {" describe-image image-to-text captioning annotate ", "caption"},
    {" autoencode denoise inpaint ", "reconstruct"},
    {" encode vectors features extract similarity embeddings embedding feature-extraction ",
     "embed"},
    {" tokenize tokenise tokens ", "tokenizer encode"},
    {" detokenize detokenise ", "tokenizer decode"},
    {" train-tokenizer build-vocab fairseq-preprocess vocab learn-bpe ", "tokenizer train"},
    {" attention visualize visualise attentions bertviz look inspect interpret head-view "
     "model-view ",
     "attend"},
    {" html page web ui serve gui app browser dashboard ", "view"},
    {" loss curve curves logs log tensorboard history ", "plot"},
    {" load from-pretrained download pull load-weights ", "import"},
    {" convert save save-pretrained onnx push upload ", "export"},
    {" diff versus vs experiment sweep ", "compare"},
    {" dataset check-data preprocess data-stats data-info analyze ", "data check"},
    {" benchmark speed timing profile perf time ", "bench"},
    {" env environment diagnose system version-info devices ", "doctor"},
    {" grad-check gradient-check gradients selftest ", "gradcheck"},
    {" tutorial lesson lessons teach notes demo ", "explain"},
    {" saliency occlusion attribution captum shap lime ", "influence"},
    {" prune-heads prune remove-head ", "ablate"},
    {" draw diagram architecture torchviz netron plot-model ", "graph"},
    {" merge-lora merge-adapter merge-and-unload fuse ", "merge"},
    {" compile ", "", "there is nothing to compile: the kernels are chosen for this CPU"},
    {" version -v ", "", "`--version` prints the version"},
    {NULL, NULL}};

static const synonym tasks[] = {
    {" bert roberta distilbert albert electra deberta masked masked-lm fill-mask encoder ", "mlm"},
    {" gpt2 gpt-2 nanogpt llama mistral qwen lm clm causal causal-lm language-model text decoder "
     "text-generation charlm char-rnn ",
     "gpt"},
    {" deit swin image-classification image-classifier images pictures vision "
     "vision-transformer ",
     "vit"},
    {" resnet convnet lenet conv vgg convnext ", "cnn"},
    {" ann dense perceptron ffn feedforward ", "mlp"},
    {" transformer t5 bart marian translation translate nmt mt encoder-decoder summarization ",
     "seq2seq"},
    {" lstm gru elman bahdanau recurrent ", "rnn"},
    {" text-classification classifier classification classify sentiment "
     "sequence-classification ",
     "textcls"},
    {" ner pos token-classification tagger tagging sequence-labeling ", "tag"},
    {" image-to-text captioning captions image-captioning show-attend-and-tell ", "caption"},
    {" ae vae mae auto-encoder denoising masked-autoencoder ", "autoencoder"},
    {NULL, NULL}};

static const synonym setting_names[] = {
    /* the model */
    {" n-embd n-embed d-model hidden-size hidden-dim embed-dim embedding-dim embedding-size dim "
     "encoder-embed-dim decoder-embed-dim n-hidden num-hidden hidden-units units filters "
     "num-filters ",
     "width"},
    {" n-layer n-layers num-layers num-hidden-layers encoder-layers num-encoder-layers depth "
     "blocks ",
     "layers"},
    {" num-decoder-layers ", "decoder-layers"},
    {" n-head n-heads num-heads num-attention-heads encoder-attention-heads "
     "decoder-attention-heads nhead head ",
     "heads"},
    {" n-kv-head num-key-value-heads num-kv-heads ", "kv-heads"},
    {" intermediate-size ffn-dim d-ff dim-feedforward mlp-dim n-inner ffn-embed-dim "
     "ffn-hidden-size mlp-ratio ",
     "ff"},
    {" head-dim head-size d-k key-dim ", "key-width"},
    {" d-v value-dim ", "value-width"},
    {" block-size context-length context-size context n-ctx n-positions max-seq-length "
     "max-seq-len seq-len seq-length sequence-length max-position-embeddings max-source-length "
     "max-target-length max-source-positions max-target-positions tokens-per-sample bptt ",
     "block n"},
    {" vocab-size n-vocab ", "vocab"},
    {" dropout-rate drop-rate drop attention-dropout attn-dropout attn-pdrop resid-pdrop "
     "embd-pdrop hidden-dropout-prob attention-probs-dropout-prob recurrent-dropout ",
     "dropout"},
    {" hidden-act act activation-fn activation-function ", "activation"},
    {" norm-first pre-norm encoder-normalize-before decoder-normalize-before ", "norm=pre"},
    {" post-norm ", "norm=post"},
    {" layer-norm-eps layer-norm-epsilon rms-norm-eps ", "norm-eps"},
    {" position-embedding-type positional-encoding pos-embed rope use-rope ", "positions"},
    {" rope-base theta ", "rope-theta"},
    {" rope-scaling rope-type ", "", "scaled rotary positions are not supported"},
    {" partial-rotary-factor rotary-pct rotary-dim ", "",
     "rotary positions of a part of a head are not supported"},
    {" sliding-window use-sliding-window window-size ", "",
     "attention to a sliding window is not supported"},
    {" qk-norm use-qk-norm ", "", "norms of queries and keys are not supported"},
    {" initializer-range init-scale kernel-initializer ", "init-std"},
    {" tie-weights tie-word-embeddings weight-tying share-embeddings share-all-embeddings ",
     "tie share-vocab"},
    {" joined-dictionary ", "share-vocab"},
    {" mlm-probability mask-prob mask-ratio masking-ratio mask-share hide ", "mask-share hide",
     "tokens are hidden by `train mlm` alone"},
    {" patch-size ", "patch"},
    {" imgsz img-size img input-size image-width image-height resolution crop-size ", "image-size"},
    {" crop-pct ", "resize-to"},
    {" in-chans in-channels num-channels color-mode grayscale greyscale rgb ", "channels convert"},
    {" num-classes num-labels n-classes nc ", "classes"},
    {" use-bias qkv-bias attention-bias mlp-bias ", "bias"},
    {" bn batchnorm use-bn ", "batch-norm"},
    {" cell-type rnn-type ", "cell"},
    {" global-pool pooling pooling-mode pool-type ", "pool"},
    {" flash flash-attn flash-attention use-flash-attention attn-implementation sdpa ",
     "attention"},
    {" model arch architecture model-type run-dir run ", "", UNNAMED},
    /* the length */
    {" max-iters max-iter max-steps num-steps n-steps iterations iters train-steps total-steps "
     "max-update num-iterations num-training-steps steps-per-epoch ",
     "steps"},
    {" num-epochs num-train-epochs n-epochs max-epochs max-epoch epoch e ", "epochs"},
    {" max-time train-time time hours time-limit ", "minutes"},
    {" batch-size train-batch-size per-device-train-batch-size mini-batch-size "
     "device-batch-size micro-batch-size max-sentences eval-batch-size "
     "per-device-eval-batch-size b bs ",
     "batch"},
    {" gradient-accumulation-steps grad-accum grad-accum-steps accumulation-steps "
     "accumulate-grad-batches update-freq total-batch-size nbs ",
     "accumulate"},
    {" random-seed manual-seed random-state seed-everything data-seed ", "seed"},
    {" fp16 bf16 amp native-amp half mixed-precision use-amp tf32 ", "precision=bf16",
     "only training has another precision: `train TASK DATA --precision bf16`"},
    {" dtype torch-dtype ", "precision"},
    /* the optimizer */
    {" learning-rate lr0 base-lr lr-base max-lr initial-lr peak-lr ", "lr"},
    {" min-lr lrf final-lr eta-min ", "lr-min"},
    {" weight-decay weight-decay-rate kernel-regularizer wd l2 ", "decay"},
    {" warmup-steps warmup-iters warmup-ratio warmup-epochs warmup-updates num-warmup-steps ",
     "warmup"},
    {" lr-scheduler lr-scheduler-type scheduler sched decay-lr lr-schedule lr-decay cos-lr ",
     "schedule"},
    {" gamma decay-rate lr-gamma ", "step-gamma"},
    {" step-size lr-steps milestones decay-epochs decay-steps ", "step-every"},
    {" optim opt optimiser ", "optimizer"},
    {" nesterov ", "optimizer=nesterov"},
    {" grad-clip clip-grad clip-norm max-grad-norm max-norm gradient-clip gradient-clip-val "
     "clipnorm clipvalue ",
     "clip"},
    {" adam-beta1 betas adam-betas beta-1 b1 ", "beta1"},
    {" adam-beta2 beta-2 b2 ", "beta2"},
    {" adam-epsilon epsilon opt-eps ", "eps"},
    {" label-smoothing label-smoothing-factor ", "smoothing",
     "the loss of a language model has no smoothing"},
    {" class-weight class-weights balanced ", "balance"},
    {" freeze-layers freeze-encoder freeze-backbone frozen ", "freeze"},
    {" layer-decay layerwise-lr lr-mult ", "lr-scale"},
    {" lora-r lora-rank use-lora peft ", "lora"},
    {" target-modules lora-target-modules ", "lora-targets"},
    {" gradient-checkpointing activation-checkpointing grad-checkpointing remat ", "recompute"},
    {" drop-path stochastic-depth layerdrop ", "",
     "whole blocks are not dropped: --dropout drops single values"},
    {" ema model-ema ema-decay ", "",
     "averages of weights over steps are not made: a run keeps its best and its last weights"},
    /* the run and its evaluations */
    {" eval-only test-only ", "", "`eval RUN` evaluates a run"},
    {" save-total-limit always-save-checkpoint keep-last max-to-keep ", "",
     "a run keeps two checkpoints, the best and the last"},
    {" out-dir checkpoint-dir model-dir run-name ", "out", UNNAMED},
    {" output-dir outdir output save-dir save-path project log-dir name o out output-file fig "
     "figure save-plot savefig ",
     "out png npy overlay translations csv"},
    {" overwrite overwrite-output-dir exist-ok ", "force"},
    {" resume resume-from resume-from-checkpoint init-from load-checkpoint ", "",
     "`resume RUN` continues a run; `train TASK DATA --from RUN` starts from its weights"},
    {" pretrained weights checkpoint ckpt base-model model-name model-name-or-path ckpt-path "
     "warm-start ",
     "from", UNNAMED},
    {" eval-interval eval-steps eval-freq eval-strategy evaluation-strategy val-interval "
     "val-check-interval validation-freq val-loss-every ",
     "eval-every"},
    {" eval-iters limit-val-batches max-eval-samples val-max-steps ", "eval-batches"},
    {" save-steps save-interval save-period save-freq checkpoint-every ", "save-every"},
    {" logging-steps log-interval print-freq ", "log-every"},
    {" early-stopping-patience early-stopping early-stop ", "patience"},
    {" monitor metric-name metric-for-best-model load-best-model-at-end save-best-only ", "best"},
    {" verbose quiet silent v progress-bar disable-tqdm ", "progress"},
    {" wandb wandb-log wandb-project use-wandb report-to tensorboard ", "",
     "the curves of a run are in its metrics.csv and loss.png, and `plot RUN` draws them"},
    {" to ", "", "-o FOLDER writes the format of transformers, --onnx FILE writes ONNX"},
    {" push-to-hub ", "", "`export RUN -o DIR` writes a model that transformers opens"},
    {" dry-run debug fast-dev-run ", "estimate memory-report"},
    {" config cfg config-file yaml ", "", "-c FILE reads settings from a file"},
    /* the data */
    {" train-file train-data train-dir train dataset dataset-name data-dir data-path data-file "
     "input-file corpus trainpref ",
     "data", UNNAMED},
    {" validation-file valid-file val-file eval-file val-data valid-data eval-data val-dir "
     "validpref val ",
     "val", "pictures of validation are in a folder val beside train"},
    {" validation-split valid-split test-size val-fraction val-ratio val-size ", "val-split"},
    {" tokenizer-name tokenizer-path tokenizer-type tokenizer-file vocab-file srcdict tgtdict ",
     "tokenizer"},
    {" do-lower-case lowercase uncased ", "lower"},
    {" text-column label-column text-column-names label-column-name column-names input-column "
     "target-column source-lang target-lang ",
     "columns"},
    {" line-by-line keep-linebreaks ", "packing=lines"},
    {" max-train-samples max-samples fraction limit-train-batches subset ", "",
     "training reads all of the data; to use a part of it, put that part into a separate file"},
    {" fliplr hflip horizontal-flip augment augmentation data-augmentation ", "flip"},
    {" color-jitter hsv-v ", "brightness"},
    {" random-crop random-resized-crop zoom-range ", "scale"},
    {" mixup cutmix mosaic random-erasing cutout degrees rotation shear randaugment ", "",
     "what augments pictures is --flip, --pad, --scale, --brightness, --contrast, --saturation"},
    {" interpolation ", "resample"},
    {" min-frequency min-freq min-count ", "",
     "a vocabulary keeps the most frequent tokens: --vocab says how many"},
    {" cache-dir trust-remote-code revision token ", "",
     "nothing is downloaded: data and runs are local files"},
    /* the machine */
    {" device devices cuda use-cuda gpu gpus n-gpu mps accelerator no-cuda ", "",
     "heed has no GPU: it computes on CPUs, and --threads says with how many threads"},
    {" num-threads n-threads nthreads n-jobs cpus jobs ", "threads"},
    {" num-workers n-workers workers dataloader-num-workers preprocessing-num-workers num-proc ",
     "workers threads"},
    {" local-rank nproc-per-node world-size num-nodes distributed ddp deepspeed fsdp "
     "zero-stage ",
     "", "a program built by make MPI=1 trains in several processes: mpirun -n 4 heed train ..."},
    {" compile jit torch-compile ", "",
     "there is nothing to compile: the kernels are chosen for this CPU"},
    /* the use of a run */
    {" max-new-tokens max-tokens num-tokens max-length n-predict ", "n block most"},
    {" num-samples n-samples num-return-sequences ", "samples most"},
    {" start start-text text input prefix ", "prompt", UNNAMED},
    {" temp ", "temperature"},
    {" top-k topk k n-best ", "top-k top",
     "`generate RUN` and `translate RUN` sample with --top-k"},
    {" top-p topp nucleus p ", "top-p", "`generate RUN` and `translate RUN` sample with --top-p"},
    {" do-sample ", "sample temperature"},
    {" lenpen ", "length-penalty"},
    {" num-beams beam-size beam-width beams ", "beam",
     "`translate RUN` and `eval RUN` search with --beam"},
    {" use-cache kv-cache ", "cache"},
    {" output-attentions show-attention attentions ", "attention png"},
    {" occlusion ", "occlude"},
    {" image picture images source ", "", UNNAMED},
    {" jpg jpeg pdf gif webp ", "png", "pictures are written as PNG, some also as SVG"},
    {" vector ", "svg png"},
    {" svg png ", "png overlay",
     "`attend RUN INPUT --png FILE` draws a picture, --svg FILE a vector picture"},
    {" html page ", "html", "`attend RUN INPUT --html FILE` writes a page"},
    {" output-format format json-output ", "onnx json"},
    {NULL, NULL}};

/* The row whose list has the word: case does not matter, and _ and blanks are dashes. */
static const synonym *look_up(const synonym *table, const char *word) {
    char name[66] = " ";
    size_t n = strlen(word);
    if (n == 0 || n > sizeof name - 3) return NULL;
    for (size_t i = 0; i < n; i++) {
        int ch = tolower((unsigned char)word[i]);
        name[i + 1] = ch == '_' || ch == ' ' ? '-' : (char)ch;
    }
    name[n + 1] = ' ';
    while (table->theirs && !strstr(table->theirs, name)) table++;
    return table->theirs ? table : NULL;
}

/* Adds the first setting of the row that f has: "; did you mean `norm = pre`? (its help)". */
static bool add_setting(heed_text *out, const char *mark, const synonym *s, const heed_config *f) {
    char one[64];
    for (const char *at = s ? s->ours : ""; *at; at += *at == ' ') {
        size_t n = strcspn(at, " ");
        snprintf(one, sizeof one, "%.*s", (int)n, at);
        at += n;
        char *value = strchr(one, '=');
        if (value) *value++ = 0;
        for (int i = 0; i < heed_config_count(f); i++) {
            const heed_option *o = heed_config_at(f, i, NULL);
            if (strcmp(o->name, one) != 0) continue;
            size_t help = strcspn(o->help, ";");
            if (help > 60) help = strcspn(o->help, ",;");
            return heed_text_add(out, "%s did you mean `%s%s%s`? (%.*s)", mark, one,
                                 value ? " = " : "", value ? value : "", (int)help, o->help);
        }
    }
    return false;
}

/* Adds the tasks that have a setting which the command's task lacks: "vit and cnn". */
static bool add_others(heed_text *out, const program *p, const char *key) {
    const heed_option *tables[TABLES];
    const char *last = NULL;
    size_t before = out->n;
    for (const heed_model *const *m = p->models; p->model && *m; m++) {
        const heed_option *o = NULL;
        model_tables(*m, tables);
        for (int i = 0; tables[i] && !o; i++) o = heed_option_find(tables[i], key);
        if (!o || is_internal(o)) continue;
        if (last) heed_text_add(out, "%s%s", out->n > before ? ", " : "", last);
        last = (*m)->name;
    }
    if (last) heed_text_add(out, "%s%s", out->n > before ? " and " : "", last);
    return last != NULL;
}

bool explain_setting(void *user, const heed_config *f, const char *key, char text[HEED_EXPLAIN]) {
    const program *p = user;
    const command *k = p->command;
    char name[64];
    heed_text out = {.c = NULL}, others = {.c = NULL};
    const char *dot = strrchr(key, '.'); /* "trainer.max_epochs" */
    if (dot) key = dot + 1;
    with_dashes(key, strlen(key), name);
    const char *positive = strncmp(name, "no-", 3) == 0 ? name + 3 : name;
    const synonym *s = look_up(setting_names, name);
    if (!s) s = look_up(setting_names, positive);
    const char *note = s ? s->note : NULL;
    if (dot && heed_config_has(f, key))
        heed_text_add(&out, ": did you mean `%s`?", key);
    else if (add_others(&others, p, positive)) {
        heed_text_add(&out, ": it is a setting of %s, not of %s", others.s, p->model->name);
        if (!add_setting(&out, ";", s, f) && note && strcmp(note, UNNAMED) != 0)
            heed_text_add(&out, "; %s", note);
    } else if (add_setting(&out, ":", s, f)) {
    } else if (note && strcmp(note, UNNAMED) == 0)
        heed_text_add(&out, ": %s: expected %s %s %s", note, program_name(), k->name, k->usage);
    else if (note)
        heed_text_add(&out, "%s%s", strchr(note, '`') ? "; hint: " : ": ", note);
    else if (k && k->opens_run && !k->task_options && find_option(p, key))
        heed_text_add(&out, ": a run keeps the settings that it was trained with");
    bool said = out.n > 0;
    snprintf(text, HEED_EXPLAIN, "%s", said ? out.s : "");
    heed_text_free(&out);
    heed_text_free(&others);
    return said;
}

const char *known_command(const char *word, const char **note) {
    char name[64];
    size_t n = strlen(word);
    if (n > 3 && strcmp(word + n - 3, ".py") == 0) n -= 3; /* "sample.py" */
    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 0, word);
    const synonym *s = look_up(commands, name);
    *note = s ? s->note : NULL;
    return s && *s->ours ? s->ours : NULL;
}

const char *known_task(const char *word) {
    const synonym *s = look_up(tasks, word);
    return s ? s->ours : NULL;
}
