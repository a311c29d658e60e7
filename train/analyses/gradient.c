/* gradient.c -- attention times the gradient of what was predicted. Chefer et al. 2021. */
#include "analyses/attribution.h"

#include "kinds/eval_loop.h"
#include "kinds/example.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A layer that is followed. Of a pair the tokens of source and target count as one sequence, in
 * which queries and keys begin at first_query and first_key. */
typedef struct {
    heed_record_block at;
    int heads, queries, keys, first_query, first_key;
    heed_real *values; /* (heads, Q, K): (A x dy/dA)+ of the question at hand */
} followed;

typedef struct {
    program *p; /* that shows progress; NULL: nobody */
    const heed_example *s;
    followed *layers; /* as a pass takes them */
    int count, tokens;
    heed_real *values; /* of all layers */
    double *row;       /* (tokens) twice: work */
} gradients;

static bool is_pair(const heed_example *s) { return s->read != NULL; }

static size_t size_of(const followed *l) {
    return (size_t)l->heads * (size_t)l->queries * (size_t)l->keys;
}

/* ---- one question ---- */

/* A pass whose attention weights get gradients. In a trace no parameter has one unless it is asked
 * for: the first one is, since all others' values depend on it, and with them all attention; and
 * the embeddings of a target where they are others than the source's. */
static heed_tensor *traced(const gradients *g) {
    const heed_run *r = g->s->run;
    bool steps = r->model == &heed_model_rnn;
    heed_unprobe(r->tape);
    heed_probe(r->tape, "*.weights", true);
    if (steps) heed_probe(r->tape, "decoder.attend.out", true);
    heed_tape_begin(r->tape, HEED_TRACE, 0);
    heed_want_grad(r->tape, heed_store_at(r->store, 0)->tensor);
    const heed_entry *target = heed_store_find(r->store, "embed.target.weight");
    if (target) heed_want_grad(r->tape, target->tensor);
    return heed_example_logits(g->s, r->tape);
}

static bool backward_from(const gradients *g, heed_tensor *y, const heed_question *q) {
    int n = y->shape[1], class = heed_example_class(g->s, q, y);
    heed_real *gy = calloc(y->size, sizeof *gy);
    if (!gy) return heed_fail(g->s->run->c, HEED_FAILED, "no memory for gradients");
    gy[(size_t)q->row * (size_t)n + (size_t) class] = 1;
    bool ok = heed_backward_from(g->s->run->tape, y, gy);
    free(gy);
    return ok;
}

static void positive_part(const heed_tensor *w, size_t n, heed_real *out) {
    for (size_t i = 0; i < n; i++) {
        heed_real product = w->g ? w->x[i] * w->g[i] : 0;
        out[i] = product > 0 ? product : 0;
    }
}

/* A recurrent decoder that is one op has the gradients of all its steps; else what each step
 * records under the layer's name ends with its weights, (1,1,S), after its scores where these are a
 * product.
 */
static bool take_steps(const gradients *g) {
    const heed_run *r = g->s->run;
    const followed *l = g->layers;
    const heed_tensor *all = heed_probe_find(r->tape, "decoder.attend.weights");
    size_t keys = (size_t)l->keys;
    int each = strcmp(heed_config_text(r->config, "attention"), "additive") == 0 ? 1 : 2, seen = 0;
    if (all && all->g && all->size == size_of(l)) {
        positive_part(all, all->size, l->values);
        return true;
    }
    for (int i = 0; i < heed_probe_count(r->tape) && seen < each * l->queries; i++) {
        const char *path;
        const heed_tensor *w = heed_probe_at(r->tape, i, &path);
        if (strcmp(path, "decoder.attend.out") != 0 || w->size != keys) continue;
        if (++seen % each == 0)
            positive_part(w, keys, l->values + (size_t)(seen / each - 1) * keys);
    }
    return seen == each * l->queries;
}

static bool take_layers(const gradients *g) {
    for (int i = 0; i < g->count; i++) {
        const followed *l = &g->layers[i];
        char path[80];
        snprintf(path, sizeof path, "%s.weights", l->at.path);
        const heed_tensor *w = heed_probe_find(g->s->run->tape, path);
        if (!w || w->size != size_of(l)) return false;
        positive_part(w, size_of(l), l->values);
    }
    return true;
}

static bool solve(const gradients *g, const heed_question *q) {
    heed_tensor *y = traced(g);
    bool ok = y && backward_from(g, y, q);
    bool taken = ok && (g->s->run->model == &heed_model_rnn ? take_steps(g) : take_layers(g));
    heed_unprobe(g->s->run->tape);
    return taken ||
           (ok && heed_fail(g->s->run->c, HEED_FAILED, "the model kept no attention weights"));
}

