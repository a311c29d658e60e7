/* lists.c -- settings that are lists: any text is a list of patterns, of patterns with factors, or
 * of settings, or an error. The first byte says which. */
#include "core/core.h"
#include "fit/fit.h"

#include <stdlib.h>
#include <string.h>

static void apply(heed_ctx *c, const char *text, bool freeze) {
    heed_params *s = heed_params_new(c);
    heed__settings set = {.freeze = freeze ? text : "", .lr_scale = freeze ? "" : text};
    heed_param_new(s, "encoder.0.weight", "zero", 2, (int[]){2, 2});
    heed_param_new(s, "head.bias", "zero", 1, (int[]){2});
    bool ok = heed__settings_apply(&set, s);
    if (ok != (heed_ctx_status(c) == HEED_OK)) abort();
    for (int i = 0; ok && i < heed_params_count(s); i++)
        if (!(heed_params_at(s, i)->lr_scale >= 0)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    if (n < 1) return 0;
    heed_ctx *c = heed_open(NULL);
    char *text = heed__alloc(c, n);
    memcpy(text, data + 1, n - 1);
    if (data[0] % 3 == 2) {
        heed_config *f = heed_config_new(c, (const heed_option *const[]){heed_fit_options, NULL});
        bool ok = heed_config_set_list(f, text, "fuzz", HEED_FROM_PRESET);
        if (ok != (heed_ctx_status(c) == HEED_OK)) abort();
    } else
        apply(c, text, data[0] % 3);
    heed__free(text);
    heed_close(c);
    return 0;
}
