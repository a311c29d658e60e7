/* heed/reconstruction.h -- pictures as an auto-encoder returns them, its codes, and the best linear
 * models for the same tasks. */
#ifndef HEED_RECONSTRUCTION_H
#define HEED_RECONSTRUCTION_H

#include <heed/inspect.h>

HEED_EXPORT_BEGIN

/* ---- one picture ---- */

/* The pictures of a sheet: bytes (size,size,channels). */
typedef enum {
    HEED_SHOWN_INPUT,
    HEED_SHOWN_SEEN, /* the input, with hidden patches grey */
    HEED_SHOWN_MADE, /* the reconstruction; visible patches are those of the input */
    HEED_SHOWN_OFF,  /* |reconstruction - input|: black where both are equal */
    HEED_SHOWN
} heed_shown;
typedef struct {
    int size, channels, hidden; /* hidden: patches hidden of the picture */
    double error; /* mean squared error of the pixels, of hidden patches if any are, from 0 to 1 */
    unsigned char *pixels[HEED_SHOWN];
} heed_reconstruction;
/* Passes x (size,size,channels) through a model whose answer is a picture, while its patches hide
 * (hidden) are hidden. HEED_USAGE for another model. Call heed_reconstruction_free in any case. */
bool heed_reconstruct(heed_run *r, const heed_real *x, const int32_t *hide, int hidden,
                      heed_reconstruction *out);
/* The same with the hidden patches that evaluation draws for its picture `index`. */
bool heed_reconstruct_at(heed_run *r, const heed_real *x, uint64_t index, heed_reconstruction *out);
void heed_reconstruction_free(heed_reconstruction *k);

/* ---- linear models ---- */

/* Mean and covariance of rows of n numbers. */
typedef struct {
    heed_ctx *c;
    int n;
    double count;
    double *mean, *covariance; /* (n), (n,n) */
    heed_real *shift; /* (n): the mean of the first rows, subtracted from all: in float, large means
                         would cost digits of the covariance */
} heed_moments;
enum { HEED_MOMENTS_MOST = 4096 }; /* largest n: 134 MB */
/* Call heed_moments_free in any case. */
bool heed_moments_open(heed_moments *m, heed_ctx *c, int n);
/* Adds rows (rows,n), on a tape, which it begins. Until heed_moments_end, mean and covariance hold
 * sums. */
bool heed_moments_add(heed_moments *m, heed_tape *t, const heed_real *x, int rows);
bool heed_moments_end(heed_moments *m);
void heed_moments_free(heed_moments *m);

/* The first k principal components: orthonormal rows of axes (k,n), by falling variance. The sign
 * of each is such that its largest entry is positive. variance (k), or NULL. Subspace iteration
 * with a Rayleigh-Ritz step: Golub & Van Loan 2013, sec. 8.2.4. */
bool heed_principal(const heed_moments *m, int k, double *axes, double *variance);
/* The squared distance of x (n) from its projection on these components. */
double heed_principal_error(const heed_moments *m, const double *axes, int k, const double *x);

/* The best linear prediction of some entries of x from its others, those with hidden[i] == 0:
 *     out_h = mean_h + C_hv (C_vv + ridge I)^-1 (x_v - mean_v)
 * hidden (n), x (n); out (n): x, with its hidden entries predicted. ridge > 0. */
bool heed_linear_predict(const heed_moments *m, const unsigned char *hidden, double ridge,
                         const double *x, double *out);

/* ---- a model against the best linear one ---- */

typedef struct {
    heed_run *run;
    heed_images *images;
    heed_part part; /* the part that is evaluated */
    int rows;       /* of a batch */
    heed_progress progress;
    void *user;
} heed_best_linear_args;
typedef struct {
    size_t trained, count; /* pictures that it was fitted on, and evaluated on */
    int components; /* of PCA: as many as the code has numbers; 0: hidden patches are predicted
                       from the visible ones */
    double ridge;   /* the best one of HEED_BEST_LINEAR_RIDGES, on pictures for validation */
    double error;   /* mean squared error of pixels from 0 to 1, as in heed_score */
} heed_best_linear_result;
/* The ridges tried, as shares of the mean variance of a pixel. */
#define HEED_BEST_LINEAR_RIDGES 1e-6, 1e-5, 1e-4, 1e-3, 1e-2
/* Fits the linear model of the same task on the training part, and evaluates it on `part`, with the
 * same hidden patches. HEED_USAGE for pictures of more than HEED_MOMENTS_MOST numbers. */
bool heed_best_linear_error(const heed_best_linear_args *a, heed_best_linear_result *out);

/* ---- codes ---- */

typedef struct {
    int count, width; /* pictures, numbers of a code */
    heed_real *x;     /* (count,width) */
    int32_t *label;   /* (count): index of the class in heed_images_about(..)->labels */
} heed_codes;
/* The codes of the pictures of a part, in order, by model->code. HEED_USAGE for a model without
 * one. Call heed_codes_free in any case. */
bool heed_codes_read(heed_run *r, heed_images *images, heed_part part, int rows, heed_codes *out);
void heed_codes_free(heed_codes *k);
/* Two numbers for each code: the code itself if it has two, else its first two principal
 * components. xy (2,count): all first ones, then all second ones. share: how much of the variance
 * the two have; 1 for the code itself. A code of one number has 0 as its second. */
bool heed_codes_plane(heed_ctx *c, const heed_codes *k, double *xy, double *share);

HEED_EXPORT_END
#endif
