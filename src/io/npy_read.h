/* npy_read.h -- one array within an archive. */
#ifndef HEED_NPY_READ_H
#define HEED_NPY_READ_H

#include "io/npz.h"

/* Fills a, whose name is set, from the n bytes of a .npy file; a then points into them. */
bool heed__npy_parse(heed_ctx *c, const char *path, const unsigned char *bytes, size_t n,
                     heed__npy *a);

#endif
