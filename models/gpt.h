/* gpt.h -- the causal model's parts, for its own files. */
#ifndef MODELS_GPT_H
#define MODELS_GPT_H

#include "text.h"

struct gpt {
    transformer body;
    output_head head;
    heed_tensor *logits, *loss; /* of the last batch, for metrics */
};

#endif
