/* cmd_gradcheck.c -- heed gradcheck: every backward against central differences. */
#include "workbench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    {"op", HEED_TEXT, "*", 0, 0, NULL, "only ops, layers and models of this name or pattern",
     "Check"},
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print one JSON object", "Output"},
    {0}};

/* Differences in float show gross errors alone; the double build is the exact check. */
static const bool exact = sizeof(heed_real) == sizeof(double);
static double tolerance(void) { return exact ? 1e-6 : 0.2; }

typedef struct {
    const char *kind, *name; /* "op" or "model" */
    heed_check check;
} row;

/* ---- models ---- */

static double loss_of(workbench *w, const heed_batch *b) {
    heed_tape_begin(w->tape, HEED_TRAIN, 0);
    const heed_tensor *loss = w->model->loss(w->self, w->tape, b);
    return loss ? (double)loss->x[0] : (double)NAN;
}

static double loss_at(workbench *w, const heed_batch *b, heed_real *x, heed_real value) {
    heed_real kept = *x;
    *x = value;
    double loss = loss_of(w, b);
    *x = kept;
    return loss;
}

/* (8 (f(x+h) - f(x-h)) - (f(x+2h) - f(x-2h))) / 12h: good to h^4. */
static double difference(workbench *w, const heed_batch *b, heed_real *x) {
    heed_real h = exact ? (heed_real)1e-3 : (heed_real)1e-2, at = *x;
    double near = loss_at(w, b, x, at + h) - loss_at(w, b, x, at - h);
    double far = loss_at(w, b, x, at + 2 * h) - loss_at(w, b, x, at - 2 * h);
    return (8 * near - far) / (12 * (double)h);
}

/* About `SOME` elements of a parameter; the error is relative to the largest gradient at least. */
static void check_entry(workbench *w, const heed_batch *b, const heed_entry *e, heed_check *k) {
    enum { SOME = 24 };
    const heed_tensor *t = e->tensor;
    size_t stride = t->size / SOME + 1;
    double largest = 0;
    if (!e->trained) return;
    for (size_t i = 0; i < t->size; i++) largest = fmax(largest, fabs((double)t->g[i]));
    for (size_t i = 0; i < t->size; i += stride) {
        double a = (double)t->g[i], n = difference(w, b, &t->x[i]);
        double scale = fmax(fmax(fabs(a), fabs(n)), fmax(1e-3 * largest, 1e-12));
        if (!exact) scale = fmax(scale, 0.1 * largest); /* rounding of the loss hides the rest */
        double error = fabs(a - n) / scale;
        if (error <= k->error) continue;
        k->error = error;
        snprintf(k->worst, sizeof k->worst, "%.60s, element %zu", e->name, i);
    }
    k->cases++;
}

static heed_check check_model(heed_ctx *c, const heed_model *m, const char *settings) {
    workbench w = {.c = c, .model = m, .f = workbench_config(c, m)};
    random_batch batch = {0};
    heed_check k = {0};
    char key[32], value[32];
    int used;
    for (const char *s = settings; sscanf(s, " %31[^=]=%31s%n", key, value, &used) == 2; s += used)
        heed_config_set(w.f, key, value, "gradcheck", HEED_FROM_FLAG);
    if (workbench_open(&w) && random_batch_make(&w, 0, &batch)) {
        loss_of(&w, &batch.b);
        heed_tape_begin(w.tape, HEED_TRAIN, 0);
        heed_backward(w.tape, m->loss(w.self, w.tape, &batch.b));
        for (int i = 0; i < heed_store_count(w.store) && heed_state(c) == HEED_OK; i++)
            check_entry(&w, &batch.b, heed_store_at(w.store, i), &k);
    }
    if (heed_state(c) != HEED_OK) k.error = -1;
    random_batch_free(&batch);
    workbench_close(&w);
    return k;
}

