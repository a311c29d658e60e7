/* test_store.c -- the store's calls without a store, and after an error. */
#include "core/params.h"
#include "test.h"

static const int two[] = {2};

TEST_IN(store_rows_are_of_a_known_kind, heed_open(NULL)) {
    heed_params *s = heed_params_new(c);
    heed_param_new(s, "w", "zero", 1, two);
    CHECK(heed_set_rows(s, "w", HEED_ROWS_CLASSES) == 1);
    CHECK(heed_set_rows(s, "w", (heed_row_kind)99) == 0);
    CHECK(heed_ctx_status(c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(c), "found 99");
    heed_clear(c);
    CHECK(heed_params_at(s, 0)->rows == HEED_ROWS_CLASSES);
}

/* Nothing is made while the context is in error, and all goes on where it was afterwards. */
TEST_IN(store_scope_of_any_length_is_whole_or_an_error, heed_open(NULL)) {
    heed_params *s = heed_params_new(c);
    char name[300];
    memset(name, 'x', sizeof name);
    name[150] = 0;
    CHECK_TEXT(heed_scope_push(s, "%s", name), name);
    CHECK(!heed_scope_push(s, "%s", name));
    CHECK_HAS(heed_ctx_error(c), "scope is too long");
    heed_clear(c);
}

TEST_IN(store_makes_nothing_after_an_error, heed_open(NULL)) {
    heed_params *s = heed_params_new(c);
    CHECK_TEXT(heed_scope_push(s, "outer"), "outer");
    heed_fail(c, HEED_DATA, "first");
    CHECK(!heed_scope_push(s, "inner") && !heed_params_new(c));
    CHECK(!heed_param_new(s, "w", "zero", 1, two) && !heed_buffer_new(s, "m", "zero", 1, two));
    CHECK(heed_params_count(s) == 0);
    CHECK_TEXT(heed_ctx_error(c), "first");
    heed_clear(c);
    const heed_tensor *w = heed_param_new(s, "w", "zero", 1, two);
    CHECK(w && heed_params_count(s) == 1);
    if (w) CHECK_TEXT(w->name, "outer.w");
}

/* ---- values that are not drawn ---- */

static heed_tensor *weight(heed_params *s, const char *name) {
    return heed_param_new(s, name, "normal:1", 2, (int[]){3, 4});
}

static bool drawn_as(const heed_params *s, const heed_params *from, const char *name) {
    const heed_param *a = heed_params_find(s, name), *b = heed_params_find(from, name);
    return a && b && !heed__of(a->tensor)->undrawn &&
           !memcmp(a->tensor->x, b->tensor->x, b->tensor->size * sizeof(heed_real));
}

/* Later they have the bits that they would have had at once. Constants are set at once. */
TEST_IN(store_draws_expected_values_only_when_asked, heed_open(&(heed_options){.seed = 3})) {
    heed_params *plain = heed_params_new(c), *s = heed_params_new(c);
    static const char *const names[] = {"a", "b", "c"};
    for (int i = 0; i < 3; i++) weight(plain, names[i]);
    heed__store_expect(s, true, NULL);
    for (int i = 0; i < 2; i++) weight(s, names[i]);
    heed_tensor *gain = heed_param_new(s, "gain", "one", 1, (int[]){2});
    heed__store_expect(s, false, NULL);
    weight(s, "c");
    CHECK(heed__of(heed_params_find(s, "a")->tensor)->undrawn &&
          heed__of(heed_params_find(s, "b")->tensor)->undrawn);
    CHECK(!heed__of(heed_params_find(s, "gain")->tensor)->undrawn && gain->x[1] == 1);
    CHECK(drawn_as(s, plain, "c"));
    CHECK(heed__store_draw(s, heed_params_find(s, "b")) && drawn_as(s, plain, "b"));
    CHECK(heed__of(heed_params_find(s, "a")->tensor)->undrawn);
    heed_params_find(s, "b")->tensor->x[0] = 7;
    CHECK(heed__store_draw_all(s) && drawn_as(s, plain, "a") && !drawn_as(s, plain, "b"));
}

/* Of a run: entries of the same shape whose rows are units. */
TEST_IN(store_expects_what_another_one_has, heed_open(&(heed_options){.seed = 3})) {
    heed_params *from = heed_params_new(c), *s = heed_params_new(c);
    weight(from, "same");
    weight(from, "tokens");
    heed_set_rows(from, "tokens", HEED_ROWS_TOKENS);
    heed_param_new(from, "wide", "normal:1", 2, (int[]){3, 5});
    heed__store_expect(s, true, from);
    weight(s, "same");
    weight(s, "tokens");
    weight(s, "wide");
    weight(s, "new");
    CHECK(heed__of(heed_params_find(s, "same")->tensor)->undrawn &&
          !heed__of(heed_params_find(s, "tokens")->tensor)->undrawn);
    CHECK(!heed__of(heed_params_find(s, "wide")->tensor)->undrawn &&
          !heed__of(heed_params_find(s, "new")->tensor)->undrawn);
    heed__store_set(heed_params_find(s, "same"), heed_params_find(from, "same")->tensor);
    CHECK(drawn_as(s, from, "same"));
}

/* Layers open and close their scopes also after an error, which must not close the caller's. */
TEST_IN(store_scopes_stay_open_after_a_layer_failed, heed_open(NULL)) {
    heed_params *s = heed_params_new(c);
    heed_block b;
    heed_scope_push(s, "outer");
    heed_block_init(&b, s, "block", (heed_block_args){0});
    CHECK(heed_ctx_status(c) == HEED_USAGE);
    heed_clear(c);
    heed_tensor *w = heed_param_new(s, "w", "zero", 1, two);
    CHECK_TEXT(w->name, "outer.w");
    heed_scope_pop(s);
    CHECK_TEXT(heed_param_new(s, "v", "zero", 1, two)->name, "v");
}
