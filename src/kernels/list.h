/* list.h -- the list of kernels: result, name, arguments. The file that includes it defines KERNEL:
 * as a member of the table (kernels.h), as a function of an instruction set (set.h), or as an
 * initializer of the table (table.c). It is included more than once, so it has no guard. */
/* clang-format off */
KERNEL(void, gemm, const heed_kernels *k, const heed_gemm *g)

/* vec.c */
KERNEL(void, fill, const heed_kernels *k, heed_real *y, heed_real v, size_t n)
KERNEL(void, copy, const heed_kernels *k, heed_real *y, const heed_real *x, size_t n)
/* y += a x */
KERNEL(void, axpy, const heed_kernels *k, heed_real *y, const heed_real *x, heed_real a, size_t n)
/* y = a x + b */
KERNEL(void, scale, const heed_kernels *k, heed_real *y, const heed_real *x, heed_real a,
       heed_real b, size_t n)
KERNEL(void, activate, const heed_kernels *k, heed_act f, heed_real *y, const heed_real *x,
       size_t n)
/* gx = f'(x) gy; of x and y = f(x), the one not needed according to heed__act_uses_value may be
 * NULL */
KERNEL(void, activate_grad, const heed_kernels *k, heed_act f, heed_real *gx, const heed_real *x,
       const heed_real *y, const heed_real *gy, size_t n)
KERNEL(void, binary, const heed_kernels *k, heed_binary f, heed_real *c, const heed_real *a,
       const heed_real *b, const heed_walk *w)
/* ga += (df/da) gc, summed where a broadcasts; either may be NULL */
KERNEL(void, binary_grad, const heed_kernels *k, heed_binary f, heed_real *ga, heed_real *gb,
       const heed_real *a, const heed_real *b, const heed_real *gc, const heed_walk *w)
KERNEL(double, sum, const heed_kernels *k, const heed_real *x, size_t n)
/* not finite if any element is not */
KERNEL(double, sum_squares, const heed_kernels *k, const heed_real *x, size_t n)
/* one of the partial sums of sum_squares, each of heed__sum_step(size) elements of x */
KERNEL(double, some_squares, const heed_kernels *k, const heed_real *x, size_t n)
/* gy (c) += column sums of x (rows,c) */
KERNEL(void, sum_rows, const heed_kernels *k, heed_real *gy, const heed_real *x, size_t rows,
       int c)
/* The same in place: gy (rows,c) becomes f'(x) gy; gb (c), unless NULL, += its column sums */
KERNEL(void, activate_grad_rows, const heed_kernels *k, heed_act f, heed_real *gy, heed_real *gb,
       const heed_real *x, const heed_real *y, size_t rows, int c)
/* y = onto + dropout(x), or dropout(x) if onto is NULL. words ((n + 31) / 32) receives a bit for
 * each element: whether it is kept; the gradient reads them. */
KERNEL(void, dropout, const heed_kernels *k, heed_real *y, const heed_real *x,
       const heed_real *onto, heed_real p, const heed_random *r, uint32_t *words, size_t n)
/* gx = or += the gradient */
KERNEL(void, dropout_grad, const heed_kernels *k, heed_real *gx, const heed_real *gy, heed_real p,
       uint32_t *words, size_t n, bool add)

/* softmax.c: y; gx += the gradient */
KERNEL(void, softmax, const heed_kernels *k, const heed_softmax_job *j)
KERNEL(void, softmax_grad, const heed_kernels *k, const heed_softmax_job *j)

/* xent.c: p and loss; gx += scale * d loss[row] / d logits */
KERNEL(void, xent, const heed_kernels *k, const heed_xent_job *j)
KERNEL(void, xent_grad, const heed_kernels *k, const heed_xent_job *j)
/* The same for rows that all count, in place: p, the logits, becomes scale * d loss[row] / d logits. */
KERNEL(void, xent_in_place, const heed_kernels *k, const heed_xent_job *j)

