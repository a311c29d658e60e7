/* decode.c -- generates tokens one by one through a model's step interface: greedily, by sampling,
 * or by beam search, whose beam shrinks as hypotheses end. */
#include "core/core.h"

#include <heed/decode.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BEAM = 64 };

/* ---- one token: top-k, then the nucleus of what is left. Holtzman et al. 2020, sec. 3.1 ---- */

typedef struct {
    double p;
    int32_t id;
} choice;

static int by_probability(const void *a, const void *b) {
    const choice *x = a, *y = b;
    if (x->p != y->p) return x->p > y->p ? -1 : 1;
    return (x->id > y->id) - (x->id < y->id);
}

/* Probabilities exp((logit - largest) / temperature), most probable first; returns the sum. */
static double weigh(const heed_generation *a, choice *order, const heed_real *logits, int n) {
    double top = (double)logits[0], sum = 0;
    for (int i = 1; i < n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < n; i++)
        order[i] = (choice){exp(((double)logits[i] - top) / a->temperature), i};
    for (int i = 0; i < a->never_count; i++)
        if (a->never[i] >= 0 && a->never[i] < n) order[a->never[i]].p = 0;
    for (int i = 0; i < n; i++) sum += order[i].p;
    qsort(order, (size_t)n, sizeof *order, by_probability);
    return sum;
}

/* One of n tokens by the temperature, top_k and top_p of a; ties by lowest id. order: (n) */
static int32_t draw(const heed_generation *a, const heed_real *logits, int n, heed_random r,
                    choice *order) {
    if (a->temperature <= 0) {
        int32_t best = 0;
        for (int32_t i = 1; i < n; i++)
            if (logits[i] > logits[best]) best = i;
        return best;
    }
    double sum = weigh(a, order, logits, n);
    int keep = a->top_k > 0 && a->top_k < n ? a->top_k : n;
    if (keep < n) {
        sum = 0;
        for (int i = 0; i < keep; i++) sum += order[i].p;
    }
    if (a->top_p > 0 && a->top_p < 1) {
        double part = 0, goal = a->top_p * sum;
        int k = 0;
        while (k < keep && part < goal) part += order[k++].p;
        keep = k;
        sum = part;
    }
    double left = heed_random_uniform(&r, 0) * sum;
    for (int i = 0; i < keep - 1; i++) {
        if (left < order[i].p) return order[i].id;
        left -= order[i].p;
    }
    return order[keep > 0 ? keep - 1 : 0].id;
}

/* ---- hypotheses ---- */

/* A partial output; the model defines its state. */
typedef struct {
    heed_real *state;
    int32_t *ids; /* the prompt, then the generated tokens */
    double score; /* log p of the generated tokens */
} hypothesis;

/* A hypothesis and its next token. */
typedef struct {
    double score;
    int from;
    int32_t id;
} candidate;

typedef struct {
    const heed_model *m;
    const void *self;
    heed_tape *t, *reading; /* for the steps; for the source */
    const heed_generation *a;
    int length, count;
    heed_source read;
    const heed_source *source; /* the encoded source; NULL: the model reads none */
    size_t state;              /* numbers in a hypothesis's state */
    hypothesis now[MOST_BEAM], next[MOST_BEAM];
    int live, width, made;
    candidate best[MOST_BEAM];
    int candidates;
    bool stopped, found;
    heed_real *states; /* memory of all hypotheses */
    int32_t *tokens;
    choice *order; /* (V), allocated at the first draw */
    int32_t *out;  /* the best that has ended, or finally the best of all */
    heed_generated *about;
    double rank; /* its score divided by the length penalty */
} search;

/* ---- candidates ---- */

/* Keeps the `width` best, best first; at ties the earlier one. */
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

static bool reads_picture(const heed_model *m) { return m->kind == HEED_INPUT_CAPTION; }

/* The source as the model reads it: ids (1,S) or a picture (1,size,size,channels). */
static heed_tensor *source_on(const search *s, heed_tape *t) {
    const heed_generation *a = s->a;
    int size = a->picture_size;
    return reads_picture(s->m)
               ? heed_input(t, a->picture, 4, (int[]){1, size, size, a->picture_channels})
               : heed_ids(t, a->source, 1, (int)a->source_count);
}

/* Logits whose last row predicts the token after hypothesis h; advances its state. Beyond the
 * model's length every position shifts, so the entire window is recomputed. */
