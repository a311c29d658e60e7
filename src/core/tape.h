/* tape.h -- the tape's inside, shared by recording, backward and probes. */
#ifndef HEED_CORE_TAPE_H
#define HEED_CORE_TAPE_H

#include "core/arena.h"

#include <heed/op.h>

typedef struct {
    char *pattern;
    bool grad;
} heed__pattern;

typedef struct {
    const char *path;
    heed_tensor *tensor;
} heed__probe;

typedef struct heed__recording heed__recording;

/* What callers hold: the recording, under a name for the next node or under none. heed_at makes
 * another one of these, so a name reaches the call that was given it and no other. */
struct heed_tape {
    heed__recording *r;
    const char *name;
};

/* Tensors of a step. Those of the step before are kept, so that one that is used by mistake is
 * known for what it is. */
typedef struct {
    heed_tensor **blocks;
    size_t capacity, count, used; /* of blocks; of tensors */
} heed__tensors;

struct heed__recording {
    heed__owned owned;
    heed_ctx *c;
    heed_tape plain; /* without a name: what heed_tape_new gives, and nodes refer to */
    heed__arena arena;
    heed__tensors tensors[2]; /* of this step and of the one before, by begun % 2 */
    uint64_t begun;           /* steps so far */
    heed_mode mode;
    uint64_t step;
    uint32_t micro;
    int pushed;        /* nodes of this step, recorded or not */
    heed_node **nodes; /* recorded ones, in order */
    size_t node_capacity, node_count;
    heed__pattern *patterns;
    size_t pattern_capacity, pattern_count;
    heed__probe *probes; /* of this step */
    size_t probe_capacity, probe_count;
    heed_tensor **asked; /* parameters whose gradient this step wants under HEED_TRACE */
    size_t asked_capacity, asked_count;
};

bool heed__tape_stopped(const heed_tape *t);
/* A tensor of this step without memory for values; NULL in error. */
heed_tensor *heed__new_tensor(heed_tape *t, int dims, const int *shape);
/* True if backward goes on to x: under HEED_TRACE not to parameters, unless they were asked for. */
bool heed__wants_grad(const heed__recording *r, const heed_tensor *x);
/* True if the tensor is NULL, of this step, or of a store. Else false, with an error of op, at name
 * unless that is NULL, which says what made the tensor and whose it is. */
bool heed__tape_owns(const heed__recording *r, const heed_tensor *x, const char *op,
                     const char *name);
/* The node's name or, into text, its number: "node 3". */
enum { HEED__NODE_TEXT = 32 };
const char *heed__node_text(const heed_node *n, char text[HEED__NODE_TEXT]);
/* After forward: lists what the node kept under the patterns that match. */
bool heed__collect_probes(heed_node *n);

#endif
