/* decode.c -- generates tokens one by one through a model's step interface: greedily, by sampling,
 * or by beam search, whose beam shrinks as hypotheses end. All hypotheses have as many tokens, so
 * that a model reads the next token of each in one call. */
#include "core/core.h"
#include "fit/fit.h"

#include <math.h>
#include <string.h>

/* ---- one token: top-k, then the nucleus of what is left. Holtzman et al. 2020, sec. 3.1 ---- */

/* Tokens by probability. The most probable ones are taken off a heap and kept behind it, last
 * first: few are wanted of a large vocabulary. Williams 1964 (heapsort). */
typedef struct {
    heed__choice *at;
    int n, taken;
} ranking;

static bool before(heed__choice a, heed__choice b) {
    return a.p > b.p || (a.p == b.p && a.id < b.id);
}

static void sift(heed__choice *at, int n, int i) {
    for (int child; (child = 2 * i + 1) < n; i = child) {
        if (child + 1 < n && before(at[child + 1], at[child])) child++;
        if (!before(at[child], at[i])) return;
        heed__choice swapped = at[i];
        at[i] = at[child];
        at[child] = swapped;
    }
}

/* The token of rank i, from 0; ties by lowest id. */
static heed__choice rank_at(ranking *r, int i) {
    while (r->taken <= i) {
        int last = r->n - 1 - r->taken++;
        heed__choice top = r->at[0];
        r->at[0] = r->at[last];
        r->at[last] = top;
        sift(r->at, last, 0);
    }
    return r->at[r->n - 1 - i];
}

/* Sets probabilities exp((logit - largest) / temperature), and returns their sum. */
static double weigh(ranking *r, const heed_generation *a, const heed_real *logits) {
    double top = (double)logits[0], sum = 0;
    for (int i = 1; i < r->n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < r->n; i++)
        r->at[i] = (heed__choice){exp(((double)logits[i] - top) / a->temperature), i};
    for (int i = 0; i < r->n; i++) sum += r->at[i].p;
    for (int i = r->n / 2 - 1; i >= 0; i--) sift(r->at, r->n, i);
    return sum;
}

static int32_t most_probable(const heed_real *logits, int n) {
    int32_t best = 0;
    for (int32_t i = 1; i < n; i++)
        if (logits[i] > logits[best]) best = i;
    return best;
}

int32_t heed__draw(const heed_generation *a, const heed_real *logits, int n, heed_random random,
                   heed__choice *capacity) {
    if (a->temperature <= 0) return most_probable(logits, n);
    ranking r = {.at = capacity, .n = n};
    double sum = weigh(&r, a, logits);
    int keep = a->top_k > 0 && a->top_k < n ? a->top_k : n;
    if (keep < n) {
        sum = 0;
        for (int i = 0; i < keep; i++) sum += rank_at(&r, i).p;
    }
    if (a->top_p > 0 && a->top_p < 1) {
        double part = 0, goal = a->top_p * sum;
        int k = 0;
        while (k < keep && part < goal) part += rank_at(&r, k++).p;
        keep = k;
        sum = part;
    }
    double left = heed_random_uniform(&random, 0) * sum;
    for (int i = 0; i < keep - 1; i++) {
        if (left < rank_at(&r, i).p) return rank_at(&r, i).id;
        left -= rank_at(&r, i).p;
    }
    while (keep > 1 && rank_at(&r, keep - 1).p <= 0) keep--;
    return rank_at(&r, keep > 0 ? keep - 1 : 0).id;
}

enum { MOST_BEAM = 64 };

/* ---- hypotheses ---- */

