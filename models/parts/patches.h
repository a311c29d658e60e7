/* patches.h -- a picture as a sequence of patches through a transformer's encoder: shared by the
 * models that read patches, so that the parameters of each fit the others. */
#ifndef MODELS_PATCHES_H
#define MODELS_PATCHES_H

#include "image.h"
#include "stack.h"

typedef struct {
    picture_settings picture; /* of the model's own rows */
    int patch;
    const char *pool;
    stack_settings stack;
} patch_settings;
extern const heed_option heed__patch_options[];

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
bool heed__patches_init(patch_encoder *m, heed_store *s, const patch_settings *set);
int heed__patches_count(const patch_encoder *m); /* n */
heed_position_kind heed__patches_positions(const patch_settings *set);

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
