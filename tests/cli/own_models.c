/* own_models.c -- the program heed with tiny models of every kind of input that leave out what
 * model.h lets them: no grid, no steps, no metrics, no presets, no evaluation batches. */
#include <heed/heed.h>
#include <heed/program.h>
#include <math.h>

enum { MOST_ROWS = 16, NUMBERS = 6 };

typedef struct {
    heed_conv patch;
    heed_tensor *token;
    heed_position position;
    heed_mha attn, cross;
    heed_linear q, k, v, head;
    int width, size, channels;
    heed_real x[MOST_ROWS * NUMBERS];
    int32_t y[MOST_ROWS];
} tiny;

#define ROW(key, initial)                                                                          \
    { .name = key, .value = initial, .max = 1 << 24, .help = key, .group = "Model" }
#define LENGTH(f, key) ((int)heed_config_int(f, key))

static void init_attn(heed_mha *l, heed_params *s, const char *name, int width, heed_mha_args a) {
    a.width = width;
    a.heads = 2;
    heed_mha_init(l, s, name, a);
}

static void init_head(tiny *m, heed_params *s, int out) {
    heed_linear_init(&m->head, s, "head", (heed_linear_args){.in = m->width, .out = out});
}

static void init_tokens(tiny *m, heed_params *s, const heed_config *f) {
    m->width = LENGTH(f, "width");
    m->token = heed_param_new(s, "token", "normal:0.1", 2, (int[]){LENGTH(f, "vocab"), m->width});
    heed_position_init(&m->position, s, "position", HEED_LEARNED, LENGTH(f, "block") + 1, m->width);
}

static heed_tensor *embed(const tiny *m, heed_tape *t, const char *at, heed_tensor *ids) {
    return heed_position_apply(&m->position, t, heed_embed(heed_name_scope(t, at), m->token, ids),
                               0);
}

static heed_tensor *pool(const tiny *m, heed_tape *t, heed_tensor *x) {
    return heed_reshape(t, heed_mean_dim(t, x, 1), 2, (int[]){-1, m->width});
}

static heed_attention_info attending_of(const heed_mha *l, heed_stack stack) {
    return (heed_attention_info){.path = l->name,
                                 .stack = stack,
                                 .heads = l->args.heads,
                                 .key = l->args.key,
                                 .value = l->args.value,
                                 .beta = 1 / sqrt(l->args.key),
                                 .causal = l->args.causal};
}

static bool attending(const void *self, int index, heed_attention_info *out) {
    *out = attending_of(&((const tiny *)self)->attn, HEED_ENCODER);
    return index == 0;
}

/* ---- pictures: attention among patches, without a grid ---- */

static const heed_option picture_options[] = {
    ROW("image-size", "0"), ROW("channels", "0"), ROW("classes", "0"), ROW("width", "8"), {0}};

static bool picture_init(void *self, heed_params *s, const void *f) {
    tiny *m = self;
    m->width = LENGTH(f, "width");
    m->size = LENGTH(f, "image-size");
    m->channels = LENGTH(f, "channels");
    heed_patch_embed_init(&m->patch, s, "patch", m->channels, 2, m->width, NULL);
    init_attn(&m->attn, s, "attn", m->width, (heed_mha_args){0});
    init_head(m, s, LENGTH(f, "classes"));
    return true;
}

static heed_tensor *picture_logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const tiny *m = self;
    heed_tensor *x = heed_patch_embed_apply(&m->patch, t, in->x);
    x = heed_add(t, x, heed_mha_apply(&m->attn, t, x, NULL));
    return heed_linear_apply(&m->head, t, pool(m, t, x));
}

static heed_tensor *picture_loss(void *self, heed_tape *t, const heed_batch *b) {
    const tiny *m = self;
    int shape[] = {b->rows, m->size, m->size, m->channels};
    heed_model_input in = {.x = heed_input(t, b->x, 4, shape)};
    heed_tensor *labels = heed_input_ids(t, b->labels, 1, &b->rows);
    return heed_xent(t, picture_logits(m, t, &in), labels, NULL);
}

