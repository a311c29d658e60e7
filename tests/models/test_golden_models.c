/* models/mlm.c, gpt.c and vit.c against BERT, GPT-2, Llama and ViT of transformers, and cnn.c
 * against PyTorch's layers; models of pairs against a Transformer and an RNN with attention, from
 * the same weights on the same batches (tests/golden/make_models.py): logits, attention weights and
 * gradients of the initial model, the losses of 20 AdamW steps, and running statistics after them.
 */
#include "golden.h"
#include "io/io.h"
#include <heed/models.h>

typedef struct {
    heed_ctx *c;
    heed_safetensors *file;
    const heed_model *model;
    heed_params *s;
    void *self;
    int rows, len, pixels, source, masked_positions, labels; /* labels: of a batch */
    int32_t *ids, *src, *pad, *label, *pick; /* of all batches; NULL where the model has none */
    heed_real *x;
} twin;

static double setting(const twin *w, const char *key) {
    const char *value = heed__safetensors_meta(w->file, key);
    return value ? strtod(value, NULL) : 0;
}

/* A whole array of indices, NULL if the file has none. */
static int32_t *indices(const twin *w, const char *name) {
    const heed_array *a = heed__safetensors_find(w->file, name);
    if (!a) return NULL;
    int32_t *x = malloc(a->bytes);
    if (x) memcpy(x, a->data, a->bytes);
    return x;
}

/* adapters: only their entries are set, or only the others. */
static void fill(const twin *w, bool adapters) {
    for (int i = 0; i < heed_params_count(w->s); i++) {
        const heed_param *e = heed_params_at(w->s, i);
        if (e->adapter != adapters) continue;
        char key[96];
        snprintf(key, sizeof key, "w.%s", e->name);
        const heed_array *a = heed__safetensors_find(w->file, key);
        bool fits = a && a->bytes == e->tensor->size * sizeof(float);
        if (!fits) test_fail(__FILE__, __LINE__, "%s is absent or of another size", key);
        for (size_t j = 0; fits && j < e->tensor->size; j++)
            e->tensor->x[j] = (heed_real)golden_number(a, j);
    }
}

static bool make_model(twin *w) {
    const heed_option *tables[] = {w->model->options, heed_fit_options, NULL};
    heed_config *f = heed_config_new(w->c, tables);
    for (int i = 0; i < heed_config_count(f); i++) {
        const char *key = heed_config_at(f, i, NULL)->name;
        const char *value = heed__safetensors_meta(w->file, key);
        if (value && heed_option_find(w->model->options, key))
            heed_config_set(f, key, value, key, HEED_FROM_FLAG);
    }
    w->s = heed_params_new(w->c);
    w->self = calloc(1, w->model->size);
    return w->self && heed_model_init(w->model, w->self, w->s, f);
}

/* A whole array of numbers, NULL if the file has none. */
static heed_real *numbers(const twin *w, const char *name) {
    const heed_array *a = heed__safetensors_find(w->file, name);
    size_t n = a ? a->bytes / sizeof(float) : 0;
    heed_real *x = n ? malloc(n * sizeof *x) : NULL;
    for (size_t i = 0; x && i < n; i++) x[i] = (heed_real)golden_number(a, i);
    return x;
}

static bool twin_open(twin *w, const heed_model *model, const char *path) {
    *w = (twin){.c = heed_open(NULL), .model = model};
    w->file = heed_safetensors_open(w->c, path);
    if (!w->file || !make_model(w)) return false;
    fill(w, false);
    const heed_array *p = heed__safetensors_find(w->file, "picks");
    w->x = numbers(w, "x");
    const heed_array *x = heed__safetensors_find(w->file, "x");
    const heed_array *ids = heed__safetensors_find(w->file, "ids"), *a = ids ? ids : x;
    const heed_array *source = heed__safetensors_find(w->file, "src");
    const heed_array *labels = heed__safetensors_find(w->file, "labels");
    w->source = source ? (int)source->shape[2] : 0;
    w->src = indices(w, "src");
    w->rows = (int)(a ? a : source)->shape[1];
    for (int i = 2, n = 1; a && i < a->dims; i++) w->len = n *= (int)a->shape[i];
    for (int i = 2, n = 1; x && i < x->dims; i++) w->pixels = n *= (int)x->shape[i];
    for (int i = w->labels = 1; i < labels->dims; i++) w->labels *= (int)labels->shape[i];
    w->masked_positions = p ? (int)p->shape[1] : 0;
    w->ids = indices(w, "ids");
    w->pad = indices(w, "pad");
    w->label = indices(w, "labels");
    w->pick = indices(w, "picks");
    return true;
}