/* Partial outputs, a row each. */
typedef struct {
    heed_real *states;       /* the model defines them */
    int32_t *ids;            /* the prompt, then the generated tokens */
    double score[MOST_BEAM]; /* log p of the generated tokens */
    int sample[MOST_BEAM];   /* of several samples, the one that a row belongs to */
} hypotheses;

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
    size_t state, capacity;    /* numbers in a hypothesis's state; the most tokens that it has */
    hypotheses now, next;      /* next: of a beam only */
    int live, made;
    int width;   /* the hypotheses that are wanted: of a beam, or samples */
    size_t from; /* the first token that the model sees */
    size_t held; /* the tokens from there on that the states include */
    candidate best[MOST_BEAM];
    int candidates;
    bool stopped, found;
    heed__choice *order; /* (V), allocated at the first draw */
    bool *seen;          /* (V): tokens that the repetition penalty has met; as order */
    int32_t *out;        /* the outputs of all samples; of a beam, the best that has ended */
    heed_generated *about;
    double rank; /* its score divided by the length penalty */
} search;

static bool is_beam(const search *s) { return s->a->beam > 1; }

static heed_real *state_of(const search *s, const hypotheses *h, int row) {
    return h->states + (size_t)row * s->state;
}

static int32_t *ids_of(const search *s, const hypotheses *h, int row) {
    return h->ids + (size_t)row * s->capacity;
}

static size_t total_of(const search *s) { return s->a->prompt_count + (size_t)s->made; }

static void copy_row(const search *s, hypotheses *to, int row, const hypotheses *from, int source) {
    memcpy(state_of(s, to, row), state_of(s, from, source), s->state * sizeof *to->states);
    memcpy(ids_of(s, to, row), ids_of(s, from, source), total_of(s) * sizeof *to->ids);
    to->score[row] = from->score[source];
    to->sample[row] = from->sample[source];
}

/* ---- logits ---- */

/* The source as the model reads it: ids (1,S) or a picture (1,size,size,channels). */
static heed_tensor *source_on(const search *s, heed_tape *t) {
    const heed_generation *a = s->a;
    int size = a->picture_size;
    return heed_model_data(s->m)->images
               ? heed_input(t, a->picture, 4, (int[]){1, size, size, a->picture_channels})
               : heed_ids(t, a->source, 1, (int)a->source_count);
}

/* When the model's length is exceeded, the positions of all tokens change. The model then sees only
 * the newer half of them, which is computed again once for as many new tokens. Of a longer prompt
 * it sees the end first. */
static void slide(search *s) {
    size_t length = (size_t)s->length, total = total_of(s);
    if (total - s->from <= length) return;
    size_t keep = s->made == 0 ? length : length > 1 ? length / 2 : 1;
    s->from = total - keep;
    s->held = 0;
}

/* How many hypotheses the model reads in one call. */
static int rows_at_once(const search *s) {
    return s->m->steps->batched && !s->a->uncached ? s->live : 1;
}

/* Logits (rows, .., V) of hypotheses from `row` on, of which the last ones of each predict its next
 * token; advances their states. */
static heed_tensor *logits_of(search *s, int row, int rows) {
    size_t total = total_of(s), begin = s->from + (s->a->uncached ? 0 : s->held);
    int n = (int)(total - begin);
    heed_tape_begin(s->t, HEED_EVAL, 0);
    heed_tensor *ids = heed_new_ids(s->t, 2, (int[]){rows, n});
    for (int i = 0; ids && i < rows; i++)
        memcpy(ids->i + i * n, ids_of(s, &s->now, row + i) + begin, (size_t)n * sizeof *ids->i);
    if (!ids) return NULL;
    if (!s->a->uncached)
        return s->m->steps->next(s->self, s->t, s->source, state_of(s, &s->now, row), (int)s->held,
                                 ids);
    heed_model_input in = {.x = ids};
    if (s->m->steps->read) {
        in.x = source_on(s, s->t);
        in.target = ids;
    }
    return s->m->logits(s->self, s->t, &in);
}

/* log of the sum of exp(logits). */
static double log_sum(const heed_real *logits, int n) {
    double top = (double)logits[0], sum = 0;
    for (int i = 1; i < n; i++) top = fmax(top, (double)logits[i]);
    for (int i = 0; i < n; i++) sum += exp((double)logits[i] - top);
    return top + log(sum);
}

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

/* The draws of a text are numbered by all its tokens, those of a target by the generated tokens. */
static heed_random draws(const search *s, uint32_t sample) {
    const heed_generation *a = s->a;
    if (s->m->steps->read) return heed_random_at(a->seed, "translate", (uint64_t)s->made, sample);
    return heed_random_at(a->seed, "sample", total_of(s), sample);
}

