/* bottleneck.h -- a picture through few numbers: dense layers, or convolutions, before a code and
 * after it. */
#ifndef MODELS_BOTTLENECK_H
#define MODELS_BOTTLENECK_H

#include "common.h"

enum { BOTTLENECK_DEPTH = 8 };

#define BOTTLENECK_OPTIONS                                                                         \
    WHOLE("code", "16", 1, 1 << 16, "dense and conv: numbers of a picture's code"),                \
        WHOLE("depth", "2", 0, BOTTLENECK_DEPTH,                                                   \
              "dense and conv: hidden layers before the code, and after it"),                      \
        WHOLE("hidden", "512", 1, 1 << 20, "dense: width of the hidden layers"),                   \
        WHOLE("filters", "16", 1, 1 << 12,                                                         \
              "conv: channels of the first hidden layer; each halves the sides, and each later "   \
              "one has twice as many channels")

typedef struct {
    int size, channels; /* of the pictures */
    int depth;
    bool convolves;
    heed_act act;
    int sides[BOTTLENECK_DEPTH + 1];                          /* conv: of each layer's input */
    int planes;                                               /* conv: channels before the code */
    heed_linear down[BOTTLENECK_DEPTH], up[BOTTLENECK_DEPTH]; /* dense */
    heed_conv narrow[BOTTLENECK_DEPTH], widen[BOTTLENECK_DEPTH];
    heed_linear code, out; /* out: the first layer after the code of conv, the last one of dense */
} bottleneck;

/* Makes the parameters encoder.* and decoder.*. */
void heed__bottleneck_init(bottleneck *m, heed_store *s, const heed_config *f);
/* x (B,size,size,channels) -> (B,code) */
heed_tensor *heed__bottleneck_encode(const bottleneck *m, heed_tape *t, heed_tensor *x);
/* z (B,code) -> (B,size,size,channels) */
heed_tensor *heed__bottleneck_decode(const bottleneck *m, heed_tape *t, heed_tensor *z);

#endif
