/* test_focus.c -- the head of records that is worth looking at first. */
#include "test.h"
#include "view/draw.h"

#include <heed/view.h>

#include <math.h>

/* A record with an axis of 4 tokens, of which the first is special. */
static heed_record *record_of_4(heed_ctx *c) {
    heed_record *r = heed_record_new(c);
    heed_record_add_axis(r, &(heed_record_axis){.name = "text",
                                                .count = 4,
                                                .labels = (const char *[]){"[CLS]", "a", "b", "c"},
                                                .special = (unsigned char[]){1, 0, 0, 0}});
    return r;
}

/* Adds a layer of (heads,4,4) weights to it. */
static void add_layer(heed_record *r, int layer, int heads, const heed_real *weights) {
    heed_record_add_block(
        r, &(heed_record_block){.path = "a", .layer = layer, .heads = heads, .weights = weights});
}

TEST_IN(record_focus_is_the_most_concentrated_head_that_does_not_follow_positions,
        heed_open(NULL)) {
    static const heed_real even[16] = {.25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f,
                                       .25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f};
    static const heed_real before[16] = {1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    static const heed_real first[16] = {1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0};
    static const heed_real sharp[16] = {0, 0, .5f, .5f, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0};
    static const heed_real wide[16] = {0, 0, 0, 1, 0, 0, 0, 1, .1f, .7f, .1f, .1f, 0, 1, 0, 0};
    heed_record *r = record_of_4(c);
    heed_focus f;
    const heed_real *const layers[] = {even, before, first, sharp, wide};
    for (int i = 0; i < 5; i++) add_layer(r, i, 1, layers[i]);
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, -1, &f) && f.block == 3 && f.count == 5);
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, 0, &f) && f.block == 4); /* the row decides */
    CHECK(heed__record_focus(r, HEED_ENCODER, 2, -1, &f) && f.block == 2 && f.count == 1);
    const heed_record *const twice[] = {r, r};
    double score[2];
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, -1, &f) && f.block == 3);
    score[0] = f.score;
    CHECK(heed__record_focus(r, HEED_ENCODER, 4, 0, &f) && f.block == 4);
    score[1] = f.score;
    CHECK(heed__record_focus(r, HEED_ENCODER, 4, -1, &f) && f.block == 4);
    double all = f.score;
    CHECK(heed_records_focus(twice, (int[]){-1, -1}, 2, HEED_ENCODER, -1, &f) && f.block == 3);
    CHECK_CLOSE(f.score, score[0], 1e-12);
    CHECK(heed_records_focus(twice, (int[]){0, -1}, 2, HEED_ENCODER, 4, &f) && f.block == 4);
    CHECK(f.count == 1 && all > score[1]);
    CHECK_CLOSE(f.score, (score[1] + all) / 2, 1e-12);
    CHECK(!heed_records_focus(twice, (int[]){-1, -1}, 0, HEED_ENCODER, -1, &f) && f.count == 0);
    heed_record_add_guess(r, &(heed_record_guess){.query = 0});
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, -1, &f) && f.block == 4); /* of the prediction */
    CHECK(!heed__record_focus(r, HEED_CROSS, -1, -1, &f) && f.count == 0);
    r->block_count = 3; /* one that follows positions is better than a uniform one */
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, -1, &f) && f.block == 1);
}

/* (4,4) weights: each token attends to one key with the weight `most`, and to two others. */
static void fill_head(heed_real *w, heed_real most) {
    static const int at[4] = {3, 3, 0, 1};
    for (int i = 0; i < 16; i++) w[i] = 0;
    for (int i = 0; i < 4; i++) {
        w[i * 4 + at[i]] = most;
        for (int k = 1; k < 3; k++) w[i * 4 + (at[i] + k) % 4] = (1 - most) / 2;
    }
}

/* A record with a layer of three heads and, with `more` above 0, one of one head. */
static heed_record *record_of_heads(heed_ctx *c, const heed_real most[3], heed_real more) {
    heed_real w[3 * 16];
    heed_record *r = record_of_4(c);
    for (int i = 0; i < 3; i++) fill_head(w + 16 * i, most[i]);
    add_layer(r, 0, 3, w);
    fill_head(w, more);
    if (more > 0) add_layer(r, 1, 1, w);
    return r;
}

