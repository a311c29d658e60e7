/* attend_view.c -- the choice of a record's weights that are shown: a layer, heads, a query. */
#include "commands/attend.h"

#include <limits.h>
#include <stdlib.h>

static bool no_token(const attend_view *v) {
    return heed_fail(v->p->c, HEED_USAGE, "--hide-special leaves no token to show");
}

/* Shows a head of `inputs` inputs, unless the user chose another. */
static void set_focus(attend_view *v, heed_focus focus, int inputs) {
    v->focus = focus;
    v->inputs = inputs;
    v->block = &v->record->blocks[focus.block];
    if (!v->chosen && v->query < 0) v->head = focus.head;
}

/* Compares the heads, of the layer that --layer chooses or of all in its stack. */
bool views_focus(attend_view *const *list, int count) {
    if (count == 0 || list[0]->record->axes[list[0]->block->keys].rows > 0) return true;
    const attend_view *v = list[0];
    heed_ctx *c = v->p->c;
    heed_focus found;
    const heed_record **records = allocate(c, (size_t)count, sizeof *records, "records");
    int *queries = allocate(c, (size_t)count, sizeof *queries, "records");
    for (int i = 0; records && queries && i < count; i++)
        records[i] = list[i]->record, queries[i] = list[i]->query;
    int layer = *flag_text(v->p, "layer") ? v->block->layer : -1;
    bool ok = records && queries;
    if (ok && heed_records_focus(records, queries, count, v->block->stack, layer, &found))
        for (int i = 0; i < count; i++) set_focus(list[i], found, count);
    free((void *)records);
    free(queries);
    return ok;
}

/* What is said of a text for which a masked model predicts nothing. */
static const char *without_mask(const heed_run *r) {
    if (!fills_masks(r->model)) return NULL;
    if (r->tokenizer) return "the text has no [MASK]; hint: write [MASK] for the word to guess";
    return "the run has no tokenizer, so that no id is known as [MASK]; hint: `import` the model's "
           "folder with its tokenizer.json or vocab.txt";
}

