/* Checks of memory on pictures with captions, for alloc.c. */
#ifndef ALLOC_CAPTIONS_H
#define ALLOC_CAPTIONS_H

#include "data/sets.h"

/* Opens the captions that check_captions made of the pictures of check_images, all of three words;
 * *words is their tokenizer. NULL on error. */
heed__captions *open_captions(heed_ctx *c, const char *dir, int workers, heed_tokenizer **words);
/* Steady batches, and every failure of reading captions. */
void check_captions(const char *dir, void (*check)(bool ok, const char *what));

#endif
