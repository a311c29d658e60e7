/* How a picture becomes an input, with the draws of training. */
#include <heed/image.h>

#include <math.h>

static heed_box centre_square(const heed_picture *p) {
    int side = p->width < p->height ? p->width : p->height;
    return (heed_box){(p->width - side) / 2.0, (p->height - side) / 2.0, side, side};
}

size_t heed_view_work(const heed_picture *p, const heed_view *v) {
    if (!p || !v || v->size < 1) return 0;
    return (size_t)v->size * (size_t)v->size * (size_t)v->channels +
           heed_resize_work(p, v->size, v->size);
}

void heed_picture_view(const heed_picture *p, const heed_view *v, const heed_augment *a,
                       const heed_random *r, heed_real *out, heed_real *work) {
    (void)a;
    (void)r;
    if (!p || !p->pixels || !v || !out || !work || v->size < 1 || p->channels != v->channels)
        return;
    size_t n = (size_t)v->size * (size_t)v->size * (size_t)v->channels;
    heed_picture_resize(p, centre_square(p), v->size, v->size, work, work + n);
    for (size_t i = 0; i < n; i++) {
        int c = (int)(i % (size_t)v->channels);
        out[i] = (heed_real)((work[i] / 255 - v->mean[c]) / v->deviation[c]);
    }
}
