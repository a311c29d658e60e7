/* published.h -- rows that the tables of published models share. */
#ifndef MODELS_PUBLISHED_H
#define MODELS_PUBLISHED_H

#include <heed/exchange.h>

/* The names of transformers for the activations. */
#define PUBLISHED_ACTIVATIONS                                                                      \
    "gelu=gelu gelu_new=gelu-tanh gelu_pytorch_tanh=gelu-tanh gelu_fast=gelu-tanh relu=relu "      \
    "silu=silu swish=silu tanh=tanh sigmoid=sigmoid linear=identity"

/* A key that a setting has; one that has more members; and one that no setting has. */
#define KEY(name, set, usual)                                                                      \
    { .key = name, .settings = set, .value = usual }
#define KEY_WITH(name, set, usual, ...)                                                            \
    { .key = name, .settings = set, .value = usual, __VA_ARGS__ }
#define KEY_FIXED(name, usual)                                                                     \
    { .key = name, .value = usual }

/* A parameter and its tensor; the weight and the bias of a layer or a norm. */
#define TENSOR_AS(ours, theirs, as)                                                                \
    { .name = ours, .published = theirs, .form = as }
#define TENSOR(ours, theirs) TENSOR_AS(ours, theirs, HEED_PUBLISHED_SAME)
#define TENSORS_AS(ours, theirs, as)                                                               \
    TENSOR_AS(ours ".weight", theirs ".weight", as), TENSOR(ours ".bias", theirs ".bias")
#define TENSORS(ours, theirs) TENSORS_AS(ours, theirs, HEED_PUBLISHED_SAME)
/* Queries, keys and values, of which the parameter has the rows one after the other. */
#define TENSOR_QKV(ours, layer, q, k, v, what)                                                     \
    TENSOR(ours what, layer q what " " layer k what " " layer v what)

#endif
