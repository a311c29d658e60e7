/* gradcheck.c -- heed gradcheck: every backward function against central differences. */
#include "commands/workbench.h"

#include <string.h>

static const heed_option options[] = {
    {"op", HEED_OPTION_STRING, "*", 0, 0, NULL,
     "only ops, layers, optimizers and models of this name or pattern", "Check"},
    SWITCH("json", "print one JSON object", "Output"),
    {0}};

/* Differences in float reveal only large errors; the double-precision build is the exact check. */
static const bool exact = sizeof(heed_real) == sizeof(double);
static double tolerance(void) { return exact ? 1e-6 : 0.1; }

/* ---- models ---- */

typedef struct {
    workbench w;
    random_batch batch;
} trial;

static heed_tensor *trial_loss(void *user, heed_tape *t) {
    trial *x = user;
    return x->w.model->loss(x->w.self, t, &x->batch.b);
}

/* Initial parameters are small, and B of adapters is zero, so that some gradients would drown in
 * the rounding of the loss. */
static void move_parameters(heed_params *s) {
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        heed_random r = heed_random_at(1, e->name, 0, 0);
        bool moves = e->adapter || (exact && e->trained);
        for (size_t k = 0; moves && k < e->tensor->size; k++)
            e->tensor->x[k] += (heed_real)(0.2 * heed_random_normal(&r, k));
    }
}

static heed_check check_model(heed_ctx *c, const heed_model *m, const char *settings) {
    enum { SAMPLES = 24 }; /* elements checked of each parameter */
    trial x = {.w = {.c = c, .model = m, .f = workbench_config(c, m)}};
    heed_check k = {.error = -1};
    char key[32], value[32];
    int used;
    for (const char *s = settings; sscanf(s, " %31[^=]=%31s%n", key, value, &used) == 2; s += used)
        heed_config_set(x.w.f, key, value, "gradcheck", HEED_FROM_PRESET);
    bool open = workbench_open(&x.w);
    move_parameters(x.w.store);
    if (open && random_batch_make(&x.w, 0, &x.batch))
        k = heed_gradcheck_store(c, x.w.store, trial_loss, &x, SAMPLES);
    random_batch_free(&x.batch);
    workbench_close(&x.w);
    return k;
}

/* ---- table ---- */

typedef struct {
    program *p;
    json_t *list; /* NULL: rows are printed */
    int count, wrong;
    double worst;
} tally;

/* kind: "op", "layer", "optim" or "model" */
static void add(tally *all, const char *kind, const char *name, heed_check k) {
    bool passed = k.error >= 0 && k.error <= tolerance();
    if (all->list) {
        json_array_append_new(all->list, json_pack("{s:s, s:s, s:i, s:f, s:s, s:b}", "kind", kind,
                                                   "name", name, "cases", k.cases, "error", k.error,
                                                   "worst", k.worst, "ok", passed));
    } else {
        if (all->count == 0)
            printf("%-6s %-18s %5s  %11s\n", "kind", "name", "cases", "worst error");
        printf("%-6s %-18s %5d  %11.2e  %s%s%s\n", kind, name, k.cases, k.error,
               passed ? "ok" : "WRONG", passed ? "" : "  ", passed ? "" : k.worst);
        fflush(stdout);
    }
    program_complain(all->p);
    all->count++;
    all->wrong += !passed;
    if (k.error > all->worst) all->worst = k.error;
}

static void check_all(tally *all) {
    program *p = all->p;
    const char *pattern = flag_text(p, "op");
    for (const heed_op *const *family = heed_op_table(); *family; family++)
        for (const heed_op *op = *family; op->name; op++)
            if (heed_match(pattern, op->name)) add(all, "op", op->name, heed_gradcheck(p->c, op));
    for (const heed_layer_case *const *family = heed_layer_table(); *family; family++)
        for (const heed_layer_case *k = *family; k->name; k++)
            if (heed_match(pattern, k->name))
                add(all, "layer", k->name, heed_gradcheck_layer(p->c, k));
    for (const heed_optimizer *const *r = heed_optimizer_table(); *r; r++)
        if (heed_match(pattern, (*r)->name))
            add(all, "optim", (*r)->name, heed_optim_check(p->c, *r));
    for (const heed_model *const *m = p->models; *m; m++)
        for (const heed_model_case *k = (*m)->cases; k && k->settings; k++) {
            char title[64];
            snprintf(title, sizeof title, "%s%s%s", (*m)->name, *k->name ? " " : "", k->name);
            if (heed_match(pattern, title))
                add(all, "model", title, check_model(p->c, *m, k->settings));
        }
}

static void gradcheck(program *p) {
    tally all = {.p = p, .list = flag_on(p, "json") ? json_array() : NULL};
    check_all(&all);
    if (all.count == 0)
        heed_fail(p->c, HEED_USAGE, "--op %s: matches no op, layer, optimizer or model",
                  flag_text(p, "op"));
    else if (all.list)
        print_json(p, json_pack("{s:s, s:f, s:i, s:i, s:O}", "real", exact ? "double" : "float",
                                "tolerance", tolerance(), "checked", all.count, "wrong", all.wrong,
                                "checks", all.list));
    else {
        printf("\n%d checked, %d wrong, worst %.2e; tolerance %.0e in %s\n", all.count, all.wrong,
               all.worst, tolerance(), exact ? "double" : "float");
        if (!exact)
            printf("exact to 1e-6 in double: %s\n",
                   strcmp(message_name(), "heed") == 0
                       ? "make f64 && build/f64/heed gradcheck"
                       : "compile this program with -DHEED_F64 and link the libraries of "
                         "`make f64`");
    }
    if (all.wrong && p->status == HEED_OK) p->status = HEED_FAILED;
    json_decref(all.list);
}

const command cmd_gradcheck = {
    .name = "gradcheck",
    .usage = "",
    .help = "check every gradient against central differences",
    .about =
        "Compares the backward of every op, layer and small model with central differences, and\n"
        "every optimizer with the results of other implementations.\n"
        "The double build is the exact check: make f64 && build/f64/heed gradcheck (a program of\n"
        "your own: compiled with -DHEED_F64 and linked with its libraries)",
    .examples = "  heed gradcheck\n"
                "  heed gradcheck --op 'attention*'\n",
    .options = options,
    .computes = true,
    .run = gradcheck,
};
