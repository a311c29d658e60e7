/* textcls.c -- text classifier. Recurrent layers are read at their last state, a transformer
 * encoder or convolutions at the mean of the tokens or at the last one. */
#include "parts/reader.h"

typedef struct {
    text_model text;
    bool binary;
} textcls;

static const heed_option options[] = {
    READER_OPTIONS,
    CHOICE("pool", "mean", "mean|last",
           "attention and convolution: the head reads the mean of the tokens, or the last one"),
    HEAD_OPTION,
    {0}};

static const heed_condition conditions[] = {READER_CONDITIONS,
                                            {"pool", "encoder=attention|conv"},
                                            {"all-rows", "encoder=attention"},
                                            {"all-rows", "pool=last"},
                                            {0}};

static const heed_model_case cases[] = {
    {"", READER_SMALL},
    {"variant", READER_SMALL "positions=sinusoidal norm=post pool=last smoothing=0.1 dropout=0.2"},
    {"bert", READER_SMALL "norm=post embed-norm=true token-types=2 final-norm=true"},
    {"binary", READER_SMALL "classes=2 head=binary"},
    {"lora", READER_SMALL "lora=2 lora-targets=*.q,*.v,embed.token.*"},
    {"gru", READER_SMALL "encoder=rnn"},
    {"lstm", READER_SMALL "encoder=rnn cell=lstm bidirectional=false"},
    {"conv", READER_SMALL "encoder=conv kernel=3"},
    {0}};

static bool init(void *self, heed_store *s, const heed_config *f) {
    textcls *m = self;
    int classes = heed__model_int(f, "classes");
    m->binary = heed__model_is(f, "head", "binary");
    m->text.last = heed__model_is(f, "pool", "last");
    if (m->binary && !heed__model_two_classes(heed_store_ctx(s), classes)) return false;
    return heed__reader_init(&m->text, s, f, m->binary ? 1 : classes);
}

/* The output layer's values: (B,classes), or (B,1) for a head with one neuron. */
static heed_tensor *neurons(const textcls *m, heed_tape *t, heed_tensor *ids, heed_tensor *pad) {
    heed_tensor *ends = NULL;
    heed__reader_apply(&m->text, t, ids, pad, &ends);
    return heed_linear_apply(&m->text.head, t, ends);
}

static heed_tensor *code(const void *self, heed_tape *t, const heed_model_input *in) {
    heed_tensor *ends = NULL;
    if (in->x) heed__reader_apply(self, t, in->x, in->pad, &ends);
    return ends;
}

/* (B,classes); a head with one neuron z gives (0, z). */
static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const textcls *m = self;
    heed_tensor *z = in->x ? neurons(m, t, in->x, in->pad) : NULL;
    return m->binary ? heed__model_by_class(t, z) : z;
}

static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    textcls *m = self;
    heed_tensor *pad = heed_ids(t, b->src_pad, b->rows, b->src_len);
    heed_tensor *z = neurons(m, t, heed_ids(t, b->src, b->rows, b->src_len), pad);
    return heed__model_class_loss(&m->text.result, t, z, m->binary, b, m->text.smoothing);
}

const heed_model heed_model_textcls = {.name = "textcls",
                                       .help = "classifier of texts",
                                       .answers = HEED_ANSWER_INPUT,
                                       .options = options,
                                       .conditions = conditions,
                                       .cases = cases,
                                       .size = sizeof(textcls),
                                       .init = init,
                                       .logits = logits,
                                       .loss = loss,
                                       .code = code,
                                       READER_MEMBERS};
