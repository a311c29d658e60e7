/* mlm.c -- masked language model: BERT by default. Devlin et al. 2019, sec. 3. */
#include "parts/parts.h"
#include "published/published.h"

#include <math.h>

typedef struct {
    model_result result;
    transformer body;
    heed_linear dense; /* the dense layer before the output layer; w NULL: absent */
    heed_norm norm;
    heed_act act;
    heed_linear head;
    double share;
    bool cls, unit; /* of vectors of texts */
} mlm;

typedef struct {
    text_settings text;
    bool tie, transform_head, head_bias, unit, pooler;
    double mask_share;
    const char *pool;
    int embed_tokens; /* read by heed_text_vector */
} mlm_settings;

static const heed_option options[] = {
    HEED_ROWS(mlm_settings, text.stack, heed__stack_options, "norm=post norm-eps=1e-12"),
    HEED_ROWS(mlm_settings, text, heed__text_options, "token-types=2"),
    HEED_ROW(mlm_settings, tie, "tie", "true",
             .help = "the head's weights are the token embeddings"),
    HEED_ROW(mlm_settings, text.stack.final_norm, "final-norm", "false",
             .help = "layer norm after the last block"),
    HEED_ROW(mlm_settings, text.embed_norm, "embed-norm", "true",
             .help = "layer norm of the embeddings"),
    HEED_ROW(mlm_settings, transform_head, "transform-head", "true",
             .help = "dense, activation and norm before the output"),
    HEED_ROW(mlm_settings, head_bias, "head-bias", "true", .help = "bias of the output"),
    HEED_ROW(mlm_settings, text.stack.scale_residual, "scale-residual", "false",
             .help = "start sublayers' outputs at init-std / sqrt(2 layers)"),
    HEED_ROW(mlm_settings, mask_share, "mask-share", "0.15", .max = 1,
             .help = "share of the positions to predict"),
    HEED_ROW(mlm_settings, pool, "pool", "mean", .choices = "mean|cls",
             .help = "of `embed`: the mean of the tokens, or [CLS]"),
    HEED_ROW(mlm_settings, unit, "unit", "false", .help = "of `embed`: vectors of length 1"),
    HEED_ROW(mlm_settings, embed_tokens, "embed-tokens", "0", .max = 1 << 20,
             .help = "of `embed`: the tokens of a text, at most; 0: block"),
    HEED_ROW(mlm_settings, pooler, "pooler", "false",
             .help =
                 "the dense layer of BERT's next-sentence head is kept; no training changes it"),
    HEED_WHEN("activation", "ff-kind=plain transform-head=true"),
    {0}};

/* BERT's 0.02 is for a width of 768: at width 128, sqrt(768 / 128) times as much gives initial
 * scores of the same size. Post-norm needs a longer warm-up. Accuracy after 300 default steps on a
 * book: 14.2 %; with the common defaults: 10.6 %. */
#define DEFAULTS "tokenizer=wordpiece init-std=0.05 warmup=0.2"

/* nano, tiny: as in gpt.c. */
static const heed_preset presets[] = {
    {"nano", "2 layers, 4 heads, width 64, block 64",
     "layers=2 heads=4 width=64 ff=256 block=64 batch=32 init-std=0.05", false},
    {"tiny", "4 layers, 4 heads, width 128, block 64",
     "layers=4 heads=4 width=128 ff=512 block=64 batch=32 init-std=0.05", false},
    {"small", "4 layers, 4 heads, width 128, block 128, WordPiece vocabulary of 8192",
     "layers=4 heads=4 width=128 ff=512 block=128 batch=32 tokenizer=wordpiece vocab=8192", false},
    {"mlm-nano", "benchmark, loss on the masked positions",
     TEXT_PLAIN "layers=2 heads=4 width=64 ff=256 block=64 batch=32 vocab=1024", true},
    {"mlm-nano-all", "benchmark, loss on every position",
     TEXT_PLAIN "layers=2 heads=4 width=64 ff=256 block=64 batch=32 vocab=1024 mask-share=1", true},
    {"mlm-small", "benchmark, loss on the masked positions",
     TEXT_PLAIN "layers=4 heads=4 width=128 ff=512 block=128 batch=32 vocab=8192", true},
    {0}};

static const heed_model_case cases[] = {
    {"", TINY "mask-share=0.5"},
    {"pre-norm",
     TINY "mask-share=0.5 norm=pre final-norm=true positions=sinusoidal dropout=0.2 tie=false"},
    {"rms", TINY "mask-share=0.5 norm-kind=rms bias=false"},
    {"llama", TINY LLAMA "kv-heads=1 mask-share=0.5 final-norm=true"},
    {0}};

