/* Goldens of models of transformers (tests/golden/exchange, by make_exchange.py): a run compared
 * with what transformers computed, and variants of a golden's folder. */
#ifndef HEED_TEST_EXCHANGE_MODEL_H
#define HEED_TEST_EXCHANGE_MODEL_H

#include "test.h"

#include <heed/models.h>

#define EXCHANGE_GOLDEN "tests/golden/exchange/"

/* The largest difference of x from an array, and the array's largest value. */
double exchange_apart(const heed_array *a, const heed_tensor *x, double *largest);

/* Whether the run (NULL: no) computes the logits and the attention of a golden. */
bool exchange_agrees(heed_run *r, const char *name);

/* Reads a file of a golden as a text of at most `size` bytes; returns its length. */
size_t exchange_golden(const char *name, const char *file, char *text, size_t size);

/* A folder with a golden's weights and its config.json, in which the first `from` is `to`; good for
 * one call. */
const char *exchange_edited(const char *name, const char *from, const char *to);

/* The warnings of a context: .log = exchange_hear, .user = an exchange_heard. */
typedef struct {
    char last[512];
    int count;
} exchange_heard;

void exchange_hear(void *user, heed_level level, const char *message);

#endif
