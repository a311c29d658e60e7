/* record.c -- a model's pass over two batches of different sizes, as pairs of nodes. */
#include "exchange/onnx/onnx.h"

#include <string.h>

/* ---- inputs ---- */

/* No two sizes are equal, or multiples of another in both recordings. */
static void sizes(heed__onnx_export *e, const char *name, int input, int axis, int a, int b) {
    if (a != b)
        e->symbol[e->symbols++] =
            (heed__onnx_symbol){.name = name, .size = {a, b}, .input = input, .axis = axis};
}

/* One of the inputs, with the values 0, at both sizes. */
static heed__onnx_input *input(heed__onnx_export *e, const char *name, const char *length,
                               const int *more) {
    heed__onnx_input *in = &e->input[e->inputs++];
    *in = (heed__onnx_input){.name = name, .dim = {"batch", length}};
    for (int k = 0; k < 2; k++) {
        int shape[HEED_DIMS] = {2 + k};
        for (int i = 0; i < e->symbols; i++)
            if (length && strcmp(e->symbol[i].name, length) == 0) shape[1] = e->symbol[i].size[k];
        if (length && !shape[1]) shape[1] = 1;
        if (more) memcpy(shape + 1, more, 3 * sizeof *more);
        in->x[k] =
            more ? heed_input(e->tape[k], NULL, 4, shape) : heed_new_ids(e->tape[k], 2, shape);
    }
    return in;
}

/* The last r tokens of row r are padding, but not its first. */
static heed__onnx_input *mask(heed__onnx_export *e, const char *length) {
    heed__onnx_input *in = input(e, "mask", length, NULL);
    for (int k = 0; k < 2; k++)
        for (int i = 0; in->x[k] && i < (int)in->x[k]->size; i++) {
            int len = in->x[k]->shape[1], at = i % len;
            in->x[k]->i[i] = at == 0 || at < len - i / len;
        }
    return in;
}

/* Patches that a masked auto-encoder hides, from 0 in each picture, and as its model reads them,
 * from 0 in the batch. */
static void hide(heed__onnx_export *e, heed_model_input out[2]) {
    const heed_model *m = e->r->model;
    heed_grid g;
    if (!m->grid || !m->grid(e->r->self, &g) || g.hidden < 1) return;
    heed__onnx_input *in = &e->input[e->inputs++];
    int patches = g.rows * g.cols;
    *in = (heed__onnx_input){.name = "hidden", .dim = {"batch"}};
    for (int k = 0; k < 2; k++) {
        int rows = 2 + k, count = rows * g.hidden;
        in->x[k] = heed_new_ids(e->tape[k], 2, (int[]){rows, g.hidden});
        out[k].masked_positions = heed_new_ids(e->tape[k], 1, &count);
        for (int i = 0; in->x[k] && out[k].masked_positions && i < count; i++) {
            in->x[k]->i[i] = (i / g.hidden + i % g.hidden) % patches;
            out[k].masked_positions->i[i] = in->x[k]->i[i] + i / g.hidden * patches;
        }
    }
}

static void make_inputs(heed__onnx_export *e, heed_model_input out[2]) {
    const heed_data_kind *kind = heed_model_data(e->r->model);
    bool picture = kind->images, target = kind->target, pair = target && !picture;
    bool many = !e->longest || e->longest >= 5, one = e->longest == 1, three = e->longest > 3;
    heed__onnx_input *x, *pad = NULL, *types = NULL, *to = NULL;
    sizes(e, "batch", 0, 0, 2, 3);
    if (pair) sizes(e, "source_length", 0, 1, many ? 5 : one ? 1 : 2, many ? 4 : 1);
    if (!picture || target)
        sizes(e, "length", pair ? 2 : target, 1, three || many ? 3 : 1,
              many    ? 5
              : three ? 4
              : one   ? 1
                      : 2);
    if (picture) {
        const heed_config *f = e->r->config;
        int side = (int)heed_config_int(f, "image-size");
        x = input(e, "picture", NULL, (int[]){side, side, (int)heed_config_int(f, "channels")});
    } else {
        const char *length = pair ? "source_length" : "length";
        x = input(e, pair ? "source" : "ids", length, NULL);
        pad = mask(e, length);
        if (!pair) types = input(e, "types", length, NULL);
    }
    if (target) to = input(e, "target", "length", NULL);
    for (int k = 0; k < 2; k++)
        out[k] = (heed_model_input){.x = x->x[k],
                                    .pad = pad ? pad->x[k] : NULL,
                                    .types = types ? types->x[k] : NULL,
                                    .target = to ? to->x[k] : NULL};
    if (picture && !target) hide(e, out);
}