/* ---- over layers ---- */

static double summed(const followed *l, int query, int key) {
    double sum = 0;
    for (int h = 0; h < l->heads; h++)
        sum +=
            (double)l->values[((size_t)h * (size_t)l->queries + (size_t)query) * (size_t)l->keys +
                              (size_t)key];
    return sum;
}

/* The question's row of (I + G_L) .. (I + G_1) - I, into g->row; of the whole input, the mean of
 * all rows. */
static void follow(const gradients *g, int query) {
    double *now = g->row, *next = g->row + g->tokens;
    int n = g->tokens;
    for (int i = 0; i < n; i++) now[i] = query < 0 ? 1.0 / n : i == query;
    for (int i = g->count; i-- > 0;) {
        const followed *l = &g->layers[i];
        memcpy(next, now, (size_t)n * sizeof *next);
        for (int q = 0; q < l->queries; q++) {
            double share = now[l->first_query + q];
            for (int k = 0; share > 0 && k < l->keys; k++)
                next[l->first_key + k] += share * summed(l, q, k);
        }
        memcpy(now, next, (size_t)n * sizeof *now);
    }
    for (int i = 0; i < n; i++) now[i] -= query < 0 ? 1.0 / n : i == query;
}

/* ---- the maps ---- */

/* The question whose maps of single layers are kept. */
static int last_question(const heed_example *s, const gradient_wish *w) {
    bool asked = w->question >= 0 && w->question < s->question_count;
    return asked ? w->question : s->question_count - 1;
}

/* What the questions say of one axis of keys. */
typedef struct {
    heed_record_map map;
    int first, count;
    heed_real *values; /* (Q, K), NAN where nothing was asked */
} answer;

static bool add_model(heed_record *record, heed_record_map m) {
    m.help = "attention times the gradient of the prediction's logit, its positive part: where "
             "attending a little more would raise the logit";
    return heed_record_add_map(record, &m) >= 0;
}

/* Every row of a layer's map is of one question: what the map of the whole model is made of. */
static void layer_help(const heed_question *q, bool by_head, char help[240]) {
    char where[40] = "of the whole input";
    if (q->query >= 0) snprintf(where, sizeof where, "at row %d alone", q->query + 1);
    snprintf(help, 240,
             "of the prediction %s: attention times the gradient of its logit, its positive part, "
             "in this %s; the map of the whole model follows all layers",
             where, by_head ? "head" : "layer");
}

static bool add_layer(const gradients *g, const followed *l, const gradient_wish *w,
                      heed_record *record) {
    char help[240];
    layer_help(&g->s->questions[last_question(g->s, w)], w->by_head, help);
    const heed_record_block *b = &l->at;
    heed_record_map m = {.name = "gradient",
                         .help = help,
                         .layer = b->layer,
                         .head = -1,
                         .stack = b->stack,
                         .queries = b->queries,
                         .keys = b->keys};
    size_t square = (size_t)l->queries * (size_t)l->keys;
    for (int h = 0; w->by_head && h < l->heads; h++) {
        m.head = h;
        m.values = l->values + (size_t)h * square;
        if (heed_record_add_map(record, &m) < 0) return false;
    }
    if (w->by_head) return true;
    heed_real *sum = malloc(square * sizeof *sum);
    if (!sum) return heed_fail(g->s->run->c, HEED_FAILED, "no memory for a map");
    for (size_t i = 0; i < square; i++)
        sum[i] = (heed_real)summed(l, (int)(i / (size_t)l->keys), (int)(i % (size_t)l->keys));
    m.values = sum;
    bool ok = heed_record_add_map(record, &m) >= 0;
    free(sum);
    return ok;
}

static void take_row(const gradients *g, const heed_question *q, const answer *a) {
    const heed_example *s = g->s;
    int queries = s->axes[a->map.queries].count, from = q->query < 0 ? 0 : q->query,
        end = q->query < 0 ? queries : from + 1;
    for (int i = from; i < end; i++)
        for (int k = 0; k < a->count; k++)
            a->values[(size_t)i * (size_t)a->count + (size_t)k] = (heed_real)g->row[a->first + k];
}

