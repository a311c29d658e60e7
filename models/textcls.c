/* textcls.c -- text classifier. Recurrent layers are read at their last state, a transformer
 * encoder or convolutions at the mean of the tokens or at the last one. */
#include "parts/parts.h"
#include "published/published.h"

typedef struct {
    text_model text;
    bool binary;
    heed_linear pooler; /* w NULL: absent */
} textcls;

typedef struct {
    reader_settings reader;
    const char *pool, *head;
    bool pooler;
} textcls_settings;

static const heed_option options[] = {
    HEED_ROWS(textcls_settings, reader, heed__reader_options, ""),
    HEED_ROW(textcls_settings, pool, "pool", "mean", .choices = "mean|last|cls",
             .help = "attention and convolution: the head reads the mean of the tokens, the last "
                     "or the first"),
    HEED_ROW(textcls_settings, pooler, "pooler", "false",
             .help = "dense layer and tanh before the head, as in BERT"),
    HEED_ROW(textcls_settings, head, "head", "softmax", .choices = "softmax|binary",
             .help = "a neuron per class, or one for two classes"),
    HEED_WHEN("pool", "encoder=attention|conv"),
    HEED_WHEN("all-rows", "encoder=attention"),
    HEED_WHEN("all-rows", "pool=last"),
    {0}};

static const heed_model_case cases[] = {
    {"", READER_SMALL},
    {"variant", READER_SMALL "positions=sinusoidal norm=post pool=last smoothing=0.1 dropout=0.2"},
    {"bert", READER_SMALL "norm=post embed-norm=true token-types=2 final-norm=true"},
    {"binary", READER_SMALL "classes=2 head=binary"},
    {"lora", READER_SMALL "lora=2 lora-targets=*.q,*.v,embed.token.*"},
    {"pooler", READER_SMALL "norm=post pool=cls pooler=true bracket=true"},
    {"gru", READER_SMALL "encoder=rnn"},
    {"lstm", READER_SMALL "encoder=rnn cell=lstm bidirectional=false"},
    {"conv", READER_SMALL "encoder=conv kernel=3"},
    {0}};

static bool init(void *self, heed_params *s, const void *settings) {
    const textcls_settings *set = settings;
    textcls *m = self;
    int classes = set->reader.classes;
    m->binary = is(set->head, "binary");
    m->text.last = is(set->pool, "last");
    m->text.first = is(set->pool, "cls");
    if (m->binary && !heed__model_two_classes(heed_params_ctx(s), classes)) return false;
    if (!heed__reader_init(&m->text, s, &set->reader, m->binary ? 1 : classes)) return false;
    if (set->pooler)
        heed_linear_init(&m->pooler, s, "pooler",
                         (heed_linear_args){.in = m->text.width,
                                            .out = m->text.width,
                                            .init = heed__stack_init_or(&m->text.stack, NULL)});
    return heed_ctx_status(heed_params_ctx(s)) == HEED_OK;
}

/* (B,width): what the output layer reads. */
static heed_tensor *features(const textcls *m, heed_tape *t, const heed_model_input *in) {
    heed_tensor *ends = NULL;
    heed__reader_apply(&m->text, t, in, &ends);
    return m->pooler.w ? heed_linear_act(&m->pooler, t, ends, HEED_TANH) : ends;
}

/* The output layer's values: (B,classes), or (B,1) for a head with one neuron. */
static heed_tensor *neurons(const textcls *m, heed_tape *t, const heed_model_input *in) {
    return heed_linear_apply(&m->text.head, t, features(m, t, in));
}

static heed_tensor *code(const void *self, heed_tape *t, const heed_model_input *in) {
    return in->x ? features(self, t, in) : NULL;
}

/* (B,classes); a head with one neuron z gives (0, z). */
static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const textcls *m = self;
    heed_tensor *z = in->x ? neurons(m, t, in) : NULL;
    return m->binary ? heed__model_by_class(t, z) : z;
}

static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    textcls *m = self;
    heed_model_input in = {.x = heed_ids(t, b->src, b->rows, b->src_len),
                           .pad = heed_ids(t, b->src_pad, b->rows, b->src_len)};
    heed_tensor *z = neurons(m, t, &in);
    return heed__model_class_loss(&m->text.result, t, z, m->binary, b, m->text.smoothing);
}

const heed_model heed_model_textcls = {.name = "textcls",
                                       .help = "classifier of texts",
                                       .data = &heed_texts_labelled,
                                       .defaults = "best=accuracy",
                                       .options = options,
                                       .set = sizeof(textcls_settings),
                                       .cases = cases,
                                       .size = sizeof(textcls),
                                       .init = init,
                                       .logits = logits,
                                       .loss = loss,
                                       .code = code,
                                       .published = heed__textcls_published,
                                       READER_MEMBERS};
