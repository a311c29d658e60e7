/* heed__transfer_take: what each entry of a new store takes from that of a run. */
#include "fit/fit.h"
#include "lab.h"
#include "tokenizer/tokenizer.h"

#include <heed/fit.h>
#include <heed/models.h>

/* A run with entries made by hand, and a new store. */
typedef struct {
    heed_ctx *c;
    heed_run run;
    heed_params *to;
    heed__row_names names;
    heed_transfer start;
} desk;

static desk open_desk(void) {
    desk d = {.c = heed_open(&(heed_options){.seed = 7, .threads = 1})};
    d.run = (heed_run){.c = d.c, .dir = "old", .model = &heed_model_gpt};
    d.run.store = heed_params_new(d.c);
    d.to = heed_params_new(d.c);
    return d;
}

static void close_desk(desk *d) {
    heed__transfer_close(&d->start);
    CLOSE(d->c);
}

/* An entry of values first, first + 1, ...; the new ones begin with -1. */
static heed_tensor *add(heed_params *s, const char *name, heed_row_kind rows, int count, int width,
                        int first) {
    heed_tensor *t = heed_param_new(s, name, "zero", width ? 2 : 1, SHAPE(count, width));
    heed_set_rows(s, name, rows);
    for (size_t i = 0; t && i < t->size; i++)
        t->x[i] = (heed_real)(first < 0 ? -1 : first + (int)i);
    return t;
}

static void pair_of(desk *d, const char *name, heed_row_kind rows, int to, int from, int width) {
    add(d->to, name, rows, to, width, -1);
    add(d->run.store, name, rows, from, width, 10);
}

static const heed_transfer_entry *taken(desk *d, const char *name) {
    for (int i = 0; i < d->start.count; i++)
        if (strcmp(d->start.entries[i].name, name) == 0) return &d->start.entries[i];
    test_fail(__FILE__, __LINE__, "%s is not listed", name);
    return &d->start.entries[0];
}

static void take(desk *d) { CHECK(heed__transfer_take(d->to, &d->names, &d->run, &d->start)); }

static void check_values(const desk *d, const char *name, const double *expected) {
    const heed_tensor *t = heed_params_find(d->to, name)->tensor;
    for (size_t i = 0; i < t->size; i++)
        if (fabs((double)t->x[i] - expected[i]) > 1e-6)
            test_fail(__FILE__, __LINE__, "%s: value %zu is %g, expected %g", name, i,
                      (double)t->x[i], expected[i]);
}
#define VALUES(d, name, ...) check_values(d, name, (double[]){__VA_ARGS__})

TEST(start_takes_by_name_and_shape) {
    desk d = open_desk();
    pair_of(&d, "same", HEED_ROWS_UNITS, 2, 2, 2);
    pair_of(&d, "taller", HEED_ROWS_UNITS, 3, 2, 1);
    pair_of(&d, "flat", HEED_ROWS_UNITS, 2, 2, 0);
    add(d.to, "new", HEED_ROWS_UNITS, 1, 2, -1);
    add(d.run.store, "old", HEED_ROWS_UNITS, 1, 2, 50);
    heed_buffer_new(d.to, "count", "zero", 1, SHAPE(1));
    heed_buffer_new(d.run.store, "count", "const:7", 1, SHAPE(1));
    take(&d);
    VALUES(&d, "same", 10, 11, 12, 13);
    VALUES(&d, "flat", 10, 11);
    VALUES(&d, "taller", -1, -1, -1);
    VALUES(&d, "new", -1, -1);
    VALUES(&d, "count", 7);
    CHECK(taken(&d, "same")->how == HEED_TRANSFER_TAKEN);
    CHECK(taken(&d, "taller")->how == HEED_TRANSFER_UNFIT);
    CHECK(taken(&d, "new")->how == HEED_TRANSFER_NEW && !taken(&d, "new")->from);
    CHECK(taken(&d, "old")->how == HEED_TRANSFER_UNUSED && !taken(&d, "old")->to);
    CHECK(taken(&d, "count")->how == HEED_TRANSFER_TAKEN);
    CHECK(d.start.count == 6 && strcmp(d.start.entries[5].name, "old") == 0);
    close_desk(&d);
}