/* norm.c */
KERNEL(void, layer_norm, const heed_kernels *k, const heed_norm_job *j)
KERNEL(void, layer_norm_grad, const heed_kernels *k, const heed_norm_job *j)
/* batch statistics of columns: mean and biased var (c) */
KERNEL(void, column_stats, const heed_kernels *k, heed_real *mean, heed_real *var,
       const heed_real *x, size_t rows, int c)
KERNEL(void, batch_norm, const heed_kernels *k, const heed_norm_job *j)
KERNEL(void, batch_norm_grad, const heed_kernels *k, const heed_norm_job *j)

/* attention.c: each call needs attention_scratch(job) bytes of scratch; backward also needs
 * what forward kept: attention_kept(job) reals */
KERNEL(size_t, attention_kept, const heed_kernels *k, const heed_attention_job *a)
KERNEL(size_t, attention_scratch, const heed_kernels *k, const heed_attention_job *a,
       bool backward)
KERNEL(void, attention, const heed_kernels *k, const heed_attention_job *a, void *scratch)
KERNEL(void, attention_grad, const heed_kernels *k, const heed_attention_job *a, void *scratch)

/* conv.c: each call needs conv_scratch(job, pass) bytes of scratch */
KERNEL(size_t, conv_scratch, const heed_kernels *k, const heed_conv_job *j, heed_conv_pass pass)
/* HEED_CONV: y = conv(x, w) + bias. HEED_CONV_TURNED: x = the transpose of that linear map applied to
 * y, + bias: the gradient of x, given that of y. HEED_CONV_WEIGHTS: gw and gb += the gradients; y holds
 * the gradient of y. */
KERNEL(void, conv, const heed_kernels *k, const heed_conv_job *j, heed_conv_pass pass,
       void *scratch)

/* pool.c */
KERNEL(void, max_pool, const heed_kernels *k, const heed_pool_job *j)
KERNEL(void, max_pool_grad, const heed_kernels *k, const heed_pool_job *j)
KERNEL(void, sum_pool, const heed_kernels *k, const heed_pool_job *j)
KERNEL(void, sum_pool_grad, const heed_kernels *k, const heed_pool_job *j)

/* permute.c: y = x, or y += x if add is set, of w's shape; x has strides w->a, y w->c, the last 1 */
KERNEL(void, permute, const heed_kernels *k, heed_real *y, const heed_real *x, const heed_walk *w,
       bool add)

/* cell.c */
KERNEL(void, cell, const heed_kernels *k, const heed_cell_job *j)
KERNEL(void, cell_grad, const heed_kernels *k, const heed_cell_job *j)

/* additive_attention.c */
KERNEL(void, additive_attention, const heed_kernels *k, const heed_additive_attention_job *j)
KERNEL(void, additive_attention_grad, const heed_kernels *k, const heed_additive_attention_job *j)

/* update.c: one pass over a parameter; g is set to 0. m, v: slots. */
KERNEL(void, sgd, const heed_kernels *k, heed_real *x, heed_real *g, heed_real *m,
       const heed_update *u, size_t n)
KERNEL(void, rmsprop, const heed_kernels *k, heed_real *x, heed_real *g, heed_real *v, heed_real *m,
       const heed_update *u, size_t n)
KERNEL(void, adam, const heed_kernels *k, heed_real *x, heed_real *g, heed_real *m, heed_real *v,
       const heed_update *u, size_t n)

/* table.c: runs a loop of multiply-adds; returns the floating-point operations of one pass */
KERNEL(double, multiply_adds, const heed_kernels *k, int loops)

/* embedding: gtable[ids[r]] += gy[r] for all rows in order; work is divided by columns, so equal
 * ids add in order */
KERNEL(void, embed, const heed_kernels *k, heed_real *y, const heed_real *table, const int32_t *ids,
       size_t rows, int d)
KERNEL(void, embed_grad, const heed_kernels *k, heed_real *gtable, const heed_real *gy,
       const int32_t *ids, size_t rows, int d)