static const heed_model_case picture_cases[] = {{"", "image-size=4 channels=2 classes=3 batch=2"},
                                                {0}};
static const heed_model picture = {.name = "tiny-picture",
                                   .help = "patches without a grid",
                                   .data = &heed_pictures_classes,
                                   .options = picture_options,
                                   .cases = picture_cases,
                                   .size = sizeof(tiny),
                                   .init = picture_init,
                                   .logits = picture_logits,
                                   .loss = picture_loss,
                                   .attending = attending};

/* ---- pairs: an encoder of embeddings alone, without steps and with one vocabulary ---- */

static const heed_option pair_options[] = {
    ROW("block", "16"), ROW("vocab", "0"), ROW("width", "8"), {0}};

static bool pair_init(void *self, heed_params *s, const void *f) {
    tiny *m = self;
    init_tokens(m, s, f);
    init_attn(&m->attn, s, "attn", m->width, (heed_mha_args){.causal = true});
    init_attn(&m->cross, s, "cross", m->width, (heed_mha_args){.cross = true});
    init_head(m, s, LENGTH(f, "vocab"));
    return true;
}

static heed_tensor *pair_logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const tiny *m = self;
    heed_tensor *x = embed(m, t, "token", in->x), *y = embed(m, t, "target", in->target);
    y = heed_add(t, y, heed_mha_apply(&m->attn, t, y, NULL));
    y = heed_add(t, y,
                 heed_mha_apply(&m->cross, t, y, &(heed_mha_inputs){.memory = x, .pad = in->pad}));
    return heed_linear_apply(&m->head, t, y);
}

static heed_tensor *pair_loss(void *self, heed_tape *t, const heed_batch *b) {
    heed_model_input in = {.x = heed_ids(t, b->src, b->rows, b->src_len),
                           .pad = heed_ids(t, b->src_pad, b->rows, b->src_len),
                           .target = heed_ids(t, b->ids, b->rows, b->len)};
    heed_tensor *labels = heed_ids(t, b->labels, b->rows, b->len);
    return heed_xent(t, pair_logits(self, t, &in), labels, NULL);
}

static bool pair_attending(const void *self, int index, heed_attention_info *out) {
    const tiny *m = self;
    *out = index ? attending_of(&m->cross, HEED_CROSS) : attending_of(&m->attn, HEED_DECODER);
    return index < 2;
}

static const heed_model_case pair_cases[] = {{"", "vocab=11 block=6 batch=2"}, {0}};
static const heed_model pair = {.name = "tiny-pair",
                                .help = "targets that are judged, never made",
                                .data = &heed_text_pairs,
                                .embedding = "token",
                                .options = pair_options,
                                .cases = pair_cases,
                                .size = sizeof(tiny),
                                .init = pair_init,
                                .logits = pair_logits,
                                .loss = pair_loss,
                                .attending = pair_attending};

/* ---- pairs with steps, but without metrics ---- */

static int made_length(const void *self) { return ((const tiny *)self)->position.len - 1; }

static size_t made_state(const void *self, const heed_source *source) {
    (void)source;
    return (size_t)(2 * made_length(self) * ((const tiny *)self)->width);
}

static bool made_read(const void *self, heed_tape *t, heed_tensor *ids, heed_source *out) {
    out->kept[0] = embed(self, t, "token", ids);
    out->count = ids->shape[1];
    return out->kept[0] != NULL;
}

static heed_tensor *made_next(const void *self, heed_tape *t, const heed_source *source,
                              heed_real *state, int at, heed_tensor *ids) {
    const tiny *m = self;
    const heed_tensor *kept = source->kept[0];
    int length = made_length(m);
    heed_cache past = {at, length, state, state + length * m->width, 0};
    heed_tensor *x = heed_wrap(t, kept->x, kept->dims, kept->shape);
    heed_tensor *y = heed_embed(heed_name_scope(t, "target"), m->token, ids);
    y = heed_position_apply(&m->position, t, y, at);
    y = heed_add(t, y, heed_mha_apply(&m->attn, t, y, &(heed_mha_inputs){.cache = &past}));
    y = heed_add(t, y, heed_mha_apply(&m->cross, t, y, &(heed_mha_inputs){.memory = x}));
    return heed_linear_apply(&m->head, t, y);
}

