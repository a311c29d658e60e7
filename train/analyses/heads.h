/* heads.h -- what attention heads do, as numbers: means over the queries of evaluation data. */
#ifndef HEED_HEADS_H
#define HEED_HEADS_H

#include "kinds/eval_loop.h"
#include "kinds/inspect.h"

typedef enum {
    ENTROPY,   /* of a row of weights, in nats */
    DISTANCE,  /* mean |query - key| by the weights; pictures: between patches, in patches */
    FIRST,     /* shares of a row: on the first token, */
    SELF,      /* on the query's own, */
    PREVIOUS,  /* the one before it, */
    NEXT,      /* the one after it, */
    SAME,      /* on other places with the query's token, */
    SPECIAL,   /* on [CLS] and [SEP] */
    DIAGONAL,  /* cross: |peak's key / keys - query / queries|, in keys */
    INDUCTION, /* gpt: on the token after an earlier place of the query's, where random tokens
                  repeat. Olsson et al. 2022, "prefix matching" */
    HEAD_MEASURES
} head_measure;
extern const char *const head_measure_names[HEAD_MEASURES];
extern const char *const head_measure_help[HEAD_MEASURES];

/* Sums over rows of weights, and of how many rows each measure took. */
typedef struct {
    double sum[HEAD_MEASURES], rows[HEAD_MEASURES];
} head_sums;
double head_mean(const head_sums *s, head_measure m); /* NAN: does not apply */

typedef struct {
    int count;
    heed_record_block *layer; /* (count) */
    int *first;               /* (count) of the layer's heads in sums */
    int total;                /* heads of all layers */
    head_sums *sums;          /* (total) */
    head_sums alike[3];       /* by stack: of a head that attends to all keys alike */
} head_table;
/* Goes over the data; each_batch (or NULL) is told of progress. */
bool heads_measure(const eval_loop *s, void (*each_batch)(void *user, uint64_t done), void *user,
                   head_table *out);
void heads_free(head_table *h);
/* Whether any head has it. */
bool heads_has(const head_table *h, head_measure m);

#endif
