/* heed.h -- all of the library: a tiny transformer framework with reverse-mode autograd, its
 * models, records of attention, analyses, pictures and pages. Only program.h, of libheed-program,
 * is separate. */
#ifndef HEED_H
#define HEED_H

#include <heed/graph.h>
#include <heed/models.h>
#include <heed/profile.h>
#include <heed/reconstruction.h>
#include <heed/view.h>

#endif
