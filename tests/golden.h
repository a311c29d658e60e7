/* Reading golden files: cases of PyTorch's results, as told in tests/golden/golden.py. */
#ifndef HEED_TEST_GOLDEN_H
#define HEED_TEST_GOLDEN_H

#include "test.h"

enum { GOLDEN_INPUTS = 12 };

/* One case in one of the ways that it is run. */
typedef struct {
    heed_ctx *c;
    heed_safetensors *file;
    const char *name;  /* of the case */
    const char *about; /* "op key=value key=value" */
    const char *way;   /* for messages: "training", "eval, probed" */
    heed_tape *t;
    heed_params *s; /* for layers */
    heed_tensor *in[GOLDEN_INPUTS];
    int inputs; /* given ones, without gaps from the first */
} golden;

/* How to call an op: by its constructor of one, two or three tensors, or by a function that reads
 * the case's arguments. */
typedef struct {
    const char *op;
    heed_tensor *(*one)(heed_tape *t, heed_tensor *a);
    heed_tensor *(*two)(heed_tape *t, heed_tensor *a, heed_tensor *b);
    heed_tensor *(*three)(heed_tape *t, heed_tensor *a, heed_tensor *b, heed_tensor *c);
    heed_tensor *(*run)(const golden *g);
    bool train_only; /* eval mode computes something else */
} golden_call;

/* Names of the ops whose node gave a case's result. */
typedef struct {
    const char *name[128];
    int count;
} golden_seen;

/* The case's arguments: whether a key is there, whether it is there and not 0, its number, its list
 * of integers. */
bool golden_given(const golden *g, const char *key);
bool golden_flag(const golden *g, const char *key);
double golden_arg(const golden *g, const char *key, double otherwise);
heed_real golden_real(const golden *g, const char *key, double otherwise);
int golden_list(const golden *g, const char *key, int out[HEED_DIMS]); /* returns its length */

/* Copies the case's array of that name; false if it has none or more than room elements. */
bool golden_copy(const golden *g, const char *array, heed_real *out, size_t capacity);

/* Fills the store's entries from the case's parameters of the same names, and checks that both have
 * the same. */
void golden_fill(const golden *g);

/* The n numbers of an array of numbers.safetensors, or of another file of tests/golden, in memory
 * that lives as long as the test. */
const double *golden_numbers(const char *file, const char *array, size_t n);

/* Element i of an array of F32, F64 or I32. */
double golden_number(const heed_array *a, size_t i);

/* Runs all cases of a file in training and eval mode, probed and not, on every instruction set that
 * this machine has, and checks values, gradients and kept values at the bar; notes the ops in seen
 * unless NULL. Returns how many cases. */
int golden_file(const char *path, const golden_call *calls, golden_seen *seen);

#endif
