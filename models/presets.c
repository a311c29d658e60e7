/* presets.c -- the list of models, and named sets of settings. */
#include <heed/models.h>

#include <stdio.h>
#include <string.h>

const heed_model *const heed_models[] = {
    &heed_model_mlm,     &heed_model_gpt, &heed_model_vit,     &heed_model_cnn, &heed_model_mlp,
    &heed_model_seq2seq, &heed_model_rnn, &heed_model_textcls, &heed_model_tag, NULL};

/* The plain stack of the benchmarks: pre-norm with biases, erf GELU, final norm, tied head without
 * bias. */
#define PLAIN                                                                                      \
    "norm=pre norm-eps=1e-5 activation=gelu final-norm=true embed-norm=false token-types=0 "       \
    "transform-head=false head-bias=false scale-residual=false dropout=0 optimizer=adamw lr=1e-3 "

#define PLAIN_PAIR "smoothing=0 dropout=0 share-vocab=false optimizer=adamw lr=1e-3 "

#define PLAIN_VIT                                                                                  \
    "classes=10 norm=pre norm-eps=1e-5 activation=gelu dropout=0 smoothing=0 optimizer=adamw "     \
    "lr=1e-3 "

/* nano, tiny: embeddings of 0.02 are small beside what Adam's first ten steps move them by, and the
 * loss jumped once in the warm-up (nano on a book in characters: norm of the gradient 19.7 in step
 * 18; from 0.05 on at most 1.5, and after 300 steps a validation loss of 2.23 in place of 2.42). */
const model_preset model_presets[] = {
    {"nano", NULL, "2 layers, 4 heads, width 64, block 64",
     "layers=2 heads=4 width=64 ff=256 block=64 batch=32 init-std=0.05"},
    {"tiny", NULL, "4 layers, 4 heads, width 128, block 64",
     "layers=4 heads=4 width=128 ff=512 block=64 batch=32 init-std=0.05"},
    {"small", NULL, "4 layers, 4 heads, width 128, block 128, WordPiece vocabulary of 8192",
     "layers=4 heads=4 width=128 ff=512 block=128 batch=32 tokenizer=wordpiece vocab=8192"},
    {"nanogpt-cpu", "gpt", "nanoGPT's recipe for a CPU: char, 2000 steps",
     "tokenizer=char layers=4 heads=4 width=128 ff=512 block=64 batch=12 steps=2000 "
     "optimizer=adamw lr=1e-3 lr-min=1e-4 schedule=cosine warmup=100 beta1=0.9 beta2=0.99 "
     "decay=0.1 clip=1 dropout=0 bias=false scale-residual=true init-std=0.08 residual-std=0.02 "
     "split=tail val-split=0.1 eval-batches=0"},
    {"gpt-tiny", "gpt", "benchmark workload",
     PLAIN "layers=4 heads=4 width=128 ff=512 block=64 batch=12 vocab=65"},
    {"gpt-baby", "gpt", "benchmark workload",
     PLAIN "layers=6 heads=6 width=384 ff=1536 block=256 batch=16 vocab=65"},
    {"mlm-nano", "mlm", "benchmark workload, loss on the masked positions",
     PLAIN "layers=2 heads=4 width=64 ff=256 block=64 batch=32 vocab=1024"},
    {"mlm-nano-all", "mlm", "benchmark workload, loss on every position",
     PLAIN "layers=2 heads=4 width=64 ff=256 block=64 batch=32 vocab=1024 mask-share=1"},
    {"mlm-small", "mlm", "benchmark workload, loss on the masked positions",
     PLAIN "layers=4 heads=4 width=128 ff=512 block=128 batch=32 vocab=8192"},
    {"mlp-mnist", "mlp", "benchmark workload: 784-256-10, ReLU",
     "image-size=28 channels=1 classes=10 layers=1 width=256 activation=relu batch-norm=false "
     "dropout=0 batch=64 optimizer=adamw lr=1e-3"},
    {"vit-tiny28", "vit", "benchmark workload: 4 layers, width 64, patch 7 of 28",
     PLAIN_VIT "image-size=28 channels=1 patch=7 layers=4 heads=4 width=64 ff=128 batch=128"},
    {"vit-cifar", "vit", "benchmark workload: 6 layers, width 192, patch 4 of 32, colour",
     PLAIN_VIT "image-size=32 channels=3 patch=4 layers=6 heads=6 width=192 ff=768 batch=64"},
    {"vit28", "vit", "28 x 28: 4 layers, width 64, patch 7, shifts of 2 pixels, 30 epochs",
     "patch=7 layers=4 heads=4 width=64 ff=128 batch=128 lr=3e-3 warmup=0.1 decay=0.05 "
     "init-std=0.07 pad=2 epochs=30"},
    {"vit32", "vit", "32 x 32: 4 layers, width 64, patch 4, shifts of 4 pixels, 40 epochs",
     "patch=4 layers=4 heads=4 width=64 ff=128 batch=64 lr=2e-3 warmup=0.1 decay=0.05 "
     "init-std=0.07 pad=4 epochs=40"},
    {"cnn28", "cnn", "28 x 28: 3 stages from 16 channels, shifts of 2 pixels, 8 epochs",
     "width=16 stages=3 blocks=1 batch=128 lr=4e-3 warmup=0.15 decay=0.05 smoothing=0.1 pad=2 "
     "epochs=8"},
    {"cnn32", "cnn", "32 x 32: 3 stages from 16 channels, shifts of 4 pixels, 40 epochs",
     "width=16 stages=3 blocks=1 batch=64 lr=4e-3 warmup=0.15 decay=0.05 smoothing=0.1 pad=4 "
     "epochs=40"},
    {"seq2seq-small", "seq2seq", "benchmark workload: 2 + 2 layers, width 128, pre-norm",
     PLAIN_PAIR "layers=2 heads=4 width=128 ff=512 block=32 batch=64 vocab=4096 norm=pre "
                "norm-eps=1e-5 activation=gelu positions=learned scale-embed=false init-std=0.02"},
    {"rnn-attn", "rnn", "benchmark workload: GRU encoder and decoder, additive attention",
     PLAIN_PAIR "cell=gru layers=1 width=128 block=32 batch=64 vocab=512 bidirectional=false "
                "bridge=copy attention=additive attention-biases=true"},
    {0}};

