/* synonyms.c -- what other programs call the settings, commands and tasks of this one: nanoGPT,
 * llm.c, transformers, sentence-transformers, Keras, Ultralytics, timm, fairseq, Lightning, and
 * habits of argparse. An error about a name that does not exist ends with the right one. */
#include "cli/synonyms.h"

#include <ctype.h>
#include <string.h>

static const synonym commands[] = {
    {" sample chat complete completion gen continue-text write text-generation samples ",
     "generate", NULL},
    {" predict infer inference apply run use ask query prompt ", "generate",
     "`info RUN` names the task of a run, and with it the command: fill, generate, classify, "
     "translate, caption, reconstruct or embed"},
    {" evaluate evaluation fairseq-score validate validation val test score perplexity "
     "benchmark-model accuracy "
     "metrics ",
     "eval", NULL},
    {" fit learn pretrain pre-train training run-mlm run-clm lm "
     "run-glue run-translation train-gpt2 fairseq-train ",
     "train", NULL},
    {" finetune fine-tune fine-tuning transfer adapt lora tune sft ", NULL,
     "`train TASK DATA --from RUN` starts from what a run has learned"},
    {" new create cfg copy-cfg config settings template generate-config prepare setup project ",
     "init", NULL},
    {" continue restart load-checkpoint restore ", "resume", NULL},
    {" summary describe show model print inspect-model params parameters list ls stats ", "info",
     NULL},
    {" unmask fill-mask mask guess cloze ", "fill", NULL},
    {" recognize recognise label tag detect categorize image-classification classification ner ",
     "classify", NULL},
    {" translation fairseq-generate fairseq-interactive interactive mt decode-text ", "translate",
     NULL},
    {" describe-image image-to-text captioning annotate ", "caption", NULL},
    {" autoencode denoise decode-image inpaint ", "reconstruct", NULL},
    {" encode vectors vectorize features extract similarity sentence-embedding embeddings "
     "embedding "
     "feature-extraction ",
     "embed", NULL},
    {" tokenize tokenise tok tokens ", "tokenizer encode", NULL},
    {" detokenize detokenise ", "tokenizer decode", NULL},
    {" train-tokenizer build-vocab fairseq-preprocess vocab make-vocab learn-bpe ",
     "tokenizer train", NULL},
    {" attention visualize visualise visualization attentions show-attention bertviz look inspect "
     "interpret head-view model-view neuron-view ",
     "attend", NULL},
    {" html page web ui serve server gui app browser dashboard ", "view", NULL},
    {" loss curve curves logs log metrics-plot tensorboard history ", "plot", NULL},
    {" convert-from load from-pretrained download pull get hub load-weights ", "import", NULL},
    {" convert onnx-export save save-pretrained onnx push upload ", "export", NULL},
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
    {" compile ", NULL, "there is nothing to compile: the kernels are chosen for this CPU"},
    {" track solutions ", NULL, "objects in pictures are not detected or tracked"},
    {" distill distillation avg-checkpoints average-checkpoints ", NULL,
     "distillation and averages of weights are not supported"},
    {" version -v -V ", NULL, "`--version` prints the version"},
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

/* The setting of f that the next word of *list names, and its value or ""; NULL: f lacks it, or the
 * value is FILE and the setting is not a text. */
static const heed_option *next_setting(const heed_config *f, const char **list, char value[32]) {
    char key[64];
    size_t n = strcspn(*list, " "), name = strcspn(*list, " =");
    snprintf(key, sizeof key, "%.*s", (int)name, *list);
    snprintf(value, 32, "%.*s", n > name ? (int)(n - name - 1) : 0, *list + name + (n > name));
    *list += n + ((*list)[n] == ' ');
    for (int i = 0; i < heed_config_count(f); i++) {
        const heed_option *o = heed_config_at(f, i, NULL);
        bool fits = (o->kind == HEED_TEXT && !o->choices) || strcmp(value, "FILE") != 0;
        if (strcmp(o->name, key) == 0 && fits) return o;
    }
    return NULL;
}

/* Names of arguments, and notes that name a command, which only a hint may do. */
static void put_note(const program *p, const char *note, char text[HEED_EXPLAIN]) {
    if (note == NAMELESS)
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

/* The value that was typed after --KEY; NULL: none. */
static const char *typed_value(const program *p, const char *key) {
    size_t n = strlen(key);
    for (char *const *word = p->words; word && *word; word++) {
        if (strncmp(*word, "--", 2) != 0 || strncmp(*word + 2, key, n) != 0) continue;
        if ((*word)[n + 2] == '=') return *word + n + 3;
        if (!(*word)[n + 2]) return word[1];
    }
    return NULL;
}

/* The option that writes files like the value of an unknown one: --html for `--output a.html`;
 * NULL: there is none. */
static const heed_option *option_by_ending(const program *p, const heed_config *f,
                                           const char *key) {
    static const char *const endings[] = {"html", "png", "svg", "npz", "npy", "csv"};
    const char *value = typed_value(p, key), *dot = value ? strrchr(value, '.') : NULL;
    char none[32];
    for (size_t i = 0; dot && i < sizeof endings / sizeof *endings; i++)
        if (strcmp(dot + 1, endings[i]) == 0)
            return next_setting(f, &(const char *){dot + 1}, none);
    return NULL;
}

/* Whether the setting is one of training, and the command is on a run. */
static bool of_training(const program *p, const char *key) {
    const command *k = p->command;
    return k && k->opens_run && !k->task_options && find_option(p, key);
}

/* The setting of that name of other tasks than the command's, and their names: "vit and cnn". NULL:
 * none has it. */
static const heed_option *setting_of_others(const program *p, const char *key, heed_text *names) {
    const heed_option *tables[TABLES], *found = NULL, *o;
    const char *last = NULL;
    int count = 0;
    for (const heed_model *const *m = p->models; *m; m++) {
        model_tables(*m, tables);
        o = NULL;
        for (int i = 0; tables[i] && !o; i++) o = heed_option_find(tables[i], key);
        if (!o || is_internal(o)) continue;
        if (last) heed_text_add(names, "%s%s", count++ ? ", " : "", last);
        found = o, last = (*m)->name;
    }
    if (last) heed_text_add(names, "%s%s", count ? " and " : "", last);
    return found;
}

static bool same_kind(const heed_option *a, const heed_option *b) {
    return a->kind == b->kind && !a->choices == !b->choices;
}

/* The setting of f with the meaning of another task's, by the table; it has values of the same
 * kind. But `head = WORD` may be one of `heads = N` without its last letter. NULL: there is none.
 */
static const heed_option *same_meaning(const heed_config *f, const heed_option *other) {
    char plural[80], value[32];
    snprintf(plural, sizeof plural, "%ss", other->name);
    const heed_option *o = next_setting(f, &(const char *){plural}, value);
    if (o && !same_kind(o, other)) return o;
    const synonym *s = look_up(setting_synonyms, other->name);
    for (const char *list = s && s->ours ? s->ours : ""; *list;) {
        o = next_setting(f, &list, value);
        if (o && same_kind(o, other) && !*value) return o;
    }
    return NULL;
}

/* A setting that the command's task lacks, but others have. */
static bool explain_of_others(const program *p, const heed_config *f, const char *key,
                              char text[HEED_EXPLAIN]) {
    char name[64];
    heed_text names = {.c = NULL};
    with_dashes(key, strlen(key), name);
    const char *without = strncmp(name, "no-", 3) == 0 ? name + 3 : name;
    const heed_option *other = p->model ? setting_of_others(p, without, &names) : NULL;
    const heed_option *o = other ? same_meaning(f, other) : NULL;
    if (other && names.s)
        snprintf(text, HEED_EXPLAIN, ": it is a setting of %s, not of %s", names.s, p->model->name);
    const synonym *s = other && !o ? look_up(setting_synonyms, without) : NULL;
    if (o)
        snprintf(text + strlen(text), HEED_EXPLAIN - strlen(text), "; did you mean `%s`? (%.*s)",
                 o->name, short_help(o->help), o->help);
    else if (s && s->note && s->note != NAMELESS)
        snprintf(text + strlen(text), HEED_EXPLAIN - strlen(text), "; %s", s->note);
    heed_text_free(&names);
    return other != NULL;
}

bool explain_setting(void *user, const heed_config *f, const char *key, char text[HEED_EXPLAIN]) {
    const char *dot = strrchr(key, '.'); /* "trainer.max_epochs" */
    if (dot) key = dot + 1;
    const synonym *s = look_up(setting_synonyms, key);
    const heed_option *o = NULL;
    char value[32] = "";
    if (dot && heed_config_has(f, key))
        return snprintf(text, HEED_EXPLAIN, ": did you mean `%s`?", key) > 0;
    if (explain_of_others(user, f, key, text)) return true;
    if (!s && (strncmp(key, "no-", 3) == 0 || strncmp(key, "no_", 3) == 0))
        s = look_up(setting_synonyms, key + 3);
    if (s && s->ours && strstr(s->ours, "png")) o = option_by_ending(user, f, key);
    for (const char *list = s && s->ours ? s->ours : ""; !o && *list;)
        o = next_setting(f, &list, value);
    if (o)
        snprintf(text, HEED_EXPLAIN, ": did you mean `%s%s%s`? (%.*s%s)", o->name,
                 *value ? " = " : "", value, short_help(o->help), o->help,
                 strcmp(o->name, "data") == 0 ? "; usually the second argument, without a name"
                                              : "");
    else if (s && s->note)
        put_note(user, s->note, text);
    else if (of_training(user, key))
        snprintf(text, HEED_EXPLAIN, ": a run keeps the settings that it was trained with");
    else
        return false;
    return true;
}

const char *known_command(const char *word, const char **note) {
    char name[64];
    size_t n = strlen(word);
    if (n > 3 && strcmp(word + n - 3, ".py") == 0) n -= 3; /* "sample.py" */
    snprintf(name, sizeof name, "%.*s", n < sizeof name ? (int)n : 0, word);
    const synonym *s = look_up(commands, name);
    *note = s ? s->note : NULL;
    return s ? s->ours : NULL;
}

const char *known_task(const char *word) {
    const synonym *s = look_up(tasks, word);
    return s ? s->ours : NULL;
}
