/* masks.c -- which patches of a picture are hidden. He et al. 2022, sec. 3. */
#include "data/kind.h"

/* Selection sampling: Knuth, vol. 2, 3.4.2, algorithm S. */
void heed_masked_patches(heed_ctx *c, heed_batch_at at, int row, int patches, int hidden,
                         int32_t *out) {
    if (!c || !out) return;
    const char *site = at.val ? "patches.eval" : "patches";
    heed_random r = heed_random_at(heed_seed(c), site, heed__draw_of(at, (uint64_t)row), 0);
    int count = 0;
    for (int i = 0; i < patches && count < hidden; i++)
        if ((int)heed_random_below(&r, (uint64_t)i, (uint32_t)(patches - i)) < hidden - count)
            out[count++] = i;
}
