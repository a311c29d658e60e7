#define _DEFAULT_SOURCE
#include "golden.h"
#include "io/io.h"

#include <stdarg.h>

/* ---- arguments and arrays ---- */
static const char *value_of(const golden *g, const char *key) {
    size_t n = strlen(key);
    for (const char *p = strchr(g->about, ' '); p; p = strchr(p + 1, ' '))
        if (strncmp(p + 1, key, n) == 0 && p[1 + n] == '=') return p + 2 + n;
    return NULL;
}

bool golden_given(const golden *g, const char *key) { return value_of(g, key) != NULL; }

bool golden_flag(const golden *g, const char *key) { return golden_arg(g, key, 0) != 0; }

double golden_arg(const golden *g, const char *key, double otherwise) {
    const char *value = value_of(g, key);
    return value ? strtod(value, NULL) : otherwise;
}

heed_real golden_real(const golden *g, const char *key, double otherwise) {
    return (heed_real)golden_arg(g, key, otherwise);
}

int golden_list(const golden *g, const char *key, int out[HEED_DIMS]) {
    const char *p = value_of(g, key);
    int n = 0;
    while (p && n < HEED_DIMS) {
        char *end;
        out[n++] = (int)strtol(p, &end, 10);
        p = *end == ',' ? end + 1 : NULL;
    }
    return n;
}

double golden_number(const heed_array *a, size_t i) {
    if (strcmp(a->dtype, "F64") == 0) {
        double x;
        memcpy(&x, a->data + i * sizeof x, sizeof x);
        return x;
    }
    if (strcmp(a->dtype, "F32") == 0) {
        float x;
        memcpy(&x, a->data + i * sizeof x, sizeof x);
        return (double)x;
    }
    int32_t x;
    memcpy(&x, a->data + i * sizeof x, sizeof x);
    return x;
}

static size_t count_of(const heed_array *a) {
    size_t n = 1;
    for (int i = 0; i < a->dims; i++) n *= (size_t)a->shape[i];
    return n;
}

const double *golden_numbers(const char *file, const char *array, size_t n) {
    static double numbers[8][2048]; /* of the last arrays asked for */
    static int turn;
    char path[96];
    heed_ctx *c = heed_open(NULL);
    double *x = memset(numbers[turn++ % 8], 0, sizeof *numbers);
    snprintf(path, sizeof path, "tests/golden/%s", file ? file : "numbers.safetensors");
    const heed_array *a = heed__safetensors_find(heed_safetensors_open(c, path), array);
    CHECK(a && count_of(a) == n && n <= sizeof *numbers / sizeof **numbers);
    for (size_t k = 0; a && count_of(a) == n && k < n; k++) x[k] = golden_number(a, k);
    CLOSE(c);
    return x;
}

HEED_PRINTF(2, 3)
static const heed_array *find(const golden *g, const char *format, ...) {
    char key[160];
    int n = snprintf(key, sizeof key, "%s/", g->name);
    va_list list;
    va_start(list, format);
    vsnprintf(key + n, sizeof key - (size_t)n, format, list);
    va_end(list);
    return heed__safetensors_find(g->file, key);
}

bool golden_copy(const golden *g, const char *array, heed_real *out, size_t capacity) {
    const heed_array *a = find(g, "%s", array);
    if (!a || count_of(a) > capacity) return false;
    for (size_t i = 0; i < count_of(a); i++) out[i] = (heed_real)golden_number(a, i);
    return true;
}

/* ---- inputs ---- */
static heed_tensor *indices(const golden *g, const heed_array *a, const int *shape) {
    int32_t *ids = malloc(a->bytes + 1);
    if (ids) memcpy(ids, a->data, a->bytes);
    heed_tensor *x = heed_input_ids(g->t, ids, a->dims, shape);
    free(ids);
    return x;
}

static heed_tensor *input(const golden *g, const heed_array *a) {
    int shape[HEED_DIMS] = {0};
    for (int i = 0; i < a->dims; i++) shape[i] = (int)a->shape[i];
    if (strcmp(a->dtype, "I32") == 0) return indices(g, a, shape);
    heed_tensor *x = heed_input(g->t, NULL, a->dims, shape);
    for (size_t i = 0; x && i < x->size; i++) x->x[i] = (heed_real)golden_number(a, i);
    return x;
}

/* Inputs that have a gradient in the file get one. */
static void take_inputs(golden *g) {
    int alias[HEED_DIMS], aliases = golden_list(g, "alias", alias);
    g->inputs = 0;
    for (int i = 0; i < GOLDEN_INPUTS; i++) {
        const heed_array *a = find(g, "in%d", i);
        g->in[i] = a ? input(g, a) : NULL;
        if (g->in[i] && find(g, "g%d", i)) heed_want_grad(g->t, g->in[i]);
        if (a && g->inputs == i) g->inputs = i + 1;
    }
    for (int i = 1; i < aliases; i++) g->in[i] = g->in[alias[i]];
    if (aliases) g->inputs = aliases;
}

