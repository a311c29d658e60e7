/* overlay.h -- shared by the pictures and the texts of overlays. */
#ifndef HEED_OVERLAY_INTERNAL_H
#define HEED_OVERLAY_INTERNAL_H

#include <heed/view.h>

/* Fails unless o has a picture, a grid and maps. */
bool heed__overlay_check(heed_ctx *c, const heed_overlay *o);
/* The largest value in a map, except cells left out; 0 if there is none. */
double heed__overlay_largest(const heed_overlay *o, int map);
/* Whether a map has its own scale; the line beside the legend says so. */
bool heed__is_measure(const heed_overlay *o, int map);
#define HEED__OWN_SCALES "Other measures: each on its own scale, from 0 to its largest."

#endif
