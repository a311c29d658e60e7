/* reshape.c -- views: the same values in another shape, without a gradient, or kept for probes
 * under a name. Fused ops keep their own values; compositions of ops keep theirs with `note`. */
#include "ops/shape.h"

typedef struct {
    int dims, shape[HEED_DIMS];
} reshape_args;

/* The wanted shape with its one -1 filled in. */
static bool fill_in(heed_node *n, reshape_args *a) {
    size_t rest = 1, size = n->in[0]->size;
    int open = -1;
    for (int i = 0; i < a->dims; i++) {
        if (a->shape[i] < -1 || (a->shape[i] == -1 && open >= 0))
            return heed__bad_shape(n, 0, "size %d at dim %d of the new shape", a->shape[i], i);
        if (a->shape[i] == -1)
            open = i;
        else if (a->shape[i] && rest > SIZE_MAX / (size_t)a->shape[i])
            rest = SIZE_MAX;
        else
            rest *= (size_t)a->shape[i];
    }
    if (open >= 0 && rest && size % rest == 0) {
        a->shape[open] = (int)(size / rest);
        rest = size;
    }
    if (rest == size) return true;
    heed_tensor wanted = {.dims = a->dims};
    char text[64];
    memcpy(wanted.shape, a->shape, sizeof a->shape);
    return heed__bad_shape(n, 0, "its %zu elements do not fill %s", size,
                           heed_shape_text(&wanted, text, sizeof text));
}

static bool infer(heed_node *n) {
    reshape_args a = *(const reshape_args *)n->args;
    return fill_in(n, &a) && heed_op_output_view(n, 0, 0, a.dims, a.shape);
}

static const reshape_args flat = {1, {-1}}, tall = {2, {-1, 2}}, deep = {4, {2, 1, -1, 3}},
                          scalar = {0, {0}};
static const heed_case cases[] = {
    {.shapes = "3x4", .args = &flat}, {.shapes = "3x4", .args = &tall},
    {.shapes = "2x9", .args = &deep}, {.shapes = "1", .args = &scalar},
    {.shapes = "s", .args = &flat},   {0}};

typedef struct {
    char value[32];
} note_args;

static bool infer_note(heed_node *n) {
    const note_args *a = n->args;
    const heed_tensor *x = n->in[0];
    if (!heed_op_output_view(n, 0, 0, x->dims, x->shape)) return false;
    if (!heed_probe_get(n, a->value)) return true;
    n->kept[n->kept_count] = n->y;
    n->kept_name[n->kept_count++] = a->value;
    return true;
}

static const note_args hidden = {"hidden"};
static const heed_case note_cases[] = {
    {.shapes = "3x5", .args = &hidden}, {.shapes = "s", .args = &hidden}, {0}};

const heed_op heed_ops_reshape[] = {
    {"reshape", "x", infer, NULL, heed_view_backward, cases, sizeof(reshape_args)},
    {"note", "r", infer_note, NULL, heed_view_backward, note_cases, sizeof(note_args)},
    {0}};

heed_tensor *heed_reshape(heed_tape *t, heed_tensor *x, int dims, const int *shape) {
    reshape_args a = {.dims = dims};
    if (dims < 0 || dims > HEED_DIMS || (dims && !shape)) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE, "reshape: %d dims are not in 0 .. %d%s", dims,
                  HEED_DIMS, shape ? "" : ", or their shape is NULL");
        return NULL;
    }
    if (dims) memcpy(a.shape, shape, (size_t)dims * sizeof *shape);
    return heed_push(t, heed_ops_reshape, &a, x);
}

/* A leaf that shares the memory: nothing is recorded, so no gradient flows back. */
heed_tensor *heed_stop_gradient(heed_tape *t, heed_tensor *x) {
    heed__take_name(t);
    if (t && !heed__tape_owns(t->r, x, "stop_gradient", NULL)) return NULL;
    return x ? heed_wrap(t, x->x, x->dims, x->shape) : NULL;
}

heed_tensor *heed_name_tensor(heed_tape *t, heed_tensor *x, const char *name) {
    note_args a = {{0}};
    if (name && strlen(name) < sizeof a.value) {
        memcpy(a.value, name, strlen(name));
        return heed_push(t, &heed_ops_reshape[1], &a, x);
    }
    if (name)
        heed_fail(heed_tape_ctx(t), HEED_USAGE, "note: the name \"%s\" has more than %zu letters",
                  name, sizeof a.value - 1);
    else
        heed_fail(heed_tape_ctx(t), HEED_USAGE, "note: expected a name, found NULL");
    return NULL;
}
