/* One instruction set's table. */
#include "set.h"

#define HEED__TEXT_(x) #x
#define HEED__TEXT(x)  HEED__TEXT_(x)

const heed_kernels K(table) = {
    .isa = HEED__TEXT(HEED_ISA),
    .gemm = K(gemm),
    .fill = K(fill),
    .copy = K(copy),
    .axpy = K(axpy),
    .scale = K(scale),
    .activate = K(activate),
    .activate_grad = K(activate_grad),
    .binary = K(binary),
    .binary_grad = K(binary_grad),
    .sum = K(sum),
    .sum_squares = K(sum_squares),
    .sum_rows = K(sum_rows),
    .dropout = K(dropout),
    .softmax = K(softmax),
    .softmax_grad = K(softmax_grad),
    .log_softmax = K(log_softmax),
    .log_softmax_grad = K(log_softmax_grad),
    .xent = K(xent),
    .xent_grad = K(xent_grad),
    .layer_norm = K(layer_norm),
    .layer_norm_grad = K(layer_norm_grad),
    .column_stats = K(column_stats),
    .batch_norm = K(batch_norm),
    .batch_norm_grad = K(batch_norm_grad),
    .attention_scratch = K(attention_scratch),
    .attention = K(attention),
    .attention_grad = K(attention_grad),
    .sgd = K(sgd),
    .rmsprop = K(rmsprop),
    .adam = K(adam),
    .embed = K(embed),
    .embed_grad = K(embed_grad),
};