TEST_IN(record_focus_of_several_records_is_by_the_mean_score, heed_open(NULL)) {
    heed_focus f, own[2];
    /* The first prefers head 1, the second head 3, and both together head 2. */
    const heed_record *const r[] = {
        record_of_heads(c, (heed_real[]){.9f, .85f, .4f}, .95f),
        record_of_heads(c, (heed_real[]){.4f, .85f, .9f}, .95f),
        record_of_heads(c, (heed_real[]){.4f, .4f, .9f}, 0)}; /* without the second layer */
    const int any[] = {-1, -1, -1};
    for (int i = 0; i < 2; i++) {
        CHECK(heed__record_focus(r[i], HEED_ENCODER, 0, -1, &f) && f.head == 2 * i && f.count == 3);
        CHECK(heed__record_focus(r[i], HEED_ENCODER, 1, -1, &own[i]) && own[i].count == 1);
    }
    CHECK(heed_records_focus(r, any, 2, HEED_ENCODER, 0, &f) && f.head == 1 && f.count == 3);
    CHECK(heed_records_focus(r, any, 2, HEED_ENCODER, -1, &f) && f.block == 1 && f.count == 4);
    CHECK_CLOSE(f.score, (own[0].score + own[1].score) / 2, 1e-12);
    CHECK(heed_records_focus(r, any, 3, HEED_ENCODER, -1, &f) && f.block == 0 && f.count == 3);
    CHECK(f.head == 2);
    CHECK(!heed_records_focus(r, any, 3, HEED_ENCODER, 1, &f) && f.count == 0);
    const heed_record *const lacks[] = {r[0], NULL};
    CHECK(!heed_records_focus(lacks, any, 2, HEED_ENCODER, -1, &f) && f.count == 0);
}

/* A single sharp row, be it the one of the prediction, does not outweigh a matrix that is nearly
 * uniform; if that row alone is asked for, it does. */
TEST_IN(record_focus_is_no_head_that_is_nearly_uniform_but_for_one_row, heed_open(NULL)) {
    static const heed_real w[2][16] = {
        {.25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f, .25f, 0, 1, 0, 0},
        {0, 0, .9f, .1f, 0, .1f, 0, .9f, .1f, .9f, 0, 0, 0, .9f, .1f, 0}};
    heed_record *r = record_of_4(c);
    heed_focus f;
    add_layer(r, 0, 2, w[0]);
    heed_record_add_guess(r, &(heed_record_guess){.query = 3});
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, -1, &f) && f.head == 1);
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, 3, &f) && f.head == 0);
}

/* Heads that follow positions come after one that attends to less than half of what it may, and
 * before one that attends to more. */
TEST(record_focus_prefers_a_head_of_positions_to_one_of_much) {
    static const heed_real w[3][16] = {
        {.7f, .1f, .1f, .1f, .7f, .1f, .1f, .1f, .1f, .7f, .1f, .1f, .1f, .1f, .7f, .1f},
        {1, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
        {0, 0, .5f, .5f, .4f, 0, .2f, .4f, .1f, .5f, 0, .4f, .1f, .5f, .4f, 0}};
    heed_ctx *c = heed_open(NULL);
    heed_record *r = record_of_4(c);
    heed_focus f;
    add_layer(r, 0, 3, w[0]);
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, -1, &f) && f.head == 1);
    CHECK(f.score > 0.5 && f.positional < 0.3);
    CLOSE(c);
    c = heed_open(NULL);
    r = record_of_4(c);
    heed_real sharp[2 * 16];
    for (int i = 0; i < 16; i++) sharp[i] = w[1][i];
    fill_head(sharp + 16, .9f);
    add_layer(r, 0, 2, sharp);
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, -1, &f) && f.head == 1);
    CHECK(f.score < 0.5 && f.positional < f.score); /* the other one is passed over */
    CLOSE(c);
}

