/* An optimizer's passes over all parameters: cut into pieces, with the bits of whole parameters. */
#include "core/params.h"
#include "test.h"

#include <float.h>

enum { ENTRIES = 4, UPDATES = 3 };
static const int sizes[ENTRIES] = {3, 9001, 64, 4096};

typedef struct {
    heed_ctx *c;
    heed_params *s;
    heed_optim *o;
    heed_tensor *x[ENTRIES];
} set;

static set open_set(const heed_optimizer *r, int threads) {
    set l = {.c = heed_open(&(heed_options){.seed = 5, .threads = threads})};
    char name[] = "p0";
    l.s = heed_params_new(l.c);
    for (int i = 0; i < ENTRIES; i++, name[1]++)
        l.x[i] = heed_param_new(l.s, name, "normal:0.1", 1, &sizes[i]);
    l.o = heed_optim_new(l.s, r, NULL);
    return l;
}

/* Gradients by way of the tape, for all entries but one. */
static void give(const set *l, heed_tape *t, int without) {
    heed_tape_begin(t, HEED_TRAIN, 0);
    for (int i = 0; i < ENTRIES; i++) {
        if (i == without) continue;
        heed_backward(t, heed_sum(t, heed_mul(t, l->x[i], heed_mul(t, l->x[i], l->x[i]))));
    }
}

static void update(const set *l, bool clip) {
    heed_tape *t = heed_tape_new(l->c);
    for (int u = 0; u < UPDATES; u++) {
        give(l, t, u);
        double norm = heed_grad_norm(l->s);
        if (clip) CHECK(heed_clip_grad_norm(l->o, (heed_real)0.01, 1) == norm && norm > 0);
        CHECK(heed_optim_step(l->o, 1));
    }
    heed_tape_free(t);
}

static void check_equal(const set *a, const set *b, const char *name) {
    for (int i = 0; i < ENTRIES; i++)
        if (memcmp(a->x[i]->x, b->x[i]->x, (size_t)sizes[i] * sizeof(heed_real)) != 0)
            test_fail(__FILE__, __LINE__, "%s: entry %d differs", name, i);
}

static bool always(const heed_param *e) { return e != NULL; }

TEST(optim_updates_pieces_as_whole_parameters) {
    for (const heed_optimizer *const *r = heed_optimizer_table(); *r; r++) {
        heed_optimizer whole = **r;
        if (whole.whole) continue; /* muon: its vectors are adamw's */
        whole.whole = always;
        for (int threads = 1; threads <= 3; threads += 2) {
            set a = open_set(*r, threads);
            heed_optim_args args = heed_optim_defaults(&whole);
            set b = open_set(*r, 1);
            heed_optim_free(b.o);
            b.o = heed_optim_new(b.s, &whole, &args);
            update(&a, threads > 1);
            update(&b, threads > 1);
            check_equal(&a, &b, whole.name);
            CLOSE(a.c);
            CLOSE(b.c);
        }
    }
}

/* A region for the squares, another one for the update, however many parameters there are. */
TEST(optim_passes_are_one_region_each) {
    set l = open_set(&heed_adamw, 2);
    heed_profile *p = heed_profile_new(l.c);
    const heed_profile_row *rows;
    update(&l, true);
    int found = 0;
    for (int i = 0, n = heed_profile_rows(p, &rows); i < n; i++) {
        if (rows[i].phase != HEED_PHASE_OPTIMIZER) continue;
        CHECK(rows[i].calls == UPDATES && rows[i].regions <= rows[i].calls);
        found++;
    }
    CHECK(found == 2);
    CLOSE(l.c);
}

