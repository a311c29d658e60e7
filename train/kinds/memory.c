/* memory.c -- the memory that a training run takes, as a table and as JSON: --memory-report. */
#include "kinds/training.h"

#include <stdlib.h>

json_t *memory_json(const heed_memory *m) {
    json_t *ops = json_array();
    for (int i = 0; i < m->op_count; i++)
        json_array_append_new(ops,
                              json_pack("{s:s, s:i, s:I, s:I}", "op",
                                        m->ops[i].op ? m->ops[i].op : "inputs and others", "count",
                                        m->ops[i].count, "forward", (json_int_t)m->ops[i].forward,
                                        "backward", (json_int_t)m->ops[i].backward));
    return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "before",
                     (json_int_t)m->before, "weights", (json_int_t)m->weights, "gradients",
                     (json_int_t)m->gradients, "optimizer", (json_int_t)m->optimizer, "step",
                     (json_int_t)m->step, "other", (json_int_t)m->other, "evaluation",
                     (json_int_t)m->evaluation, "total", (json_int_t)m->total, "ops", ops);
}

static void print_part(FILE *to, const char *name, size_t bytes, const heed_memory *m) {
    fprintf(to, "%-26s %9.2f %6.1f\n", name, (double)bytes / 1048576,
            100 * (double)bytes / (double)m->total);
}

static int by_bytes(const void *a, const void *b) {
    const heed_memory_op *x = a, *y = b;
    size_t left = x->forward + x->backward, right = y->forward + y->backward;
    return (left < right) - (left > right);
}

void print_memory(FILE *to, const heed_memory *m) {
    heed_memory sorted = *m;
    qsort(sorted.ops, (size_t)sorted.op_count, sizeof *sorted.ops, by_bytes);
    fprintf(to, "memory                            MB share%%  forward  backward\n");
    print_part(to, "program and data", m->before, m);
    print_part(to, "weights", m->weights, m);
    print_part(to, "gradients", m->gradients, m);
    print_part(to, "optimizer", m->optimizer, m);
    print_part(to, "one step", m->step, m);
    for (int i = 0; i < sorted.op_count; i++) {
        const heed_memory_op *o = &sorted.ops[i];
        char name[32];
        snprintf(name, sizeof name, o->count > 1 ? "%s x %d" : "%s",
                 o->op ? o->op : "inputs and others", o->count);
        if (o->forward + o->backward < m->total / 2000) continue;
        fprintf(to, "  %-24s %9.2f %6.1f %8.2f %9.2f\n", name,
                (double)(o->forward + o->backward) / 1048576,
                100 * (double)(o->forward + o->backward) / (double)m->total,
                (double)o->forward / 1048576, (double)o->backward / 1048576);
    }
    if (m->other) print_part(to, "code, stacks, unused ends", m->other, m);
    if (m->evaluation) print_part(to, "evaluation, beyond a step", m->evaluation, m);
    print_part(to, "total", m->total, m);
}
