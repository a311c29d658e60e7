/* lesson_store.c -- a store of keys and values with put and get, its soft version, and the effect
 * of beta, from the mean to the hard choice. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

/* The example: how ripe, from 0 to 10, is a fruit of this colour? Colours are directions from green
 * to red. */
enum { ENTRIES = 3, ASKED = 2, SIZE = 2, ORANGE = 1 };
static const char *const colours[] = {"green", "yellow", "red"};
/* As they are drawn: of different lightness, for colour-blind readers. */
static const unsigned shades[] = {0x00875a, 0xe0b800, 0xc81e1e};
static const char *const asked[] = {"yellow", "orange"};
static const char *const features[] = {"green", "red"};
static const char *const memory[] = {"green", "red", "ripe"};
static const char *const ripe[] = {"ripe"};
static const double queries[] = {0.6, 0.8, 0.28, 0.96};
static const double entries[] = {1, 0, 0, 0.6, 0.8, 5, 0, 1, 9}; /* key, key, value */
static const double as_it_is[] = {1, 0, 0, 1};
static const double the_key[] = {1, 0, 0, 1, 0, 0}, the_value[] = {0, 0, 1};

/* The store as a head: queries are the arguments of get, K and V are columns of the entries. */
static heed_attention_trace_args store(double beta) {
    return (heed_attention_trace_args){.tokens = ASKED,
                                       .features = SIZE,
                                       .sources = ENTRIES,
                                       .memory = SIZE + 1,
                                       .key = SIZE,
                                       .value = 1,
                                       .x = queries,
                                       .z = entries,
                                       .w_q = as_it_is,
                                       .w_k = the_key,
                                       .w_v = the_value,
                                       .beta = beta};
}

bool store_head(explaining *e) {
    heed_attention_trace_args a = store(4);
    return worked_make(e, &a,
                       (worked){.example = "store",
                                .title = "get: how ripe is a fruit of this colour?",
                                .tokens = asked,
                                .sources = colours,
                                .features = features,
                                .memory = memory,
                                .q = features,
                                .v = ripe});
}

/* get(orange) of a store like that of a: the shares of the entries, which may be NULL, and the
 * result. */
static double get(explaining *e, const heed_attention_trace_args *a, double *shares) {
    heed_attention_trace l;
    double out = (double)NAN;
    if (heed_attention_trace_make(e->c, a, &l)) {
        if (shares)
            memcpy(shares, l.part[HEED_TRACE_WEIGHTS].x + ORANGE * ENTRIES,
                   ENTRIES * sizeof *shares);
        out = l.part[HEED_TRACE_OUTPUT].x[ORANGE];
    }
    heed_attention_trace_free(&l);
    return out;
}

/* get(orange), hard and with several betas, independent of the settings. */
static void add_gets(explaining *e) {
    static const char *const rows[] = {"hard", "beta 0", "beta 1", "beta 4", "beta 16", "beta 64"};
    static const double betas[] = {1, 0, 1, 4, 16, 64};
    enum { GETS = sizeof betas / sizeof *betas };
    heed_matrix shares = matrix_new(e, GETS, ENTRIES), out = matrix_new(e, GETS, 1);
    for (int k = 0; k < GETS && !failed(e); k++) {
        heed_attention_trace_args a = store(betas[k]);
        a.hard = k == 0;
        out.x[k] = get(e, &a, shares.x + k * ENTRIES);
    }
    add_step(
        e, "get(orange)", NULL,
        "As numbers for green and red, green is (1, 0), yellow (0.6, 0.8), red (0, 1) and orange "
        "(0.28, 0.96). The hard get returns the value of the one key with the largest dot product, "
        "as a "
        "dictionary does: one weight is 1, the others are 0. The soft get adds up all values, "
        "weighted by the softmax of beta times the dot products. Look at orange: the hard get "
        "returns the value of red; the soft get lies between the values, and its gradient "
        "reaches every key.");
    show(e, "", "get(orange)", shares, rows, colours);
    show(e, "", "result", out, rows, ripe);
}

/* How the entries come to be in the store, and what changes them: what it holds after each change,
 * and the hard and the soft get(orange) with the beta of the settings. */
