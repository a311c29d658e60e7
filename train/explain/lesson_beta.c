/* lesson_beta.c -- a store of keys and values with put and get, its soft version, and the effect of
 * beta, from the mean to the hard choice. */
#include "explain/explain.h"

#include <math.h>
#include <string.h>

/* The example: how ripe, from 0 to 10, is a fruit of this colour? Colours are directions from green
 * to red. */
enum { ENTRIES = 3, ASKED = 2, SIZE = 2 };
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
enum { ORANGE = 1 };

/* The store as a head: queries are the arguments of get, K and V are columns of the entries. */
static bool open_store(explaining *e, const char *name, double beta) {
    heed_lesson_args a = {.tokens = ASKED,
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
    worked labels = {.example = name,
                     .title = "get: how ripe is a fruit of this colour?",
                     .tokens = asked,
                     .sources = colours,
                     .features = features,
                     .memory = memory,
                     .q = features,
                     .v = ripe};
    return worked_make(e, &a, labels);
}

static const double *get(explaining *e, double beta, bool hard) {
    heed_lesson *l = &e->w.lesson;
    l->args.beta = beta;
    l->args.hard = hard;
    heed_lesson_compute(l);
    return l->part[HEED_LESSON_OUTPUT].x;
}

/* ---- the store ---- */

/* Draws get(orange), hard and with several betas, independent of the settings: its selection and
 * its result. */
static void draw_gets(explaining *e) {
    static const char *const rows[] = {"hard", "beta 0", "beta 1", "beta 4", "beta 16", "beta 64"};
    static const double betas[] = {1, 0, 1, 4, 16, 64};
    enum { GETS = sizeof betas / sizeof *betas };
    double shares[GETS * ENTRIES], out[GETS];
    heed_lesson *l = &e->w.lesson;
    heed_lesson_args before = l->args;
    unsigned char hidden[ENTRIES];
    memcpy(hidden, l->hidden, ENTRIES);
    memset(l->hidden, 0, ENTRIES);
    for (int k = 0; k < GETS; k++) {
        out[k] = get(e, betas[k], k == 0)[ORANGE];
        memcpy(shares + k * ENTRIES, e->w.lesson.part[HEED_LESSON_WEIGHTS].x + ORANGE * ENTRIES,
               ENTRIES * sizeof *shares);
    }
    lesson_columns(e, 2,
                   (lesson_block[]){{"get(orange)", lesson_matrix(GETS, ENTRIES, shares), colours},
                                    {"result", lesson_matrix(GETS, 1, out), ripe}},
                   rows);
    l->args = before;
    memcpy(l->hidden, hidden, ENTRIES);
    heed_lesson_compute(l);
}

/* How the entries come to be in the store, and what changes them. */
static const struct {
    const char *op;
    int key;
    double value;
} changes[] = {{"put", 0, 0}, {"put", 1, 5}, {"put", 2, 9}, {"overwrite", 2, 8}, {"delete", 1, 0}};
enum { CHANGES = sizeof changes / sizeof *changes };

/* The store after each change, NAN where there is no entry, and the hard and the soft get(orange)
 * with the beta of the settings. */
typedef struct {
    double stored[CHANGES][ENTRIES], hard[CHANGES], soft[CHANGES];
} managed;

static bool manage(const explaining *e, managed *m) {
    heed_lesson l;
    bool ok = heed_lesson_make(e->c, &e->w.lesson.args, &l);
    if (ok) memset(l.hidden, 1, ENTRIES);
    for (int i = 0; ok && i < CHANGES; i++) {
        int key = changes[i].key;
        l.hidden[key] = strcmp(changes[i].op, "delete") == 0;
        l.part[HEED_LESSON_Z].x[3 * key + 2] = changes[i].value;
        for (int k = 0; k < ENTRIES; k++)
            m->stored[i][k] = l.hidden[k] ? (double)NAN : l.part[HEED_LESSON_Z].x[3 * k + 2];
        for (int hard = 0; hard < 2; hard++) {
            l.args.hard = hard;
            heed_lesson_compute(&l);
            (hard ? m->hard : m->soft)[i] = l.part[HEED_LESSON_OUTPUT].x[ORANGE];
        }
    }
    heed_lesson_free(&l);
    return ok;
}

static void draw_changes(explaining *e) {
    managed m;
    if (!manage(e, &m)) return;
    say(e, "A store is managed by put, overwrite and delete. get sees what is in it at that time:");
    heed_text_add(&e->out, "  %-22s%6s %6s %6s    get(orange)\n  %-22s%6s %6s %6s   %6s %6s\n", "",
                  "", "stored", "", "", colours[0], colours[1], colours[2], "hard", "soft");
    for (int i = 0; i < CHANGES; i++) {
        char name[32];
        if (strcmp(changes[i].op, "delete") == 0)
            snprintf(name, sizeof name, "%s(%s)", changes[i].op, colours[changes[i].key]);
        else
            snprintf(name, sizeof name, "%s(%s, %g)", changes[i].op, colours[changes[i].key],
                     changes[i].value);
        heed_text_add(&e->out, "  %-22s", name);
        for (int k = 0; k < ENTRIES; k++)
            isnan(m.stored[i][k]) ? heed_text_add(&e->out, "%6s ", "-")
                                  : heed_text_add(&e->out, "%6g ", m.stored[i][k]);
        heed_text_add(&e->out, "  %6.2f %6.2f\n", m.hard[i], m.soft[i]);
    }
    gap(e);
}

static json_t *own_json(const explaining *e) {
    managed m;
    json_t *list = json_array();
    for (int i = 0; manage(e, &m) && i < CHANGES; i++)
        json_array_append_new(list, json_pack("{s:s, s:s, s:o, s:f, s:f}", "op", changes[i].op,
                                              "key", colours[changes[i].key], "stored",
                                              lesson_list(m.stored[i], ENTRIES), "hard", m.hard[i],
                                              "soft", m.soft[i]));
    return json_pack("{s:o}", "changes", list);
}

static void own_text(explaining *e) {
    const heed_lesson *l = &e->w.lesson;
    heading(e, "A store of keys and values, hard and soft");
    say(e, "put(key, value) saves a value under a key, and get(query) retrieves it by comparing "
           "the query with all keys. Here a key is a colour, a direction from green to red, and "
           "its value says how ripe such a fruit is, from 0 to 10.");
    for (int i = 0; i < ENTRIES; i++)
        heed_text_add(&e->out, "  put(%s = (%g, %g), %g)\n", colours[i], entries[3 * i],
                      entries[3 * i + 1], entries[3 * i + 2]);
    gap(e);
    say(e, "The hard get returns the value of the one key with the largest dot product, as a "
           "dictionary does: one weight is 1, the others are 0. The soft get adds up all values, "
           "weighted by the softmax of beta times the dot products. Look at orange: the hard get "
           "returns the value of red; the soft get lies between the values, and its gradient "
           "reaches every key.");
    draw_gets(e);
    const char *hides = memchr(l->hidden, 1, ENTRIES) ? ", with keys that are hidden" : "";
    if (l->args.hard)
        say(e, "get(q) = v[argmax q k'], the hard get of both queries%s:", hides);
    else
        say(e, "get(q) = softmax(beta q K') V, the soft get of both queries with beta = %.4g%s:",
            l->args.beta, hides);
    lesson_columns(e, 2,
                   (lesson_block[]){{"get", l->part[HEED_LESSON_WEIGHTS], colours},
                                    {"result", l->part[HEED_LESSON_OUTPUT], ripe}},
                   asked);
    draw_changes(e);
    lesson_try(e, "explain store --hard\n"
                  "explain store --beta 20\n"
                  "explain beta");
}

void explain_store(explaining *e) {
    if (!open_store(e, "store", 4)) return;
    e->own_text = own_text;
    e->own_json = own_json;
    explain_worked(e);
}

/* ---- the sweep ---- */

enum { STOPS = 25 }; /* beta = 0, then 0.01 to 1000 in equal ratios */

typedef struct {
    double beta[STOPS], log_beta[STOPS], share[ENTRIES][STOPS], output[STOPS], entropy[STOPS];
} sweep;

static json_t *sweep_json(explaining *e, sweep *s, double mean) {
    json_t *shares = json_object();
    for (int i = 0; i < ENTRIES; i++)
        json_object_set_new(shares, colours[i], lesson_list(s->share[i], STOPS));
    return json_pack("{s:s, s:s, s:f, s:f, s:o, s:o, s:o, s:o}", "example", "beta", "query",
                     asked[ORANGE], "mean", mean, "hard", get(e, 1, true)[ORANGE], "beta",
                     lesson_list(s->beta, STOPS), "output", lesson_list(s->output, STOPS),
                     "entropy", lesson_list(s->entropy, STOPS), "shares", shares);
}

static void draw_sweep(explaining *e, const sweep *s) {
    enum { ROWS = 9 };
    static const char *const bits[] = {"bits"};
    double shares[ROWS * ENTRIES], out[ROWS], entropy[ROWS];
    char text[ROWS][24];
    const char *rows[ROWS];
    for (int i = 0; i < ROWS; i++) {
        int k = i ? 3 * i - 1 : 0;
        snprintf(text[i], sizeof text[i], "%.3g", s->beta[k]);
        rows[i] = text[i];
        out[i] = s->output[k], entropy[i] = s->entropy[k];
        for (int j = 0; j < ENTRIES; j++) shares[i * ENTRIES + j] = s->share[j][k];
    }
    lesson_columns(
        e, 3,
        (lesson_block[]){{"shares by beta", lesson_matrix(ROWS, ENTRIES, shares), colours},
                         {"output", lesson_matrix(ROWS, 1, out), ripe},
                         {"entropy", lesson_matrix(ROWS, 1, entropy), bits}},
        rows);
    heed_series lines[ENTRIES];
    for (int i = 0; i < ENTRIES; i++)
        lines[i] = (heed_series){colours[i], STOPS, s->log_beta, s->share[i]};
    lesson_chart(e,
                 &(heed_chart){.title = "shares of a soft get(orange)",
                               .x_label = "log10 of beta",
                               .y_label = "",
                               .colors = shades,
                               .series_count = ENTRIES,
                               .series = lines},
                 12);
}

void explain_beta(explaining *e) {
    sweep s;
    if (!open_store(e, "beta", 1)) return;
    for (int k = 0; k < STOPS; k++) {
        s.beta[k] = k ? pow(10, -2 + 5.0 * (k - 1) / (STOPS - 2)) : 0;
        s.log_beta[k] = k ? log10(s.beta[k]) : (double)NAN;
        s.output[k] = get(e, s.beta[k], false)[ORANGE];
        const double *p = e->w.lesson.part[HEED_LESSON_WEIGHTS].x + ORANGE * ENTRIES;
        s.entropy[k] = lesson_entropy(p, ENTRIES);
        for (int i = 0; i < ENTRIES; i++) s.share[i][k] = p[i];
    }
    double mean = (entries[2] + entries[5] + entries[8]) / ENTRIES;
    if (lesson_json(e, sweep_json(e, &s, mean))) return;
    heading(e, "Beta: from the mean to the hard choice");
    say(e,
        "One query, orange, to the store of %s explain store, as beta grows. At 0 all keys have "
        "equal weights, and the output is the mean of the values, %.4g. The larger beta is, the "
        "more of the weight goes to the largest score, and in the limit all of it: the hard "
        "choice, %g.",
        program_name(), mean, get(e, 1, true)[ORANGE]);
    draw_sweep(e, &s);
    say(e, "Look at the weight of yellow: it rises first, because yellow matches nearly as well as "
           "red, and then falls to 0. beta = 1/sqrt(e) keeps random scores of any width in the "
           "range where the softmax still has a gradient.");
    lesson_try(e, "explain beta --png beta.png\n"
                  "explain store --beta 100\n"
                  "explain variance");
}
