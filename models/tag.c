/* tag.c -- token tagger: a label for every token. */
#include "parts/parts.h"
#include "published/published.h"

typedef struct {
    reader_settings reader;
} tag_settings;

static const heed_option options[] = {
    HEED_ROWS(tag_settings, reader, heed__reader_options, ""), HEED_WHEN("all-rows", ""), {0}};

static const heed_model_case cases[] = {
    {"", READER_SMALL},
    {"variant", READER_SMALL "positions=sinusoidal norm=post smoothing=0.1"},
    {"gru", READER_SMALL "encoder=rnn"},
    {"rnn", READER_SMALL "encoder=rnn cell=rnn cell-activation=sigmoid"},
    {"conv", READER_SMALL "encoder=conv kernel=2 causal=true norm=post"},
    {0}};

static bool init(void *self, heed_params *s, const void *settings) {
    const tag_settings *set = settings;
    return heed__reader_init(self, s, &set->reader, set->reader.classes);
}

/* (B,S,classes) */
static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const text_model *m = self;
    return in->x ? heed_linear_apply(&m->head, t, heed__reader_apply(m, t, in, NULL)) : NULL;
}

/* Labels of padding, and of tokens that are not words, do not count. */
static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    text_model *m = self;
    heed_model_input in = {.x = heed_ids(t, b->src, b->rows, b->src_len),
                           .pad = heed_ids(t, b->src_pad, b->rows, b->src_len)};
    m->result.logits = logits(m, t, &in);
    heed_tensor *labels = heed_ids(t, b->labels, b->rows, b->src_len);
    return heed__model_label_xent(&m->result, t, labels, b, m->smoothing);
}

/* With learned positions, heads need far more steps to find the neighbours of a word. */
const heed_model heed_model_tag = {.name = "tag",
                                   .help = "a label for every token",
                                   .data = &heed_texts_tagged,
                                   .defaults = "best=accuracy positions=rotary",
                                   .options = options,
                                   .set = sizeof(tag_settings),
                                   .cases = cases,
                                   .size = sizeof(text_model),
                                   .init = init,
                                   .logits = logits,
                                   .loss = loss,
                                   .published = heed__tag_published,
                                   READER_MEMBERS};
