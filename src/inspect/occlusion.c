/* occlusion.c -- how a prediction changes when a part of the input is hidden. Zeiler & Fergus 2014,
 * sec. 4.2. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <math.h>
#include <string.h>

/* p of a class, and ln p / (1 - p), from logits; for a single output, both are its value. */
static double probability(const heed_real *row, int n, int class, double *log_odds) {
    double top = -INFINITY, others = 0;
    if (n == 1) return *log_odds = (double)row[0];
    for (int i = 0; i < n; i++)
        if (i != class) top = fmax(top, (double)row[i]);
    for (int i = 0; i < n; i++)
        if (i != class) others += exp((double)row[i] - top);
    *log_odds = (double)row[class] - top - log(others);
    return 1 / (1 + exp(-*log_odds));
}

/* ---- predictions with and without a part ---- */

typedef struct {
    int class;
    double p, log_odds;
} answer;

typedef struct {
    const heed_run *r;
    const heed_example *e;
    heed_occlusion_args args;
    int32_t *ids; /* copies of the example's, of which parts are hidden */
    heed_real *x;
    answer *answers;            /* per question, with nothing hidden */
    int keys;                   /* tokens of the axis to hide */
    double *change[2], *covers; /* (questions, keys) for p and log-odds; (keys) times hidden */
} occlusion;

/* The row of logits of a question. */
static const heed_real *row_of(const heed_tensor *y, const heed_example_question *q) {
    return y->x + (size_t)q->row * (size_t)y->shape[1];
}

static const heed_tensor *pass(const occlusion *o) {
    return heed__run_example(o->r, o->e, &(heed__passing){.ids = o->ids, .x = o->x});
}

static bool answer_all(const occlusion *o) {
    const heed_tensor *y = pass(o);
    for (int i = 0; y && i < o->e->question_count; i++) {
        const heed_example_question *q = &o->e->questions[i];
        answer *a = &o->answers[i];
        a->class = heed__class_of(o->r, o->e, q, y);
        a->p = probability(row_of(y, q), y->shape[1], a->class, &a->log_odds);
    }
    return y != NULL;
}

/* Adds the change to keys[0 .. count), which are currently hidden. */
static bool count_hidden(const occlusion *o, const int *keys, int count) {
    const heed_tensor *y = pass(o);
    for (int i = 0; y && i < o->e->question_count; i++) {
        const answer *a = &o->answers[i];
        double log_odds;
        double p = probability(row_of(y, &o->e->questions[i]), y->shape[1], a->class, &log_odds);
        for (int k = 0; k < count; k++) {
            o->change[0][i * o->keys + keys[k]] += a->p - p;
            o->change[1][i * o->keys + keys[k]] += a->log_odds - log_odds;
        }
    }
    for (int k = 0; y && k < count; k++) o->covers[keys[k]]++;
    return y != NULL;
}

static bool advance(const occlusion *o, int done, int all) {
    return heed__progress(o->r->c, o->args.progress, o->args.user, done, all);
}

/* ---- hiding ---- */

/* The token that replaces a hidden one: [MASK] if the model has learned it, else [UNK], else
 * (bytes) a blank, or a full stop for a blank. */
static int32_t cover_of(const heed_run *r, const heed_tokenizer *k, int32_t id) {
    heed_specials x = heed_tokenizer_specials(k);
    if (heed_model_data(r->model)->mask && x.mask >= 0) return x.mask;
    if (x.unk >= 0) return x.unk;
    int32_t blank = heed_token_id(k, " ");
    return id == blank ? heed_token_id(k, ".") : blank;
}

/* A vocabulary of characters contains every character of its text, so [UNK] is never learned. */
static bool hide_tokens(const occlusion *o) {
    const heed_run *r = o->r;
    const heed_tokens *text = &o->e->text.tokens;
    const heed_tokenizer *k = o->e->read && r->source ? r->source : r->tokenizer;
    int unknown = heed_tokenizer_specials(k).unk;
    bool characters = unknown >= 0 && strcmp(heed_tokenizer_kind(k), "char") == 0;
    if (characters && cover_of(r, k, text->ids[0]) == unknown)
        heed_message(r->c, HEED_WARN,
                     "characters are hidden by [UNK], which a model of characters hardly ever sees "
                     "in training: part of the effect may come from [UNK] itself instead of from "
                     "the missing character");
    for (int i = 0; i < (int)text->count; i++) {
        int32_t cover = cover_of(r, k, text->ids[i]);
        if (cover < 0 || cover == text->ids[i]) continue;
        o->ids[i] = cover;
        if (!count_hidden(o, &i, 1)) return false;
        o->ids[i] = text->ids[i];
        if (!advance(o, i + 1, (int)text->count)) return false;
    }
    return true;
}

static size_t numbers_of(const heed_example *e) {
    size_t n = e->x != NULL;
    for (int i = 0; i < e->dims; i++) n *= (size_t)e->shape[i];
    return n;
}

static bool hide_positions(const occlusion *o) {
    size_t each = numbers_of(o->e) / (size_t)o->keys;
    for (int i = 0; i < o->keys; i++) {
        size_t at = (size_t)i * each;
        memset(o->x + at, 0, each * sizeof *o->x);
        if (!count_hidden(o, &i, 1) || !advance(o, i + 1, o->keys)) return false;
        memcpy(o->x + at, o->e->x + at, each * sizeof *o->x);
    }
    return true;
}

