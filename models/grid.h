/* grid.h -- a picture as a grid of features, for caption: by a convolutional network, with
 * positions of row and column, or by patches through a transformer's encoder. */
#ifndef MODELS_GRID_H
#define MODELS_GRID_H

#include "convnet.h"
#include "patches.h"

/* Besides PATCH_OPTIONS, PATCH_STACK_OPTIONS and the sizes of pictures. */
#define GRID_OPTIONS                                                                               \
    CHOICE("encoder", "cnn", "cnn|vit", "a convolutional network, or patches and attention"),      \
        WHOLE("filters", "16", 1, 1 << 14,                                                         \
              "cnn: channels of the first stage; each later one has twice as many"),               \
        WHOLE("stages", "0", 0, CONVNET_STAGES,                                                    \
              "cnn: each but the first halves height and width; 0: until 8 cells a side")

typedef struct {
    int size, channels, width; /* of the pictures, and of the features */
    heed_grid cells;
    bool patches; /* the second of these: */
    convnet net;
    heed_linear out; /* from the network's channels to width */
    heed_position place;
    heed_drop drop;
    patch_encoder vit;
} grid_encoder;

/* Makes encoder.{stem stage grid}, or embed.* encoder.N.* norm as in vit. */
bool heed__grid_init(grid_encoder *m, heed_store *s, const heed_config *f);
/* The member `chosen` of heed_model: the usual sizes depend on the size of the pictures. */
bool heed__grid_chosen(const grid_encoder *m, heed_config *f);
int heed__grid_count(const grid_encoder *m); /* n, with the token [CLS] of patches */
/* x (B,size,size,channels) -> features (B,n,width), row by row; and in mean (B,width) their mean,
 * or [CLS]. NULL, with an error, for a picture of another size. */
heed_tensor *heed__grid_apply(const grid_encoder *m, heed_tape *t, heed_tensor *x,
                              heed_tensor **mean);

#endif