/* Where gradients remain 0, slots shrink to 0, not to numbers that are slow to compute with. */
TEST(optim_slots_are_not_left_denormal) {
    for (const heed_optimizer *const *r = heed_optimizer_table(); *r; r++) {
        set l = open_set(*r, 1);
        heed_tape *t = heed_tape_new(l.c);
        heed_params *slots = heed_optim_slots(l.o);
        for (int i = 0; i < heed_params_count(slots); i++) {
            heed_tensor *x = heed_params_at(slots, i)->tensor;
            for (size_t j = 0; x->size > 1 && j < x->size; j++)
                x->x[j] = sizeof(heed_real) == 8 ? (heed_real)DBL_MIN : (heed_real)FLT_MIN;
        }
        heed_tape_begin(t, HEED_TRAIN, 0);
        heed_backward(t, heed_scale(t, heed_sum(t, l.x[1]), 0, 0));
        CHECK(heed_optim_step(l.o, 1));
        for (int i = 0; i < heed_params_count(slots); i++) {
            const heed_param *e = heed_params_at(slots, i);
            if (strstr(e->name, "p1") && e->tensor->size > 9000)
                CHECK(e->tensor->x[0] == 0 && e->tensor->x[9000] == 0);
        }
        CLOSE(l.c);
    }
}

/* Muon's matrices: named ranges of rows are matrices of their own, with the bits of weights that
 * are apart, for any team; a convolution is a matrix; embeddings, adapters and vectors are AdamW's.
 */
TEST(optim_muon_updates_matrices) {
    static const struct {
        const char *name;
        int dims, shape[4];
    } entries[] = {{"qkv", 2, {96, 40}},  {"q", 2, {40, 40}},        {"k", 2, {40, 40}},
                   {"rest", 2, {16, 40}}, {"conv", 4, {6, 3, 2, 2}}, {"flat", 2, {6, 12}},
                   {"embed", 2, {30, 8}}, {"bias", 1, {7}}};
    enum { COUNT = sizeof entries / sizeof *entries };
    heed_real *first = NULL;
    for (int threads = 1; threads <= 3; threads++) {
        heed_ctx *c = heed_open(&(heed_options){.seed = 1, .threads = threads});
        heed_params *s = heed_params_new(c);
        heed_tensor *x[COUNT];
        for (int i = 0; i < COUNT; i++) {
            x[i] = heed_param_new(s, entries[i].name, "zero", entries[i].dims, entries[i].shape);
            for (size_t j = 0; j < x[i]->size; j++) {
                size_t at = i == 2 ? j + x[1]->size : i == 3 ? j + 2 * x[1]->size : j;
                x[i]->x[j] = (heed_real)sin((double)(at + at / 13));
            }
        }
        heed__name_rows(s, x[0], "q", 0, 40);
        heed__name_rows(s, x[0], "k", 40, 40);
        heed_set_rows(s, "embed", HEED_ROWS_TOKENS);
        heed_optim *o = heed_optim_new(s, &heed_muon, NULL);
        heed_tape *t = heed_tape_new(c);
        for (int u = 0; u < UPDATES; u++) {
            heed_tape_begin(t, HEED_TRAIN, (uint64_t)u);
            for (int i = 0; i < COUNT; i++)
                heed_backward(t, heed_sum(t, heed_mul(t, x[i], heed_mul(t, x[i], x[i]))));
            CHECK(heed_optim_step(o, 1));
        }
        size_t size = x[1]->size * sizeof(heed_real);
        CHECK(memcmp(x[0]->x, x[1]->x, size) == 0);
        CHECK(memcmp(x[0]->x + x[1]->size, x[2]->x, size) == 0);
        CHECK(memcmp(x[0]->x + 2 * x[1]->size, x[3]->x, x[3]->size * sizeof(heed_real)) == 0);
        CHECK(memcmp(x[4]->x, x[5]->x, x[4]->size * sizeof(heed_real)) == 0);
        heed_params *slots = heed_optim_slots(o);
        CHECK(heed_params_find(slots, "muon.v.embed") && heed_params_find(slots, "muon.v.bias"));
        CHECK(heed_params_find(slots, "muon.m.conv") && !heed_params_find(slots, "muon.v.conv"));
        if (threads == 1) first = malloc(x[0]->size * sizeof *first);
        if (threads == 1) memcpy(first, x[0]->x, x[0]->size * sizeof *first);
        CHECK(memcmp(first, x[0]->x, x[0]->size * sizeof *first) == 0);
        CLOSE(c);
    }
    free(first);
}
