/* overlay.h -- the attention of a vit over the picture that it saw. */
#ifndef HEED_OVERLAY_H
#define HEED_OVERLAY_H

#include "program.h"

typedef struct {
    heed_run *run;
    int layer; /* from 1; 0: the last */
    bool cells;
    const char *title, *path;
} overlay;
/* Runs the model on p once more, and writes the picture with what [CLS] attends to (without [CLS]:
 * the mean over all patches), of each head and their mean. p has the run's channels. */
bool overlay_write(const overlay *o, const heed_picture *p);
/* "a.png" for index 1, "a-2.png" for 2 */
void numbered_path(char *out, size_t size, const char *path, int index);

#endif
