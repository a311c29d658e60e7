/* test_store.c -- the store's calls without a store, and after an error. */
#include "test.h"

static const int two[] = {2};

TEST(store_calls_accept_null) {
    CHECK(!heed_store_new(NULL) && !heed_store_ctx(NULL));
    CHECK(!heed_param(NULL, "w", "zero", 1, two) && !heed_state_new(NULL, "w", "zero", 1, two));
    CHECK(!heed_scope(NULL, "block.%d", 1));
    heed_unscope(NULL);
    CHECK(heed_store_count(NULL) == 0 && !heed_store_at(NULL, 0) && !heed_store_find(NULL, "w"));
    CHECK(heed_store_params(NULL) == 0 && heed_freeze(NULL, "*") == 0);
    CHECK(heed_set_decay(NULL, "*", true) == 0 && heed_set_lr_scale(NULL, "*", 1) == 0);
    heed_zero_grads(NULL);
    heed_store_free(NULL);
    heed_ctx *c = heed_open(NULL);
    heed_store *s = heed_store_new(c);
    heed_param(s, "w", "zero", 1, two);
    CHECK(!heed_store_find(s, NULL) && heed_freeze(s, NULL) == 0);
    CHECK(!heed_store_at(s, -1) && !heed_store_at(s, 1) && heed_store_at(s, 0));
    CLOSE(c);
}

TEST(store_rows_are_of_a_known_kind) {
    heed_ctx *c = heed_open(NULL);
    heed_store *s = heed_store_new(c);
    heed_param(s, "w", "zero", 1, two);
    CHECK(heed_set_rows(s, "w", HEED_ROWS_CLASSES) == 1);
    CHECK(heed_set_rows(s, "w", (heed_row_kind)99) == 0);
    CHECK(heed_ctx_status(c) == HEED_USAGE);
    CHECK_HAS(heed_ctx_error(c), "found 99");
    heed_clear(c);
    CHECK(heed_store_at(s, 0)->rows == HEED_ROWS_CLASSES);
    CLOSE(c);
}

/* Nothing is made while the context is in error, and all goes on where it was afterwards. */
TEST(store_makes_nothing_after_an_error) {
    heed_ctx *c = heed_open(NULL);
    heed_store *s = heed_store_new(c);
    CHECK_TEXT(heed_scope(s, "outer"), "outer");
    heed_fail(c, HEED_DATA, "first");
    CHECK(!heed_scope(s, "inner") && !heed_store_new(c));
    CHECK(!heed_param(s, "w", "zero", 1, two) && !heed_state_new(s, "m", "zero", 1, two));
    CHECK(heed_store_count(s) == 0);
    CHECK_TEXT(heed_ctx_error(c), "first");
    heed_clear(c);
    const heed_tensor *w = heed_param(s, "w", "zero", 1, two);
    CHECK(w && heed_store_count(s) == 1);
    if (w) CHECK_TEXT(w->name, "outer.w");
    CLOSE(c);
}
