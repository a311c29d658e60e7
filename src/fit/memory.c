/* memory.c -- the memory of a training run: weights, gradients, optimizer, and one step by op. */
#include "core/os.h"
#include "core/tape.h"

#include <heed/fit.h>
#include <string.h>

size_t heed_memory_resident(void) { return heed__os_memory(); }

static void count_store(const heed_params *s, size_t *values, size_t *gradients) {
    for (int i = 0; i < heed_params_count(s); i++) {
        const heed_param *e = heed_params_at(s, i);
        size_t bytes = e->tensor->size * sizeof(heed_real);
        *values += bytes;
        if (gradients && (e->tensor->g || e->thaw)) *gradients += bytes;
    }
}

/* Adds an op to the row of its name, or to a new one while there are free rows. */
static void count_op(heed_memory *m, const heed_recorded *r) {
    int i = 0;
    while (i < m->op_count && strcmp(m->ops[i].op, r->op) != 0) i++;
    if (i == HEED_MEMORY_OPS - 1) return; /* part of the last row */
    if (i == m->op_count) m->ops[m->op_count++] = (heed_memory_op){.op = r->op};
    m->ops[i].count++;
    m->ops[i].forward += r->bytes[0];
    m->ops[i].backward += r->bytes[1];
}

heed_memory heed_memory_of(const heed_params *s, heed_optim *o, const heed_tape *t, size_t before) {
    heed_memory m = {.before = before};
    heed__tape_usage used = heed__tape_used(t);
    count_store(s, &m.weights, &m.gradients);
    count_store(heed_optim_slots(o), &m.optimizer, NULL);
    size_t rest = m.step = used.bytes;
    for (int i = 0; i < used.nodes; i++) {
        heed_recorded r = heed__recorded_at(t, i);
        count_op(&m, &r);
    }
    for (int i = 0; i < m.op_count; i++) rest -= m.ops[i].forward + m.ops[i].backward;
    m.ops[m.op_count++] = (heed_memory_op){.forward = rest};
    m.total = m.before + m.weights + m.gradients + m.optimizer + m.step;
    size_t resident = t ? heed_memory_resident() : 0;
    if (resident > m.total) m.other = resident - m.total;
    m.total += m.other;
    return m;
}
