/* weights_lesson.c -- reads a worked example, one JSON object with its matrices under their names
 * (X, W_Q, ..., Q, K, scores, weights), into a record: its attention is `weights`, (queries, keys)
 * or (heads, queries, keys), labelled by `tokens` and, if the keys are others, `sources`. */
#include "core/core.h"
#include "record/weights.h"

#include <math.h>
#include <string.h>

enum { ONE = 1 << 20 }; /* most rows and columns of a matrix */

typedef struct {
    const heed__source *s;
    heed_record_block block;
    int queries, keys;
} lesson;

bool heed__is_lesson(const json_t *json) {
    return json_is_string(json_object_get(json, "example"));
}

static bool read_weights(lesson *l, heed__numbers *out) {
    char shape[HEED__SHAPE];
    const json_t *list = json_object_get(l->s->json, "weights");
    if (!list)
        return heed_fail(l->s->c, HEED_DATA,
                         "no weights: %s: a worked example: expected its attention under `weights`",
                         l->s->path);
    if (!heed__numbers_json(l->s, "weights", list, (double)NAN, out)) return false;
    bool fits = out->dims == 2 || out->dims == 3;
    for (int i = 0; i < out->dims; i++) fits = fits && out->shape[i] <= ONE;
    if (!fits)
        return heed_fail(l->s->c, HEED_DATA,
                         "weights is wrong: %s: expected (queries, keys) or (heads, queries, "
                         "keys), found %s",
                         l->s->path, heed__numbers_shape(shape, out));
    l->block.weights = out->x;
    l->block.heads = out->dims == 3 ? (int)out->shape[0] : 1;
    l->queries = (int)out->shape[out->dims - 2];
    l->keys = (int)out->shape[out->dims - 1];
    return true;
}

/* A matrix of a single head; *at stays NULL if the example has none of rows x cols, where cols 0 is
 * any, stored in *found. null in it: -inf. */
static bool read_matrix(const lesson *l, const char *name, int rows, int cols, heed__numbers *out,
                        const heed_real **at, int *found) {
    const json_t *list = json_object_get(l->s->json, name);
    if (!list || l->block.heads != 1) return true;
    if (!heed__numbers_json(l->s, name, list, (double)-INFINITY, out)) return false;
    bool fits = out->dims == 2 && out->shape[0] == rows && out->shape[1] <= ONE &&
                (!cols || out->shape[1] == cols);
    if (fits) *at = out->x;
    if (fits && found) *found = (int)out->shape[1];
    return true;
}

/* Returns the index of the axis, or -1. */
static int add_axis(const lesson *l, heed_record *r, const char *name, int count) {
    const json_t *list = json_object_get(l->s->json, name);
    const char **labels = heed__alloc_array(l->s->c, (size_t)count, sizeof *labels);
    bool ok = labels && json_array_size(list) == (size_t)count;
    for (int i = 0; ok && i < count; i++)
        ok = (labels[i] = json_string_value(json_array_get(list, (size_t)i))) != NULL;
    heed_record_axis a = {.name = name, .count = count, .labels = labels};
    int axis = ok ? heed_record_add_axis(r, &a) : -1;
    if (labels && !ok)
        heed_fail(l->s->c, HEED_DATA, "%s is wrong: %s: expected %d texts, as `weights` has", name,
                  l->s->path, count);
    heed__free(labels);
    return axis;
}

/* Reads the place of a trained head in its model; an example of numbers has none. */
static bool read_place(lesson *l) {
    const json_t *place = json_object_get(l->s->json, "place");
    const char *stack = json_string_value(json_object_get(place, "stack"));
    json_int_t layer = json_integer_value(json_object_get(place, "layer"));
    if (!place) return true;
    if (!stack || layer < 1 || layer > ONE ||
        (strcmp(stack, "encoder") != 0 && strcmp(stack, "decoder") != 0 &&
         strcmp(stack, "cross") != 0))
        return heed_fail(l->s->c, HEED_DATA,
                         "place is wrong: %s: expected a stack (encoder, decoder or cross) and a "
                         "layer from 1",
                         l->s->path);
    l->block.stack = heed__stack_of(place);
    l->block.layer = (int)layer - 1;
    return true;
}

static bool add_block(lesson *l, heed_record *r) {
    const json_t *json = l->s->json, *layer = json_object_get(json, "layer");
    heed_record_block *b = &l->block;
    json_int_t number = json_integer_value(json_object_get(json, "head"));
    int head = number > 0 && number <= ONE ? (int)number - 1 : -1;
    b->path = json_string_value(json_is_string(layer) ? layer : json_object_get(json, "example"));
    b->queries = add_axis(l, r, "tokens", l->queries);
    bool other = json_object_get(json, "sources") != NULL;
    b->keys = b->queries < 0 ? -1 : other ? add_axis(l, r, "sources", l->keys) : b->queries;
    if (b->keys < 0) return false;
    if (r->axes[b->keys].count != l->keys)
        return heed_fail(l->s->c, HEED_DATA, "sources are missing: %s: expected %d texts",
                         l->s->path, l->keys);
    if (other) b->stack = HEED_CROSS;
    if (!read_place(l)) return false;
    b->head = head >= 0 && b->heads == 1 ? &head : NULL;
    b->beta = json_number_value(json_object_get(json, "beta"));
    b->causal = json_is_true(json_object_get(json, "causal"));
    b->hard = json_is_true(json_object_get(json, "hard"));
    return heed_record_add_block(r, b) >= 0;
}

bool heed__weights_lesson(const heed__source *s, heed_record *r) {
    lesson l = {.s = s};
    heed_record_block *b = &l.block;
    heed__numbers n[5] = {{0}};
    int keys = 0;
    bool ok = read_weights(&l, &n[0]) &&
              read_matrix(&l, "raw", l.queries, l.keys, &n[1], &b->raw, NULL) &&
              read_matrix(&l, "scores", l.queries, l.keys, &n[2], &b->scores, NULL) &&
              read_matrix(&l, "Q", l.queries, 0, &n[3], &b->q, &b->key) &&
              read_matrix(&l, "K", l.keys, b->key, &n[4], &b->k, &keys);
    if (!b->q || !b->k) b->q = b->k = NULL, b->key = 0;
    ok = ok && add_block(&l, r) &&
         heed_record_describe(
             r, (heed_record_texts){.title = json_string_value(json_object_get(s->json, "title"))});
    for (int i = 0; i < 5; i++) heed__free(n[i].x);
    return ok;
}
