/* gd.c -- gradient descent: sgd where every update uses all training data. */
#include "optim/optim.h"

const heed_optimizer heed_gd = {.name = "gd",
                                .help = "gradient descent: sgd on the whole training data",
                                .prefix = "sgd",
                                .settings = heed__sgd_settings,
                                .update = heed__sgd_update,
                                .cases = heed__sgd_cases,
                                .full_batch = true};
