/* patches.h -- a picture as a sequence of patches through a transformer's encoder: shared by the
 * models that read patches, so that the parameters of each fit the others. */
#ifndef MODELS_PATCHES_H
#define MODELS_PATCHES_H

#include "stack.h"

/* Besides STACK_OPTIONS, INIT_STD and the sizes of pictures. */
#define PATCH_OPTIONS                                                                              \
    PATCH_SIDE_OPTION,                                                                             \
        CHOICE("pool", "cls", "cls|mean",                                                          \
               "the head reads a [CLS] token, or the mean of the patches"),                        \
        POSITIONS_OPTION("learned",                                                                \
                         "encoding of positions; sinusoidal: of row and column; rotary: of "       \
                         "the place in the sequence, row by row after [CLS]")
#define PATCH_SIDE_OPTION                                                                          \
    WHOLE("patch", "0", 0, 4096,                                                                   \
          "side of a patch in pixels; 0: 4 patches a side of small pictures, 8 of large ones")
#define PATCH_STACK_OPTIONS                                                                        \
    STACK_OPTIONS("4", "4", "64", "pre", "gelu", "1e-12"), INIT_STD("0.02"), PATCH_END_OPTIONS
#define PATCH_END_OPTIONS                                                                          \
    YES("final-norm", "layer norm after the last block"),                                          \
        NO("scale-residual",                                                                       \
           "initial deviation of sublayers' output weights: init-std / sqrt(2 layers)")
#define PATCH_SETTINGS                                                                             \
    STACK_SETTINGS                                                                                 \
    " bias patch pool positions layers width norm-kind norm-eps dropout init-std final-norm "      \
    "scale-residual"

typedef struct {
    int size, channels; /* of the pictures */
    int side;           /* of a patch, in pixels */
    heed_conv patch;
    heed_tensor *cls; /* (1,1,d); NULL: the mean of the patches is read */
    heed_position position;
    heed_drop drop;
    block_stack stack;
} patch_encoder;

/* Makes the parameters embed.*, encoder.N.* and norm.*. False if the patches do not fit. */
bool heed__patches_init(patch_encoder *m, heed_store *s, const heed_config *f);
int heed__patches_count(const patch_encoder *m); /* n */
heed_position_kind heed__patches_positions(const heed_config *f);

/* x (B,size,size,channels) -> (B,n+1,d), or (B,n,d) without CLS: the last block's output. seen
 * (B,k): rows of the embeddings as (B (n+1), d) that pass through the blocks; NULL: all. */
heed_tensor *heed__patches_encode(const patch_encoder *m, heed_tape *t, heed_tensor *x,
                                  heed_tensor *seen);
/* That output -> (B,d): CLS, normalized alone as the others are not read (eq. 4), or the mean. */
heed_tensor *heed__patches_pool(const patch_encoder *m, heed_tape *t, heed_tensor *x);
/* The same of x (B,size,size,channels); the last block computes CLS alone, see heed__stack_rows. */
heed_tensor *heed__patches_features(const patch_encoder *m, heed_tape *t, heed_tensor *x);
bool heed__patches_grid(const patch_encoder *m, heed_grid *out);
/* Sets in f the size of a patch, whose usual value depends on the size of the pictures. */
bool heed__patches_chosen(const patch_encoder *m, heed_config *f);

#endif
