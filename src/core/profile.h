/* profile.h -- how tape, optimizer and kernels record their times. */
#ifndef HEED_CORE_PROFILE_H
#define HEED_CORE_PROFILE_H

#include "core/core.h"

#include <heed/op.h>
#include <heed/profile.h>

/* The start and end of one thread's work in a region, on a separate cache line. */
typedef struct {
    double begin, end, flops;
    char rest[40];
} heed__stretch;

struct heed_profile {
    heed__owned owned;
    heed_ctx *c;
    heed_profile_row *rows;
    size_t capacity, count;
    uint64_t steps;
    heed_phase phase;
    double since, seconds[HEED_PHASES]; /* the start of the current phase; the sums */
    struct {
        int row; /* -1: none */
        double begin;
    } op, product;            /* what runs now */
    heed__stretch *stretches; /* one per thread, for the current region */
    int threads;
};

/* The functions below do nothing if p is NULL. */
void heed__profile_reset(heed_profile *p); /* sets all measurements to zero, between two steps */
void heed__profile_phase(heed_profile *p, heed_phase phase);
void heed__profile_step(heed_profile *p);
/* An op of the current phase begins and ends; bytes: what it reads and writes. */
void heed__profile_begin(heed_profile *p, const char *op, double bytes);
void heed__profile_node(heed_profile *p, const heed_node *n);
void heed__profile_end(heed_profile *p);
/* A product within it. */
void heed__profile_product(heed_profile *p, const char *product, const int size[3], double flops);
void heed__profile_product_end(heed_profile *p);
void heed__profile_flops(heed_profile *p, double flops);
/* Adds what threads counted in p->stretches. */
void heed__profile_collect(heed_profile *p);
/* A region of the threads in p->stretches lasted from begin to end. */
void heed__profile_region(heed_profile *p, double begin, double end);

#endif
