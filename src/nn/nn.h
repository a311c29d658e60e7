/* nn/nn.h -- shared by layers: calls without a layer or a name are errors. */
#ifndef HEED_NN_INTERNAL_H
#define HEED_NN_INTERNAL_H

#include <heed/nn.h>

#include <string.h>

/* True if there are a layer and a name; else false, with an error, and the layer is empty. */
static inline bool heed__layer_begins(void *layer, size_t size, heed_params *s, const char *name) {
    if (layer && name) return true;
    if (layer) memset(layer, 0, size);
    return heed_fail(heed_params_ctx(s), HEED_USAGE,
                     "layer %s cannot be made: expected a %s, found NULL", name ? name : "",
                     name ? "struct of it" : "name");
}

/* True if there is a layer to apply; else false, with an error. */
static inline bool heed__layer_given(const void *layer, const heed_tape *t) {
    return layer || heed_fail(heed_tape_ctx(t), HEED_USAGE,
                              "a layer cannot be applied: expected a layer, found NULL");
}

/* Residual add with dropout: x + drop(fx), or norm(x + drop(fx)) if post is not NULL. */
heed_tensor *heed__residual(heed_tape *t, heed_tensor *x, heed_tensor *fx,
                            const heed_dropout_layer *drop, const heed_norm *post);

#endif
