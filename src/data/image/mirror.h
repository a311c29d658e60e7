/* mirror.h -- whether exchanging left and right changes what a picture means. */
#ifndef HEED_DATA_MIRROR_H
#define HEED_DATA_MIRROR_H

#include "data/image/images.h"

/* Whether a class or a caption has a word for left or right, in one of many languages, and its
 * bytes. */
bool heed__names_side(const char *text, size_t n, size_t *begin, size_t *length);
/* Sets info.sided by the names of the classes and, where they say nothing and `measure` is set, by
 * the pictures: whether those of one class, mirrored, look like those of another (an exact sign
 * test, p < 0.001 for all classes together). False: out of memory. */
bool heed__images_judge_sides(heed_images *k, bool measure);

#endif
