/* tag.c -- a label for every token, aligned many to many. */
#include "reader.h"

struct tag {
    text_model text;
};

static const heed_option options[] = {READER_OPTIONS, {0}};

static const heed_model_case cases[] = {
    {"", READER_SMALL},
    {"variant", READER_SMALL "positions=sinusoidal norm=post smoothing=0.1"},
    {"gru", READER_SMALL "encoder=rnn"},
    {"rnn", READER_SMALL "encoder=rnn cell=rnn cell-activation=sigmoid"},
    {"conv", READER_SMALL "encoder=conv kernel=2 causal=true norm=post"},
    {0}};

static bool init(void *self, heed_store *s, const heed_config *f) {
    return reader_init(self, s, f, model_int(f, "classes"));
}

heed_tensor *tag_logits(const tag *m, heed_tape *t, heed_tensor *ids, heed_tensor *pad) {
    if (!ids) return NULL;
    return heed_linear_apply(&m->text.head, t, reader_apply(&m->text, t, ids, pad, NULL));
}

/* Labels of padding, and of what is no word, do not count. */
static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    tag *m = self;
    heed_real smoothing = heed_tape_mode(t) == HEED_TRAIN ? m->text.smoothing : 0;
    heed_tensor *pad = heed_ids(t, b->src_pad, b->rows, b->src_len);
    m->text.logits = tag_logits(m, t, heed_ids(t, b->src, b->rows, b->src_len), pad);
    heed_tensor *labels = heed_ids(t, b->labels, b->rows, b->src_len);
    return m->text.loss =
               heed_xent(t, m->text.logits, labels, &(heed_xent_args){.smoothing = smoothing});
}

static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    return tag_logits(self, t, in->x, in->pad);
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