static void hide_patch(const heed_example *e, heed_real *x, int patch) {
    const heed_record_axis *a = &e->axes[0];
    int height = e->shape[1] / a->rows, width = e->shape[2] / a->cols, channels = e->shape[3];
    int top = patch / a->cols * height, left = patch % a->cols * width;
    for (int row = 0; row < height; row++) {
        size_t at = ((size_t)(top + row) * (size_t)e->shape[2] + (size_t)left) * (size_t)channels;
        memset(x + at, 0, (size_t)width * (size_t)channels * sizeof *x);
    }
}

void heed__hide_patches(const heed_example *e, heed_real *x, const int *patches, int count) {
    for (int i = 0; i < count; i++) hide_patch(e, x, patches[i]);
}

/* Squares of patches, the first of which is at each place of the grid where one fits. */
static bool hide_windows(const occlusion *o) {
    const heed_record_axis *a = &o->e->axes[0];
    int window = o->args.window > 1 ? o->args.window : 1;
    int down = a->rows - window + 1, right = a->cols - window + 1;
    if (down < 1 || right < 1)
        return heed_fail(o->r->c, HEED_USAGE, "`window` %d: expected at most %d patches", window,
                         a->rows < a->cols ? a->rows : a->cols);
    int square = window * window;
    int *keys = heed__alloc_array(o->r->c, (size_t)square, sizeof *keys);
    bool ok = keys != NULL;
    for (int at = 0; ok && at < down * right; at++) {
        memcpy(o->x, o->e->x, numbers_of(o->e) * sizeof *o->x);
        for (int i = 0; i < square; i++) {
            int patch = (at / right + i / window) * a->cols + at % right + i % window;
            hide_patch(o->e, o->x, patch);
            keys[i] = a->first + patch;
        }
        ok = count_hidden(o, keys, square) && advance(o, at + 1, down * right);
    }
    heed__free(keys);
    return ok;
}

static bool hide_all(const occlusion *o) {
    const heed_run *r = o->r;
    const heed_example *e = o->e;
    if (!e->x) return hide_tokens(o);
    if (e->axis_count == 0 || (e->dims == 4 && !e->axes[0].rows))
        return heed_fail(r->c, HEED_USAGE,
                         "the model has no positions to hide: %s: expected one of patches",
                         r->model->name);
    return e->axes[0].rows ? hide_windows(o) : hide_positions(o);
}

/* ---- the maps ---- */

/* Values (Q,K) in the questions' rows; a prediction about the entire input fills all rows. */
static heed_real *map_values(const occlusion *o, int which, int queries) {
    size_t n = (size_t)queries * (size_t)o->keys;
    heed_real *v = heed__alloc_array(o->r->c, n + 1, sizeof *v);
    for (size_t i = 0; v && i < n; i++) v[i] = (heed_real)NAN;
    for (int i = 0; v && i < o->e->question_count; i++) {
        int query = o->e->questions[i].query;
        for (int row = query < 0 ? 0 : query; row < (query < 0 ? queries : query + 1); row++)
            for (int k = 0; k < o->keys; k++)
                if (o->covers[k] > 0)
                    v[row * o->keys + k] =
                        (heed_real)(o->change[which][i * o->keys + k] / o->covers[k]);
    }
    return v;
}

static bool add_maps(const occlusion *o, heed_record *record) {
    static const char *const names[] = {"occlusion", "occlusion, log-odds"};
    static const char *const helps[] = {
        "by how much the probability of the prediction falls when this part of the input is "
        "hidden; negative: it rises",
        "by how much ln p / (1 - p) of the prediction falls when this part of the input is hidden; "
        "negative: it rises"};
    int axis = o->e->read ? 1 : 0;
    for (int i = 0; i < 2; i++) {
        heed_real *v = map_values(o, i, o->e->axes[axis].count);
        heed_record_map m = {.name = names[i],
                             .help = helps[i],
                             .layer = -1,
                             .head = -1,
                             .stack = heed__example_stack(o->r, o->e),
                             .queries = axis,
                             .values = v};
        bool ok = v && heed_record_add_map(record, &m) >= 0;
        heed__free(v);
        if (!ok) return false;
    }
    return true;
}

static bool open_occlusion(occlusion *o) {
    heed_ctx *c = o->r->c;
    size_t questions = (size_t)o->e->question_count, keys = (size_t)o->e->axes[0].count;
    size_t tokens = o->e->text.tokens.count, numbers = numbers_of(o->e);
    o->keys = (int)keys;
    o->answers = heed__alloc_array(c, questions, sizeof *o->answers);
    o->change[0] = heed__alloc_array(c, 2 * questions * keys, sizeof *o->change[0]);
    o->change[1] = o->change[0] ? o->change[0] + questions * keys : NULL;
    o->covers = heed__alloc_array(c, keys, sizeof *o->covers);
    if (tokens) o->ids = heed__alloc_array(c, tokens, sizeof *o->ids);
    if (numbers) o->x = heed__alloc_array(c, numbers, sizeof *o->x);
    if (heed_ctx_status(c) != HEED_OK) return false;
    if (tokens) memcpy(o->ids, o->e->text.tokens.ids, tokens * sizeof *o->ids);
    if (numbers) memcpy(o->x, o->e->x, numbers * sizeof *o->x);
    return true;
}

bool heed_occlusion_add(const heed_run *r, const heed_example *e, const heed_occlusion_args *args,
                        heed_record *record) {
    if (!heed__inspectable(r, e)) return false;
    occlusion o = {.r = r, .e = e};
    if (args) o.args = *args;
    bool ok = heed__has_questions(r, e) && open_occlusion(&o) && answer_all(&o) && hide_all(&o) &&
              heed_ctx_status(r->c) == HEED_OK && add_maps(&o, record);
    heed__free(o.answers);
    heed__free(o.change[0]);
    heed__free(o.covers);
    heed__free(o.ids);
    heed__free(o.x);
    return ok;
}