/* The question of w comes last, so that its layers' values are at hand then. */
static bool ask_all(const gradients *g, const gradient_wish *w, const answer *answers, int count) {
    const heed_example *s = g->s;
    int last = last_question(s, w);
    for (int i = w->only ? s->question_count : 1; i <= s->question_count; i++) {
        const heed_question *q = &s->questions[(last + i) % s->question_count];
        if (!solve(g, q)) return false;
        follow(g, is_pair(s) ? s->axes[0].count + q->query : q->query);
        for (int k = 0; k < count; k++) take_row(g, q, &answers[k]);
        if (g->p) eval_loop_progress(g->p, "gradient", (uint64_t)i, (uint64_t)s->question_count);
    }
    return true;
}

/* Of a pair the source, and what the decoder read where it attends to that. */
static int list_answers(const gradients *g, answer out[2]) {
    const heed_example *s = g->s;
    bool pair = is_pair(s), causal = s->run->model == &heed_model_gpt;
    int sources = s->axes[0].count, count = 1;
    heed_record_map m = {.name = "gradient", .layer = -1, .head = -1};
    m.stack = pair ? HEED_CROSS : causal ? HEED_DECODER : HEED_ENCODER;
    m.queries = pair;
    out[0] = (answer){.map = m, .count = sources};
    if (pair && g->count > 1) {
        m.name = "gradient, target";
        m.stack = HEED_DECODER;
        m.queries = m.keys = 2;
        out[count++] = (answer){.map = m, .first = sources, .count = s->axes[2].count};
    }
    return count;
}

static bool answer_capacity(const gradients *g, answer *a) {
    size_t n = (size_t)g->s->axes[a->map.queries].count * (size_t)a->count;
    a->values = malloc(n * sizeof *a->values);
    for (size_t i = 0; a->values && i < n; i++) a->values[i] = (heed_real)NAN;
    a->map.values = a->values;
    return a->values || heed_fail(g->s->run->c, HEED_FAILED, "no memory for a map");
}

/* ---- the layers ---- */

/* A decoder layer attends to itself before it attends to the source. */
static int place_of(const heed_record_block *b) {
    return b->stack == HEED_ENCODER ? b->layer : 1000 + 2 * b->layer + (b->stack == HEED_CROSS);
}

static int by_place(const void *a, const void *b) {
    const followed *x = a, *y = b;
    return place_of(&x->at) - place_of(&y->at);
}

static int first_of(const heed_example *s, int axis) { return axis ? s->axes[0].count : 0; }

static bool find_layers(gradients *g) {
    const heed_example *s = g->s;
    heed_record_block *list = heed_attention_layers(s->run, &g->count);
    g->layers = list ? calloc((size_t)g->count, sizeof *g->layers) : NULL;
    size_t n = 0;
    for (int i = 0; g->layers && i < g->count; i++) {
        const heed_record_block *b = &list[i];
        g->layers[i] = (followed){.at = list[i],
                                  .heads = b->heads,
                                  .queries = s->axes[b->queries].count,
                                  .keys = s->axes[b->keys].count,
                                  .first_query = first_of(s, b->queries),
                                  .first_key = first_of(s, b->keys)};
        n += size_of(&g->layers[i]);
    }
    free(list);
    g->tokens = s->axes[0].count + (is_pair(s) ? s->axes[2].count : 0);
    g->values = g->layers ? calloc(n + 1, sizeof *g->values) : NULL;
    g->row = g->values ? calloc(2 * (size_t)g->tokens + 1, sizeof *g->row) : NULL;
    if (!g->row)
        return list != NULL && heed_fail(s->run->c, HEED_FAILED, "no memory for gradients");
    qsort(g->layers, (size_t)g->count, sizeof *g->layers, by_place);
    heed_real *at = g->values;
    for (int i = 0; i < g->count; at += size_of(&g->layers[i++])) g->layers[i].values = at;
    return true;
}

bool gradient_add(program *p, const heed_example *s, const gradient_wish *w, heed_record *record) {
    gradients g = {.p = w->quiet ? NULL : p, .s = s};
    answer answers[2] = {{.count = 0}};
    bool ok = has_questions(s) && find_layers(&g);
    int count = ok ? list_answers(&g, answers) : 0;
    for (int i = 0; ok && i < count; i++) ok = answer_capacity(&g, &answers[i]);
    ok = ok && ask_all(&g, w, answers, count);
    for (int i = 0; ok && i < count; i++) ok = add_model(record, answers[i].map);
    for (int i = 0; ok && i < g.count; i++) ok = add_layer(&g, &g.layers[i], w, record);
    if (g.p) eval_loop_progress(p, "", 1, 1);
    for (int i = 0; i < 2; i++) free(answers[i].values);
    free(g.layers);
    free(g.values);
    free(g.row);
    return ok;
}
