/* image.c -- code shared by the picture models: from a batch to a loss. */
#include "parts.h"

const heed_option heed__picture_options[] = {
    HEED_ROW(picture_settings, size, "image-size", "0", .max = 4096,
             .help = "side of the pictures in pixels; 0: from the data"),
    HEED_ROW(picture_settings, channels, "channels", "0", .max = 3,
             .help = "1: grey, 3: colour; 0: from the data"),
    {0}};

const heed_option heed__image_options[] = {
    HEED_ROWS(image_settings, picture, heed__picture_options, ""),
    HEED_ROW(image_settings, classes, "classes", "0", .max = 1 << 24,
             .help = "number of classes; 0: from the data"),
    HEED_ROW(image_settings, head, "head", "softmax", .choices = "softmax|binary",
             .help = "a neuron per class, or one for two classes"),
    HEED_ROW(image_settings, smoothing, "smoothing", "0", .max = 0.99,
             .help = "share of the target spread over all classes, in training"),
    {0}};

bool heed__picture_read(picture_model *m, heed_ctx *c, const image_settings *set) {
    m->size = set->picture.size;
    m->channels = set->picture.channels;
    m->classes = set->classes;
    m->binary = is(set->head, "binary");
    m->smoothing = set->smoothing;
    if (m->size < 1 || m->channels < 1 || m->classes < 1)
        return heed_fail(c, HEED_USAGE,
                         "size of the model is wrong: expected image-size, channels and classes of "
                         "at least 1, found %d, %d, %d; hint: `image-size = 28`, `channels = 1`, "
                         "`classes = 10`",
                         m->size, m->channels, m->classes);
    return !m->binary || heed__model_two_classes(c, m->classes);
}

void heed__picture_head(picture_model *m, heed_params *s, int width, const char *init) {
    heed_linear_init(
        &m->head, s, "head",
        (heed_linear_args){.in = width, .out = m->binary ? 1 : m->classes, .init = init});
    heed_set_rows(s, "head.*", HEED_ROWS_CLASSES);
}

/* ---- logits and loss ---- */

heed_tensor *heed__picture_input(heed_tape *t, const heed_batch *b, int size, int channels) {
    if (b->len == size * size * channels)
        return heed_input(t, b->x, 4, (int[]){b->rows, size, size, channels});
    heed_fail(heed_tape_ctx(t), HEED_USAGE,
              "pictures do not fit the model: expected %d x %d pixels of %d channels, found %d "
              "numbers; hint: `image-size` and `channels` as in training",
              size, size, channels, b->len);
    return NULL;
}

/* The output layer's values: (B,classes), or (B,1) for a head with one neuron. */
static heed_tensor *neurons(const picture_model *m, heed_tape *t, heed_tensor *x) {
    return heed_linear_apply(&m->head, t, m->features(m, t, x));
}

heed_tensor *heed__picture_logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const picture_model *m = self;
    heed_tensor *z = neurons(m, t, in->x);
    return m->binary ? heed__model_by_class(t, z) : z;
}

heed_tensor *heed__picture_code(const void *self, heed_tape *t, const heed_model_input *in) {
    const picture_model *m = self;
    return m->features(m, t, in->x);
}

heed_tensor *heed__picture_loss(void *self, heed_tape *t, const heed_batch *b) {
    picture_model *m = self;
    heed_tensor *z = neurons(m, t, heed__picture_input(t, b, m->size, m->channels));
    return heed__model_class_loss(&m->result, t, z, m->binary, b, m->smoothing);
}
