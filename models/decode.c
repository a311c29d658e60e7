/* decode.c -- from a source to a target, token by token: greedy, by sampling, or by beam search.
 * The beam shrinks as hypotheses end. Sutskever et al. 2014, sec. 3.2; Wu et al. 2016, sec. 7. */
#include "draw.h"
#include "pair.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BEAM = 64 };

/* A target so far; its state belongs to the model. */
typedef struct {
    heed_real *state;
    int32_t *ids; /* begin, then what was made */
    double score; /* log p */
} hypothesis;

/* A hypothesis and its next token. */
typedef struct {
    double score;
    int from;
    int32_t id;
} candidate;

typedef struct {
    const pair_model *m;
    heed_tape *t, *reading; /* of the steps; of the source */
    const pair_decoding *a;
    const int32_t *ids; /* the source, of n tokens */
    int n, count;
    heed_source source;
    size_t state; /* numbers of a hypothesis */
    hypothesis now[MOST_BEAM], next[MOST_BEAM];
    int live, width, made;
    candidate best[MOST_BEAM];
    int candidates;
    heed_real *states; /* memory of all hypotheses */
    int32_t *tokens;
    draw_choice *order;
    int32_t *out; /* the best that has ended, or at last the best of all */
    pair_target *about;
    double rank; /* its score by length */
} search;

/* ---- candidates ---- */

/* Keeps the `width` best, best first; the earlier one at ties. */
static void offer(search *s, double score, int from, int32_t id) {
    int at = s->candidates;
    if (at == s->width && !(score > s->best[at - 1].score)) return;
    if (at < s->width) s->candidates++;
    if (at == s->width) at--;
    for (; at > 0 && score > s->best[at - 1].score; at--) s->best[at] = s->best[at - 1];
    s->best[at] = (candidate){score, from, id};
}

/* log of the sum of exp(logits). */
static double log_sum(const heed_real *logits, int n) {
    double top = (double)logits[0], sum = 0;
    for (int i = 1; i < n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < n; i++) sum += exp((double)logits[i] - top);
    return top + log(sum);
}

/* Logits (V) of the token after hypothesis h; its state goes on. */
static const heed_real *logits_of(search *s, const hypothesis *h) {
    heed_tensor *y;
    heed_tape_begin(s->t, HEED_EVAL, 0);
    if (s->a->uncached)
        y = pair_logits(s->m, s->t, heed_ids(s->t, s->ids, 1, s->n), NULL,
                        heed_ids(s->t, h->ids, 1, s->made + 1));
    else
        y = s->m->steps->next(s->m, s->t, &s->source, h->state, s->made,
                              heed_ids(s->t, &h->ids[s->made], 1, 1));
    return y ? y->x + y->size - s->m->vocab : NULL;
}

static bool expand(search *s, int from) {
    const hypothesis *h = &s->now[from];
    const pair_decoding *a = s->a;
    int vocab = s->m->vocab;
    const heed_real *logits = logits_of(s, h);
    if (!logits) return false;
    double sum = log_sum(logits, vocab);
    if (a->temperature > 0) {
        heed_random r = heed_random_at(a->seed, "translate", (uint64_t)s->made, a->sample);
        draw_rule rule = {a->temperature, a->top_k, a->top_p};
        int32_t id = draw_token(rule, logits, vocab, r, s->order);
        offer(s, h->score + (double)logits[id] - sum, from, id);
        return true;
    }
    for (int32_t id = 0; id < vocab; id++) offer(s, h->score + (double)logits[id] - sum, from, id);
    return true;
}

/* ---- hypotheses ---- */

static double ranked(const search *s, double score, int len) {
    return score / pow((5 + len) / 6.0, s->a->length_penalty);
}

/* A target is done: it is the result if it is the best so far. */
static void finish(search *s, const hypothesis *h, double score, bool ended) {
    double rank = ranked(s, score, s->made + ended);
    if (!(rank > s->rank)) return;
    s->rank = rank;
    *s->about = (pair_target){s->made, ended, score};
    memcpy(s->out, h->ids + 1, (size_t)s->made * sizeof *s->out);
}

static void follow(search *s, candidate c) {
    hypothesis *h = &s->next[s->live++];
    const hypothesis *from = &s->now[c.from];
    h->score = c.score;
    memcpy(h->state, from->state, s->state * sizeof *h->state);
    memcpy(h->ids, from->ids, (size_t)(s->made + 1) * sizeof *h->ids);
    h->ids[s->made + 1] = c.id;
}