bool view_open(attend_view *v, program *p, const heed_run *r, const heed_record *record) {
    *v = (attend_view){.p = p,
                       .record = record,
                       .head = MEAN_HEAD,
                       .query = -1,
                       .key = -1,
                       .unmasked = without_mask(r),
                       .top = flag_int(p, "top"),
                       .numbers = flag_on(p, "numbers"),
                       .hide = flag_on(p, "hide-special"),
                       .mass = heed_config_real(p->flags, "mass")};
    const char *head = flag_text(p, "head");
    int block = chosen_block(p->c, r->model->name, p->flags, record->blocks, record->block_count);
    if (block < 0) return false;
    v->block = &record->blocks[block];
    v->chosen = *head;
    int count;
    heed_record_block *list = heed_attention_layers(r, &count);
    for (int i = 0; list && i < count; i++)
        if (list[i].stack == v->block->stack && list[i].layer >= v->layers)
            v->layers = list[i].layer + 1;
    free(list);
    const char *query = flag_text(p, "query");
    const heed_record_axis *a = &record->axes[v->block->queries],
                           *keys = &record->axes[v->block->keys];
    int most = keys->rows ? 1 : MOST_CHOSEN;
    int count_of_keys = chosen_key(p->c, flag_text(p, "key"), a, keys, most, v->several);
    if (count_of_keys > 0) v->key = v->several[0];
    v->count = count_of_keys ? count_of_keys : chosen_query(p->c, query, a, keys, most, v->several);
    if (v->count < 0) return false;
    if (!count_of_keys && v->count) v->query = v->several[0];
    static const char *const others[] = {"query", "rollout", "occlude", "gradient"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (flag_given(p, others[i]) && (v->key >= 0 || (i && v->count > 1)))
            return heed_fail(p->c, HEED_USAGE, "--%s%s and --%s: expected one of them",
                             v->key >= 0 ? "key" : "query", v->key >= 0 ? "" : " of several tokens",
                             others[i]);
    if (!views_focus(&v, 1)) return false;
    if (v->chosen && !chosen_head(p->c, head, v->block, &v->head)) return false;
    if (!*query && a->rows && a->first) v->query = 0, v->count = 1; /* of a picture, [CLS] */
    for (int k = 0; v->hide && k < 2; k++) {
        const heed_record_axis *side = k ? keys : a;
        int left = 0;
        for (int i = 0; i < side->count; i++) left += !side->special || !side->special[i];
        if (left == 0) return no_token(v);
    }
    return true;
}

const char *view_layer(const attend_view *v, char text[160]) {
    snprintf(text, 160, "%s, layer %d of %d%s", heed_stack_name(v->block->stack),
             v->block->layer + 1, v->layers, v->block->hard ? ", hard" : "");
    return text;
}

const char *focus_words(const attend_view *v, char text[FOCUS_SIZE]) {
    char inputs[40] = "", layers[40] = "";
    bool passed = v->focus.score < 0.5 && v->focus.positional < v->focus.score;
    if (v->models)
        snprintf(inputs, sizeof inputs, " over all runs");
    else if (v->inputs == 2)
        snprintf(inputs, sizeof inputs, " over both inputs");
    else if (v->inputs > 2)
        snprintf(inputs, sizeof inputs, " over all %d inputs", v->inputs);
    if (v->focus.count > v->block->heads)
        snprintf(layers, sizeof layers, " in %d layers", v->focus.count / v->block->heads);
    snprintf(text, FOCUS_SIZE, "most concentrated of %d heads%s%s%s", v->focus.count, layers,
             inputs, passed ? " except for those that follow positions" : "");
    return text;
}

const char *view_name(const attend_view *v, int head, char text[NAME_SIZE]) {
    char what[48], where[160], why[FOCUS_SIZE], of[FOCUS_SIZE + 4] = "";
    if (!v->chosen && head >= 0 && head == v->focus.head && v->focus.count > 1)
        snprintf(of, sizeof of, " (%s)", focus_words(v, why));
    snprintf(text, NAME_SIZE, "%.60s, %s%s", view_layer(v, where), head_words(v->block, head, what),
             of);
    return text;
}

const char *place_words(heed_ctx *c, const heed_record_axis *a, int at, char text[QUERY_SIZE]) {
    heed_text label = {.c = c};
    heed_label_text(a->labels[at], 40, &label);
    const char *own = label.s ? label.s : "";
    if (a->rows && at >= a->first)
        snprintf(text, QUERY_SIZE, "patch %s (row, column)", own);
    else if (a->rows)
        snprintf(text, QUERY_SIZE, "%s", own);
    else
        snprintf(text, QUERY_SIZE, "token %d, %s", at + 1, own);
    heed_text_free(&label);
    return text;
}

const char *query_words(const attend_view *v, int query, char text[QUERY_SIZE]) {
    return place_words(v->p->c, &v->record->axes[v->block->queries], query, text);
}

const char *chosen_words(const attend_view *v, char text[QUERY_SIZE]) {
    int axis = v->key >= 0 ? v->block->keys : v->block->queries;
    char one[QUERY_SIZE];
    size_t n = 0;
    for (int i = 0; i < v->count && n < QUERY_SIZE; i++)
        n += (size_t)snprintf(text + n, QUERY_SIZE - n, "%s%s", i ? ", and " : "",
                              place_words(v->p->c, &v->record->axes[axis], v->several[i], one));
    if (n >= QUERY_SIZE) snprintf(text, QUERY_SIZE, "%d tokens", v->count);
    return text;
}

/* ---- matrices ---- */

/* Indices of the tokens from `from` to before `end` that are not hidden; the caller frees them. */
static int *visible(const attend_view *v, int axis, int from, int end, int *count) {
    const heed_record_axis *a = &v->record->axes[axis];
    int *list = allocate(v->p->c, (size_t)a->count, sizeof *list, "tokens");
    *count = 0;
    for (int i = from; list && i < a->count && i < end; i++)
        if (!v->hide || !a->special || !a->special[i]) list[(*count)++] = i;
    return list;
}

static heed_real weight(const attend_view *v, int head, int query, int key) {
    const heed_record_block *b = v->block;
    size_t q = (size_t)v->record->axes[b->queries].count,
           k = (size_t)v->record->axes[b->keys].count;
    return fused_weight(b->weights, b->heads, q * k, head, (size_t)query * k + (size_t)key);
}

/* The columns are the tokens of an axis from `from` to before `end`. */
static bool open_matrix(const attend_view *v, shown *out, int rows, int axis, int from, int end) {
    out->col = visible(v, axis, from, end, &out->map.cols);
    heed_ctx *c = v->p->c;
    out->values = allocate(c, (size_t)rows * (size_t)out->map.cols, sizeof *out->values, "weights");
    out->row_labels = allocate(c, (size_t)rows, sizeof *out->row_labels, "rows");
    out->col_labels = allocate(c, (size_t)out->map.cols, sizeof *out->col_labels, "tokens");
    if (!out->col || !out->values || !out->row_labels || !out->col_labels) return false;
    for (int j = 0; j < out->map.cols; j++)
        out->col_labels[j] = v->record->axes[axis].labels[out->col[j]];
    out->map.rows = rows;
    out->map.values = out->values;
    out->map.row_labels = out->row_labels;
    out->map.col_labels = out->col_labels;
    out->map.numbers = v->numbers;
    return out->map.cols > 0 || no_token(v);
}

bool shown_matrix(const attend_view *v, int head, shown *out) {
    int rows;
    *out = (shown){.row = visible(v, v->block->queries, 0, INT_MAX, &rows)};
    bool ok = out->row && open_matrix(v, out, rows, v->block->keys, 0, INT_MAX);
    out->map.uniform = heed_record_uniform(v->record, v->block, -1);
    out->map.uniform_mean = v->block->causal;
    out->map.hi = scale_end(v, SCALE_LAYER);
    for (int i = 0; ok && i < rows; i++) {
        out->row_labels[i] = v->record->axes[v->block->queries].labels[out->row[i]];
        for (int j = 0; j < out->map.cols; j++)
            out->values[i * out->map.cols + j] = weight(v, head, out->row[i], out->col[j]);
    }
    return ok;
}

bool shown_token(const attend_view *v, shown *out) {
    const heed_record_block *b = v->block;
    bool mean = b->heads > 1 && !v->chosen, key = v->key >= 0;
    int rows = v->chosen ? 1 : b->heads + mean;
    *out = (shown){0};
    out->name = allocate(v->p->c, (size_t)rows, sizeof *out->name, "rows");
    int first = v->several[0], last = first;
    for (int i = 0; i < v->count; i++) {
        if (v->several[i] < first) first = v->several[i];
        if (v->several[i] > last) last = v->several[i];
        out->map.uniform +=
            heed_record_uniform(v->record, b, key ? -1 : v->several[i]) / (key ? 1 : v->count);
    }
    if (!out->name ||
        !open_matrix(v, out, rows, key ? b->queries : b->keys, key && b->causal ? first : 0,
                     !key && b->causal ? last + 1 : INT_MAX))
        return false;
    out->map.uniform_mean = key && b->causal;
    out->map.percent = key;
    if (key)
        out->map.unit = v->numbers ? "share of each token's attention (1 = 100 %)"
                                   : "percent of each token's attention";
    out->map.hi = scale_end(v, SCALE_LAYER);
    for (int i = 0; i < rows; i++) {
        int head = v->chosen ? v->head : i - mean;
        if (head >= 0)
            snprintf(out->name[i], sizeof *out->name, "head %d",
                     (b->head ? b->head[head] : head) + 1);
        else
            snprintf(out->name[i], sizeof *out->name, "%s", head == MAX_HEAD ? "largest" : "mean");
        out->row_labels[i] = out->name[i];
        for (int j = 0; j < out->map.cols; j++)
            for (int k = 0; k < v->count; k++)
                out->values[i * out->map.cols + j] +=
                    key ? weight(v, head, out->col[j], v->several[k])
                        : weight(v, head, v->several[k], out->col[j]) / (heed_real)v->count;
    }
    return true;
}

/* ---- scales ---- */

static const scale *find_scale(const scales *k, scale_of of, const heed_record_block *b) {
    for (int i = 0; k && i < k->count; i++) {
        const scale *s = &k->list[i];
        if (s->of == of && s->stack == b->stack && s->layer == b->layer) return s;
    }
    return NULL;
}

static void extend(scales *k, const attend_view *v, scale_of of, heed_real end) {
    const scale *same = find_scale(k, of, v->block);
    scale *more = same ? k->list : realloc(k->list, ((size_t)k->count + 1) * sizeof *more);
    if (!more) {
        heed_fail(v->p->c, HEED_FAILED, "no memory for %d scales", k->count + 1);
        return;
    }
    k->list = more;
    if (!same)
        more[k->count++] = (scale){of, v->block->stack, v->block->layer, end};
    else if (end > same->end)
        more[same - more].end = end;
}

void scales_add(scales *k, const attend_view *v) {
    if (v->record->axes[v->block->keys].rows > 0)
        extend(k, v, SCALE_PICTURE, attend_picture_end(v));
    else {
        extend(k, v, SCALE_LAYER, (heed_real)heed_record_scale(v->record, v->block));
        if (maps_drawable(v)) extend(k, v, SCALE_MAPS, maps_end(v));
    }
}

heed_real scale_end(const attend_view *v, scale_of of) {
    const scale *s = find_scale(v->scales, of, v->block);
    return s ? s->end : 0;
}

void shown_free(shown *m) {
    free(m->values);
    free(m->row_labels);
    free(m->col_labels);
    free(m->row);
    free(m->col);
    free(m->name);
    *m = (shown){0};
}
