/* convnet.h -- a small residual network from a picture to a grid of features, of cnn and caption: a
 * convolution, then stages of residual blocks. He et al. 2016, sec. 3.3. */
#ifndef MODELS_CONVNET_H
#define MODELS_CONVNET_H

#include "common.h"

enum { CONVNET_STAGES = 6, CONVNET_BLOCKS = 16 };

typedef struct {
    int channels, width; /* of the picture; of the first stage, each later one has twice as many */
    int stride;          /* of the first convolution */
    int stages, blocks;  /* each stage but the first halves the sides; blocks in a stage */
    bool no_norm, no_residual;
    heed_real dropout; /* inside the blocks */
} convnet_args;

typedef struct {
    heed_conv stem;
    heed_batchnorm norm; /* gain NULL: absent */
    int count, out;      /* blocks; channels of the features */
    heed_conv_block block[CONVNET_STAGES * CONVNET_BLOCKS];
} convnet;

/* Makes stem.{conv norm} and stage.S.N. */
void heed__convnet_init(convnet *m, heed_store *s, convnet_args a);
/* x (B,H,W,channels) -> (B,H',W',out), where H' is H divided by the stride, then by 2 in each stage
 * after the first, rounded up. */
heed_tensor *heed__convnet_apply(const convnet *m, heed_tape *t, heed_tensor *x);

#endif
