/* ablation.h -- attention heads switched off one at a time, and what the model is worth without. */
#ifndef HEED_ABLATE_H
#define HEED_ABLATE_H

#include "analyses/compare.h"
#include "kinds/eval_loop.h"
#include "kinds/inspect.h"

/* A head that is off: its parameters as they were, or the model that takes the mean meanwhile. */
typedef struct {
    struct {
        heed_tensor *tensor;
        size_t from, count; /* elements of it that were set to zero */
        heed_real *saved;
    } part[2];
    int parts;
    const heed_run *averaged;
} switched;
/* Switches a head off. Of multi-head attention: the rows of the value projection that are the
 * head's become zero, so that the head gives zeros to W_h, which is the same as the mask of Michel
 * et al. 2019, sec. 2.3, and needs no W_h. Of a recurrent decoder's attention: scores are
 * times 0, so that it takes the mean of the source. False: see the run's context; head_on in any
 * case. */
bool head_off(const heed_run *r, const heed_record_block *l, int head, switched *out);
/* Puts the parameters back, bit by bit. */
void head_on(switched *w);

/* What a model is worth: over batches, and on each of them. */
typedef struct {
    heed_score score;
    double *loss, *weight; /* (batches) sums of a batch, as heed_score has them */
} worth;
bool worth_measure(const eval_loop *s, worth *out);
void worth_free(worth *w);
double worth_loss(const worth *w);
double worth_accuracy(const worth *w); /* NAN: none */

typedef struct {
    int layer, head; /* layer: index in the ablation's */
    double loss, accuracy;
    estimate harm; /* loss without the head minus loss with it: mean, and 95 % over batches */
} ablated;
typedef struct {
    int layers;
    heed_record_block *layer; /* (layers) */
    int total;                /* heads of all layers */
    double loss, accuracy;
    ablated *heads; /* (total), the most harm first */
} ablation;
bool ablate_heads(program *p, const eval_loop *s, ablation *out);
void ablation_free(ablation *a);

#endif