/* ---- nodes ---- */

/* The nodes that y and the kept weights depend on, by their index; returns the number of indices.
 */
static int reach(const heed_tape *t, const heed_tensor *y, heed_node **at, int count) {
    const char *path;
    int most = y->node ? y->node->index + 1 : 0;
    for (int i = 0; i < heed_probe_count(t); i++) {
        const heed_tensor *x = heed_probe_at(t, i, &path);
        if (x->node && x->node->index >= most) most = x->node->index + 1;
        if (x->node && at) at[x->node->index] = x->node;
    }
    if (!at) return most;
    if (y->node) at[y->node->index] = y->node;
    for (int i = count; i-- > 0;)
        for (int k = 0; at[i] && k < at[i]->inputs; k++) {
            const heed_tensor *x = at[i]->in[k];
            if (x && x->node) at[x->node->index] = x->node;
        }
    return most;
}

/* Writes the nodes of a recording to `which` of the steps; -1: out of memory. */
static int list(heed__onnx_export *e, int which, size_t *capacity) {
    int most = reach(e->tape[which], e->logits[which], NULL, 0), count = 0;
    heed_node **at = heed__alloc_array(e->c, (size_t)most + 1, sizeof *at);
    if (!at) return -1;
    reach(e->tape[which], e->logits[which], at, most);
    for (int i = 0; i < most; i++) {
        size_t need = (size_t)count + 1;
        if (!at[i]) continue;
        if (need > *capacity && !heed__grow(e->c, &e->step, capacity, need, sizeof *e->step)) {
            count = -1;
            break;
        }
        e->step[count++].in[which] = at[i];
    }
    heed__free(at);
    return count;
}

/* Whether the recordings differ in nothing but sizes. */
static bool same_structure(const heed__onnx_export *e) {
    for (int i = 0; i < e->steps; i++) {
        const heed_node *a = e->step[i].in[0], *b = e->step[i].in[1];
        bool same = a && b && a->op == b->op && a->y->dims == b->y->dims;
        if (same && heed__onnx_gathers(e, a, b)) continue;
        same = same && a->inputs == b->inputs;
        for (int k = 0; same && k < a->inputs; k++) same = !a->in[k] == !b->in[k];
        if (!same) return false;
    }
    return true;
}

heed__onnx_step *heed__onnx_step_of(const heed__onnx_export *e, const heed_tensor *y) {
    int low = 0, high = e->steps - 1;
    while (y && y->node && low <= high) {
        int middle = (low + high) / 2, index = e->step[middle].in[0]->index;
        if (index == y->node->index) return &e->step[middle];
        if (index < y->node->index)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return NULL;
}

static void count_readers(heed__onnx_export *e) {
    for (int i = 0; i < e->steps; i++)
        for (int k = 0; k < e->step[i].in[0]->inputs; k++) {
            heed__onnx_step *from = heed__onnx_step_of(e, e->step[i].in[0]->in[k]);
            if (from) from->readers++;
        }
}

bool heed__onnx_record(heed__onnx_export *e) {
    const heed_model *m = e->r->model;
    heed_model_input in[2];
    size_t capacity = 0;
    for (int k = 0; k < 2; k++) {
        e->tape[k] = heed_tape_new(e->c);
        heed_probe(e->tape[k], "*.weights", false);
        heed_tape_begin(e->tape[k], HEED_TRACE, 0);
    }
    make_inputs(e, in);
    if (heed_ctx_status(e->c) != HEED_OK) return false;
    for (int k = 0; k < 2; k++) {
        e->logits[k] = m->logits(e->r->self, e->tape[k], &in[k]);
        if (!e->logits[k] || heed_ctx_status(e->c) != HEED_OK) return false;
    }
    int counts[2];
    for (int k = 0; k < 2; k++)
        if ((counts[k] = list(e, k, &capacity)) < 0) return false;
    if (counts[0] != counts[1]) heed__onnx_fold(e, counts);
    e->steps = counts[0];
    if (counts[0] != counts[1] || !same_structure(e))
        return heed_fail(e->c, HEED_USAGE,
                         "%s cannot be exported: its ops depend on the length of its input",
                         m->name);
    count_readers(e);
    return true;
}

void heed__onnx_record_free(heed__onnx_export *e) {
    heed__onnx_loop_free(e);
    heed__free(e->step);
    for (int k = 0; k < 2; k++) heed_tape_free(e->tape[k]);
}
