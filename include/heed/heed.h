/* heed.h -- everything for training: a tiny transformer framework with reverse-mode autograd.
 * Records of attention, analyses, pictures and pages have separate headers: record.h, inspect.h,
 * lesson.h, graph.h, reconstruction.h, view.h. */
#ifndef HEED_H
#define HEED_H

#include <heed/captions.h>
#include <heed/fit.h>
#include <heed/image.h>
#include <heed/kind.h>
#include <heed/profile.h>

#endif