static const heed_steps made_steps = {
    .length = made_length, .read = made_read, .state = made_state, .next = made_next};
static const heed_model made = {.name = "tiny-made",
                                .help = "targets made step by step",
                                .data = &heed_text_pairs,
                                .embedding = "token",
                                .options = pair_options,
                                .size = sizeof(tiny),
                                .init = pair_init,
                                .logits = pair_logits,
                                .loss = pair_loss,
                                .attending = pair_attending,
                                .steps = &made_steps};

/* ---- labels: queries, keys and values by three layers ---- */

static const heed_option label_options[] = {
    ROW("block", "16"), ROW("vocab", "0"), ROW("classes", "0"), ROW("width", "8"), {0}};

static bool label_init(void *self, heed_params *s, const void *f) {
    tiny *m = self;
    init_tokens(m, s, f);
    heed_linear_args square = {.in = m->width, .out = m->width};
    heed_scope_push(s, "attn");
    heed_linear_init(&m->q, s, "q", square);
    heed_linear_init(&m->k, s, "k", square);
    heed_linear_init(&m->v, s, "v", square);
    heed_scope_pop(s);
    init_head(m, s, LENGTH(f, "classes"));
    return true;
}

static heed_tensor *label_logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const tiny *m = self;
    heed_tensor *x = embed(m, t, "token", in->x);
    heed_tensor *q = heed_linear_apply(&m->q, t, x), *k = heed_linear_apply(&m->k, t, x);
    heed_tensor *v = heed_linear_apply(&m->v, t, x);
    heed_attention_args a = {.heads = 1, .key = m->width, .value = m->width};
    x = heed_add(t, x, heed_attention(heed_name_scope(t, "attn"), q, k, v, NULL, in->pad, &a));
    return heed_linear_apply(&m->head, t, pool(m, t, x));
}

static heed_tensor *label_loss(void *self, heed_tape *t, const heed_batch *b) {
    heed_model_input in = {.x = heed_ids(t, b->src, b->rows, b->src_len),
                           .pad = heed_ids(t, b->src_pad, b->rows, b->src_len)};
    heed_tensor *labels = heed_input_ids(t, b->labels, 1, &b->rows);
    return heed_xent(t, label_logits(self, t, &in), labels, NULL);
}

static bool label_attending(const void *self, int index, heed_attention_info *out) {
    int width = ((const tiny *)self)->width;
    *out = (heed_attention_info){
        .path = "attn", .heads = 1, .key = width, .value = width, .beta = 1 / sqrt(width)};
    return index == 0;
}

static const heed_model_case label_cases[] = {{"", "vocab=11 classes=3 block=6 batch=2"}, {0}};
static const heed_model label = {.name = "tiny-label",
                                 .help = "separate queries, keys and values",
                                 .data = &heed_texts_labelled,
                                 .embedding = "token",
                                 .options = label_options,
                                 .cases = label_cases,
                                 .size = sizeof(tiny),
                                 .init = label_init,
                                 .logits = label_logits,
                                 .loss = label_loss,
                                 .attending = label_attending};

/* ---- dense: whether the sum of numbers is positive, without evaluation batches ---- */

static const heed_option dense_options[] = {ROW("width", "8"), {0}};

static bool dense_init(void *self, heed_params *s, const void *f) {
    tiny *m = self;
    m->width = LENGTH(f, "width");
    heed_linear_init(&m->q, s, "in", (heed_linear_args){.in = 1, .out = m->width});
    init_attn(&m->attn, s, "attn", m->width, (heed_mha_args){0});
    init_head(m, s, 2);
    return true;
}

