/* per_op.h -- where the time of a workload's steps went: heed bench --per-op. */
#ifndef HEED_PER_OP_H
#define HEED_PER_OP_H

#include "cli/program.h"

/* peak: floating-point operations a second of the machine. */
json_t *per_op_json(const heed_profile *f, double peak, int threads);
/* Prints tables of what per_op_json returned. */
void print_per_op(const json_t *o);

#endif
