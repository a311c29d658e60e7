/* What the pictures and the texts of overlays share. */
#ifndef HEED_OVERLAY_INTERNAL_H
#define HEED_OVERLAY_INTERNAL_H

#include <heed/inspect.h>

/* A picture, a grid and maps are there; else an error. */
bool heed__overlay_check(heed_ctx *c, const heed_overlay *o);

#endif
