/* settings.h -- settings that all kinds of data with pictures share. */
#ifndef HEED_DATA_IMAGE_SETTINGS_H
#define HEED_DATA_IMAGE_SETTINGS_H

#include "data/sets.h"

#define HEED__PICTURES     "Pictures"
#define HEED__AUGMENTATION "Augmentation of training pictures"
/* Rows of tables of settings. */
#define HEED__ROW(...)                                                                             \
    { __VA_ARGS__ }
#define HEED__PICTURE_OPTIONS                                                                      \
    HEED__ROW("convert", HEED_OPTION_BOOL, "false", 0, 0, NULL,                                    \
              "print no note when pictures of other `channels` are converted to grey or colour",   \
              HEED__PICTURES),                                                                     \
        HEED__ROW("mean", HEED_OPTION_STRING, "", 0, 0, NULL,                                      \
                  "subtracted from pixels of 0 to 1: a number, or one a channel, "                 \
                  "comma-separated; none: that of the training part",                              \
                  HEED__PICTURES),                                                                 \
        HEED__ROW("std", HEED_OPTION_STRING, "", 0, 0, NULL,                                       \
                  "what pixels are then divided by; none: as for mean", HEED__PICTURES),           \
        HEED__ROW("resize-to", HEED_OPTION_INT, "0", -1, 1 << 16, NULL,                            \
                  "pixels of the short side, of which the centre is cropped; 0: image-size; -1: "  \
                  "both sides become image-size",                                                  \
                  HEED__PICTURES),                                                                 \
        HEED__ROW("resample", HEED_OPTION_STRING, "bilinear", 0, 0,                                \
                  "bilinear|bicubic|lanczos|nearest", "how pixels are interpolated",               \
                  HEED__PICTURES),                                                                 \
        HEED__ROW("strict", HEED_OPTION_BOOL, "false", 0, 0, NULL,                                 \
                  "a picture that cannot be decoded is an error, not skipped", HEED__PICTURES),    \
        HEED__ROW("workers", HEED_OPTION_INT, "1", 0, 64, NULL,                                    \
                  "threads that decode and augment ahead; the results do not depend on them",      \
                  HEED__PICTURES),                                                                 \
        HEED__ROW("cache-mb", HEED_OPTION_INT, "1000", 1, 1 << 20, NULL,                           \
                  "memory for decoded pictures in MB; what does not fit is decoded again",         \
                  HEED__PICTURES)
#define HEED__SHIFT_AND_COLOUR_OPTIONS                                                             \
    HEED__ROW("pad", HEED_OPTION_INT, "0", 0, 4096, NULL,                                          \
              "shift by up to so many pixels, both ways", HEED__AUGMENTATION),                     \
        HEED__ROW("scale", HEED_OPTION_REAL, "0", 0, 1, NULL,                                      \
                  "cut out a part and resize it: its smallest share of the area; 0: off",          \
                  HEED__AUGMENTATION),                                                             \
        HEED__ROW("ratio", HEED_OPTION_REAL, "1.3333", 1, 100, NULL,                               \
                  "its width to height lies between 1/ratio and ratio", HEED__AUGMENTATION),       \
        HEED__ROW("brightness", HEED_OPTION_REAL, "0", 0, 1, NULL, "times 1 - b to 1 + b",         \
                  HEED__AUGMENTATION),                                                             \
        HEED__ROW("contrast", HEED_OPTION_REAL, "0", 0, 1, NULL,                                   \
                  "the same, around the picture's mean", HEED__AUGMENTATION),                      \
        HEED__ROW("saturation", HEED_OPTION_REAL, "0", 0, 1, NULL,                                 \
                  "the same, around each pixel's grey", HEED__AUGMENTATION)

/* The arguments of a set of pictures by the settings; false with an error. */
bool heed__pictures_args(heed_ctx *c, const heed_config *f, const heed_data_args *a,
                         heed__images_args *out);
/* Sets image-size, channels, mean and std as found in the pictures. */
bool heed__pictures_complete(heed_config *f, const heed_images *k);
/* Adds what pictures are: sizes, normalisation, augmentation, those that are skipped, copies. */
void heed__describe_pictures(const heed_data *d, heed_images *k, const heed_config *f,
                             heed_facts *out);
/* Notes in d what opening has found of its pictures: why none is mirrored, the size. */
void heed__pictures_found(heed_data *d, const heed_images_info *a);

#endif
