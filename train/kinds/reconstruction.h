/* reconstruction.h -- pictures and what an auto-encoder makes of them, on one sheet. */
#ifndef HEED_RECONSTRUCTION_PROGRAM_H
#define HEED_RECONSTRUCTION_PROGRAM_H

#include "kinds/image.h"

/* Zero-initialise; close with rebuilt_close. */
typedef struct {
    heed_ctx *c;
    heed_reconstruction *list;
    char (*captions)[2][64]; /* under the picture: its name; under the last tile: the error */
    int count, capacity;
} rebuilt;

/* Reads a picture as the run does, reconstructs it and adds the result. name: its caption. */
bool rebuilt_add(rebuilt *k, heed_run *r, heed_picture *picture, const char *name);
/* Draws all of them: the picture, what the model sees of it if patches are hidden, the
 * reconstruction and the difference. c: may be another context. */
bool rebuilt_png(heed_ctx *c, const rebuilt *k, const char *path);
void rebuilt_close(rebuilt *k);

#endif
