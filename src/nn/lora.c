/* lora.c -- low-rank adapters: what ops read for a weight W becomes W + alpha / r B A. Hu et al.
 * 2022, sec. 4.1. */
#include "core/core.h"
#include "core/params.h"
#include "core/tape.h"
#include "nn/nn.h"

#include <math.h>
#include <stdio.h>

/* The adapters of one weight: of all its rows, or of some of those with a name. */
typedef struct {
    heed_adapter adapter; /* first member: what the weight refers to */
    int count;
    struct {
        heed_tensor *a, *b; /* (r,in), (rows,r) */
        int from;           /* its first row of the weight */
        heed_real scale;    /* alpha / r */
    } part[HEED_RANGES + 1];
} lora;

static heed_tensor *apply(const heed_adapter *adapter, heed_tape *t, heed_tensor *w) {
    const lora *l = (const void *)adapter;
    for (int i = 0; i < l->count; i++)
        w = heed_lora(t, w, l->part[i].a, l->part[i].b, l->part[i].from, l->part[i].scale);
    return w;
}

/* ---- adding ---- */

static bool fits(heed_ctx *c, const heed_tensor *w, const char *name, int rows, int rank) {
    char shape[64];
    if (w->dims < 2)
        return heed_fail(c, HEED_USAGE,
                         "LoRA adapts matrices: %s: expected at least 2 dims, found shape %s; "
                         "hint: `lora-targets` that match weights only, as '*.mlp.*.weight'",
                         name, heed_shape_text(w, shape, sizeof shape));
    size_t in = heed__extent(w, 1, w->dims), most = in < (size_t)rows ? in : (size_t)rows;
    return (rank >= 1 && (size_t)rank <= most && in <= INT32_MAX) ||
           heed_fail(c, HEED_USAGE,
                     "rank of LoRA is out of range: %s: expected 1 to %zu for %d rows of shape "
                     "%s, found %d; hint: a smaller `lora`, or other `lora-targets`",
                     name, most, rows, heed_shape_text(w, shape, sizeof shape), rank);
}

static heed_tensor *make(heed_params *s, const char *name, const char *what, const char *init,
                         int rows, int columns) {
    char full[320];
    snprintf(full, sizeof full, "%s.%s", name, what);
    heed_tensor *x = heed_param_new(s, full, init, 2, (int[]){rows, columns});
    if (x) heed_params_find(s, full)->adapter = true;
    return x;
}

/* Adds an adapter of these rows, unless they have one; rows without a name are all rows. */
static bool add(heed_params *s, heed_tensor *w, heed_range rows, int rank, heed_real alpha) {
    char name[300];
    heed_ctx *c = heed_params_ctx(s);
    snprintf(name, sizeof name, "%s.lora%s%s", w->name, rows.name ? "_" : "",
             rows.name ? rows.name : "");
    char first[310];
    snprintf(first, sizeof first, "%s.a", name);
    if (heed_params_find(s, first)) return true;
    if (!fits(c, w, w->name, rows.count, rank)) return false;
    if (!heed__of(w)->adapter) {
        lora *l = heed__alloc(c, sizeof *l);
        if (!l) return false;
        l->adapter.apply = apply;
        heed__of(w)->adapter = &l->adapter;
    }
    lora *l = (void *)heed__of(w)->adapter;
    int in = (int)heed__extent(w, 1, w->dims), i = l->count;
    l->part[i].a = make(s, name, "a", "kaiming", rank, in);
    l->part[i].b = make(s, name, "b", "zero", rows.count, rank);
    l->part[i].from = rows.from;
    l->part[i].scale = alpha / (heed_real)rank;
    l->count += l->part[i].b != NULL;
    return !heed__stopped(c);
}

/* Adds the adapters of an entry that match; returns their number, -1 on error. */
static int add_matching(heed_params *s, const heed_param *e, const char *pattern, int rank,
                        heed_real alpha) {
    char name[320];
    int n = 0;
    if (heed_match(pattern, e->name))
        return add(s, e->tensor, (heed_range){.count = e->tensor->shape[0]}, rank, alpha) ? 1 : -1;
    for (int i = 0; i < HEED_RANGES && e->ranges[i].name; i++) {
        snprintf(name, sizeof name, "%s.%s", e->name, e->ranges[i].name);
        if (!heed_match(pattern, name)) continue;
        if (!add(s, e->tensor, e->ranges[i], rank, alpha)) return -1;
        n++;
    }
    return n;
}

int heed_lora_add(heed_params *s, const char *pattern, int rank, heed_real alpha) {
    int n = 0, count = heed_params_count(s);
    if (!pattern) return 0;
    if (!isfinite(alpha)) {
        heed_fail(heed_params_ctx(s), HEED_USAGE,
                  "alpha of LoRA is wrong: %s: expected a finite number, found %g", pattern,
                  (double)alpha);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        const heed_param *e = heed_params_at(s, i);
        int more = e->state || e->adapter ? 0 : add_matching(s, e, pattern, rank, alpha);
        if (more < 0) return -1;
        n += more;
    }
    return n;
}

/* ---- merging ---- */

static bool merge(heed_tape *t, heed_tensor *w) {
    heed_tape_begin(t, HEED_EVAL, 0);
    const heed_tensor *y = heed_identity(t, w);
    if (y) memcpy(w->x, y->x, w->size * sizeof *w->x);
    return y != NULL;
}

bool heed_lora_merge(heed_params *s) {
    heed_ctx *c = heed_params_ctx(s);
    bool adapted = false, ok = s && !heed__stopped(c);
    for (int i = 0; ok && i < heed_params_count(s); i++)
        adapted = adapted || heed__of(heed_params_at(s, i)->tensor)->adapter;
    if (!ok || !adapted) return ok;
    heed_tape *t = heed_tape_new(c);
    ok = t != NULL;
    for (int i = 0; ok && i < heed_params_count(s); i++) {
        heed_tensor *w = heed_params_at(s, i)->tensor;
        if (heed__of(w)->adapter) ok = merge(t, w);
    }
    heed_tape_free(t);
    if (ok) heed__store_drop_adapters(s);
    return ok;
}

/* ---- check cases ---- */

/* An attention layer with adapters of its queries and values, not of zeros, and one of all rows. */
static void case_init(void *self, heed_params *s, const void *args) {
    heed_mha_init(self, s, "mha", *(const heed_mha_args *)args);
    heed_lora_add(s, "*.q", 2, 3);
    heed_lora_add(s, "*.v", 1, 1);
    heed_lora_add(s, "*.out.weight", 3, 3);
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        heed_random r = heed_random_at(3, e->name, 0, 0);
        for (size_t k = 0; e->adapter && k < e->tensor->size; k++)
            e->tensor->x[k] = (heed_real)(0.5 * heed_random_normal(&r, k));
    }
}
static heed_tensor *case_apply(const void *self, heed_tape *t, heed_tensor *x) {
    return heed_mha_apply(self, t, x, &(heed_mha_inputs){.memory = x});
}

#define CASE(name, ...)                                                                            \
    {                                                                                              \
        name, sizeof(heed_mha), case_init, case_apply, &(const heed_mha_args) {                    \
            .width = HEED_CASE_WIDTH, .heads = 2, .init = "normal:0.5", __VA_ARGS__                \
        }                                                                                          \
    }
const heed_layer_case heed_layers_lora[] = {
    CASE("lora", .key = 3, .value = 5), CASE("lora of cross attention", .cross = true), {0}};
