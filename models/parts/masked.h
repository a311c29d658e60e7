/* masked.h -- a masked auto-encoder: patches of a picture, most of them hidden from the encoder,
 * are predicted from the others. He et al. 2022. */
#ifndef MODELS_MASKED_H
#define MODELS_MASKED_H

#include "patches.h"

#define MASKED_OPTIONS                                                                             \
    NUMBER("hide", "0.75", 0.01, 0.99,                                                             \
           "masked: share of the patches that are hidden, at least one"),                          \
        NO("norm-target",                                                                          \
           "masked: predict a patch less its mean, over its deviation, instead of its pixels"),    \
        WHOLE("decoder-layers", "2", 1, MODEL_LAYERS, "masked: blocks of the decoder"),            \
        WHOLE("decoder-width", "0", 0, 1 << 20, "masked: of its stream; 0: half of width"),        \
        WHOLE("decoder-heads", "0", 0, 4096, "masked: of its blocks; 0: as many as heads")

#define MASKED_SETTINGS                                                                            \
    PATCH_SETTINGS " hide norm-target decoder-layers decoder-width decoder-heads"

typedef struct {
    patch_encoder encoder;
    int hidden;       /* patches of a picture */
    bool norm_target; /* predictions are of patches less their mean, over their deviation */
    heed_linear narrow;
    heed_tensor *mask; /* (1,d'): the decoder's input for a hidden patch */
    heed_position position;
    block_stack stack;
    heed_linear head;
} masked_patches;

/* Makes the encoder's parameters, as patches.h names them, and decoder.*. */
bool heed__masked_init(masked_patches *m, heed_store *s, const heed_config *f);
/* x (B,H,W,C); hide (B h): flat patches b n + i, h of each picture; NULL: none. -> (B,n,d'): the
 * decoder's output for every patch */
heed_tensor *heed__masked_decode(const masked_patches *m, heed_tape *t, heed_tensor *x,
                                 heed_tensor *hide);
/* The same of the hidden patches alone, as hide; the last block computes no others. */
heed_tensor *heed__masked_hidden(const masked_patches *m, heed_tape *t, heed_tensor *x,
                                 heed_tensor *hide);
/* That output of all patches, or of some, -> (N, side side channels): predictions in the order of a
 * patch's rows. */
heed_tensor *heed__masked_predict(const masked_patches *m, heed_tape *t, heed_tensor *decoded);
/* The patches of x as such rows (B n, side side channels), and back. */
heed_tensor *heed__masked_rows(const masked_patches *m, heed_tape *t, heed_tensor *x);
heed_tensor *heed__masked_picture(const masked_patches *m, heed_tape *t, heed_tensor *rows);
/* What is to be predicted for patches (N,..), and predictions as patches. Both return their
 * argument without norm_target. */
heed_tensor *heed__masked_target(const masked_patches *m, heed_tape *t, heed_tensor *patches);
heed_tensor *heed__masked_pixels(const masked_patches *m, heed_tape *t, heed_tensor *predicted,
                                 heed_tensor *patches);

#endif