static bool init(void *self, heed_params *s, const void *settings) {
    const mlm_settings *set = settings;
    const stack_settings *stack = &set->text.stack;
    mlm *m = self;
    int width = stack->width;
    if (!heed__transformer_init(&m->body, s, &set->text, "encoder", false)) return false;
    if (set->transform_head) {
        heed_linear_init(&m->dense, s, "head.dense",
                         (heed_linear_args){.in = width,
                                            .out = width,
                                            .no_bias = !stack->bias,
                                            .init = heed__stack_init_or(&m->body.stack, NULL)});
        heed_norm_init(&m->norm, s, "head.norm", heed__stack_norm_args(stack, width));
    }
    m->head = heed__model_head(s, m->body.embed.token, set->tie, set->head_bias,
                               heed__stack_init_or(&m->body.stack, "kaiming"));
    if (set->pooler) {
        heed_buffer_new(s, "pooler.weight", "zero", 2, (int[]){width, width});
        heed_buffer_new(s, "pooler.bias", "zero", 1, &width);
    }
    m->act = heed__activation(stack->activation);
    m->cls = is(set->pool, "cls");
    m->unit = set->unit;
    m->share = set->mask_share;
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

/* What the output layer reads, of the masked rows only: the others have no loss. */
static heed_tensor *features(const mlm *m, heed_tape *t, const heed_model_input *in) {
    heed_tensor *x = heed__embedding_apply(&m->body.embed, t, in->x, in->types, 0); /* (B,T,d) */
    x = in->masked_positions
            ? heed__stack_rows(&m->body.stack, t, x, in->masked_positions, in->pad) /* (n,d) */
            : heed__stack_apply(&m->body.stack, t, x, in->pad, NULL);
    x = heed__stack_norm(&m->body.stack, t, x);
    if (m->dense.w) {
        x = heed_linear_act(&m->dense, t, x, m->act);
        x = heed_norm_apply(&m->norm, t, x);
    }
    return x;
}

static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const mlm *m = self;
    return heed_linear_apply(&m->head, t, features(m, t, in));
}

static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    mlm *m = self;
    heed_model_input in = {.x = heed_ids(t, b->ids, b->rows, b->len),
                           .pad = heed_ids(t, b->pad, b->rows, b->len),
                           .masked_positions =
                               heed_input_ids(t, b->masked_positions, 1, &b->masked_count)};
    heed_tensor *labels = heed_input_ids(t, b->labels, 1, &b->masked_count);
    return heed__model_head_loss(&m->result, t, &m->head, features(m, t, &in), labels, 0);
}

/* The vector of a text: of unit length, it is an RMS norm with the gain 1/sqrt(d). */
static heed_tensor *code(const void *self, heed_tape *t, const heed_model_input *in) {
    const mlm *m = self;
    int width = m->body.stack.width;
    heed_tensor *x = heed__embedding_apply(&m->body.embed, t, in->x, in->types, 0); /* (B,T,d) */
    x = heed__stack_norm(&m->body.stack, t, heed__stack_apply(&m->body.stack, t, x, in->pad, NULL));
    x = m->cls ? heed_reshape(t, heed_slice(t, x, 1, 0, 1), 2, (int[]){-1, width})
               : heed__tokens_pooled(t, x, in->pad, false); /* (B,d) */
    if (!m->unit) return x;
    heed_tensor *gain = heed_input(t, NULL, 1, &width);
    for (int i = 0; gain && i < width; i++) gain->x[i] = (heed_real)(1 / sqrt(width));
    return heed_rms_norm(t, x, gain, 0);
}

static bool batch(void *self, const heed_data *data, heed_batch_at at, heed_batch *out) {
    at.share = ((mlm *)self)->share;
    if (!(at.share > 0))
        return heed_fail(data->c, HEED_USAGE,
                         "share of masked tokens is out of range: expected above 0 and at most 1, "
                         "found %g",
                         at.share);
    return heed_texts_masked.batch(data, at, out);
}

static bool attending(const void *self, int index, heed_attention_info *out) {
    return heed__stack_attending(&((const mlm *)self)->body.stack, HEED_ENCODER, index, out);
}

const heed_model heed_model_mlm = {
    .name = "mlm",
    .help = "masked language model (BERT)",
    .data = &heed_texts_masked,
    .embedding = "embed.token",
    .options = options,
    .set = sizeof(mlm_settings),
    .defaults = DEFAULTS,
    .presets = presets,
    .cases = cases,
    .size = sizeof(mlm),
    .init = init,
    .batch = batch,
    .logits = logits,
    .loss = loss,
    .metrics = heed__model_metrics,
    .attending = attending,
    .code = code,
    .choose = heed__choose_mlm,
    .choices =
        "packing block val-split layers width norm init-std batch steps lr warmup dropout decay "
        "tokenizer transform-head positions",
    .published = heed__mlm_published,
};
