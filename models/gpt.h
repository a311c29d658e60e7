/* gpt.h -- the causal model's parts, for its own files. */
#ifndef MODELS_GPT_H
#define MODELS_GPT_H

#include "text.h"

struct gpt {
    transformer body;
    heed_rnn rnn; /* instead of the blocks: layers 0: absent */
    output_head head;
    heed_tensor *logits, *loss; /* of the last batch, for metrics */
};

/* Numbers that tell where a recurrent layer is. */
int gpt_state_size(const gpt *m);

#endif
