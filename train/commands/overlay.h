/* overlay.h -- the attention of a vit over the picture that it saw. */
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
/* Runs the model on the picture once more, and writes it with what [CLS] attends to (without [CLS]:
 * the mean over all patches), of each head and their mean. */
bool overlay_write(const overlay *o, heed_picture *p);

#endif
