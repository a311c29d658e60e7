/* autoencoder.c -- a picture is reconstructed from a code of few numbers, or from a few of its
 * patches. No labels are needed. */
#include "parts/bottleneck.h"
#include "parts/image.h"
#include "parts/masked.h"

#include <string.h>

typedef struct {
    int size, channels;
    heed_real deviation[3]; /* of the pixels' normalisation; 1 if unknown */
    bool masks;             /* masked, else around a code */
    bottleneck around;
    masked_patches masked;
    heed_batch_at at;               /* of the last batch, for its hidden patches */
    heed_tensor *loss, *made, *aim; /* of the last batch: reconstruction and target */
} autoencoder;

static const heed_option options[] = {
    PICTURE_OPTIONS,
    CHOICE("kind", "dense", "dense|conv|masked",
           "dense layers or convolutions around a code, or attention among patches of which most "
           "are hidden"),
    BOTTLENECK_OPTIONS,
    MASKED_OPTIONS,
    PATCH_OPTIONS,
    PATCH_STACK_OPTIONS,
    HEED_WHEN(MASKED_SETTINGS " all-rows recompute", "kind=masked"),
    HEED_WHEN("whole-logits", ""),
    HEED_WHEN("rope-theta", "positions=rotary"),
    HEED_WHEN("code depth", "kind=dense|conv"),
    HEED_WHEN("filters", "kind=conv"),
    HEED_WHEN("hidden", "kind=dense"),
    HEED_WHEN("hidden", "depth!=0"),
    HEED_WHEN("activation", "kind=masked depth!=0"),
    HEED_WHEN("activation", "kind=dense|conv ff-kind=plain"),
    {0}};

static const heed_preset presets[] = {
    {"mae28", "28 x 28: 12 of 16 patches of 7 hidden, decoder of width 64, 6 epochs",
     "kind=masked patch=7 layers=4 heads=4 width=64 ff=128 decoder-layers=2 decoder-width=64 "
     "batch=128 lr=3e-3 warmup=0.1 init-std=0.07 epochs=6",
     false},
    {0}};

#define SMALL  "image-size=6 channels=2 batch=3 "
#define MASKED SMALL "kind=masked patch=2 width=8 layers=2 heads=2 ff=16 init-std=0.3 "
static const heed_model_case cases[] = {
    {"", SMALL "code=3 hidden=8"},
    {"linear", SMALL "code=3 depth=0"},
    {"conv", "image-size=5 channels=2 batch=2 kind=conv code=3 filters=3"},
    {"masked", MASKED},
    {"masked variant", MASKED "hide=0.5 norm-target=true pool=mean positions=sinusoidal norm=post "
                              "final-norm=false decoder-width=6 decoder-heads=3 dropout=0.2"},
    {"masked llama", MASKED "norm-kind=rms ff-kind=swiglu bias=false kv-heads=1"},
    {0}};

/* ---- parameters ---- */

/* The deviation by which the settings of the data say that pixels were divided. */
static void read_deviation(autoencoder *m, heed_store *s, const heed_config *f) {
    heed_image_transform v = {0};
    const char *known = heed_config_has(f, "std") ? heed_config_text(f, "std") : "";
    for (int i = 0; i < 3; i++) m->deviation[i] = 1;
    if (!*known || !heed_image_transform_of(heed_store_ctx(s), f, &v)) return;
    for (int i = 0; i < m->channels; i++) m->deviation[i] = (heed_real)v.deviation[i];
}

static bool init(void *self, heed_store *s, const void *f) {
    autoencoder *m = self;
    heed_ctx *c = heed_store_ctx(s);
    m->size = heed__model_int(f, "image-size");
    m->channels = heed__model_int(f, "channels");
    m->masks = heed__model_is(f, "kind", "masked");
    if (m->size < 1 || m->channels < 1)
        return heed_fail(
            c, HEED_USAGE,
            "size of the model is wrong: expected image-size and channels of at least 1, found "
            "%d, %d; hint: `image-size = 28`, `channels = 1`",
            m->size, m->channels);
    read_deviation(m, s, f);
    if (!m->masks)
        heed__bottleneck_init(&m->around, s, f);
    else if (!heed__masked_init(&m->masked, s, f))
        return false;
    return heed_ctx_status(c) == HEED_OK;
}

/* ---- reconstruction ---- */

static heed_tensor *logits(const void *self, heed_tape *t, const heed_model_input *in) {
    const autoencoder *m = self;
    if (!m->masks)
        return heed__bottleneck_decode(&m->around, t,
                                       heed__bottleneck_encode(&m->around, t, in->x));
    const masked_patches *k = &m->masked;
    heed_tensor *y = heed__masked_decode(k, t, in->x, in->masked_positions);
    y = heed__masked_predict(k, t, y);
    if (k->norm_target) y = heed__masked_pixels(k, t, y, heed__masked_rows(k, t, in->x));
    return heed__masked_picture(k, t, y);
}

