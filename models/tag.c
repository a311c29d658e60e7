/* tag.c -- token tagger: a label for every token. */
#include "reader.h"

typedef struct {
    text_model text;
} tag;

static const heed_option options[] = {READER_OPTIONS, {0}};

static const heed_model_case cases[] = {
    {"", READER_SMALL},
    {"variant", READER_SMALL "positions=sinusoidal norm=post smoothing=0.1"},
    {"gru", READER_SMALL "encoder=rnn"},
    {"rnn", READER_SMALL "encoder=rnn cell=rnn cell-activation=sigmoid"},
    {"conv", READER_SMALL "encoder=conv kernel=2 causal=true norm=post"},
    {0}};

static bool init(void *self, heed_store *s, const heed_config *f) {
    return heed__reader_init(self, s, f, heed__model_int(f, "classes"));
}

/* (B,S,classes) */
static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const tag *m = self;
    if (!in->x) return NULL;
    return heed_linear_apply(&m->text.head, t,
                             heed__reader_apply(&m->text, t, in->x, in->pad, NULL));
}

/* Labels of padding, and of tokens that are not words, do not count. */
static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    tag *m = self;
    heed_real smoothing = heed_tape_mode(t) == HEED_TRAIN ? m->text.smoothing : 0;
    heed_model_input in = {.x = heed_ids(t, b->src, b->rows, b->src_len),
                           .pad = heed_ids(t, b->src_pad, b->rows, b->src_len)};
    m->text.logits = logits(m, t, &in);
    heed_tensor *labels = heed_ids(t, b->labels, b->rows, b->src_len);
    return m->text.loss =
               heed_xent(t, m->text.logits, labels, &(heed_xent_args){.smoothing = smoothing});
}

const heed_model heed_model_tag = {.name = "tag",
                                   .help = "a label for every token",
                                   .answers = HEED_ANSWER_SAME,
                                   .options = options,
                                   .cases = cases,
                                   .size = sizeof(tag),
                                   .init = init,
                                   .logits = logits,
                                   .loss = loss,
                                   READER_MEMBERS};
