/* image.h -- code shared by the picture models: settings, input, output layer, loss, batches. A
 * model adds its own settings, parameters and function from a picture to features. */
#ifndef MODELS_IMAGE_H
#define MODELS_IMAGE_H

#include "common.h"

#include <heed/image.h>

typedef struct {
    int size, channels;
} picture_settings;
extern const heed_option heed__picture_options[];
/* Of classifiers. */
typedef struct {
    picture_settings picture;
    int classes;
    const char *head;
    heed_real smoothing;
} image_settings;
extern const heed_option heed__image_options[];

/* The first member of each model's struct, so that the functions below take any of them as self. */
typedef struct picture_model picture_model;
struct picture_model {
    model_result result;
    int size, channels, classes;
    bool binary;
    heed_real smoothing;
    /* x (B,size,size,channels) -> features (B,width), for the output layer */
    heed_tensor *(*features)(const picture_model *self, heed_tape *t, heed_tensor *x);
    heed_linear head;
};

/* The batch's pictures (B,size,size,channels); NULL, with an error, if they have another size. */
heed_tensor *heed__picture_input(heed_tape *t, const heed_batch *b, int size, int channels);
/* Reads the settings; fails if the data has not filled in the sizes. */
bool heed__picture_read(picture_model *m, heed_ctx *c, const image_settings *set);
/* Makes the output layer for features of this width; init: initial values of weights, or NULL. */
void heed__picture_head(picture_model *m, heed_store *s, int width, const char *init);

/* Members of heed_model. */
heed_tensor *heed__picture_logits(const void *self, heed_tape *t, const heed_model_input *in);
heed_tensor *heed__picture_loss(void *self, heed_tape *t, const heed_batch *b);
heed_tensor *heed__picture_code(const void *self, heed_tape *t, const heed_model_input *in);
#define PICTURE_MEMBERS                                                                            \
    .data = &heed_pictures_classes, .logits = heed__picture_logits, .loss = heed__picture_loss,    \
    .metrics = heed__model_metrics, .code = heed__picture_code

#endif
