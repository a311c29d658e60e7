/* mlm.c -- masked language model: BERT by default. Devlin et al. 2019, sec. 3. */
#include "parts/bert.h"
#include "parts/choose.h"
#include "parts/text.h"

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

static const heed_option options[] = {
    TEXT_OPTIONS("post", "gelu", "1e-12", "2"),
    NO("final-norm", "layer norm after the last block"),
    YES("embed-norm", "layer norm of the embeddings"),
    YES("transform-head", "dense, activation and norm before the output"),
    YES("head-bias", "bias of the output"),
    NO("scale-residual", "start sublayers' outputs at init-std / sqrt(2 layers)"),
    NUMBER("mask-share", "0.15", 0, 1, "share of the positions to predict"),
    CHOICE("pool", "mean", "mean|cls", "of `embed`: the mean of the tokens, or [CLS]"),
    NO("unit", "of `embed`: vectors of length 1"),
    WHOLE("embed-tokens", "0", 0, 1 << 20, "of `embed`: the tokens of a text, at most; 0: block"),
    NO("pooler", "the dense layer of BERT's next-sentence head is kept; no training changes it"),
    HEED_WHEN("rope-theta", "positions=rotary"),
    HEED_WHEN("activation", "ff-kind=plain transform-head=true"),
    {0}};

/* BERT's 0.02 is for a width of 768: at width 128, sqrt(768 / 128) times as much gives initial
 * scores of the same size. Post-norm needs a longer warm-up. Accuracy after 300 default steps on a
 * book: 14.2 %; with the common defaults: 10.6 %. */
#define DEFAULTS "tokenizer=wordpiece init-std=0.05 warmup=0.2"

static const heed_preset presets[] = {
    TEXT_PRESETS,
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

static bool init(void *self, heed_store *s, const void *f) {
    mlm *m = self;
    stack_kind kind = {.name = "encoder",
                       .scale_residual = heed_config_bool(f, "scale-residual"),
                       .final_norm = heed_config_bool(f, "final-norm")};
    if (!heed__transformer_init(&m->body, s, f, kind)) return false;
    int width = m->body.stack.width;
    bool bias = heed_config_bool(f, "bias");
    if (heed_config_bool(f, "transform-head")) {
        heed_linear_init(&m->dense, s, "head.dense",
                         (heed_linear_args){.in = width,
                                            .out = width,
                                            .no_bias = !bias,
                                            .init = heed__stack_init_or(&m->body.stack, NULL)});
        heed_norm_init(&m->norm, s, "head.norm", heed__model_norm(f, width));
    }
    m->head =
        heed__model_head(s, f, m->body.embed.token, heed__stack_init_or(&m->body.stack, "kaiming"));
    if (heed_config_bool(f, "pooler")) {
        heed_state_new(s, "pooler.weight", "zero", 2, (int[]){width, width});
        heed_state_new(s, "pooler.bias", "zero", 1, &width);
    }
    m->act = heed__model_activation(f, "activation");
    m->cls = heed__model_is(f, "pool", "cls");
    m->unit = heed_config_bool(f, "unit");
    m->share = heed_config_real(f, "mask-share");
    m->result.whole_logits = heed__model_on(f, "whole-logits");
    return heed_ctx_status(heed_store_ctx(s)) == HEED_OK;
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
    return heed_mlm_batch(data->batches, at, ((mlm *)self)->share, out);
}

static bool attending(const void *self, int index, heed_attending *out) {
    return heed__stack_attending(&((const mlm *)self)->body.stack, HEED_ENCODER, index, out);
}

/* ---- as published: BertForMaskedLM, RoFormerForMaskedLM, and BertModel, which has no head ---- */

#define HEAD_TENSORS                                                                               \
    TENSORS("head.dense", "cls.predictions.transform.dense"),                                      \
        TENSORS("head.norm", "cls.predictions.transform.LayerNorm"),                               \
        TENSOR("head.bias", "cls.predictions.bias"),                                               \
        TENSOR_AS("head.bias", "cls.predictions.decoder.bias", HEED_PUBLISHED_COPY),               \
        TENSOR("head.weight", "cls.predictions.decoder.weight"),                                   \
        TENSOR_AS("embed.token.weight", "cls.predictions.decoder.weight", HEED_PUBLISHED_COPY)

static const heed_published_key keys[] = {
    BERT_KEYS, KEY("tie_word_embeddings", "tie", "true"), {0}};
static const heed_published_tensor whole[] = {BERT_TENSORS("bert."), HEAD_TENSORS, {0}};
static const heed_published_key rotary_keys[] = {
    ROFORMER_KEYS, KEY("tie_word_embeddings", "tie", "true"), {0}};
static const heed_published_tensor rotary[] = {ROFORMER_TENSORS, HEAD_TENSORS, {0}};
static const heed_published_key encoder_keys[] = {BERT_KEYS, {0}};
static const heed_published_tensor encoder[] = {
    BERT_TENSORS(""), TENSORS("pooler", "pooler.dense"), {0}};
static const heed_published published[] = {
    {.type = "bert",
     .architectures = "BertForMaskedLM BertForPreTraining",
     .settings = BERT_SETTINGS "transform-head=true head-bias=true pooler=false",
     .prefix = "bert.",
     .renames = BERT_RENAMES,
     .ignored = BERT_IGNORED,
     .dropped = "bert.pooler.* pooler.* cls.seq_relationship.*",
     .harmless = BERT_HARMLESS,
     .keys = keys,
     .tensors = whole},
    {.type = "roformer",
     .architectures = "RoFormerForMaskedLM",
     .settings = ROFORMER_SETTINGS "transform-head=true head-bias=true pooler=false",
     .prefix = "roformer.",
     .renames = BERT_RENAMES,
     .ignored = "roformer.encoder.embed_positions.weight",
     .angles = "roformer.encoder.embed_positions.weight",
     .dropped = "roformer.pooler.* pooler.*",
     .harmless = BERT_HARMLESS,
     .keys = rotary_keys,
     .tensors = rotary},
    {.type = "bert",
     .architectures = "BertModel",
     .settings = BERT_SETTINGS "transform-head=false head-bias=false tie=true",
     .present = "pooler=pooler.dense.weight",
     .vectors = true,
     .prefix = "bert.",
     .renames = BERT_RENAMES,
     .ignored = BERT_IGNORED "cls.*",
     .harmless = BERT_HARMLESS " tie_word_embeddings",
     .keys = encoder_keys,
     .tensors = encoder},
    {0}};

const heed_model heed_model_mlm = {
    .name = "mlm",
    .help = "masked language model (BERT)",
    .data = &heed_texts_masked,
    .embedding = "embed.token",
    .options = options,
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
    .choices = TEXT_CHOICES " tokenizer transform-head positions",
    .published = published,
};
