#ifndef ALLOC_IMAGES_H
#define ALLOC_IMAGES_H

#include <stdbool.h>

/* Sets of pictures, made in dir: steady batches, and every failure of opening them. */
void check_images(const char *dir, void (*check)(bool ok, const char *what));

#endif
