/* occlusion.c -- what a prediction loses when a part of the input is hidden. Zeiler & Fergus 2014,
 * sec. 4.2. */
#include "analyses/attribution.h"

#include "analyses/capture.h"
#include "kinds/eval_loop.h"
#include "kinds/pairs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is predicted ---- */

static int most_probable(const heed_real *row, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (row[i] > row[best]) best = i;
    return best;
}

bool has_questions(const subject *s) {
    return s->question_count > 0 ||
           heed_fail(s->run->c, HEED_DATA,
                     "nothing is predicted here: %.*s: expected [MASK] in the text; hint: write "
                     "[MASK] for a word",
                     (int)heed_label_cut(s->title, 60), s->title);
}

int question_class(const subject *s, const question *q, const heed_tensor *y) {
    if (s->target) return s->target[q->query];
    int n = y->shape[1];
    return most_probable(y->x + (size_t)q->row * (size_t)n, n);
}

/* p of a class, and ln p / (1 - p), from logits. */
static double probability(const heed_real *row, int n, int class, double *log_odds) {
    double top = -INFINITY, others = 0;
    for (int i = 0; i < n; i++)
        if (i != class) top = fmax(top, (double)row[i]);
    for (int i = 0; i < n; i++)
        if (i != class) others += exp((double)row[i] - top);
    *log_odds = n > 1 ? (double)row[class] - top - log(others) : INFINITY;
    return 1 / (1 + exp(-*log_odds));
}

/* ---- the answers with and without a part ---- */

typedef struct {
    int class;
    double p, log_odds;
} answer;

typedef struct {
    program *p;   /* that shows progress; NULL: nobody */
    subject seen; /* a copy whose ids and x may be changed */
    const subject *s;
    answer *answers; /* of each question, with everything in sight */
    int32_t *ids;
    heed_real *x;
    int keys;                   /* tokens of the axis that is hidden */
    double *change[2], *covers; /* (questions, keys) of p and of log-odds; (keys) times hidden */
} occlusion;

static heed_tensor *answers_now(const occlusion *o) {
    heed_tape *t = o->s->run->tape;
    heed_tape_begin(t, HEED_EVAL, 0);
    return subject_logits(&o->seen, t);
}

static bool answer_all(occlusion *o) {
    heed_unprobe(o->s->run->tape);
    const heed_tensor *y = answers_now(o);
    for (int i = 0; y && i < o->s->question_count; i++) {
        const question *q = &o->s->questions[i];
        answer *a = &o->answers[i];
        int n = y->shape[1];
        a->class = question_class(o->s, q, y);
        a->p = probability(y->x + (size_t)q->row * (size_t)n, n, a->class, &a->log_odds);
    }
    return y != NULL;
}

/* Adds the change to keys[0 .. count), which are hidden now. */
static bool count_hidden(occlusion *o, const int *keys, int count) {
    const heed_tensor *y = answers_now(o);
    for (int i = 0; y && i < o->s->question_count; i++) {
        const question *q = &o->s->questions[i];
        const answer *a = &o->answers[i];
        int n = y->shape[1];
        double log_odds, p;
        p = probability(y->x + (size_t)q->row * (size_t)n, n, a->class, &log_odds);
        for (int k = 0; k < count; k++) {
            o->change[0][i * o->keys + keys[k]] += a->p - p;
            o->change[1][i * o->keys + keys[k]] += a->log_odds - log_odds;
        }
    }
    for (int k = 0; y && k < count; k++) o->covers[keys[k]]++;
    return y != NULL;
}

/* ---- hiding tokens ---- */

static const heed_tokenizer *hidden_tokenizer(const subject *s) {
    return s->read ? source_tokenizer(s->run) : s->run->tokenizer;
}

/* What stands for a token that is hidden: [MASK] where the model has learned it, else [UNK], else
 * (bytes) a blank; of a blank, a full stop. */
static int32_t cover_of(const subject *s, int32_t id) {
    const heed_tokenizer *k = hidden_tokenizer(s);
    heed_specials x = heed_tokenizer_specials(k);
    if (s->run->model == &heed_model_mlm && x.mask >= 0) return x.mask;
    if (x.unk >= 0) return x.unk;
    int32_t blank = heed_token_id(k, " ");
    return id == blank ? heed_token_id(k, ".") : blank;
}

/* A vocabulary of characters has all that its text has: there [UNK] is a sign never learned. */
static void warn_of_cover(const subject *s) {
    const heed_tokenizer *k = hidden_tokenizer(s);
    int unknown = heed_tokenizer_specials(k).unk;
    if (unknown < 0 || strcmp(heed_tokenizer_kind(k), "char") != 0) return;
    if (s->count > 0 && cover_of(s, s->ids[0]) == unknown)
        heed_message(s->run->c, HEED_WARN,
                     "a hidden character is [UNK], which training hardly ever shows to a model of "
                     "characters: that may upset it more than what is missing");
}

static bool hide_tokens(occlusion *o) {
    const subject *s = o->s;
    if (o->p) warn_of_cover(s);
    for (int i = 0; i < s->count; i++) {
        int32_t cover = cover_of(s, s->ids[i]);
        if (cover < 0 || cover == s->ids[i]) continue;
        o->ids[i] = cover;
        if (!count_hidden(o, &i, 1)) return false;
        o->ids[i] = s->ids[i];
        if (o->p) eval_loop_progress(o->p, "hidden token", (uint64_t)i + 1, (uint64_t)s->count);
    }
    return true;
}

/* ---- hiding patches ---- */

