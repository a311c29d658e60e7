/* tape.c -- recording: inputs, nodes and their outputs in the step's arena. */
#include "core/tape.h"
#include "core/profile.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void destroy(heed__owned *object) {
    heed__recording *r = (heed__recording *)object;
    if (r->inner) destroy(&r->inner->owned);
    heed__arena_free(&r->arena);
    for (int k = 0; k < 2; k++) {
        for (size_t i = 0; i < r->tensors[k].count; i++) heed__free(r->tensors[k].blocks[i]);
        heed__free(r->tensors[k].blocks);
    }
    for (size_t i = 0; i < r->pattern_count; i++) heed__free(r->patterns[i].pattern);
    heed__free(r->patterns);
    heed__free(r->probes);
    heed__free(r->nodes);
    heed__free(r->asked);
    heed__free(r->adapted);
    heed__free(r->updates);
    heed__free(r);
}

/* Computing a value again costs 2 to 3 % of a step; what that saves matters in large models: there,
 * the first values of a step are kept until they take SPARE * CHEAP bytes. */
#define CHEAP ((size_t)4 << 20)
#define SPARE 16

static heed__recording *new_recording(heed_ctx *c) {
    heed__recording *r = heed__alloc(c, sizeof *r);
    if (!r) return NULL;
    r->c = r->arena.c = c;
    r->plain.r = r;
    r->cheap = CHEAP;
    return r;
}

heed_tape *heed_tape_new(heed_ctx *c) {
    heed__recording *r = heed__stopped(c) ? NULL : new_recording(c);
    if (!r) return NULL;
    heed__own(c, &r->owned, destroy);
    return &r->plain;
}

void heed_tape_free(heed_tape *t) {
    if (!t) return;
    heed__disown(t->r->c, &t->r->owned);
    destroy(&t->r->owned);
}

heed_ctx *heed_tape_ctx(const heed_tape *t) { return t ? t->r->c : NULL; }
heed_mode heed_tape_mode(const heed_tape *t) { return t ? t->r->mode : HEED_EVAL; }
bool heed__tape_stopped(const heed_tape *t) { return !t || heed__stopped(t->r->c); }

void heed_tape_begin_micro(heed_tape *t, heed_mode mode, uint64_t step, uint32_t micro) {
    if (heed__tape_stopped(t)) return;
    heed__recording *r = t->r;
    heed__profile_phase(heed__profile_of(r->c), HEED_PHASE_FORWARD);
    heed__arena_reset(&r->arena);
    if (r->inner) heed__arena_reset(&r->inner->arena);
    r->inner_most = 0;
    r->tensors[++r->begun % 2].used = 0;
    r->mode = mode;
    r->step = step;
    r->micro = micro;
    r->spare = r->is_inner ? 0 : SPARE * r->cheap;
    r->pushed = 0;
    r->node_count = r->probe_count = r->asked_count = r->adapted_count = r->update_count = 0;
}

void heed_tape_begin(heed_tape *t, heed_mode mode, uint64_t step) {
    heed_tape_begin_micro(t, mode, step, 0);
}

/* The most memory of the inner tape so far in this step. */
static size_t inner_bytes(const heed__recording *r) {
    size_t now = r->inner ? heed__arena_used(&r->inner->arena) : 0;
    return now > r->inner_most ? now : r->inner_most;
}

heed_tape *heed__tape_inner(heed_tape *t) {
    if (heed__tape_stopped(t)) return NULL;
    heed__recording *r = t->r;
    if (!r->inner && !(r->inner = new_recording(r->c))) return NULL;
    r->inner->is_inner = true;
    r->inner_most = inner_bytes(r);
    heed_tape_begin_micro(&r->inner->plain, r->mode, r->step, r->micro);
    return &r->inner->plain;
}

heed_tape *heed_name_scope(heed_tape *t, const char *name) {
    if (heed__tape_stopped(t)) return NULL;
    heed_tape *named = heed__arena_take(&t->r->arena, sizeof *named);
    if (named) *named = (heed_tape){t->r, name};
    return named;
}

const char *heed__take_name(heed_tape *t) {
    const char *name = t ? t->name : NULL;
    if (t) t->name = NULL;
    return name;
}

size_t heed__tape_bytes(const heed__recording *r) {
    return heed__arena_used(&r->arena) + inner_bytes(r);
}