static int parameters_given(const golden *g) {
    int n = 0;
    size_t length = strlen(g->name);
    for (int i = 0; i < heed_safetensors_count(g->file); i++) {
        const char *name = heed_safetensors_at(g->file, i)->name;
        if (strncmp(name, g->name, length) == 0 && strncmp(name + length, "/p.", 3) == 0) n++;
    }
    return n;
}

void golden_fill(const golden *g) {
    CHECK(heed_params_count(g->s) == parameters_given(g));
    for (int i = 0; i < heed_params_count(g->s); i++) {
        const heed_param *e = heed_params_at(g->s, i);
        char key[96];
        snprintf(key, sizeof key, "p.%s", e->name);
        const heed_array *a = find(g, "%s", key);
        if (!a || count_of(a) != e->tensor->size ||
            !golden_copy(g, key, e->tensor->x, e->tensor->size))
            test_fail(__FILE__, __LINE__, "%s: %s is absent or of another size", g->name, key);
    }
}

/* ---- the bar ---- */
static double bar_of(const golden *g, const heed_array *a, const char *array) {
    double largest = 0;
    for (size_t i = 0; i < count_of(a); i++) largest = fmax(largest, fabs(golden_number(a, i)));
    /* Where 1 + erf(x) cancels to nothing, PyTorch's own float64 has no digits left. */
    const double cancelled = 1e-15;
    if (sizeof(heed_real) == sizeof(double)) return fmax(1e-11 * largest, cancelled);
    char key[96];
    snprintf(key, sizeof key, "%s.drift", array);
    return fmax(fmax(10 * golden_arg(g, key, 0), 1e-6 * largest), cancelled);
}

static void compare(const golden *g, const char *array, const heed_tensor *t, const heed_real *x) {
    const heed_array *a = find(g, "%s", array);
    bool fits = a && t && x && count_of(a) == t->size && a->dims == t->dims;
    for (int i = 0; fits && i < a->dims; i++) fits = a->shape[i] == t->shape[i];
    if (!fits) {
        test_fail(__FILE__, __LINE__, "%s/%s (%s): absent or of another shape", g->name, array,
                  g->way);
        return;
    }
    double bar = bar_of(g, a, array), worst = 0;
    size_t at = 0;
    for (size_t i = 0; i < t->size; i++) {
        double off = fabs((double)x[i] - golden_number(a, i));
        if (off <= worst) continue;
        worst = off;
        at = i;
        if (isnan(off)) break;
    }
    if (!(worst <= bar))
        test_fail(__FILE__, __LINE__,
                  "%s/%s (%s, %s): element %zu is %.9g, expected %.9g, bar %.2g", g->name, array,
                  g->way, heed_isa(g->c), at, (double)x[at], golden_number(a, at), bar);
}

/* What stands under NAME/x.VALUE: a kept value, a state entry, or the statistics that batch_norm
 * was given. */
static const heed_tensor *kept(const golden *g, const char *value) {
    const heed_param *e = heed_params_find(g->s, value);
    if (e) return e->tensor;
    if (strncmp(g->about, "batch_norm", 10) == 0) return g->in[strcmp(value, "mean") == 0 ? 3 : 4];
    char path[96];
    snprintf(path, sizeof path, "%s%s", strchr(value, '.') ? "" : "a.", value);
    return heed_probe_find(g->t, path);
}

/* A way to run a case. */
typedef struct {
    const char *name;
    bool train, probe, probe_grad;
} way;

static void compare_all(const golden *g, const heed_tensor *y, const way *w) {
    size_t length = strlen(g->name);
    for (int i = 0; i < heed_safetensors_count(g->file); i++) {
        const char *name = heed_safetensors_at(g->file, i)->name;
        if (strncmp(name, g->name, length) != 0 || name[length] != '/') continue;
        const char *array = name + length + 1;
        if (strcmp(array, "y") == 0) {
            compare(g, array, y, y->x);
        } else if (strncmp(array, "x.", 2) == 0) {
            const heed_tensor *t = kept(g, array + 2);
            if (w->probe || t) compare(g, array, t, t ? t->x : NULL);
        } else if (strncmp(array, "d.", 2) == 0) {
            const heed_tensor *t = w->probe_grad ? kept(g, array + 2) : NULL;
            if (w->probe_grad) compare(g, array, t, t ? t->g : NULL);
        } else if (w->train && strncmp(array, "g.", 2) == 0) {
            const heed_param *e = heed_params_find(g->s, array + 2);
            compare(g, array, e ? e->tensor : NULL, e ? e->tensor->g : NULL);
        } else if (w->train && array[0] == 'g' && array[1] != 'y') {
            const heed_tensor *t = g->in[atoi(array + 1)];
            compare(g, array, t, t ? t->g : NULL);
        }
    }
}

