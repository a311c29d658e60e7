/* overlay.h -- the attention of a vit, drawn over its input picture. */
#ifndef HEED_OVERLAY_H
#define HEED_OVERLAY_H

#include "cli/program.h"

typedef struct {
    program *p;
    heed_run *run;
    int layer; /* from 1; 0: the last */
    bool cells;
    const char *path;
} overlay;
/* Runs the model on the picture again, and writes the picture overlaid with the attention of [CLS]
 * (without [CLS]: the mean over all patches), for each head and their mean. */
bool overlay_write(const overlay *o, heed_picture *p);

#endif
