/* overlay.h -- what the pictures and the texts of overlays share. */
#ifndef HEED_OVERLAY_INTERNAL_H
#define HEED_OVERLAY_INTERNAL_H

#include <heed/view.h>

/* A picture, a grid and maps are there; else an error. */
bool heed__overlay_check(heed_ctx *c, const heed_overlay *o);
/* The largest value of a map, of what is not left out; 0 without one. */
double heed__overlay_largest(const heed_overlay *o, int map);
/* Whether a map has a scale of its own; and the line beside the legend that says so. */
bool heed__is_measure(const heed_overlay *o, int map);
#define HEED__OWN_SCALES "Other measures: each on its own scale, from 0 to its largest."

#endif