static bool serves(const model_preset *p, const char *model) {
    if (p->model) return strcmp(p->model, model) == 0;
    return strcmp(model, "mlm") == 0 || strcmp(model, "gpt") == 0;
}

const model_preset *model_preset_next(const char *model, const model_preset *after) {
    const model_preset *p = after ? after + 1 : model_presets;
    while (p->name && !serves(p, model)) p++;
    return p->name ? p : NULL;
}

static bool unknown(heed_ctx *c, const char *model, const char *name) {
    char list[256] = "";
    for (const model_preset *p = NULL; (p = model_preset_next(model, p)) != NULL;) {
        size_t n = strlen(list);
        snprintf(list + n, sizeof list - n, "%s%s", n ? ", " : "", p->name);
    }
    return heed_fail(c, HEED_USAGE, "preset is unknown: --preset: expected one of %s, found %s",
                     list, name);
}

/* One "key=value" of the settings, if f has the key. */
static bool set_pair(heed_config *f, const char *preset, const char *pair, size_t n) {
    char key[64], where[64];
    snprintf(key, sizeof key, "%.*s", (int)n, pair);
    snprintf(where, sizeof where, "--preset %s", preset);
    char *value = strchr(key, '=');
    *value++ = 0;
    return !heed_config_has(f, key) || heed_config_set(f, key, value, where, HEED_FROM_PRESET);
}

bool model_preset_apply(heed_ctx *c, heed_config *f, const char *model, const char *name) {
    const model_preset *p = NULL;
    while ((p = model_preset_next(model, p)) != NULL && strcmp(p->name, name) != 0) continue;
    if (!p) return unknown(c, model, name);
    for (const char *s = p->settings; *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        if (!set_pair(f, p->name, s, n)) return false;
        s += n;
    }
    return true;
}
