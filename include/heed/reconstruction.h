/* heed/reconstruction.h -- pictures as an auto-encoder returns them, and its codes. */
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
 * the two have; 1 for the code itself. A code of one number has 0 as its second. HEED_USAGE for
 * codes of more than 4096 numbers, whose covariance would be too large. */
bool heed_codes_plane(heed_ctx *c, const heed_codes *k, double *xy, double *share);

HEED_EXPORT_END
#endif