heed__tape_usage heed__tape_used(const heed_tape *t) {
    if (!t) return (heed__tape_usage){0};
    const heed__recording *r = t->r;
    size_t inner = r->inner ? heed__arena_reserved(&r->inner->arena) : 0;
    return (heed__tape_usage){heed__tape_bytes(r), heed__arena_reserved(&r->arena) + inner,
                              (int)r->node_count};
}

static heed_recorded about(const heed_node *n) {
    if (!n) return (heed_recorded){0};
    return (heed_recorded){.op = n->op->name,
                           .name = n->named ? n->name : NULL,
                           .index = n->index,
                           .inputs = n->inputs,
                           .in = n->in,
                           .y = n->y,
                           .kept = n->kept_count,
                           .kept_name = n->kept_name,
                           .bytes = {heed__of(n->y)->bytes[0], heed__of(n->y)->bytes[1]}};
}

heed_recorded heed__recorded_at(const heed_tape *t, int index) {
    bool inside = t && index >= 0 && (size_t)index < t->r->node_count;
    return about(inside ? t->r->nodes[index] : NULL);
}

heed_recorded heed__recorded_by(const heed_tensor *y) { return about(y ? y->node : NULL); }

/* ---- tensors of the step ---- */

enum { BLOCK = 64 };

static heed__tensor *take_tensor(heed__recording *r) {
    heed__tensors *p = &r->tensors[r->begun % 2];
    if (p->used == p->count * BLOCK) {
        if (!heed__grow(r->c, &p->blocks, &p->capacity, p->count + 1, sizeof *p->blocks))
            return NULL;
        p->blocks[p->count] = heed__alloc_array(r->c, BLOCK, sizeof **p->blocks);
        if (!p->blocks[p->count]) return NULL;
        p->count++;
    }
    heed__tensor *y = &p->blocks[p->used / BLOCK][p->used % BLOCK];
    p->used++;
    return y;
}

bool heed__tape_owns(const heed__recording *r, const heed_tensor *x, const char *op,
                     const char *name) {
    char shape[64];
    if (!x || !heed__of(x)->owner || (heed__of(x)->owner == r && heed__of(x)->begun == r->begun))
        return true;
    return heed__fail_at(r->c, HEED_USAGE, op, name,
                         "%s %s is of %s: expected a tensor of this step; hint: copy its "
                         "values by heed_input",
                         *x->made_by ? x->made_by : "an input",
                         heed_shape_text(x, shape, sizeof shape),
                         heed__of(x)->owner == r ? "an earlier step" : "another tape");
}

/* A tensor of this step without memory for values; NULL in error. */
static heed_tensor *new_tensor(heed_tape *t, int dims, const int *shape) {
    size_t size;
    if (heed__tape_stopped(t)) return NULL;
    if (!heed__shape_size(dims, shape, &size)) {
        heed_fail(t->r->c, HEED_USAGE,
                  "a tensor's shape is wrong: at most %d dims, none negative, and a "
                  "size that memory can hold",
                  HEED_DIMS);
        return NULL;
    }
    heed__tensor *y = take_tensor(t->r);
    if (!y) return NULL;
    *y = (heed__tensor){.t = {.dims = dims, .shape = {1, 1, 1, 1}, .size = size},
                        .owner = t->r,
                        .begun = t->r->begun};
    for (int i = 0; i < dims; i++) y->t.shape[i] = shape[i];
    return &y->t;
}

static bool take_values(heed_tape *t, heed_tensor *y) {
    y->x = heed__arena_take(&t->r->arena, y->size * sizeof *y->x);
    return y->x != NULL;
}

heed_tensor *heed_input(heed_tape *t, const heed_real *x, int dims, const int *shape) {
    heed_tensor *y = new_tensor(t, dims, shape);
    if (!y || !take_values(t, y)) return NULL;
    if (x)
        memcpy(y->x, x, y->size * sizeof *x);
    else
        memset(y->x, 0, y->size * sizeof *y->x);
    return y;
}

heed_tensor *heed_new_ids(heed_tape *t, int dims, const int *shape) {
    heed_tensor *y = new_tensor(t, dims, shape);
    if (!y) return NULL;
    y->i = heed__arena_take(&t->r->arena, y->size * sizeof *y->i);
    if (!y->i) return NULL;
    memset(y->i, 0, y->size * sizeof *y->i);
    return y;
}

heed_tensor *heed_input_ids(heed_tape *t, const int32_t *ids, int dims, const int *shape) {
    heed_tensor *y = ids ? heed_new_ids(t, dims, shape) : NULL;
    if (y) memcpy(y->i, ids, y->size * sizeof *ids);
    return y;
}