static heed_tensor *logits_of(search *s, const hypothesis *h) {
    size_t total = s->a->prompt_count + (size_t)s->made, length = (size_t)s->length;
    bool fits = total <= length;
    heed_tape_begin(s->t, HEED_EVAL, 0);
    if (fits && !s->a->uncached) {
        size_t seen = s->made ? total - 1 : 0;
        heed_tensor *ids = heed_ids(s->t, h->ids + seen, 1, (int)(total - seen));
        return s->m->steps->next(s->self, s->t, s->source, h->state, (int)seen, ids);
    }
    size_t from = fits ? 0 : total - length;
    heed_tensor *ids = heed_ids(s->t, h->ids + from, 1, (int)(total - from));
    heed_model_input in = {.x = ids};
    if (s->m->steps->read) {
        in.x = source_on(s, s->t);
        in.target = ids;
    }
    return s->m->logits(s->self, s->t, &in);
}

/* The draws of a text are numbered by all its tokens, those of a target by the generated tokens. */
static heed_random draws(const search *s) {
    const heed_generation *a = s->a;
    if (s->m->steps->read)
        return heed_random_at(a->seed, "translate", (uint64_t)s->made, a->sample);
    return heed_random_at(a->seed, "sample", a->prompt_count + (uint64_t)s->made, a->sample);
}

static bool expand(search *s, int from) {
    const hypothesis *h = &s->now[from];
    const heed_tensor *y = logits_of(s, h);
    if (!y) return false;
    int vocab = y->shape[y->dims - 1];
    const heed_real *logits = y->x + y->size - vocab;
    double sum = log_sum(logits, vocab);
    if (s->a->beam <= 1) {
        heed_ctx *c = heed_tape_ctx(s->t);
        if (!s->order) s->order = heed__alloc(c, (size_t)vocab * sizeof *s->order);
        if (!s->order) return false;
        int32_t id = draw(s->a, logits, vocab, draws(s), s->order);
        offer(s, h->score + (double)logits[id] - sum, from, id);
        return true;
    }
    for (int32_t id = 0; id < vocab; id++) offer(s, h->score + (double)logits[id] - sum, from, id);
    return true;
}

/* ---- search ---- */

static double ranked(const search *s, double score, int count) {
    return score / pow((5 + count) / 6.0, s->a->length_penalty);
}

/* Completes an output, which becomes the result if it is the best so far. */
static void finish(search *s, const hypothesis *h, double score, bool ended) {
    double rank = ranked(s, score, s->made + ended);
    if (s->found && !(rank > s->rank)) return;
    s->found = true;
    s->rank = rank;
    *s->about = (heed_generated){s->made, ended, score};
    if (s->out) memcpy(s->out, h->ids + s->a->prompt_count, (size_t)s->made * sizeof *s->out);
}

/* A single hypothesis continues in its own memory; one of several may have several successors. */
static void follow(search *s, candidate c) {
    hypothesis *from = &s->now[c.from], *h = from;
    size_t at = s->a->prompt_count + (size_t)s->made;
    if (s->a->beam > 1) {
        h = &s->next[s->live];
        memcpy(h->state, from->state, s->state * sizeof *h->state);
        memcpy(h->ids, from->ids, at * sizeof *h->ids);
    }
    s->live++;
    h->score = c.score;
    h->ids[at] = c.id;
}

/* Extends every hypothesis by one token. */
static bool advance(search *s) {
    s->candidates = 0;
    for (int i = 0; i < s->live; i++)
        if (!expand(s, i)) return false;
    s->live = 0;
    for (int i = 0; i < s->candidates; i++) {
        candidate c = s->best[i];
        if (s->a->has_end && c.id == s->a->end) {
            finish(s, &s->now[c.from], c.score, true);
            s->width--;
        } else
            follow(s, c);
    }
    s->made++;
    for (int i = 0; i < s->live && s->a->beam > 1; i++) {
        hypothesis swapped = s->now[i];
        s->now[i] = s->next[i];
        s->next[i] = swapped;
    }
    if (s->live && s->a->beam <= 1 && s->a->token)
        s->stopped = !s->a->token(s->a->user, s->best[0].id);
    return true;
}

/* True if no continuation can be better than the best: log p only falls, and the greatest length
 * has the greatest divisor. */
static bool is_hopeless(const search *s) {
    return s->live == 0 || (s->found && ranked(s, s->now[0].score, s->count + 1) <= s->rank);
}

static bool run(search *s) {
    while (s->made < s->count && !s->stopped && !is_hopeless(s))
        if (!advance(s)) return false;
    for (int i = 0; i < s->live; i++) finish(s, &s->now[i], s->now[i].score, false);
    return true;
}

/* ---- checks and memory ---- */