static bool dense_batch(void *self, const heed_data *data, heed_batch_at at, heed_batch *out) {
    tiny *m = self;
    int rows = at.rows < MOST_ROWS ? at.rows : MOST_ROWS;
    heed_random r = heed_random_at(1, "dense", at.index, at.micro);
    (void)data;
    for (int i = 0; i < rows; i++) {
        heed_real sum = 0;
        for (int j = i * NUMBERS; j < (i + 1) * NUMBERS; j++)
            sum += m->x[j] = (heed_real)heed_random_normal(&r, (uint64_t)j);
        m->y[i] = sum > 0;
    }
    *out = (heed_batch){.rows = rows, .len = NUMBERS, .x = m->x, .labels = m->y};
    return true;
}

static heed_tensor *dense_logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const tiny *m = self;
    int rows = in->x->shape[0];
    heed_tensor *x = heed_linear_apply(&m->q, t, heed_reshape(t, in->x, 3, (int[]){rows, -1, 1}));
    x = heed_add(t, x, heed_mha_apply(&m->attn, t, x, NULL));
    return heed_linear_apply(&m->head, t, pool(m, t, x));
}

static heed_tensor *dense_loss(void *self, heed_tape *t, const heed_batch *b) {
    heed_model_input in = {.x = heed_input(t, b->x, 2, (int[]){b->rows, b->len})};
    heed_tensor *labels = heed_input_ids(t, b->labels, 1, &b->rows);
    return heed_xent(t, dense_logits(self, t, &in), labels, NULL);
}

static const heed_model_case dense_cases[] = {{"", "batch=2"}, {0}};
static const heed_model dense = {.name = "tiny-dense",
                                 .help = "numbers of its own",
                                 .data = &heed_own_numbers,
                                 .options = dense_options,
                                 .cases = dense_cases,
                                 .size = sizeof(tiny),
                                 .init = dense_init,
                                 .batch = dense_batch,
                                 .logits = dense_logits,
                                 .loss = dense_loss,
                                 .attending = attending};

/* ---- masked tokens, in the batches of the kind ---- */

static bool masked_init(void *self, heed_params *s, const void *f) {
    tiny *m = self;
    init_tokens(m, s, f);
    init_attn(&m->attn, s, "attn", m->width, (heed_mha_args){0});
    return true;
}

static heed_tensor *masked_logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const tiny *m = self;
    heed_tensor *x = embed(m, t, "token", in->x);
    x = heed_add(t, x, heed_mha_apply(&m->attn, t, x, &(heed_mha_inputs){.pad = in->pad}));
    if (in->masked_positions) x = heed_gather(t, x, in->masked_positions);
    return heed_affine(heed_name_scope(t, "head"), x, m->token, NULL);
}

static heed_tensor *masked_loss(void *self, heed_tape *t, const heed_batch *b) {
    heed_model_input in = {.x = heed_ids(t, b->ids, b->rows, b->len),
                           .pad = heed_ids(t, b->pad, b->rows, b->len),
                           .masked_positions =
                               heed_input_ids(t, b->masked_positions, 1, &b->masked_count)};
    heed_tensor *labels = heed_input_ids(t, b->labels, 1, &b->masked_count);
    return heed_xent(t, masked_logits(self, t, &in), labels, NULL);
}

static const heed_model_case masked_cases[] = {{"", "vocab=11 block=6 batch=2"}, {0}};
static const heed_model masked = {.name = "tiny-masked",
                                  .help = "masked words",
                                  .data = &heed_texts_masked,
                                  .embedding = "token",
                                  .options = pair_options,
                                  .cases = masked_cases,
                                  .size = sizeof(tiny),
                                  .init = masked_init,
                                  .logits = masked_logits,
                                  .loss = masked_loss,
                                  .attending = attending};

static const heed_model *const models[] = {&picture, &pair, &made, &label, &dense, &masked, NULL};

int main(int argc, char **argv) { return heed_program(argc, argv, models); }