static void twin_close(twin *w) {
    heed_safetensors_close(w->file);
    CLOSE(w->c);
    free(w->self);
    free(w->ids);
    free(w->src);
    free(w->pad);
    free(w->label);
    free(w->pick);
    free(w->x);
}

static heed_batch batch_at(const twin *w, int step) {
    int sources = w->rows * w->source;
    int cells = w->rows * w->len;
    heed_batch b = {.rows = w->rows,
                    .len = w->len,
                    .ids = w->ids ? w->ids + step * cells : NULL,
                    .x = w->x ? w->x + step * w->rows * w->pixels : NULL,
                    .src_len = w->source,
                    .src = w->src ? w->src + step * sources : NULL,
                    .src_pad = w->src ? w->pad + step * sources : NULL,
                    .pad = w->pad && !w->src ? w->pad + step * cells : NULL,
                    .labels = w->label + step * w->labels,
                    .masked_positions = w->pick ? w->pick + step * w->masked_positions : NULL,
                    .masked_count = w->masked_positions};
    return b;
}

/* Within max(10 x PyTorch's drift, 1e-6 of the largest value); float32 is what gradients are stored
 * in, so the double build gets the same bar. */
static void compare(const twin *w, const char *name, const heed_real *x, size_t size) {
    const heed_array *a = heed__safetensors_find(w->file, name);
    char key[96];
    snprintf(key, sizeof key, "%s.drift", name);
    double largest = 0, worst = 0;
    for (size_t i = 0; a && i < size; i++) largest = fmax(largest, fabs(golden_number(a, i)));
    for (size_t i = 0; a && x && i < size; i++)
        worst = fmax(worst, fabs((double)x[i] - golden_number(a, i)));
    bool finite = x != NULL;
    for (size_t i = 0; finite && i < size; i++) finite = isfinite((double)x[i]);
    double bar = fmax(10 * setting(w, key), 1e-6 * largest);
    if (!a || !finite || worst > bar)
        test_fail(__FILE__, __LINE__, "%s: off by %.3g, bar %.3g", name, a ? worst : NAN, bar);
}

static heed_tensor *logits_of(const twin *w, heed_tape *t, const heed_batch *b) {
    heed_model_input in = {0};
    if (b->x) {
        int channels = (int)setting(w, "channels"), size = (int)setting(w, "image-size");
        in.x = heed_input(t, b->x, 4, (int[]){b->rows, size, size, channels});
        if (b->masked_positions)
            in.masked_positions = heed_input_ids(t, b->masked_positions, 1, &b->masked_count);
        if (b->ids) in.target = heed_ids(t, b->ids, b->rows, b->len);
    } else if (b->src) {
        in.x = heed_ids(t, b->src, b->rows, b->src_len);
        in.pad = heed_ids(t, b->src_pad, b->rows, b->src_len);
        in.target = heed_ids(t, b->ids, b->rows, b->len);
    } else {
        in.x = heed_ids(t, b->ids, b->rows, b->len);
        in.pad = heed_ids(t, b->pad, b->rows, b->len);
        in.masked_positions = heed_input_ids(t, b->masked_positions, 1, &b->masked_count);
    }
    return w->model->logits(w->self, t, &in);
}

/* Of models that read a source every kept weight stands in the file by its path, and no other. */
static void check_alignments(const twin *w, const heed_tape *t) {
    int expected = 0;
    for (int i = 0; i < heed_safetensors_count(w->file); i++)
        expected += strncmp(heed_safetensors_at(w->file, i)->name, "a.", 2) == 0;
    CHECK(heed_probe_count(t) == expected);
    for (int i = 0; i < heed_probe_count(t); i++) {
        const char *path;
        char name[64];
        const heed_tensor *a = heed_probe_at(t, i, &path);
        snprintf(name, sizeof name, "a.%s", path);
        compare(w, name, a->x, a->size);
    }
}

