/* example_picture.c -- reads one picture as a model does. */
#include "core/core.h"
#include "data/kind.h"

#include <math.h>

static const char *channel_word(int channels) { return channels == 1 ? "grey" : "colour"; }

/* Grey with alpha counts as grey, colour with alpha as colour. */
static bool fit_channels(const heed_reader *r, heed_picture *p, int wanted, const char *name) {
    int own = p->channels < 3 ? 1 : 3;
    if (own != wanted && !r->convert)
        return heed_fail(
            r->c, HEED_DATA,
            "channels do not fit the run: %s: expected %d (%s), found %d (%s); hint: `convert`",
            name, wanted, channel_word(wanted), own, channel_word(own));
    return heed_picture_convert(p, wanted) == HEED_OK ||
           heed_fail(r->c, HEED_FAILED, "no memory for %s", name);
}

/* The centre square, as bytes. */
static bool show_square(heed_ctx *c, const heed_picture *p, heed_picture *out) {
    enum { SIDE = 224 };
    int least = p->width < p->height ? p->width : p->height, side = least < SIDE ? least : SIDE;
    heed_box box = {(p->width - least) / 2.0, (p->height - least) / 2.0, least, least};
    size_t n = (size_t)side * (size_t)side * (size_t)p->channels;
    heed_real *x = heed__alloc_array(c, n + heed_resize_work(p, side, side), sizeof *x);
    *out = (heed_picture){side, side, p->channels, x ? heed__alloc(c, n) : NULL};
    if (out->pixels) heed_picture_resize(p, box, side, side, x, x + n);
    for (size_t i = 0; out->pixels && i < n; i++)
        out->pixels[i] = (unsigned char)lround(fmin(fmax((double)x[i], 0), 255));
    heed__free(x);
    return out->pixels != NULL;
}

bool heed_example_picture(const heed_reader *r, heed_picture *p, const char *name,
                          heed_example *out) {
    if (!r || heed__stopped(r->c) || !p || !p->pixels || !out) return false;
    heed_image_transform *v = &out->transform;
    heed_example_free(out);
    if (r->spec.kind != HEED_INPUT_PICTURE)
        return heed_fail(r->c, HEED_USAGE,
                         "the run takes texts: expected a text, found a picture: %s", name);
    if (!heed_image_transform_of(r->c, r->config, v) || !fit_channels(r, p, v->channels, name))
        return false;
    size_t n = (size_t)v->size * (size_t)v->size * (size_t)v->channels;
    out->x = heed__alloc_array(r->c, n + heed_view_work(p, v), sizeof *out->x);
    if (!out->x) return false;
    heed_picture_view(p, v, NULL, NULL, out->x, out->x + n);
    return !r->show || show_square(r->c, p, &out->shown);
}