static bool check_source(const search *s) {
    const heed_generation *a = s->a;
    heed_ctx *c = heed_tape_ctx(s->t);
    if (reads_picture(s->m))
        return (a->picture && a->picture_size > 0 && a->picture_channels > 0) ||
               heed_fail(c, HEED_USAGE, "picture is missing: expected one as in batches");
    return (a->source_count >= 1 && a->source_count <= (size_t)s->length) ||
           heed_fail(c, HEED_USAGE,
                     "length of the source is wrong: expected 1 to %d tokens, found %zu; hint: a "
                     "model with a larger block",
                     s->length, a->source_count);
}

static bool check(search *s) {
    const heed_generation *a = s->a;
    heed_ctx *c = heed_tape_ctx(s->t);
    bool reads = s->m->steps && s->m->steps->read;
    if (!s->m->steps)
        return heed_fail(c, HEED_USAGE, "model %s does not generate output step by step",
                         s->m->name);
    s->length = s->m->steps->length(s->self);
    if (reads && !check_source(s)) return false;
    if (a->prompt_count < 1 || a->count < 0)
        return heed_fail(c, HEED_USAGE,
                         "nothing to continue: expected a prompt of at least one token and a count "
                         "of at least 0, found %zu and %d",
                         a->prompt_count, a->count);
    if (a->beam < 0 || a->beam > MOST_BEAM || (a->beam > 1 && a->temperature > 0))
        return heed_fail(c, HEED_USAGE,
                         "beam width is wrong: expected 1 to %d hypotheses, and one when sampling, "
                         "found %d with temperature %g",
                         MOST_BEAM, a->beam, a->temperature);
    return a->length_penalty >= 0 ||
           heed_fail(c, HEED_USAGE, "length penalty is out of range: expected at least 0, found %g",
                     a->length_penalty);
}

static bool read_source(search *s) {
    const heed_steps *steps = s->m->steps;
    if (s->a->uncached) return true;
    if (steps->read) {
        heed_tape_begin(s->reading, HEED_EVAL, 0);
        if (!steps->read(s->self, s->reading, source_on(s, s->reading), &s->read)) return false;
        s->source = &s->read;
    }
    s->state = steps->state(s->self, s->source);
    return true;
}

/* Two places per hypothesis, as all of them advance at once; a single one needs only the first. */
static bool prepare(search *s) {
    heed_ctx *c = heed_tape_ctx(s->t);
    const heed_steps *steps = s->m->steps;
    size_t places = s->a->beam > 1 ? 2 * (size_t)s->width : 1;
    size_t capacity = s->a->prompt_count + (size_t)s->count;
    s->states = heed__alloc(c, (places * s->state + 1) * sizeof *s->states);
    s->tokens = heed__alloc(c, places * capacity * sizeof *s->tokens);
    if (!s->states || !s->tokens) return false;
    for (size_t i = 0; i < places; i++) {
        hypothesis *h = i % 2 ? &s->next[i / 2] : &s->now[i / 2];
        *h = (hypothesis){s->states + i * s->state, s->tokens + i * capacity, 0};
    }
    memcpy(s->now->ids, s->a->prompt, s->a->prompt_count * sizeof *s->now->ids);
    if (steps->start && s->state) steps->start(s->self, s->source, s->now->state);
    return true;
}

bool heed_generate(const heed_model *m, const void *self, heed_tape *t, const heed_generation *a,
                   int32_t *out, heed_generated *about) {
    heed_ctx *c = heed_tape_ctx(t);
    heed_generated ignored;
    if (!m || !self || !t || !a || heed__stopped(c)) return false;
    search s = {.m = m, .self = self, .t = t, .a = a, .out = out, .live = 1, .rank = -INFINITY};
    s.about = about ? about : &ignored;
    *s.about = (heed_generated){0};
    if (!check(&s)) return false;
    bool bounded = m->steps->read && s.length < a->count;
    s.count = a->count && !bounded ? a->count : s.length;
    s.width = a->beam > 1 ? a->beam : 1;
    s.reading = heed_tape_new(c);
    bool ok = s.reading && read_source(&s) && prepare(&s) && run(&s);
    heed_tape_free(s.reading);
    heed__free(s.states);
    heed__free(s.tokens);
    heed__free(s.order);
    return ok;
}

/* ---- texts ---- */

int32_t heed_text_end(const heed_config *f, const heed_tokenizer *k) {
    heed_specials s = heed_tokenizer_specials(k);
    const char *packing = heed_config_has(f, "packing") ? heed_config_text(f, "packing") : "";
    if (strcmp(packing, "lines") != 0) return -1;
    return s.sep >= 0 ? s.sep : s.newline;
}