/* A head with unknown weights is left out, in the rows that are asked about; others are not. */
TEST_IN(record_focus_leaves_out_weights_that_are_not_finite, heed_open(NULL)) {
    heed_focus f;
    heed_real w[3 * 16];
    for (int i = 0; i < 3; i++) fill_head(w + 16 * i, i == 1 ? .5f : .9f);
    for (int i = 4; i < 16; i++) w[i] = (heed_real)NAN;
    w[2 * 16 + 8] = (heed_real)INFINITY;
    heed_record *r = record_of_4(c);
    add_layer(r, 0, 3, w);
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, -1, &f) && f.head == 1 && f.count == 1);
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, 2, &f) && f.head == 1 && f.count == 1);
    CHECK(heed__record_focus(r, HEED_ENCODER, -1, 0, &f) && f.head == 0 && f.count == 3);
}

/* ---- what of a record is shown ---- */

/* Two heads over 4 tokens, causal, and a map of the same tokens. */
static heed_record *record_of_two_heads(heed_ctx *c) {
    static const heed_real weights[32] = {1, 0,   0,   0, .5f,  .5f,  0,    0,    /* head 1 */
                                          0, .5f, .5f, 0, .25f, .25f, .25f, .25f, /* */
                                          1, 0,   0,   0, 1,    0,    0,    0,    /* head 2 */
                                          1, 0,   0,   0, .75f, .25f, 0,    0};
    static const heed_real fall[16] = {[12] = -.5f, [13] = .25f};
    heed_record *r = record_of_4(c);
    heed_record_add_block(
        r, &(heed_record_block){.path = "a", .heads = 2, .weights = weights, .causal = true});
    heed_record_add_map(
        r, &(heed_record_map){.name = "occlusion", .layer = -1, .head = -1, .values = fall});
    return r;
}

static void check_row(const heed_view_map *m, int row, const char *name, const double *values) {
    CHECK(row < m->map.rows);
    if (row >= m->map.rows) return;
    CHECK_TEXT(m->map.row_labels[row], name);
    for (int i = 0; i < m->map.cols; i++)
        CHECK_CLOSE(m->values[row * m->map.cols + i], values[i], 1e-6);
}

TEST_IN(record_view_shows_a_head_a_query_a_key_and_measures, heed_open(NULL)) {
    heed_record *r = record_of_two_heads(c);
    heed_record_view v = heed_record_view_of(r, 3);
    heed_view_map m;
    CHECK(v.layers == 1 && v.focus.count == 2 && !v.chosen);
    CHECK(heed_view_rows(c, &v, true, false, &m) && m.map.rows == 3 && m.weights == 3);
    check_row(&m, 0, "mean", (double[]){.5, .25, .125, .125});
    check_row(&m, 2, "head 2", (double[]){.75, .25, 0, 0});
    heed_view_map_free(&m);
    v.chosen = true; /* one head, beside what else is measured, which has its own scale */
    v.head = 1;
    CHECK(heed_view_rows(c, &v, true, true, &m) && m.map.rows == 2 && m.weights == 1);
    check_row(&m, 0, "attention", (double[]){.75, .25, 0, 0});
    check_row(&m, 1, "occlusion", (double[]){-.5, .25, 0, 0});
    CHECK(m.map.ends[0] == 0 && m.map.ends[1] == .5f && m.map.units[1] && !m.map.units[0]);
    heed_view_map_free(&m);
    v.query = 1; /* a causal query sees no later token */
    CHECK(heed_view_rows(c, &v, true, false, &m) && m.map.cols == 2);
    v.several[0] = 1, v.several[1] = 3, v.count = 2; /* the mean of two */
    heed_view_map_free(&m);
    CHECK(heed_view_rows(c, &v, true, false, &m) && m.map.cols == 4);
    check_row(&m, 0, "head 2", (double[]){.875, .125, 0, 0});
    heed_view_map_free(&m);
    v.query = -1, v.key = 0; /* what looks at either of two keys: their sum */
    v.several[0] = 0, v.several[1] = 1;
    CHECK(heed_view_rows(c, &v, true, false, &m) && m.col[0] == 0 && m.map.cols == 4);
    check_row(&m, 0, "head 2", (double[]){1, 1, 1, 1});
    heed_view_map_free(&m);
    v = heed_record_view_of(r, -1);
    v.hide = true;
    CHECK(heed_view_matrix(c, &v, HEED_HEAD_LARGEST, &m) && m.map.rows == 3 && m.row[0] == 1);
    check_row(&m, 2, "c", (double[]){.25, .25, .25});
    CHECK(m.even && m.map.hi == 1); /* of the layer */
    heed_view_map_free(&m);
}