static void add_changes(explaining *e) {
    enum { CHANGES = 5 };
    static const char *const rows[] = {"put(green, 0)", "put(yellow, 5)", "put(red, 9)",
                                       "overwrite(red, 8)", "delete(yellow)"};
    static const char *const gets[] = {"hard", "soft"};
    static const struct {
        int key;
        double value; /* NAN: it is deleted */
    } changes[] = {{0, 0}, {1, 5}, {2, 9}, {2, 8}, {1, (double)NAN}};
    heed_matrix stored = matrix_new(e, CHANGES, ENTRIES), results = matrix_new(e, CHANGES, 2);
    unsigned char hide[ENTRIES] = {1, 1, 1};
    double z[sizeof entries / sizeof *entries];
    memcpy(z, entries, sizeof z);
    heed_attention_trace_args a = store(e->w.lesson.args.beta);
    a.z = z, a.hide = hide;
    for (int i = 0; i < CHANGES && !failed(e); i++) {
        int key = changes[i].key;
        hide[key] = (unsigned char)(isnan(changes[i].value) != 0);
        if (!hide[key]) z[3 * key + 2] = changes[i].value;
        for (int k = 0; k < ENTRIES; k++)
            stored.x[i * ENTRIES + k] = hide[k] ? (double)NAN : z[3 * k + 2];
        for (int soft = 0; soft < 2; soft++) {
            a.hard = !soft;
            results.x[2 * i + soft] = get(e, &a, NULL);
        }
    }
    add_step(e, "Changes", NULL,
             "A store is managed by put, overwrite and delete. get sees what is in it at that "
             "time:");
    show(e, "", "stored", stored, rows, colours);
    show(e, "", "get(orange)", results, rows, gets);
}

void store_steps(explaining *e) {
    const heed_attention_trace *l = &e->w.lesson;
    const char *hides = memchr(l->hidden, 1, ENTRIES) ? ", with keys that are hidden" : "";
    e->title = "A store of keys and values, hard and soft";
    e->words =
        "put(key, value) saves a value under a key, and get(query) retrieves it by comparing "
        "the query with all keys. Here a key is a colour, a direction from green to red, "
        "and its value says how ripe such a fruit is, from 0 to 10.";
    e->commands = "explain store --hard\n"
                  "explain store --beta 20\n"
                  "explain beta";
    add_step(e, NULL, NULL, NULL);
    show(e, "", "put(key, value)", matrix_of(e, ENTRIES, SIZE + 1, entries), colours, memory);
    add_gets(e);
    add_step(
        e, l->args.hard ? "The hard get" : "The soft get",
        l->args.hard ? "get(q) = v[argmax q k']" : "get(q) = softmax(beta q K') V",
        l->args.hard
            ? text_of(e, "The hard get of both queries%s:", hides)
            : text_of(e, "The soft get of both queries with beta = %.4g%s:", l->args.beta, hides));
    show(e, "", "get", l->part[HEED_TRACE_WEIGHTS], asked, colours);
    show(e, "", "result", l->part[HEED_TRACE_OUTPUT], asked, ripe);
    add_changes(e);
}

/* ---- the sweep ---- */

void beta_steps(explaining *e) {
    enum { STOPS = 25 }; /* beta = 0, then 0.01 to 1000 in equal ratios */
    static const char *const bits[] = {"bits"};
    heed_matrix shares = matrix_new(e, STOPS, ENTRIES), output = matrix_new(e, STOPS, 1);
    heed_matrix entropy = matrix_new(e, STOPS, 1), curve = matrix_new(e, 1 + ENTRIES, STOPS);
    const char *betas[STOPS];
    heed_attention_trace_args a = store(1);
    for (int k = 0; k < STOPS && !failed(e); k++) {
        double *p = shares.x + k * ENTRIES;
        a.beta = k ? pow(10, -2 + 5.0 * (k - 1) / (STOPS - 2)) : 0;
        betas[k] = text_of(e, a.beta < 100 ? "%.3g" : "%.0f", a.beta);
        output.x[k] = get(e, &a, p);
        entropy.x[k] = entropy_of(p, ENTRIES);
        curve.x[k] = k ? log10(a.beta) : (double)NAN;
        for (int i = 0; i < ENTRIES; i++) curve.x[(1 + i) * STOPS + k] = p[i];
    }
    const char *const *rows = keep_labels(e, betas, STOPS);
    a.hard = true;
    e->title = "Beta: from the mean to the hard choice";
    e->words = text_of(
        e,
        "One query, orange, to the store of %s explain store, as beta grows. At 0 all keys have "
        "equal weights, and the output is the mean of the values, %.4g. The larger beta is, the "
        "more of the weight goes to the largest score, and in the limit all of it: the hard "
        "choice, %g.",
        program_name(), (entries[2] + entries[5] + entries[8]) / ENTRIES, get(e, &a, NULL));
    e->commands = "explain beta --png beta.png\n"
                  "explain store --beta 100\n"
                  "explain variance";
    lesson_step *s = add_step(e, NULL, NULL, NULL);
    show(e, "", "shares by beta", shares, rows, colours);
    show(e, "", "output", output, rows, ripe);
    show(e, "", "entropy", entropy, rows, bits);
    s->after =
        "Look at the weight of yellow: it rises first, because yellow matches nearly as well "
        "as red, and then falls to 0. beta = 1/sqrt(e) keeps random scores of any width in "
        "the range where the softmax still has a gradient.";
    s->chart = chart_of(e, "shares of a soft get(orange)", "log10 of beta", colours, shades, curve);
}