/* ---- running ---- */
static const golden_call *call_of(const golden *g, const golden_call *calls) {
    size_t n = strcspn(g->about, " ");
    for (const golden_call *k = calls; k->op; k++)
        if (strlen(k->op) == n && strncmp(g->about, k->op, n) == 0) return k;
    return NULL;
}

static heed_tensor *apply(const golden *g, const golden_call *k) {
    if (k->one) return k->one(g->t, g->in[0]);
    if (k->two) return k->two(g->t, g->in[0], g->in[1]);
    if (k->three) return k->three(g->t, g->in[0], g->in[1], g->in[2]);
    return k->run(g);
}

static void backward(const golden *g, heed_tensor *y) {
    const heed_array *a = find(g, "gy");
    heed_real *gy = a && count_of(a) == y->size ? malloc(y->size * sizeof *gy + 1) : NULL;
    CHECK(gy);
    if (gy && golden_copy(g, "gy", gy, y->size)) heed_backward_from(g->t, y, gy);
    free(gy);
}

static void see(golden_seen *seen, const char *op) {
    for (int i = 0; i < seen->count; i++)
        if (strcmp(seen->name[i], op) == 0) return;
    if (seen->count < (int)(sizeof seen->name / sizeof *seen->name)) seen->name[seen->count++] = op;
}

static void run(golden *g, const golden_call *k, const way *w, golden_seen *seen) {
    g->way = w->name;
    g->s = heed_params_new(g->c);
    heed_probe_clear(g->t);
    if (w->probe) heed_probe(g->t, "*", w->probe_grad);
    heed_tape_begin(g->t, w->train ? HEED_TRAIN : HEED_EVAL, 0);
    take_inputs(g);
    heed_tensor *y = apply(g, k);
    if (y && y->node && seen) see(seen, y->node->op->name);
    if (y && w->train) backward(g, y);
    if (y && heed_ctx_status(g->c) == HEED_OK) {
        compare_all(g, y, w);
    } else {
        test_fail(__FILE__, __LINE__, "%s (%s): %s", g->name, g->way, heed_ctx_error(g->c));
        heed_clear(g->c);
    }
    heed_params_free(g->s);
}

/* The case's name from that of its expected value, "NAME/y"; false for other arrays. */
static bool case_name(const char *array, char *name, size_t capacity) {
    size_t n = strlen(array);
    if (n < 3 || strcmp(array + n - 2, "/y") != 0 || n - 2 >= capacity) return false;
    memcpy(name, array, n - 2);
    name[n - 2] = 0;
    return true;
}

/* Runs one case in every way that it has; false if nothing tells how. */
static bool run_case(golden *g, const golden_call *calls, golden_seen *seen) {
    g->about = heed__safetensors_meta(g->file, g->name);
    const golden_call *k = g->about ? call_of(g, calls) : NULL;
    if (!k) return false;
    static const way ways[] = {{"training", true, false, false},
                               {"training, probed", true, true, false},
                               {"training, probed with gradients", true, true, true},
                               {"eval", false, false, false},
                               {"eval, probed", false, true, false}};
    bool eval_only = golden_flag(g, "eval");
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (ways[i].train ? !eval_only : eval_only || !k->train_only) run(g, k, &ways[i], seen);
    return true;
}

static int run_file(heed_ctx *c, const char *path, const golden_call *calls, golden_seen *seen) {
    golden g = {.c = c, .file = heed_safetensors_open(c, path), .t = heed_tape_new(c)};
    int cases = 0;
    char name[128];
    for (int i = 0; i < heed_safetensors_count(g.file); i++) {
        if (!case_name(heed_safetensors_at(g.file, i)->name, name, sizeof name)) continue;
        g.name = name;
        cases++;
        if (!run_case(&g, calls, seen))
            test_fail(__FILE__, __LINE__, "%s: nothing tells how to run %s", path, name);
    }
    heed_safetensors_close(g.file);
    return cases;
}

int golden_file(const char *path, const golden_call *calls, golden_seen *seen) {
    static const char *const sets[] = {"generic", "avx2", "avx512", "neon"};
    int cases = 0;
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        heed_ctx *c = heed_open(&(heed_options){.isa = sets[i]});
        if (heed_ctx_status(c) != HEED_OK && i > 0) { /* not of this machine */
            heed_close(c);
            continue;
        }
        cases = run_file(c, path, calls, seen);
        CLOSE(c);
    }
    return cases;
}
