/* weights_picture.c -- reads the picture of the patches from a file of foreign weights: `picture`
 * in bytes, (height, width) or (height, width, 1 or 3), and, if the patches do not form a square,
 * `grid`, their rows and columns. */
#include "core/core.h"
#include "record/weights.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool fetch(const heed__source *s, const char *name, heed__numbers *out) {
    const json_t *list = s->json ? json_object_get(s->json, name) : NULL;
    const heed__npy *a = s->json ? NULL : heed__npz_find(&s->npz, name);
    *out = (heed__numbers){0};
    if (list) return heed__numbers_json(s, name, list, (double)NAN, out);
    return !a || !strchr("fiub", a->kind) || heed__numbers_npy(s, a, out);
}

/* NULL if the numbers are not bytes. */
static unsigned char *bytes_of(const heed__source *s, const heed__numbers *n) {
    bool fits = n->dims == 2 || (n->dims == 3 && (n->shape[2] == 1 || n->shape[2] == 3));
    for (int i = 0; i < 2; i++) fits = fits && n->shape[i] > 0 && n->shape[i] <= 1 << 15;
    unsigned char *bytes = fits ? heed__alloc(s->c, n->count) : NULL;
    for (size_t i = 0; bytes && i < n->count; i++) {
        double v = (double)n->x[i];
        bytes[i] = (unsigned char)(v >= 0 && v <= 255 ? v : 0);
        if ((double)bytes[i] != v) {
            heed__free(bytes);
            bytes = NULL;
        }
    }
    return bytes;
}

static bool read_grid(const heed__source *s, heed__patches *out) {
    heed__numbers n;
    if (!fetch(s, "grid", &n)) return false;
    bool fits = n.dims == 1 && n.count == 2;
    for (int i = 0; fits && i < 2; i++) {
        fits = (double)n.x[i] >= 1 && (double)n.x[i] <= 1 << 10;
        (i ? &out->cols : &out->rows)[0] = fits ? (int)n.x[i] : 0;
    }
    heed__free(n.x);
    return !n.x || fits ||
           heed_fail(s->c, HEED_DATA,
                     "grid is wrong: %s: expected its rows and columns, as [14, 14]", s->path);
}

bool heed__weights_picture(const heed__source *s, heed_record *r, heed__patches *out) {
    char shape[HEED__SHAPE];
    heed__numbers n;
    *out = (heed__patches){0};
    if (!fetch(s, "picture", &n)) return false;
    if (!n.x) return true;
    unsigned char *bytes = bytes_of(s, &n);
    bool ok = bytes && heed_record_picture(r, bytes, (int)n.shape[1], (int)n.shape[0],
                                           n.dims == 3 ? (int)n.shape[2] : 1);
    if (!bytes)
        heed_fail(s->c, HEED_DATA,
                  "picture is wrong: %s: expected (height, width) or (height, width, 3) of whole "
                  "numbers from 0 to 255, found %s; hint: np.asarray(image.convert('RGB'))",
                  s->path, heed__numbers_shape(shape, &n));
    heed__free(bytes);
    heed__free(n.x);
    out->there = ok;
    return ok && read_grid(s, out);
}

/* Patches are the last tokens, row by row, after special tokens such as [CLS]. A square is assumed
 * only if at most one token precedes it. */
int heed__patch_axis(const heed__source *s, heed_record *r, const heed__patches *p, int size,
                     const char *array) {
    int side = (int)sqrt((double)size), rows = p->rows ? p->rows : side;
    int cols = p->cols ? p->cols : side, first = size - rows * cols;
    char quote[HEED_QUOTE];
    if (first < 0 || (!p->rows && first > 1)) {
        heed_fail(s->c, HEED_DATA,
                  "grid is wrong: %s: array %s has %d tokens, which are no %d x %d patches; hint: "
                  "grid=[rows, columns]",
                  s->path, heed_quote(quote, array, strlen(array)), size, rows, cols);
        return -1;
    }
    char(*names)[24] = heed__alloc_array(s->c, (size_t)size, sizeof *names);
    const char **labels = heed__alloc_array(s->c, (size_t)size, sizeof *labels);
    unsigned char *special = heed__alloc(s->c, (size_t)size);
    int axis = -1;
    if (names && labels && special) {
        for (int i = 0; i < size; i++) {
            special[i] = i < first;
            labels[i] = names[i];
            if (i < first)
                snprintf(names[i], sizeof *names, i ? "[%d]" : "[CLS]", i);
            else
                snprintf(names[i], sizeof *names, "%d,%d", (i - first) / cols + 1,
                         (i - first) % cols + 1);
        }
        axis = heed_record_add_axis(
            r, &(heed_record_axis){"picture", size, labels, special, rows, cols, first});
    }
    heed__free(names);
    heed__free(labels);
    heed__free(special);
    return axis;
}