/* From every hypothesis one token on. */
static bool advance(search *s) {
    s->candidates = 0;
    for (int i = 0; i < s->live; i++)
        if (!expand(s, i)) return false;
    s->live = 0;
    for (int i = 0; i < s->candidates; i++) {
        candidate c = s->best[i];
        if (c.id == s->a->end) {
            finish(s, &s->now[c.from], c.score, true);
            s->width--;
        } else
            follow(s, c);
    }
    s->made++;
    for (int i = 0; i < s->live; i++) {
        hypothesis swapped = s->now[i];
        s->now[i] = s->next[i];
        s->next[i] = swapped;
    }
    return true;
}

/* No longer target of what is left can be better: log p only falls, and the largest length divides
 * it by the most. */
static bool hopeless(const search *s) {
    return s->live == 0 || ranked(s, s->now[0].score, s->count + 1) <= s->rank;
}

static bool run(search *s) {
    while (s->made < s->count && !hopeless(s))
        if (!advance(s)) return false;
    for (int i = 0; i < s->live; i++) finish(s, &s->now[i], s->now[i].score, false);
    return true;
}

/* ---- memory ---- */

static bool check(const pair_model *m, heed_tape *t, size_t n, const pair_decoding *a) {
    heed_ctx *c = heed_tape_ctx(t);
    if (!t || heed_ctx_status(c) != HEED_OK) return false;
    if (n < 1 || n > (size_t)m->len)
        return heed_fail(c, HEED_USAGE,
                         "source has no fitting length: translate: expected 1 to %d tokens, found "
                         "%zu; hint: a model with a larger --block",
                         m->len, n);
    if (a->beam < 0 || a->beam > MOST_BEAM || (a->beam > 1 && a->temperature > 0))
        return heed_fail(c, HEED_USAGE,
                         "beam does not fit: translate: expected 1 to %d hypotheses, and one when "
                         "sampling, found %d with temperature %g",
                         MOST_BEAM, a->beam, a->temperature);
    if (!(a->length_penalty >= 0) || a->count < 0)
        return heed_fail(c, HEED_USAGE,
                         "setting is out of range: translate: expected a length penalty and a "
                         "count of at least 0, found %g and %d",
                         a->length_penalty, a->count);
    return true;
}

static bool read_source(search *s) {
    if (s->a->uncached) return true;
    heed_tape_begin(s->reading, HEED_EVAL, 0);
    if (!s->m->steps->read(s->m, s->reading, heed_ids(s->reading, s->ids, 1, s->n), &s->source))
        return false;
    s->state = s->m->steps->state(s->m, &s->source);
    return true;
}

static bool prepare(search *s) {
    size_t width = (size_t)s->width, capacity = (size_t)s->count + 1, state = s->state;
    s->states = malloc((2 * width * state + 1) * sizeof *s->states);
    s->tokens = malloc(2 * width * capacity * sizeof *s->tokens);
    s->order = malloc((size_t)s->m->vocab * sizeof *s->order);
    if (!s->states || !s->tokens || !s->order)
        return heed_fail(heed_tape_ctx(s->t), HEED_FAILED, "no memory left: translate");
    for (size_t i = 0; i < width; i++) {
        s->now[i] = (hypothesis){s->states + 2 * i * state, s->tokens + 2 * i * capacity, 0};
        s->next[i] = (hypothesis){s->now[i].state + state, s->now[i].ids + capacity, 0};
    }
    s->now->ids[0] = s->a->begin;
    if (s->m->steps->start && state) s->m->steps->start(s->m, &s->source, s->now->state);
    return true;
}

bool pair_translate(const void *self, heed_tape *t, const int32_t *source, size_t n,
                    const pair_decoding *a, int32_t *out, pair_target *about) {
    const pair_model *m = self;
    if (!check(m, t, n, a)) return false;
    search s = {.m = m, .t = t, .a = a, .ids = source, .n = (int)n, .out = out, .about = about};
    s.count = a->count && a->count < m->len ? a->count : m->len;
    s.width = a->beam > 1 ? a->beam : 1;
    s.live = 1;
    s.rank = -INFINITY;
    *about = (pair_target){0};
    s.reading = heed_tape_new(heed_tape_ctx(t));
    bool good = read_source(&s) && prepare(&s) && run(&s);
    heed_tape_free(s.reading);
    free(s.states);
    free(s.tokens);
    free(s.order);
    return good;
}
