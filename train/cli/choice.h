/* choice.h -- the choice of a layer, a head and a query, with the same flags and defaults in every
 * command that shows attention. */
#ifndef HEED_CHOICE_H
#define HEED_CHOICE_H

#include "cli/program.h"

/* Rows of a command's table. */
#define CHOOSE_LAYER(group)                                                                        \
    {                                                                                              \
        "layer", HEED_OPTION_STRING, "last", 0, 0, NULL, "layer whose attention is shown, from 1", \
            group                                                                                  \
    }
/* The same where the layer of the most concentrated head is the default (attend, fill). */
#define CHOOSE_FOCUS(group)                                                                        \
    WORDS("layer",                                                                                 \
          "layer whose attention is shown, from 1, or last; without it the one with the most "     \
          "concentrated head, of a picture the last",                                              \
          group)
#define CHOOSE_STACK(group)                                                                        \
    CHOICE("stack", "", "encoder|decoder|cross",                                                   \
           "models of pairs: whose attention; without it cross", group)
#define HEAD_WORDS  "one head, from 1, or mean or max of all"
#define QUERY_WORDS "one token, by its text or its number from 1"

/* Parses numbers from 1 with commas and ranges, "1,3-5", into numbers from 0, which the caller
 * frees. NULL, with an error, if the text is not such a list; *count is 0 for "". */
int *number_list(heed_ctx *c, const char *flag, const char *text, int *count);
/* Whether the blocks have all layers and heads that --layers and --heads list. False: an error. */
bool cut_fits(heed_ctx *c, const heed_config *flags, const heed_record_block *b, int count,
              const heed_record_cut *cut);

/* The layer of `count` that --layer chooses, from 1; flags NULL, or no layer: the last. 0, with an
 * error, which says whose layers they are, " of the encoder": there is no such layer. */
int chosen_layer(heed_ctx *c, const heed_config *flags, int count, const char *whose);
/* The index of the block that --stack and --layer choose among the blocks of `of`; -1: an error.
 * The default stack is cross if there is one, otherwise that of the first block. */
int chosen_block(heed_ctx *c, const char *of, const heed_config *flags, const heed_record_block *b,
                 int count);
/* The head of a block that --head chooses; HEED_HEAD_MEAN if it is not given. A block that keeps
 * only some heads has their numbers. */
bool chosen_head(heed_ctx *c, const char *text, const heed_record_block *b, int *head);
/* The head's number from 1, "mean" or "max", as in the page's links; and the same for JSON. */
const char *head_word(const heed_record_block *b, int head, char text[16]);
json_t *head_json(const heed_record_block *b, int head);
/* The tokens or patches of an axis that --query, or --key, chooses, into out: at most `most`, of
 * texts several with commas between them. Returns how many; 0: it is not given, with -1 as the
 * first one; -1: an error. The queries look at the keys. */
int chosen_query(heed_ctx *c, const char *text, const heed_record_axis *queries,
                 const heed_record_axis *keys, int most, int *out);
int chosen_key(heed_ctx *c, const char *text, const heed_record_axis *queries,
               const heed_record_axis *keys, int most, int *out);

#endif
