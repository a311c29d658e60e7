/* test_random.c -- random streams where a count leaves 32 bits: steps, indices and permutations. */
#define HEED_ISA generic
#include "core/core.h"
#include "kernel_case.h"
#include "kernels/random.h"
#include "test.h"

static const uint64_t large = (uint64_t)1 << 34; /* an index whose block has a high word */

/* How many of 200 draws of the streams are equal; of unrelated ones none is. */
static int equal_draws(heed_random a, uint64_t from_a, heed_random b, uint64_t from_b) {
    int equal = 0;
    for (uint64_t i = 0; i < 200; i++)
        equal += heed__random_bits(&a, from_a + i) == heed__random_bits(&b, from_b + i);
    return equal;
}

TEST(random_index_and_step_count_in_64_bits) {
    const heed_random r = heed_random_at(3, "somewhere", 5, 0);
    static const uint64_t high[] = {1, 2, 3, 1000, (uint64_t)1 << 20, (uint64_t)1 << 29};
    for (size_t i = 0; i < sizeof high / sizeof *high; i++) {
        CHECK(equal_draws(r, 0, r, high[i] * large) == 0);
        CHECK(equal_draws(r, high[i] * large, r, (high[i] + 1) * large) == 0);
        heed_random later = heed_random_at(3, "somewhere", 5 + (high[i] << 32), 0);
        CHECK(equal_draws(r, 0, later, 0) == 0);
    }
    CHECK(equal_draws(r, large - 3, r, large - 3) == 200);
}

/* The vectors draw the stream's words by halves, beyond 32 bits of blocks too. */
TEST(random_vectors_draw_the_stream_at_any_index) {
    const heed_random r = heed_random_at(3, "somewhere", 7, 2);
    static const uint64_t from[] = {0, 1, 6, large - 9, large + 2, 5 * large - 30, large << 20};
    const heed__dropout d = dropout_of(&r, (heed_real)0.25);
    for (size_t i = 0; i < sizeof from / sizeof *from; i++)
        for (size_t n = 0; n < 70; n += 23) {
            uint32_t words[4] = {0};
            dropout_kept(&d, words, from[i], n);
            for (size_t j = 0; j < n; j++) {
                bool kept = kernel_keeps(&r, from[i] + j, 0.25);
                CHECK((words[j / 32] >> j % 32 & 1) == kept);
                CHECK((kept_factor(&d, words, j)[0] != 0) == kept);
            }
            CHECK(words[(n + 31) / 32] == 0);
        }
}

TEST(random_blocks_hold_the_numbers_of_the_stream) {
    const heed_random r = heed_random_at(3, "somewhere", 7, 2);
    for (uint64_t block = 0; block < 50; block++) {
        uint64_t at = block < 25 ? block : block * large;
        double u[4], z[2];
        heed__random_uniforms(&r, at, u);
        heed__random_normals(&r, at, z);
        for (uint64_t i = 0; i < 4; i++) CHECK(u[i] == heed_random_uniform(&r, 4 * at + i));
        for (uint64_t i = 0; i < 2; i++) CHECK(z[i] == heed_random_normal(&r, 2 * at + i));
    }
}

TEST(random_permutations_of_very_many) {
    static const uint64_t sizes[] = {large - 1, large + 1, large << 20, (uint64_t)1 << 63};
    const heed_random r = heed_random_at(3, "order", 1, 0);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        uint64_t to[300], below = 0;
        for (uint64_t i = 0; i < 300; i++) {
            uint64_t from = i < 150 ? i : sizes[s] - 1 - i;
            to[i] = heed_random_permute(&r, from, sizes[s]);
            CHECK(to[i] < sizes[s] && to[i] != from);
            for (uint64_t j = 0; j < i; j++) CHECK(to[j] != to[i]);
            below += to[i] < sizes[s] / 2;
        }
        CHECK(below > 100 && below < 200); /* spread over all of them */
    }
}
