/* shade.h -- values as colours or letters of a terminal. */
#ifndef HEED_SHADE_H
#define HEED_SHADE_H

#include "view/canvas.h"

#include <heed/view.h>

/* The letter for a share of the scale, without colours. */
char heed__ramp(double share);
/* Sets the background, or background and foreground of a half block. */
void heed__put_back(heed_text *out, heed_terminal terminal, heed__rgb back);
void heed__put_half(heed_text *out, heed_terminal terminal, heed__rgb upper, heed__rgb lower);
/* Sets black or white letters, whichever has more contrast with viridis of that share. */
void heed__put_ink(heed_text *out, double share);
/* "   0 [colours] 42  percent of a row's attention" */
typedef struct {
    double lo, hi, times;
    bool above; /* some values are above hi */
    const char *unit;
    int indent, width; /* width of the blanks before it, and of the terminal */
} heed__legend;
void heed__put_legend(heed_text *out, heed_terminal terminal, heed__legend l);

#endif