/* Rows of tokens and of classes do not belong together, even if there are as many. */
TEST(start_keeps_other_roles_apart) {
    desk d = open_desk();
    pair_of(&d, "body", HEED_ROWS_UNITS, 1, 1, 1);
    add(d.to, "head", HEED_ROWS_CLASSES, 3, 1, -1);
    add(d.run.store, "head", HEED_ROWS_TOKENS, 3, 1, 10);
    take(&d);
    VALUES(&d, "head", -1, -1, -1);
    CHECK(taken(&d, "head")->how == HEED_TRANSFER_UNFIT);
    close_desk(&d);
}

static heed_tokenizer *chars(heed_ctx *c, const char *text) {
    return heed_tokenizer_train(c, text, strlen(text), (heed_tokenizer_args){.kind = "char"});
}

/* The vocabularies are a b c [UNK] and b c d e [UNK]. */
TEST(start_matches_tokens_by_text) {
    desk d = open_desk();
    d.run.tokenizer = chars(d.c, "abc");
    d.names.tokenizer = chars(d.c, "bcde");
    pair_of(&d, "token", HEED_ROWS_TOKENS, 5, 4, 2);
    pair_of(&d, "bias", HEED_ROWS_TOKENS, 5, 4, 0);
    pair_of(&d, "source", HEED_ROWS_SOURCE, 5, 4, 0);
    pair_of(&d, "wide", HEED_ROWS_TOKENS, 5, 4, 0);
    heed_params_find(d.to, "wide")->tensor->dims = 2; /* as (5,1): rows of another shape */
    take(&d);
    VALUES(&d, "token", 12, 13, 14, 15, -1, -1, -1, -1, 16, 17);
    VALUES(&d, "bias", 11, 12, -1, -1, 13);
    VALUES(&d, "source", 11, 12, -1, -1, 13);
    CHECK(taken(&d, "token")->how == HEED_TRANSFER_MATCHED && taken(&d, "token")->rows == 3);
    CHECK(taken(&d, "wide")->how == HEED_TRANSFER_UNFIT);
    close_desk(&d);
}

TEST(start_of_the_same_tokens_takes_all) {
    desk d = open_desk();
    d.run.tokenizer = chars(d.c, "abc");
    d.run.source = chars(d.c, "xyz");
    d.names = (heed__row_names){.tokenizer = chars(d.c, "abc"), .source = chars(d.c, "zx")};
    pair_of(&d, "token", HEED_ROWS_TOKENS, 4, 4, 1);
    pair_of(&d, "source", HEED_ROWS_SOURCE, 3, 4, 1);
    take(&d);
    CHECK(taken(&d, "token")->how == HEED_TRANSFER_TAKEN);
    VALUES(&d, "source", 10, 12, 13); /* x z [UNK] of x y z [UNK] */
    close_desk(&d);
    d = open_desk(); /* of unknown tokenizers the shape decides */
    pair_of(&d, "token", HEED_ROWS_TOKENS, 4, 4, 1);
    pair_of(&d, "more", HEED_ROWS_TOKENS, 5, 4, 1);
    take(&d);
    CHECK(taken(&d, "token")->how == HEED_TRANSFER_TAKEN);
    CHECK(taken(&d, "more")->how == HEED_TRANSFER_UNFIT);
    close_desk(&d);
}

TEST(start_keeps_the_positions_that_exist) {
    desk d = open_desk();
    pair_of(&d, "longer", HEED_ROWS_POSITIONS, 4, 2, 1);
    pair_of(&d, "shorter", HEED_ROWS_POSITIONS, 2, 4, 1);
    pair_of(&d, "equal", HEED_ROWS_POSITIONS, 2, 2, 1);
    take(&d);
    VALUES(&d, "longer", 10, 11, -1, -1);
    VALUES(&d, "shorter", 10, 11);
    CHECK(taken(&d, "longer")->how == HEED_TRANSFER_MATCHED && taken(&d, "longer")->rows == 2);
    CHECK(taken(&d, "shorter")->how == HEED_TRANSFER_MATCHED && taken(&d, "shorter")->rows == 2);
    CHECK(taken(&d, "equal")->how == HEED_TRANSFER_TAKEN);
    close_desk(&d);
}