/* Divides the positive logits of tokens that the hypothesis has by the penalty, and multiplies the
 * negative ones, once each. Keskar et al. 2019, sec. 4.1, as in transformers. */
static bool penalize(search *s, int row, heed_real *logits, int vocab) {
    heed_real penalty = (heed_real)s->a->repetition_penalty;
    if (penalty == 0 || penalty == 1) return true;
    if (!s->seen) s->seen = heed__alloc(heed_tape_ctx(s->t), (size_t)vocab);
    if (!s->seen) return false;
    const int32_t *ids = ids_of(s, &s->now, row);
    for (size_t i = 0; i < total_of(s); i++) {
        if (ids[i] < 0 || ids[i] >= vocab || s->seen[ids[i]]) continue;
        heed_real *x = &logits[ids[i]];
        *x = *x > 0 ? *x / penalty : *x * penalty;
        s->seen[ids[i]] = true;
    }
    memset(s->seen, 0, (size_t)vocab);
    return true;
}

/* Excludes the tokens that are never chosen. */
static void exclude(const heed_generation *a, heed_real *logits, int vocab) {
    for (int i = 0; i < a->never_count; i++)
        if (a->never[i] >= 0 && a->never[i] < vocab) logits[a->never[i]] = (heed_real)-INFINITY;
}

/* The candidates of a hypothesis: of a beam all tokens, of a sample one. sum: the logarithm of the
 * sum of exp(logits), before any was excluded. */
static bool expand(search *s, int row, const heed_real *logits, int vocab, double sum) {
    const heed_generation *a = s->a;
    double score = s->now.score[row];
    if (is_beam(s)) {
        for (int32_t id = 0; id < vocab; id++)
            if (isfinite(logits[id])) offer(s, score + (double)logits[id] - sum, row, id);
        return true;
    }
    if (!s->order)
        s->order = heed__alloc_array(heed_tape_ctx(s->t), (size_t)vocab, sizeof *s->order);
    if (!s->order) return false;
    heed_random r = draws(s, a->sample + (uint32_t)s->now.sample[row]);
    int32_t id = heed__draw(a, logits, vocab, r, s->order);
    s->best[s->candidates++] = (candidate){score + (double)logits[id] - sum, row, id};
    return true;
}

/* All samples begin with the prompt's state. */
static void branch(search *s) {
    while (s->live < s->width) {
        copy_row(s, &s->now, s->live, &s->now, 0);
        s->now.sample[s->live] = s->live;
        s->live++;
    }
}

static bool find_candidates(search *s) {
    int rows = rows_at_once(s), live = s->live;
    s->candidates = 0;
    for (int row = 0; row < live; row += rows) {
        const heed_tensor *y = logits_of(s, row, rows);
        if (!y) return false;
        size_t each = y->size / (size_t)rows, vocab = (size_t)y->shape[y->dims - 1];
        bool first = s->made == 0 && !is_beam(s);
        if (first) branch(s);
        double sum = 0;
        for (int i = 0; i < (first ? s->live : rows); i++) {
            heed_real *logits = y->x + (first ? 1 : (size_t)i + 1) * each - vocab;
            if (i == 0 || !first) { /* all first tokens are drawn from the same logits */
                if (!penalize(s, row + i, logits, (int)vocab)) return false;
                sum = log_sum(logits, (int)vocab);
                exclude(s->a, logits, (int)vocab);
            }
            if (!expand(s, row + i, logits, (int)vocab, sum)) return false;
        }
    }
    s->held = total_of(s) - s->from;
    return true;
}

/* ---- search ---- */

static double ranked(const search *s, double score, int count) {
    return score / pow((5 + count) / 6.0, s->a->length_penalty);
}