heed_tensor *heed_ids(heed_tape *t, const int32_t *ids, int rows, int len) {
    return heed_input_ids(t, ids, 2, (int[]){rows, len});
}

heed_tensor *heed_wrap(heed_tape *t, heed_real *x, int dims, const int *shape) {
    heed_tensor *y = x ? new_tensor(t, dims, shape) : NULL;
    if (y) y->x = x;
    return y;
}

heed_tensor *heed_want_grad(heed_tape *t, heed_tensor *x) {
    if (heed__tape_stopped(t) || !x || !heed__tape_owns(t->r, x, "want_grad", NULL)) return NULL;
    heed__recording *r = t->r;
    if (!x->name) { /* also for tensors that depend on no trained value */
        x->wants_grad = heed__of(x)->keep_grad = true;
    } else if (r->mode == HEED_TRACE) {
        if (!heed__grow(r->c, &r->asked, &r->asked_capacity, r->asked_count + 1, sizeof *r->asked))
            return NULL;
        r->asked[r->asked_count++] = x;
    }
    return x;
}

bool heed__wants_grad(const heed__recording *r, const heed_tensor *x) {
    bool asked = !x->name || r->mode != HEED_TRACE;
    for (size_t i = 0; i < r->asked_count && !asked; i++) asked = r->asked[i] == x;
    return asked && x->wants_grad;
}

/* ---- functions for ops ---- */

const char *heed__node_text(const heed_node *n, char text[HEED__NODE_TEXT]) {
    if (n->named) return n->name;
    snprintf(text, HEED__NODE_TEXT, "node %d", n->index);
    return text;
}

bool heed__fail_at(heed_ctx *c, heed_status status, const char *op, const char *name,
                   const char *format, ...) {
    char text[512];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return heed_fail(c, status, "%s%s%s: %s", op, name ? " at " : "", name ? name : "", text);
}

bool heed_op_error(heed_node *n, const char *format, ...) {
    if (!n || !format) return false;
    char text[512], where[HEED__NODE_TEXT];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    return heed__fail_at(n->ctx, HEED_USAGE, n->op->name, heed__node_text(n, where), "%s", text);
}

bool heed_op_output(heed_node *n, int dims, const int *shape) {
    if (!n) return false;
    n->y = new_tensor(n->tape, dims, shape);
    return n->y && take_values(n->tape, n->y);
}

bool heed_op_output_like(heed_node *n, int i) {
    return n && n->in[i] && heed_op_output(n, n->in[i]->dims, n->in[i]->shape);
}

bool heed_op_output_view(heed_node *n, int i, size_t offset, int dims, const int *shape) {
    heed_tensor *in = n ? n->in[i] : NULL;
    heed_tensor *y = in ? new_tensor(n->tape, dims, shape) : NULL;
    if (!y) return false;
    if (offset > in->size || y->size > in->size - offset)
        return heed_op_error(n, "a view of %zu elements from %zu exceeds its %zu", y->size, offset,
                             in->size);
    if (in->x) y->x = in->x + offset;
    if (in->i) y->i = in->i + offset;
    bool own = !heed__of(in)->base || heed__of(in)->keep_grad; /* where the gradient goes */
    heed__of(y)->base = own ? in : heed__of(in)->base;
    heed__of(y)->offset = own ? offset : heed__of(in)->offset + offset;
    n->y = y;
    return true;
}

heed_tensor *heed_op_save(heed_node *n, const char *name, int dims, const int *shape) {
    if (!n || !name) return NULL;
    const int capacity = (int)(sizeof n->kept / sizeof *n->kept);
    if (n->kept_count == capacity) {
        heed_op_error(n, "more than %d kept values", capacity);
        return NULL;
    }
    heed_tensor *y = new_tensor(n->tape, dims, shape);
    if (!y || !take_values(n->tape, y)) return NULL;
    n->kept[n->kept_count] = y;
    n->kept_name[n->kept_count++] = name;
    return y;
}

void *heed_scratch(heed_node *n, size_t bytes) {
    return n ? heed__arena_take(&n->tape->r->arena, bytes) : NULL;
}

void heed_scratch_done(heed_node *n, void *p, size_t bytes) {
    if (n && p) heed__arena_give(&n->tape->r->arena, p, bytes);
}