static heed_tensor *code(const void *self, heed_tape *t, const heed_model_input *in) {
    const autoencoder *m = self;
    if (!m->masks) return heed__bottleneck_encode(&m->around, t, in->x);
    const patch_encoder *e = &m->masked.encoder;
    return heed__patches_features(e, t, in->x);
}

/* ---- loss ---- */

static bool batch(void *self, const heed_data *data, heed_batch_at at, heed_batch *out) {
    ((autoencoder *)self)->at = at;
    return heed_image_batch(data->batches, at, out);
}

/* The hidden patches (B h): those of the batch, or else drawn. */
static heed_tensor *hidden_patches(const autoencoder *m, heed_tape *t, const heed_batch *b) {
    if (b->masked_positions) return heed_input_ids(t, b->masked_positions, 1, &b->masked_count);
    int hidden = m->masked.hidden, patches = heed__patches_count(&m->masked.encoder);
    heed_tensor *y = heed_new_ids(t, 2, (int[]){b->rows, hidden});
    for (int r = 0; y && r < b->rows; r++) {
        int32_t *row = y->i + r * hidden;
        heed_masked_patches(heed_tape_ctx(t), m->at, r, patches, hidden, row);
        for (int i = 0; i < hidden; i++) row[i] += (int32_t)(r * patches);
    }
    return y;
}

/* The mean of ((y - x) deviation)^2: pixels are measured from 0 to 1, whatever their normalisation.
 */
static heed_tensor *pixel_error(const autoencoder *m, heed_tape *t, heed_tensor *y,
                                heed_tensor *x) {
    heed_tensor *by = heed_input(t, m->deviation, 2, (int[]){1, m->channels});
    y = heed_reshape(t, y, 2, (int[]){-1, m->channels});
    x = heed_reshape(t, x, 2, (int[]){-1, m->channels});
    return heed_mse(t, heed_mul(t, y, by), heed_mul(t, x, by));
}

static heed_tensor *masked_loss(autoencoder *m, heed_tape *t, heed_tensor *x, const heed_batch *b) {
    const masked_patches *k = &m->masked;
    heed_tensor *hide = hidden_patches(m, t, b);
    if (!x || !hide) return NULL;
    heed_tensor *y = heed__masked_hidden(k, t, x, hide);
    y = heed__masked_predict(k, t, y); /* (B h, side side channels) */
    heed_tensor *patches = heed_gather(t, heed__masked_rows(k, t, x), hide);
    patches =
        heed_reshape(t, patches, 2, (int[]){-1, k->encoder.side * k->encoder.side * m->channels});
    m->aim = patches;
    m->made = heed__masked_pixels(k, t, y, patches);
    return k->norm_target ? heed_mse(t, y, heed__masked_target(k, t, patches))
                          : pixel_error(m, t, y, patches);
}

static heed_tensor *loss(void *self, heed_tape *t, const heed_batch *b) {
    autoencoder *m = self;
    heed_tensor *x = heed__picture_input(t, b, m->size, m->channels);
    if (m->masks) return m->loss = masked_loss(m, t, x, b);
    m->aim = x;
    m->made = logits(m, t, &(heed_model_input){.x = x});
    return m->loss = pixel_error(m, t, m->made, x);
}

static void metrics(void *self, const heed_batch *b, heed_score *score) {
    const autoencoder *m = self;
    if (!m->loss || !m->made || !m->aim) return;
    for (size_t i = 0; i < m->made->size; i++) {
        double off =
            (double)(m->made->x[i] - m->aim->x[i]) * (double)m->deviation[i % (size_t)m->channels];
        score->squares += off * off;
    }
    score->pixels += (double)m->made->size;
    score->loss += (double)m->loss->x[0] * b->rows;
    score->weight += b->rows;
}

/* ---- attention ---- */

static bool attending(const void *self, int index, heed_attending *out) {
    const autoencoder *m = self;
    const block_stack *encoder = &m->masked.encoder.stack;
    if (!m->masks) return false;
    return heed__stack_attending(encoder, HEED_ENCODER, index, out) ||
           heed__stack_attending(&m->masked.stack, HEED_DECODER, index - encoder->layers, out);
}

static bool grid(const void *self, heed_grid *out) {
    const autoencoder *m = self;
    if (!m->masks || !heed__patches_grid(&m->masked.encoder, out)) return false;
    out->hidden = m->masked.hidden;
    return true;
}

static bool chosen(const void *self, heed_config *f) {
    const autoencoder *m = self;
    return !m->masks || heed__patches_chosen(&m->masked.encoder, f);
}

const heed_model heed_model_autoencoder = {
    .name = "autoencoder",
    .help = "pictures: reconstructed from a code, or from a few patches",
    .data = &heed_pictures_same,
    .embedding = "embed.patch",
    .options = options,
    .defaults = "lr=0.002",
    .presets = presets,
    .cases = cases,
    .size = sizeof(autoencoder),
    .init = init,
    .batch = batch,
    .logits = logits,
    .code = code,
    .loss = loss,
    .metrics = metrics,
    .attending = attending,
    .grid = grid,
    .chosen = chosen,
};