/* Completes an output. A beam's is the result if it is the best so far. */
static void finish(search *s, int row, double score, bool ended) {
    double rank = ranked(s, score, s->made + ended);
    int sample = is_beam(s) ? 0 : s->now.sample[row];
    if (is_beam(s) && s->found && !(rank > s->rank)) return;
    s->found = true;
    s->rank = rank;
    s->about[sample] = (heed_generated){s->made, ended, score, (int)s->held};
    int stride = s->a->count ? s->a->count : s->count;
    if (s->out)
        memcpy(s->out + (size_t)sample * (size_t)stride,
               ids_of(s, &s->now, row) + s->a->prompt_count, (size_t)s->made * sizeof *s->out);
}

static bool is_end(const search *s, const candidate *c) {
    return s->a->has_end && c->id == s->a->end;
}

/* One of several hypotheses of a beam may have several successors. */
static void follow_beam(search *s) {
    s->live = 0;
    for (int i = 0; i < s->candidates; i++) {
        const candidate *c = &s->best[i];
        if (is_end(s, c)) {
            finish(s, c->from, c->score, true);
            s->width--;
            continue;
        }
        copy_row(s, &s->next, s->live, &s->now, c->from);
        s->next.score[s->live] = c->score;
        ids_of(s, &s->next, s->live)[total_of(s)] = c->id;
        s->live++;
    }
    hypotheses swapped = s->now;
    s->now = s->next;
    s->next = swapped;
}

static void tell(search *s, int row, int32_t id) {
    const heed_generation *a = s->a;
    if (a->token && !a->token(a->user, id)) s->stopped = true;
    if (a->sampled && !a->sampled(a->user, s->now.sample[row], id)) s->stopped = true;
}

/* Samples continue in their own rows; those that follow one that has ended move up. */
static void follow_samples(search *s) {
    int live = 0;
    for (int i = 0; i < s->candidates; i++) {
        const candidate *c = &s->best[i];
        if (is_end(s, c)) {
            finish(s, i, c->score, true);
            continue;
        }
        if (live < i) copy_row(s, &s->now, live, &s->now, i);
        s->now.score[live] = c->score;
        ids_of(s, &s->now, live)[total_of(s)] = c->id;
        tell(s, live, c->id);
        live++;
    }
    s->live = live;
}

/* Extends every hypothesis by one token. */
static bool advance(search *s) {
    slide(s);
    if (!find_candidates(s)) return false;
    is_beam(s) ? follow_beam(s) : follow_samples(s);
    s->made++;
    return true;
}

/* True if no continuation can be better than the best: log p only falls, and the greatest length
 * has the greatest divisor. */
static bool is_hopeless(const search *s) {
    if (s->live == 0) return true;
    return is_beam(s) && s->found && ranked(s, s->now.score[0], s->count + 1) <= s->rank;
}

static bool run(search *s) {
    const heed_generation *a = s->a;
    while (s->made < s->count && !s->stopped && !is_hopeless(s) && !(a->stop && a->stop(a->user)))
        if (!advance(s)) return false;
    for (int i = 0; i < s->live; i++) finish(s, i, s->now.score[i], false);
    return true;
}

/* ---- checks and memory ---- */