/* An unnamed node's stream is derived from its position among the step's nodes. */
heed_random heed_node_random(const heed_node *n) {
    if (!n) return (heed_random){0};
    heed_random r = heed_random_at(heed_seed(n->ctx), n->name, n->tape->r->step, n->tape->r->micro);
    if (!n->named) r.site ^= (uint32_t)(n->index + 1) * 0x9E3779B9u;
    return r;
}

void heed__let_go(heed_tape *t, heed_tensor *x) {
    heed_node *n = x ? x->node : NULL;
    if (heed__tape_stopped(t) || !n || heed__of(n->y)->dropped || heed__of(x)->base ||
        heed__of(x)->keep_grad || !x->x)
        return;
    bool done = n->again || t->r->mode == HEED_EVAL;
    if (!done || t->r->mode == HEED_TRACE || heed_probe_active(t)) return;
    heed__arena_give(&t->r->arena, x->x, x->size * sizeof *x->x);
    x->x = NULL;
    heed__of(n->y)->dropped = true;
}

void heed__let_go_if_large(heed_tape *t, heed_tensor *x) {
    if (heed__tape_stopped(t) || !x) return;
    size_t bytes = x->size * sizeof *x->x, *spare = &t->r->spare;
    bool large = bytes > t->r->cheap, keep = bytes <= *spare;
    if (t->r->mode == HEED_EVAL || (large && !keep))
        heed__let_go(t, x);
    else if (large)
        *spare -= bytes;
}

/* ---- updates of states, such as running statistics, made in forward or listed for later ---- */

void heed__tape_defer_updates(heed_tape *t) {
    if (t) t->r->defers = true;
}

size_t heed__tape_updates(const heed_tape *t, const heed__state_update **list) {
    *list = t ? t->r->updates : NULL;
    return t ? t->r->update_count : 0;
}

void heed__update_state(const heed__state_update *u) {
    heed_real *y = u->of->x;
    for (size_t i = 0; i < u->of->size; i++)
        y[i] = (heed_real)(u->keep * (double)y[i] + u->scale * (double)u->x[i]);
}

void heed_update_state(heed_node *n, int i, double keep, double scale, const heed_real *x) {
    if (!n || !x || i < 0 || i >= n->inputs || !n->in[i]) return;
    heed__recording *r = n->tape->r;
    if (r->is_inner) {
        heed_op_error(n, "a part that is computed again cannot update a state");
        return;
    }
    heed__state_update u = {n->in[i], keep, scale, x};
    if (!r->defers) {
        heed__update_state(&u);
        return;
    }
    size_t bytes = u.of->size * sizeof *x;
    heed_real *copy = heed__arena_take(&r->arena, bytes);
    if (!copy || !heed__grow(r->c, &r->updates, &r->update_capacity, r->update_count + 1,
                             sizeof *r->updates))
        return;
    u.x = memcpy(copy, x, bytes);
    r->updates[r->update_count++] = u;
}

/* ---- recording ---- */

/* What an op reads for x. The value of an adapted parameter is computed once in a step, by ops that
 * read the parameter itself. */
static heed_tensor *adapted(heed__recording *r, heed_tensor *x) {
    if (!x || !heed__of(x)->adapter) return x;
    size_t i = 0;
    while (i < r->adapted_count && r->adapted[i].of != x) i++;
    if (i < r->adapted_count) return r->adapted[i].value;
    if (!heed__grow(r->c, &r->adapted, &r->adapted_capacity, i + 1, sizeof *r->adapted))
        return NULL;
    r->adapted[r->adapted_count++] = (heed__adapted){x, x};
    heed_tensor *value = heed__of(x)->adapter->apply(heed__of(x)->adapter, &r->plain, x);
    return r->adapted[i].value = value; /* apply may have moved the list */
}

static heed_node *new_node(heed_tape *t, const heed_op *op, const void *args, int count,
                           heed_tensor *const *in) {
    const char *name = heed__take_name(t);
    heed__recording *r = t->r;
    size_t list = (size_t)count * sizeof(heed_tensor *);
    heed_tensor **copy = heed__arena_take(&r->arena, list);
    for (int i = 0; copy && i < count; i++) copy[i] = adapted(r, in[i]);
    heed_node *n = copy ? heed__arena_take(&r->arena, sizeof *n) : NULL;
    void *own_args = n && args && op->args_size ? heed__arena_take(&r->arena, op->args_size) : NULL;
    if (!n || (args && op->args_size && !own_args)) return NULL;
    if (own_args) memcpy(own_args, args, op->args_size);
    *n = (heed_node){.op = op,
                     .tape = &r->plain,
                     .ctx = r->c,
                     .k = heed__kernels_of(r->c),
                     .in = copy,
                     .inputs = count,
                     .args = own_args,
                     .name = name ? name : op->name,
                     .named = name != NULL,
                     .index = r->pushed++,
                     .training = r->mode == HEED_TRAIN};
    return n;
}

