/* choice.h -- a layer, a head, a query: chosen by the same words in every command that shows
 * attention, and with the same defaults. */
#ifndef HEED_CHOICE_H
#define HEED_CHOICE_H

#include "cli/program.h"

/* Rows of a command's table. */
#define CHOOSE_LAYER(group)                                                                        \
    {                                                                                              \
        "layer", HEED_INT, "0", 0, 64, NULL,                                                       \
            "layer whose attention is shown, from 1; 0: the last", group                           \
    }
#define CHOOSE_STACK(group)                                                                        \
    {                                                                                              \
        "stack", HEED_CHOICE, "", 0, 0, "encoder|decoder|cross",                                   \
            "models of pairs: whose attention; without it cross", group                            \
    }
#define HEAD_WORDS  "one head, from 1, or mean or max of all"
#define QUERY_WORDS "one token, by its text or its number from 1"

/* Instead of a head's number: one matrix of all. */
enum { MEAN_HEAD = -1, MAX_HEAD = -2 };

/* Numbers from 1 with commas and ranges, "1,3-5", as numbers from 0; to be freed. NULL, with an
 * error, where it is none; *count 0 for "". */
int *number_list(heed_ctx *c, const char *flag, const char *text, int *count);

/* --stack and --layer among blocks of `of`: the place of the one that is meant; -1: an error.
 * Without a stack it is cross where there is one, else the first's; layer 0 is its last. */
int chosen_block(heed_ctx *c, const char *of, const heed_config *flags, const heed_record_block *b,
                 int count);
/* --head of a block that has its heads' numbers, if they are not all: MEAN_HEAD without one. */
bool chosen_head(heed_ctx *c, const char *text, const heed_record_block *b, int *head);
/* "head 2", "mean of 4 heads", "its one head" */
const char *head_words(const heed_record_block *b, int head, char text[48]);
/* The head's number from 1, "mean" or "max", as the page's links have it; and for JSON. */
const char *head_word(const heed_record_block *b, int head, char text[16]);
json_t *head_json(const heed_record_block *b, int head);
/* Weights of one head, or of all of them by mean or maximum, at place `at` of `square` of each. */
heed_real fused_weight(const heed_real *weights, int heads, size_t square, int head, size_t at);
/* --query among the tokens or patches of an axis: -1 without one. */
bool chosen_query(heed_ctx *c, const char *text, const heed_record_axis *a, int *query);

#endif