#define TINY "width=8 layers=2 heads=2 ff=16 block=6 vocab=13 batch=2 init-std=0.3 "
static const struct {
    const char *name;
    const heed_model *model;
    const char *settings;
} models[] = {
    {"mlm", &heed_model_mlm, TINY "mask-share=0.5"},
    {"mlm pre-norm", &heed_model_mlm,
     TINY "mask-share=0.5 norm=pre final-norm=true positions=sinusoidal dropout=0.2 tie=false"},
    {"gpt", &heed_model_gpt, TINY},
    {"gpt variant", &heed_model_gpt,
     TINY "norm=post attention=explicit key-width=3 value-width=5 bias=false beta=0.9"},
    {"mlp", &heed_model_mlp, "features=7 width=8 classes=5 batch=3 activation=tanh"},
};

/* ---- table ---- */

static bool passed(const row *r) { return r->check.error >= 0 && r->check.error <= tolerance(); }

static void show(program *p, const row *r, bool first, json_t *list) {
    if (list) {
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:i, s:f, s:s, s:b}", "kind", r->kind, "name",
                                        r->name, "cases", r->check.cases, "error", r->check.error,
                                        "worst", r->check.worst, "ok", passed(r)));
    } else {
        if (first) printf("%-6s %-18s %5s  %11s\n", "kind", "name", "cases", "worst error");
        printf("%-6s %-18s %5d  %11.2e  %s%s%s\n", r->kind, r->name, r->check.cases, r->check.error,
               passed(r) ? "ok" : "WRONG", passed(r) ? "" : "  ", passed(r) ? "" : r->check.worst);
        fflush(stdout);
    }
    if (heed_state(p->c) != HEED_OK) program_complain(p);
}

typedef struct {
    int count, wrong;
    double worst;
} tally;

static void add(program *p, const row *r, json_t *list, tally *all) {
    show(p, r, all->count++ == 0, list);
    all->wrong += !passed(r);
    if (r->check.error > all->worst) all->worst = r->check.error;
}

static void check_all(program *p, json_t *list, tally *all) {
    const char *pattern = heed_config_text(p->flags, "op"), *name;
    char settings[48];
    for (const heed_op *const *family = heed_op_table(); *family; family++)
        for (const heed_op *op = *family; op->name; op++)
            if (heed_match(pattern, op->name))
                add(p, &(row){"op", op->name, heed_gradcheck(p->c, op)}, list, all);
    for (int i = 0; (name = layer_name(i)); i++) {
        snprintf(settings, sizeof settings, "layer=%d batch=2", i);
        if (heed_match(pattern, name))
            add(p, &(row){"layer", name, check_model(p->c, &layer_model, settings)}, list, all);
    }
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (heed_match(pattern, models[i].name))
            add(p,
                &(row){"model", models[i].name,
                       check_model(p->c, models[i].model, models[i].settings)},
                list, all);
}

static void gradcheck(program *p) {
    json_t *list = heed_config_bool(p->flags, "json") ? json_array() : NULL;
    tally all = {0};
    check_all(p, list, &all);
    if (all.count == 0)
        heed_fail(p->c, HEED_USAGE, "--op %s: matches no op, layer or model",
                  heed_config_text(p->flags, "op"));
    else if (list)
        print_json(p, json_pack("{s:s, s:f, s:i, s:i, s:O}", "real", exact ? "double" : "float",
                                "tolerance", tolerance(), "checked", all.count, "wrong", all.wrong,
                                "checks", list));
    else {
        printf("\n%d checked, %d wrong, worst %.2e; tolerance %.0e in %s\n", all.count, all.wrong,
               all.worst, tolerance(), exact ? "double" : "float");
        if (!exact) puts("exact to 1e-6 in double: make f64 && build/f64/heed gradcheck");
    }
    if (all.wrong && p->status == HEED_OK) p->status = HEED_FAILED;
    json_decref(list);
}

const command cmd_gradcheck = {
    .name = "gradcheck",
    .usage = "",
    .help = "check every gradient against central differences",
    .about = "Compares the backward of every op, layer and small model with central differences.\n"
             "The double build is the exact check: make f64 && build/f64/heed gradcheck",
    .examples = "  heed gradcheck\n"
                "  heed gradcheck --op 'attention*'\n",
    .options = options,
    .computes = true,
    .run = gradcheck,
};
