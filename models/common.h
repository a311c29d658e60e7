/* common.h -- what all models share: rows of settings, activations, scores. */
#ifndef MODELS_COMMON_H
#define MODELS_COMMON_H

#include "models.h"

/* Rows of a table of settings. */
#define WHOLE(name, value, min, max, help)                                                         \
    { name, HEED_INT, value, min, max, NULL, help, "Model" }
#define NUMBER(name, value, min, max, help)                                                        \
    { name, HEED_REAL, value, min, max, NULL, help, "Model" }
#define CHOICE(name, value, choices, help)                                                         \
    { name, HEED_CHOICE, value, 0, 0, choices, help, "Model" }
#define YES(name, help)                                                                            \
    { name, HEED_BOOL, "true", 0, 0, NULL, help, "Model" }
#define NO(name, help)                                                                             \
    { name, HEED_BOOL, "false", 0, 0, NULL, help, "Model" }
/* A default of the model's own for a setting that all trainings share. */
#define RATE(value)                                                                                \
    { "lr", HEED_REAL, value, 1e-12, 1e6, NULL, "learning rate at its peak", "Optimizer" }
#define SCHEDULE(value)                                                                            \
    {                                                                                              \
        "schedule", HEED_CHOICE, value, 0, 0, "constant|cosine|linear|invsqrt|step",               \
            "how the learning rate falls after warm-up", "Optimizer"                               \
    }

#define ACTIVATIONS "gelu|gelu-tanh|relu|silu|tanh"

heed_act model_activation(const heed_config *f);
bool model_is(const heed_config *f, const char *key, const char *choice);
int model_int(const heed_config *f, const char *key);
heed_real model_real(const heed_config *f, const char *key);

/* Adds a batch to the score: logits (...,V) and the mean loss over the n labels that are not
 * negative. */
void model_score(const heed_tensor *logits, const heed_tensor *loss, const int32_t *labels,
                 heed_score *score);

#endif
