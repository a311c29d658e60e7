/* chart.h -- shared by both drawings of a chart: the range of its points. */
#ifndef HEED_CHART_H
#define HEED_CHART_H

#include <heed/view.h>

typedef struct {
    double x0, x1, y0, y1;
} heed__range;

/* Range of the finite points, widened if empty in one direction; {0,1,0,1} without points. */
heed__range heed__chart_range(const heed_chart *p);

#endif
