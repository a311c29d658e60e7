/* models.c -- the list of models. */
#include <heed/models.h>

const heed_model *const heed_models[] = {
    &heed_model_mlm, &heed_model_gpt,     &heed_model_vit,         &heed_model_cnn,
    &heed_model_mlp, &heed_model_seq2seq, &heed_model_rnn,         &heed_model_textcls,
    &heed_model_tag, &heed_model_caption, &heed_model_autoencoder, NULL};
