#ifndef ALLOC_PAIRS_H
#define ALLOC_PAIRS_H

#include <stdbool.h>

/* Pairs of texts, made in dir: steady batches, and every failure of reading them and of BLEU. */
void check_pairs(const char *dir, void (*check)(bool ok, const char *what));

/* Where check_pairs left a file of lines of one length, so that all batches are alike: by
 * heed_target_kind. */
void even_pairs(const char *dir, int kind, char path[640]);

#endif
