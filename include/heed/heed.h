/* heed.h -- what trains: a tiny trainable transformer framework with reverse-mode autograd. Records
 * of attention, analyses, pictures and pages have headers of their own: record.h, inspect.h,
 * lesson.h, graph.h, view.h. */
#ifndef HEED_H
#define HEED_H

#include <heed/fit.h>
#include <heed/image.h>
#include <heed/kind.h>
#include <heed/pairs.h>

#endif