/* Two cells a side to four: the new centres are at -1/4, 1/4, 3/4 and 5/4 cells, of which the first
 * and last are beyond the outer centres. f(row, col) = 2 row + col is bilinear, so it is kept
 * exactly. */
TEST(start_interpolates_a_grid) {
    static const double at[4] = {0, 0.25, 0.75, 1};
    desk d = open_desk();
    pair_of(&d, "grid", HEED_ROWS_GRID, 17, 5, 1); /* 9: [CLS]; 10 .. 13 row by row */
    heed_params_find(d.run.store, "grid")->tensor->x[0] = 9;
    for (int i = 0; i < 4; i++)
        heed_params_find(d.run.store, "grid")->tensor->x[1 + i] = (heed_real)(10 + i);
    take(&d);
    double expected[17] = {9};
    for (int i = 0; i < 16; i++) expected[1 + i] = 10 + 2 * at[i / 4] + at[i % 4];
    check_values(&d, "grid", expected);
    CHECK(taken(&d, "grid")->how == HEED_TRANSFER_RESIZED);
    close_desk(&d);
}

TEST(start_interpolates_down_and_from_one_cell) {
    desk d = open_desk();
    pair_of(&d, "down", HEED_ROWS_GRID, 4, 16, 1); /* the mean of 2 x 2 cells */
    pair_of(&d, "one", HEED_ROWS_GRID, 9, 1, 2);
    pair_of(&d, "to_one", HEED_ROWS_GRID, 1, 9, 1);
    take(&d);
    VALUES(&d, "down", 12.5, 14.5, 20.5, 22.5);
    VALUES(&d, "one", 10, 11, 10, 11, 10, 11, 10, 11, 10, 11, 10, 11, 10, 11, 10, 11, 10, 11);
    VALUES(&d, "to_one", 14);
    close_desk(&d);
}

TEST(start_of_one_grid_with_and_without_cls) {
    desk d = open_desk();
    pair_of(&d, "without", HEED_ROWS_GRID, 4, 5, 1);
    pair_of(&d, "with", HEED_ROWS_GRID, 5, 4, 1);
    take(&d);
    VALUES(&d, "without", 11, 12, 13, 14);
    VALUES(&d, "with", -1, 10, 11, 12, 13);
    CHECK(taken(&d, "with")->how == HEED_TRANSFER_MATCHED && taken(&d, "with")->rows == 4);
    close_desk(&d);
}

static desk open_classes(const char *const *to, int to_count, const char *const *from,
                         int from_count) {
    desk d = open_desk();
    d.run.labels = from;
    d.run.label_count = from_count;
    d.names = (heed__row_names){.labels = to, .label_count = to_count};
    pair_of(&d, "body", HEED_ROWS_UNITS, 1, 1, 1);
    pair_of(&d, "head", HEED_ROWS_CLASSES, to_count, from_count, 2);
    pair_of(&d, "bias", HEED_ROWS_CLASSES, to_count, from_count, 0);
    take(&d);
    return d;
}

