/* tag.c -- a label for every token, aligned many to many. */
#include "reader.h"

struct tag {
    text_model text;
};

static const heed_option options[] = {READER_OPTIONS, BEST("accuracy"), {0}};

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

const heed_model heed_model_tag = {.name = "tag",
                                   .help = "a label for every token",
                                   .options = options,
                                   .size = sizeof(tag),
                                   .init = init,
                                   .loss = loss,
                                   READER_MEMBERS};
