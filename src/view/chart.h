/* chart.h -- what the two ways to draw a chart share: the range of its points and how it maps to a
 * surface. */
#ifndef HEED_CHART_H
#define HEED_CHART_H

#include <heed/view.h>

typedef struct {
    double x0, x1, y0, y1;
} heed__range;

/* Range of the finite points, widened when flat; {0,1,0,1} without any. */
heed__range heed__chart_range(const heed_chart *p);

#endif