/* "matmul at head", truncated to fit. */
static void sign(const heed_node *n, char text[], size_t size) {
    const char *const words[] = {n->op->name, n->named ? " at " : "", n->named ? n->name : ""};
    char *end = text + size - 1;
    for (int i = 0; i < 3; i++)
        for (const char *s = words[i]; *s && text < end;) *text++ = *s++;
    *text = 0;
}

static bool check_inputs(heed_node *n) {
    const heed__recording *r = n->tape->r;
    const char *kind = n->op->inputs;
    for (int i = 0; i < n->inputs; i++) {
        const heed_tensor *x = n->in[i];
        bool optional = kind[1] == '?';
        if (!x && !optional) return heed_op_error(n, "input %d is NULL", i);
        if (!heed__tape_owns(r, x, n->op->name, n->named ? n->name : NULL)) return false;
        if (x && ((*kind == 'r' && x->i) || (*kind == 'i' && x->x)))
            return heed_op_error(n, "input %d must hold %s", i,
                                 x->i ? "reals, not indices" : "indices, not reals");
        if (x && r->mode != HEED_EVAL && heed__wants_grad(r, x)) n->recording = true;
        if (kind[1] != '*') kind += 1 + optional;
    }
    if (n->recording && !n->op->backward)
        return heed_op_error(
            n, "no backward: nothing before it would train; hint: write one, or pass its "
               "inputs through heed_stop_gradient");
    return true;
}

static heed_tensor *run(heed_node *n) {
    heed__recording *r = n->tape->r;
    size_t used = heed__tape_bytes(r);
    if (!check_inputs(n) || !(n->op->infer ? n->op->infer(n) : heed_op_output_like(n, 0)) ||
        !n->y) {
        if (!heed__stopped(r->c)) heed_op_error(n, "the shape rule failed without a reason");
        return NULL;
    }
    n->y->node = n;
    sign(n, n->y->made_by, sizeof n->y->made_by);
    n->y->wants_grad = n->recording;
    heed__profile_node(heed__profile_of(r->c), n);
    if (n->op->forward) n->op->forward(n);
    heed__profile_end(heed__profile_of(r->c));
    heed__of(n->y)->bytes[0] = heed__tape_bytes(r) - used;
    if (!heed__collect_probes(n) || heed__stopped(r->c)) return NULL;
    if (!n->recording) return n->y;
    if (!heed__grow(r->c, &r->nodes, &r->node_capacity, r->node_count + 1, sizeof *r->nodes))
        return NULL;
    r->nodes[r->node_count++] = n;
    return n->y;
}

int heed__op_inputs(const heed_op *op) {
    int n = 0;
    for (const char *kind = op->inputs; *kind; kind++) n += *kind != '?';
    return strchr(op->inputs, '*') ? -1 : n;
}

heed_tensor *heed_push_list(heed_tape *t, const heed_op *op, const void *args, int count,
                            heed_tensor *const *in) {
    if (heed__tape_stopped(t)) return NULL;
    int expected = op ? heed__op_inputs(op) : 0;
    if (!op || count < 0 || (count && !in) || (expected >= 0 && count != expected)) {
        heed_fail(t->r->c, HEED_USAGE, "an op cannot be pushed: expected %s",
                  op ? "all its inputs" : "an op, found NULL");
        return NULL;
    }
    heed_node *n = new_node(t, op, args, count, in);
    return n ? run(n) : NULL;
}

heed_tensor *heed_push(heed_tape *t, const heed_op *op, const void *args, ...) {
    heed_tensor *in[16] = {NULL};
    va_list list;
    if (heed__tape_stopped(t)) return NULL;
    int count = op ? heed__op_inputs(op) : 0;
    if (count < 0 || count > 16) {
        heed_fail(t->r->c, HEED_USAGE, "op %s has a list of inputs: push it by heed_push_list",
                  op->name);
        return NULL;
    }
    va_start(list, args);
    for (int i = 0; i < count; i++) in[i] = va_arg(list, heed_tensor *);
    va_end(list);
    return heed_push_list(t, op, args, count, in);
}