static bool check_source(const search *s) {
    const heed_generation *a = s->a;
    heed_ctx *c = heed_tape_ctx(s->t);
    if (heed_model_data(s->m)->images)
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
    if (!a->prompt || a->prompt_count < 1 || a->count < 0)
        return heed_fail(c, HEED_USAGE,
                         "nothing to continue: expected a prompt of at least one token and a count "
                         "of at least 0, found %zu and %d",
                         a->prompt ? a->prompt_count : 0, a->count);
    if (a->beam < 0 || a->beam > MOST_BEAM || (a->beam > 1 && a->temperature > 0))
        return heed_fail(c, HEED_USAGE,
                         "beam width is wrong: expected 1 to %d hypotheses, and one when sampling, "
                         "found %d with temperature %g",
                         MOST_BEAM, a->beam, a->temperature);
    if (a->samples < 0 || a->samples > MOST_BEAM || (a->samples > 1 && a->beam > 1))
        return heed_fail(c, HEED_USAGE,
                         "number of samples is wrong: expected 1 to %d at once, and one with a "
                         "beam, found %d with a beam of %d",
                         MOST_BEAM, a->samples, a->beam);
    if (!(a->repetition_penalty >= 0 && isfinite(a->repetition_penalty)))
        return heed_fail(c, HEED_USAGE,
                         "repetition penalty is out of range: expected more than 0, found %g",
                         a->repetition_penalty);
    return (a->length_penalty >= 0 && a->temperature >= 0 && a->top_k >= 0 && a->top_p >= 0 &&
            a->top_p <= 1) ||
           heed_fail(
               c, HEED_USAGE,
               "decoding is out of range: expected a length penalty, temperature and top-k of "
               "at least 0 and a top-p from 0 to 1, found %g, %g, %d and %g",
               a->length_penalty, a->temperature, a->top_k, a->top_p);
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

static bool give_memory(search *s, hypotheses *h) {
    heed_ctx *c = heed_tape_ctx(s->t);
    size_t rows = (size_t)s->width;
    h->states = heed__alloc_untouched(c, rows * s->state + 1, sizeof *h->states);
    h->ids = heed__alloc_array(c, rows * s->capacity, sizeof *h->ids);
    return h->states && h->ids;
}

static bool prepare(search *s) {
    const heed_steps *steps = s->m->steps;
    s->capacity = s->a->prompt_count + (size_t)s->count;
    if (!give_memory(s, &s->now) || (is_beam(s) && !give_memory(s, &s->next))) return false;
    memcpy(s->now.ids, s->a->prompt, s->a->prompt_count * sizeof *s->now.ids);
    if (steps->start && s->state) steps->start(s->self, s->source, s->now.states);
    return true;
}

static void release(search *s) {
    heed_tape_free(s->reading);
    heed__free(s->now.states);
    heed__free(s->now.ids);
    heed__free(s->next.states);
    heed__free(s->next.ids);
    heed__free(s->order);
    heed__free(s->seen);
}

bool heed_generate(const heed_model *m, const void *self, heed_tape *t, const heed_generation *a,
                   int32_t *out, heed_generated *about) {
    heed_ctx *c = heed_tape_ctx(t);
    heed_generated ignored[MOST_BEAM];
    if (!m || !self || !t || !a || heed__stopped(c)) return false;
    if (about) *about = (heed_generated){0};
    search s = {.m = m, .self = self, .t = t, .a = a, .out = out, .live = 1, .rank = -INFINITY};
    if (!check(&s)) return false;
    bool bounded = m->steps->read && s.length < a->count;
    s.count = a->count && !bounded ? a->count : s.length;
    s.width = a->beam > 1 ? a->beam : a->samples > 1 ? a->samples : 1;
    s.about = about ? about : ignored;
    memset(s.about, 0, (size_t)(is_beam(&s) ? 1 : s.width) * sizeof *s.about);
    s.reading = heed_tape_new(c);
    bool ok = s.reading && read_source(&s) && prepare(&s) && run(&s);
    release(&s);
    return ok;
}

/* ---- texts ---- */

int32_t heed_text_end(const heed_config *f, const heed_tokenizer *k) {
    heed_specials s = heed_tokenizer_specials(k);
    const char *packing = heed_config_has(f, "packing") ? heed_config_text(f, "packing") : "";
    if (strcmp(packing, "lines") != 0) return -1;
    return s.sep >= 0 ? s.sep : s.newline;
}

int32_t heed_text_start(const heed_config *f, const heed_tokenizer *k) {
    int32_t newline = heed_tokenizer_specials(k).newline;
    if (heed_text_end(f, k) >= 0) return -1;
    return newline >= 0 ? newline : heed_token_id(k, "\n");
}

int heed_never(const heed_tokenizer *k, int32_t end, int32_t never[4]) {
    heed_specials s = heed_tokenizer_specials(k);
    const int all[] = {s.unk, s.pad, s.cls, s.mask};
    int count = 0;
    for (int i = 0; never && i < 4; i++)
        if (all[i] >= 0 && all[i] != s.sep && all[i] != end) never[count++] = all[i];
    return count;
}
