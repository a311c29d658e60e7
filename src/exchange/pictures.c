/* pictures.c -- preprocessor_config.json as the settings of pictures. */
#include "core/core.h"
#include "core/os.h"
#include "exchange/exchange.h"

bool heed__pictures_read(heed_ctx *c, const char *dir, heed_config *f) {
    heed_text path = {.c = c};
    bool ok = heed_text_add(&path, "%s/preprocessor_config.json", dir);
    if (ok && heed__os_exists(path.s))
        ok = heed_fail(c, HEED_DATA, "pictures are prepared in another way: %s", path.s);
    heed_text_free(&path);
    return ok && heed_config_set_list(f, "mean=0.5 std=0.5 flip=0", dir, HEED_FROM_FILE);
}

bool heed__pictures_write(heed_ctx *c, const char *dir, const heed_config *f) {
    return c && dir && f;
}
