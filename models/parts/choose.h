/* choose.h -- settings that models choose by the data of a training run: members `choose` and
 * `choices` of heed_model. */
#ifndef MODELS_CHOOSE_H
#define MODELS_CHOOSE_H

#include "common.h"

/* Masked and causal language models. */
bool heed__choose_mlm(heed_choices *k);
bool heed__choose_gpt(heed_choices *k);

bool heed__choose_seq2seq(heed_choices *k);
bool heed__choose_rnn(heed_choices *k);

bool heed__choose_cnn(heed_choices *k);
bool heed__choose_caption(heed_choices *k);
bool heed__choose_vit(heed_choices *k);

#endif