/* Rows of padding are nobody's business: BERT computes something there, too, and it is the same. */
static void check_views(const twin *w, const char *stack) {
    heed_tape *t = heed_tape_new(w->c);
    heed_batch b = batch_at(w, 0);
    heed_probe(t, "*.weights", false);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_tensor *y = logits_of(w, t, &b);
    CHECK(y);
    if (y) compare(w, "logits", y->x, y->size);
    if (b.src || (b.x && (b.ids || b.masked_positions))) {
        check_alignments(w, t);
        return;
    }
    int layers = heed__safetensors_meta(w->file, "cell") ? 0 : (int)setting(w, "layers");
    CHECK(heed_probe_count(t) == layers);
    for (int i = 0; i < layers; i++) {
        char path[64], name[16];
        snprintf(path, sizeof path, "%s.%d.attn.weights", stack, i);
        snprintf(name, sizeof name, "a.%d", i);
        heed_tensor *a = heed_probe_find(t, path);
        CHECK(a);
        if (a) compare(w, name, a->x, a->size);
    }
}

/* The second half of each row is the second of a pair; no picks, so logits of all positions. */
static void check_pair(const twin *w) {
    heed_tape *t = heed_tape_new(w->c);
    heed_batch b = batch_at(w, 0);
    int32_t types[64] = {0};
    for (int i = 0; i < w->rows * w->len; i++) types[i] = i % w->len >= w->len / 2;
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_model_input in = {.x = heed_ids(t, b.ids, b.rows, b.len),
                           .pad = heed_ids(t, b.pad, b.rows, b.len),
                           .types = heed_ids(t, types, b.rows, b.len)};
    heed_tensor *y = w->model->logits(w->self, t, &in);
    CHECK(y);
    if (y) compare(w, "pair", y->x, y->size);
}

/* Logits of the first text, token by token after the first four, with keys and values cached. */
static void check_cached(const twin *w) {
    heed_tape *t = heed_tape_new(w->c);
    const heed_steps *steps = w->model->steps;
    int vocab = (int)setting(w, "vocab"), begin = 4;
    heed_real *state = calloc(steps->state(w->self, NULL), sizeof *state), *y = NULL;
    y = calloc((size_t)w->len * (size_t)vocab, sizeof *y);
    for (int at = 0, rows = 0; at < w->len; rows++) {
        int n = at ? 1 : begin;
        heed_tape_begin(t, HEED_EVAL, 0);
        heed_tensor *ids = heed_ids(t, w->ids + at, 1, n);
        const heed_tensor *row = steps->next(w->self, t, NULL, state, at, ids);
        CHECK(row);
        if (row) memcpy(y + rows * vocab, row->x, (size_t)vocab * sizeof *y);
        at += n;
    }
    compare(w, "cached", y, (size_t)(w->len - begin + 1) * (size_t)vocab);
    free(state);
    free(y);
}

static void check_gradients(const twin *w) {
    heed_tape *t = heed_tape_new(w->c);
    heed_batch b = batch_at(w, 0);
    heed_tape_begin(t, HEED_TRAIN, 0);
    heed_backward(t, w->model->loss(w->self, t, &b));
    for (int i = 0; i < heed_params_count(w->s); i++) {
        const heed_param *e = heed_params_at(w->s, i);
        char name[96];
        snprintf(name, sizeof name, "g.%s", e->name);
        if (e->trained) compare(w, name, e->tensor->g, e->tensor->size);
    }
    heed_zero_grads(w->s);
    fill(w, false); /* running statistics as they were */
}

static void check_statistics(const twin *w) {
    for (int i = 0; i < heed_params_count(w->s); i++) {
        const heed_param *e = heed_params_at(w->s, i);
        char name[96];
        snprintf(name, sizeof name, "e.%s", e->name);
        if (e->state) compare(w, name, e->tensor->x, e->tensor->size);
    }
}

static void check_training(const twin *w) {
    heed_tape *t = heed_tape_new(w->c);
    heed_optim_args rate = heed_optim_defaults(&heed_adamw);
    rate.lr = (heed_real)setting(w, "lr");
    rate.decay = (heed_real)setting(w, "decay");
    heed_optim *o = heed_optim_new(w->s, &heed_adamw, &rate);
    const heed_array *expected = heed__safetensors_find(w->file, "losses");
    int steps = expected ? (int)expected->shape[0] : 0;
    CHECK(steps == 20);
    for (int i = 0; i < steps; i++) {
        heed_batch b = batch_at(w, i);
        heed_tape_begin(t, HEED_TRAIN, (uint64_t)i);
        heed_tensor *loss = w->model->loss(w->self, t, &b);
        heed_backward(t, loss);
        double e = golden_number(expected, (size_t)i);
        CHECK_CLOSE(loss ? loss->x[0] : NAN, e, 1e-5 * e);
        heed_optim_step(o, 1);
    }
}

