/* heed.h -- everything: a tiny trainable transformer framework with reverse-mode autograd. */
#ifndef HEED_H
#define HEED_H

#include <heed/fit.h>
#include <heed/graph.h>
#include <heed/image.h>
#include <heed/inspect.h>
#include <heed/lesson.h>
#include <heed/pairs.h>

#endif
