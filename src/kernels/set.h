/* set.h -- the kernels of one instruction set: what table.c gathers. The contracts stand in
 * kernels.h. */
#ifndef HEED_SET_H
#define HEED_SET_H

#include "isa.h"

void K(gemm)(const heed_kernels *k, const heed_gemm *g);
void K(fill)(const heed_kernels *k, heed_real *y, heed_real v, size_t n);
void K(copy)(const heed_kernels *k, heed_real *y, const heed_real *x, size_t n);
void K(axpy)(const heed_kernels *k, heed_real *y, const heed_real *x, heed_real a, size_t n);
void K(scale)(const heed_kernels *k, heed_real *y, const heed_real *x, heed_real a, heed_real b,
              size_t n);
void K(activate)(const heed_kernels *k, heed_act f, heed_real *y, const heed_real *x, size_t n);
void K(activate_grad)(const heed_kernels *k, heed_act f, heed_real *gx, const heed_real *x,
                      const heed_real *y, const heed_real *gy, size_t n);
void K(binary)(const heed_kernels *k, heed_binary f, heed_real *c, const heed_real *a,
               const heed_real *b, const heed_walk *w);
void K(binary_grad)(const heed_kernels *k, heed_binary f, heed_real *ga, heed_real *gb,
                    const heed_real *a, const heed_real *b, const heed_real *gc,
                    const heed_walk *w);
double K(sum)(const heed_kernels *k, const heed_real *x, size_t n);
double K(sum_squares)(const heed_kernels *k, const heed_real *x, size_t n);
void K(sum_rows)(const heed_kernels *k, heed_real *gy, const heed_real *x, size_t rows, int c);
void K(dropout)(const heed_kernels *k, heed_real *y, const heed_real *x, heed_real p,
                const heed_random *r, size_t n, bool add);
void K(softmax)(const heed_kernels *k, heed_real *y, const heed_real *x,
                const heed_softmax_args *a);
void K(softmax_grad)(const heed_kernels *k, heed_real *gx, const heed_real *y, const heed_real *gy,
                     const heed_softmax_args *a);
void K(log_softmax)(const heed_kernels *k, heed_real *y, const heed_real *x,
                    const heed_softmax_args *a);
void K(log_softmax_grad)(const heed_kernels *k, heed_real *gx, const heed_real *y,
                         const heed_real *gy, const heed_softmax_args *a);
void K(xent)(const heed_kernels *k, heed_real *p, heed_real *loss, const heed_real *logits,
             const int32_t *labels, size_t rows, int c, int ignore, heed_real smoothing,
             const heed_real *weights);
void K(xent_grad)(const heed_kernels *k, heed_real *gx, const heed_real *p, const int32_t *labels,
                  size_t rows, int c, int ignore, heed_real smoothing, const heed_real *weights,
                  heed_real scale);
void K(layer_norm)(const heed_kernels *k, heed_real *y, heed_real *mean, heed_real *rstd,
                   const heed_real *x, const heed_real *gain, const heed_real *bias, size_t rows,
                   int c, heed_real eps);
void K(layer_norm_grad)(const heed_kernels *k, heed_real *gx, heed_real *ggain, heed_real *gbias,
                        const heed_real *gy, const heed_real *x, const heed_real *mean,
                        const heed_real *rstd, const heed_real *gain, size_t rows, int c, bool add);
void K(column_stats)(const heed_kernels *k, heed_real *mean, heed_real *var, const heed_real *x,
                     size_t rows, int c);
void K(batch_norm)(const heed_kernels *k, heed_real *y, const heed_real *x, const heed_real *mean,
                   const heed_real *rstd, const heed_real *gain, const heed_real *bias, size_t rows,
                   int c);
void K(batch_norm_grad)(const heed_kernels *k, heed_real *gx, heed_real *ggain, heed_real *gbias,
                        const heed_real *gy, const heed_real *x, const heed_real *mean,
                        const heed_real *rstd, const heed_real *gain, size_t rows, int c,
                        bool batch, bool add);
size_t K(attention_scratch)(const heed_kernels *k, const heed_attention_job *a, bool backward);
void K(attention)(const heed_kernels *k, const heed_attention_job *a, void *scratch);
void K(attention_grad)(const heed_kernels *k, const heed_attention_job *a, void *scratch);
size_t K(conv_scratch)(const heed_kernels *k, const heed_conv_job *j, heed_conv_pass pass);
void K(conv)(const heed_kernels *k, const heed_conv_job *j, void *scratch);
void K(conv_grad_input)(const heed_kernels *k, const heed_conv_job *j, void *scratch);
void K(conv_weights)(const heed_kernels *k, const heed_conv_job *j, void *scratch);
void K(max_pool)(const heed_kernels *k, heed_real *y, int32_t *from, const heed_real *x,
                 const heed_pool_job *j);
void K(max_pool_grad)(const heed_kernels *k, heed_real *gx, const int32_t *from,
                      const heed_real *gy, const heed_pool_job *j);
void K(sum_pool)(const heed_kernels *k, heed_real *y, const heed_real *x, const heed_pool_job *j);
void K(sum_pool_grad)(const heed_kernels *k, heed_real *gx, const heed_real *gy,
                      const heed_pool_job *j);
void K(permute)(const heed_kernels *k, heed_real *y, const heed_real *x, const heed_walk *w,
                bool add);
void K(cell)(const heed_kernels *k, const heed_cell_job *j);
void K(cell_grad)(const heed_kernels *k, const heed_cell_job *j);
void K(additive_attention)(const heed_kernels *k, const heed_additive_attention_job *j);
void K(additive_attention_grad)(const heed_kernels *k, const heed_additive_attention_job *j);
void K(sgd)(const heed_kernels *k, heed_real *x, heed_real *g, heed_real *m, const heed_update *u,
            size_t n);
void K(rmsprop)(const heed_kernels *k, heed_real *x, heed_real *g, heed_real *v, heed_real *m,
                const heed_update *u, size_t n);
void K(adam)(const heed_kernels *k, heed_real *x, heed_real *g, heed_real *m, heed_real *v,
             const heed_update *u, size_t n);
void K(embed)(const heed_kernels *k, heed_real *y, const heed_real *table, const int32_t *ids,
              size_t rows, int d);
void K(embed_grad)(const heed_kernels *k, heed_real *gtable, const heed_real *gy,
                   const int32_t *ids, size_t rows, int d);

extern const heed_kernels K(table);

#endif