static void check_twin(const heed_model *model, const char *path, const char *stack) {
    twin w;
    bool open = twin_open(&w, model, path);
    CHECK(open);
    if (open) {
        check_views(&w, stack);
        if (model == &heed_model_mlm) check_pair(&w);
        if (heed__safetensors_find(w.file, "cached")) check_cached(&w);
        check_gradients(&w);
        check_training(&w);
        check_statistics(&w);
    }
    twin_close(&w);
}

TEST(golden_mlm) { check_twin(&heed_model_mlm, "tests/golden/mlm.safetensors", "encoder"); }

TEST(golden_gpt) { check_twin(&heed_model_gpt, "tests/golden/gpt.safetensors", "decoder"); }

TEST(golden_llama) { check_twin(&heed_model_gpt, "tests/golden/gpt-llama.safetensors", "decoder"); }

TEST(golden_vit) { check_twin(&heed_model_vit, "tests/golden/vit.safetensors", "encoder"); }

TEST(golden_cnn) { check_twin(&heed_model_cnn, "tests/golden/cnn.safetensors", ""); }

TEST(golden_autoencoder) {
    const heed_model *m = &heed_model_autoencoder;
    check_twin(m, "tests/golden/autoencoder.safetensors", "");
    check_twin(m, "tests/golden/autoencoder-conv.safetensors", "");
    check_twin(m, "tests/golden/autoencoder-masked.safetensors", "");
}

TEST(golden_seq2seq) { check_twin(&heed_model_seq2seq, "tests/golden/seq2seq.safetensors", ""); }

TEST(golden_rnn) { check_twin(&heed_model_rnn, "tests/golden/rnn.safetensors", ""); }

TEST(golden_pairs_of_the_benchmarks) {
    check_twin(&heed_model_seq2seq, "tests/golden/seq2seq-small.safetensors", "");
    check_twin(&heed_model_rnn, "tests/golden/rnn-attn.safetensors", "");
    check_twin(&heed_model_seq2seq, "tests/golden/seq2seq-llama.safetensors", "");
}

TEST(golden_readers) {
    check_twin(&heed_model_textcls, "tests/golden/textcls.safetensors", "");
    check_twin(&heed_model_textcls, "tests/golden/textcls-conv.safetensors", "");
    check_twin(&heed_model_textcls, "tests/golden/textcls-rnn.safetensors", "");
    check_twin(&heed_model_tag, "tests/golden/tag.safetensors", "");
}

TEST(golden_captions) {
    check_twin(&heed_model_caption, "tests/golden/caption.safetensors", "");
    check_twin(&heed_model_caption, "tests/golden/caption-hard.safetensors", "");
    check_twin(&heed_model_caption, "tests/golden/caption-fixed.safetensors", "");
    check_twin(&heed_model_caption, "tests/golden/caption-transformer.safetensors", "");
}

/* The model and the batches of golden_gpt; only adapters of queries and values are trained. */
TEST(golden_lora) {
    twin w;
    bool open = twin_open(&w, &heed_model_gpt, "tests/golden/gpt.safetensors");
    heed_safetensors_close(w.file);
    w.file = heed_safetensors_open(w.c, "tests/golden/lora.safetensors");
    CHECK(open && w.file);
    heed_freeze(w.s, "*");
    for (int part = 0; part < 2; part++)
        CHECK(heed_lora_add(w.s, part ? "*.v" : "*.q", (int)setting(&w, "rank"),
                            (heed_real)setting(&w, "alpha")) == 2);
    fill(&w, true);
    if (open) check_training(&w);
    for (int i = 0; i < heed_params_count(w.s); i++) {
        const heed_param *e = heed_params_at(w.s, i);
        char name[96];
        snprintf(name, sizeof name, "e.%s", e->name);
        if (e->adapter) compare(&w, name, e->tensor->x, e->tensor->size);
    }
    twin_close(&w);
}

TEST(golden_recurrent_gpt) { check_twin(&heed_model_gpt, "tests/golden/gpt-lstm.safetensors", ""); }