TEST(start_matches_classes_by_name) {
    static const char *const a[] = {"cat", "dog", "owl"}, *const b[] = {"owl", "cat", "dog"};
    static const char *const c[] = {"cat", "dog", "rat"};
    desk d = open_classes(a, 3, a, 3);
    CHECK(taken(&d, "head")->how == HEED_TRANSFER_TAKEN);
    close_desk(&d);
    d = open_classes(b, 3, a, 3);
    VALUES(&d, "head", 14, 15, 10, 11, 12, 13);
    VALUES(&d, "bias", 12, 10, 11);
    CHECK(taken(&d, "head")->how == HEED_TRANSFER_MATCHED);
    close_desk(&d);
    d = open_classes(c, 3, a, 3); /* as many, but others: the head is made anew */
    VALUES(&d, "head", -1, -1, -1, -1, -1, -1);
    CHECK(taken(&d, "bias")->how == HEED_TRANSFER_UNFIT);
    close_desk(&d);
    d = open_classes(a, 2, a, 3);
    VALUES(&d, "bias", -1, -1);
    close_desk(&d);
}

/* One neuron for two classes: z becomes -z if they are exchanged. */
TEST(start_of_one_neuron) {
    static const char *const a[] = {"no", "yes"}, *const b[] = {"yes", "no"};
    for (int exchanged = 0; exchanged < 2; exchanged++) {
        desk d = open_desk();
        d.run.labels = a;
        d.names.labels = exchanged ? b : a;
        d.run.label_count = d.names.label_count = 2;
        pair_of(&d, "head", HEED_ROWS_CLASSES, 1, 1, 2);
        take(&d);
        double sign = exchanged ? -1 : 1;
        VALUES(&d, "head", sign * 10, sign * 11);
        close_desk(&d);
    }
}

TEST(start_of_nothing_that_fits) {
    desk d = open_desk();
    pair_of(&d, "w", HEED_ROWS_UNITS, 2, 3, 2);
    CHECK(!heed__transfer_take(d.to, NULL, &d.run, &d.start) && !d.start.entries);
    CHECK(heed_ctx_status(d.c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(d.c), "no weights of old fit: w: expected shape (2,2), found (3,2)");
    heed_clear(d.c);
    heed_params *empty = heed_params_new(d.c);
    add(empty, "other", HEED_ROWS_UNITS, 1, 1, 0);
    CHECK(!heed__transfer_take(empty, NULL, &d.run, &d.start));
    CHECK_HAS(heed_ctx_error(d.c), "no parameter of its model, gpt");
    heed_clear(d.c);
    CHECK(!heed__transfer_take(NULL, NULL, &d.run, &d.start));
    CHECK(!heed__transfer_take(d.to, NULL, NULL, &d.start));
    close_desk(&d);
}

static heed_tokenizer *extended(const heed_tokenizer *k, const char *text, size_t n, int vocab,
                                bool specials) {
    return heed__tokenizer_extend(k, &(heed__source){.text = text, .n = n}, vocab, specials);
}
TEST_IN(tokenizer_extend, heed_open(&(heed_options){.threads = 1})) {
    heed_tokenizer *k = chars(c, "cab"), *more, *same;
    more = extended(k, "a\xC3\xA9zd", 5, 0, false);
    CHECK(heed_vocab_size(more) == 7);
    for (int i = 0; i < 4; i++) CHECK_TEXT(heed_token_text(more, i), heed_token_text(k, i));
    CHECK_TEXT(heed_token_text(more, 4), "d");
    CHECK_TEXT(heed_token_text(more, 6), "\xC3\xA9");
    CHECK(heed_tokenizer_specials(more).unk == 3);
    same = extended(k, "abc", 3, 0, false);
    CHECK(heed_tokenizer_digest(same) == heed_tokenizer_digest(k));
    CHECK(heed_vocab_size(extended(k, "xyz", 3, 5, false)) == 5);
    more = extended(k, "abc", 3, 0, true);
    CHECK(heed_vocab_size(more) == 8 && heed_tokenizer_specials(more).mask == 7);
    k = heed_tokenizer_train(c, "the cat", 7, (heed_tokenizer_args){.kind = "word"});
    more = extended(k, "the dog", 7, 0, true);
    CHECK(heed_tokenizer_digest(more) == heed_tokenizer_digest(k));
    k = heed_tokenizer_train(c, "x", 1, (heed_tokenizer_args){.kind = "byte"});
    CHECK(heed_vocab_size(extended(k, "y", 1, 0, true)) == 260);
}