/* Pixels of a patch become 0, which is the mean colour of the training pictures. */
static void blank_patch(const subject *s, heed_real *x, int patch) {
    const heed_record_axis *a = &s->axes[0];
    int size = s->view.size, side = size / a->rows, channels = s->view.channels;
    int top = patch / a->cols * side, left = patch % a->cols * side;
    for (int row = 0; row < side; row++) {
        size_t at = ((size_t)(top + row) * (size_t)size + (size_t)left) * (size_t)channels;
        memset(x + at, 0, (size_t)side * (size_t)channels * sizeof *x);
    }
}

void hide_patches(const subject *s, heed_real *x, const int *patches, int count) {
    for (int i = 0; i < count; i++) blank_patch(s, x, patches[i]);
}

/* The square of patches whose first one is at row, col. */
static bool hide_window(occlusion *o, int row, int col, int window, int *keys) {
    const subject *s = o->s;
    const heed_record_axis *a = &s->axes[0];
    size_t pixels = (size_t)s->view.size * (size_t)s->view.size * (size_t)s->view.channels;
    memcpy(o->x, s->x, pixels * sizeof *o->x);
    for (int i = 0; i < window * window; i++) {
        int patch = (row + i / window) * a->cols + col + i % window;
        blank_patch(s, o->x, patch);
        keys[i] = a->first + patch;
    }
    return count_hidden(o, keys, window * window);
}

static bool hide_windows(occlusion *o, int window) {
    const heed_record_axis *a = &o->s->axes[0];
    int down = a->rows - window + 1, right = a->cols - window + 1;
    if (down < 1 || right < 1)
        return heed_fail(o->s->run->c, HEED_USAGE, "--window %d: expected at most %d patches",
                         window, a->rows < a->cols ? a->rows : a->cols);
    int *keys = malloc((size_t)window * (size_t)window * sizeof *keys);
    bool ok = keys || heed_fail(o->s->run->c, HEED_FAILED, "no memory for a window");
    for (int i = 0; ok && i < down * right; i++) {
        ok = hide_window(o, i / right, i % right, window, keys);
        if (o->p)
            eval_loop_progress(o->p, "hidden patch", (uint64_t)i + 1, (uint64_t)(down * right));
    }
    free(keys);
    return ok;
}

/* ---- the maps ---- */

/* Values (Q,K) of the questions' rows; of what is said of the whole input, all rows. */
static heed_real *map_values(const occlusion *o, int which, int queries) {
    size_t n = (size_t)queries * (size_t)o->keys;
    heed_real *v = malloc((n + 1) * sizeof *v);
    for (size_t i = 0; v && i < n; i++) v[i] = (heed_real)NAN;
    for (int i = 0; v && i < o->s->question_count; i++) {
        int query = o->s->questions[i].query;
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
    int axis = o->s->read ? 1 : 0, queries = o->s->axes[axis].count;
    heed_stack stack = o->s->read                            ? HEED_CROSS
                       : o->s->run->model == &heed_model_gpt ? HEED_DECODER
                                                             : HEED_ENCODER;
    for (int i = 0; i < 2; i++) {
        heed_real *v = map_values(o, i, queries);
        bool ok = v || heed_fail(o->s->run->c, HEED_FAILED, "no memory for a map");
        ok = ok && heed_record_add_map(record, &(heed_record_map){.name = names[i],
                                                                  .help = helps[i],
                                                                  .layer = -1,
                                                                  .head = -1,
                                                                  .stack = stack,
                                                                  .queries = axis,
                                                                  .values = v}) >= 0;
        free(v);
        if (!ok) return false;
    }
    return true;
}

static bool occlusion_room(occlusion *o) {
    const subject *s = o->s;
    size_t questions = (size_t)s->question_count, keys = (size_t)s->axes[0].count;
    size_t pixels = (size_t)s->view.size * (size_t)s->view.size * (size_t)s->view.channels;
    o->keys = (int)keys;
    o->answers = calloc(questions + 1, sizeof *o->answers);
    o->change[0] = calloc(2 * questions * keys + 1, sizeof *o->change[0]);
    o->change[1] = o->change[0] ? o->change[0] + questions * keys : NULL;
    o->covers = calloc(keys, sizeof *o->covers);
    if (s->ids) o->ids = malloc(((size_t)s->count + 1) * sizeof *o->ids);
    if (s->x) o->x = malloc((pixels + 1) * sizeof *o->x);
    if (!o->answers || !o->change[0] || !o->covers || (s->ids && !o->ids) || (s->x && !o->x))
        return heed_fail(o->s->run->c, HEED_FAILED, "no memory to hide %zu tokens", keys);
    o->seen = *s;
    if (s->ids) o->seen.ids = memcpy(o->ids, s->ids, (size_t)s->count * sizeof *o->ids);
    if (s->x) o->seen.x = memcpy(o->x, s->x, pixels * sizeof *o->x);
    return true;
}

bool occlusion_add(program *p, const subject *s, const occlusion_wish *w, heed_record *record) {
    occlusion o = {.p = w->quiet ? NULL : p, .s = s};
    bool ok = has_questions(s) && occlusion_room(&o) && answer_all(&o);
    ok = ok && (s->x ? hide_windows(&o, w->window > 1 ? w->window : 1) : hide_tokens(&o));
    if (o.p) eval_loop_progress(p, "", 1, 1);
    ok = ok && heed_ctx_status(s->run->c) == HEED_OK && add_maps(&o, record);
    free(o.answers);
    free(o.change[0]);
    free(o.covers);
    free(o.ids);
    free(o.x);
    return ok;
}
