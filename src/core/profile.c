/* profile.c -- the sums of a profile: seconds per phase, and a row per op and product. */
#include "core/profile.h"

#include "core/os.h"

#include <string.h>

void heed__profile_reset(heed_profile *p) {
    if (!p) return;
    p->count = 0;
    p->steps = 0;
    p->op.row = p->product.row = -1;
    memset(p->seconds, 0, sizeof p->seconds);
    p->phase = HEED_PHASE_OUTSIDE;
    p->since = heed__os_seconds();
}

uint64_t heed_profile_steps(const heed_profile *p) { return p ? p->steps : 0; }

double heed_profile_seconds(const heed_profile *p, heed_phase phase) {
    bool known = (unsigned)phase < HEED_PHASES;
    return p && known ? p->seconds[phase] : 0;
}

int heed_profile_rows(const heed_profile *p, const heed_profile_row **rows) {
    if (rows) *rows = p ? p->rows : NULL;
    return p ? (int)p->count : 0;
}

void heed__profile_phase(heed_profile *p, heed_phase phase) {
    if (!p) return;
    double now = heed__os_seconds();
    p->seconds[p->phase] += now - p->since;
    p->phase = phase;
    p->since = now;
}

void heed__profile_step(heed_profile *p) {
    if (p) p->steps++;
}

/* The index of the row of these, a new one if there is none; -1 when out of memory. */
static int row_of(heed_profile *p, const char *op, const char *product, const int size[3]) {
    for (size_t i = 0; i < p->count; i++) {
        const heed_profile_row *r = &p->rows[i];
        if (r->phase == p->phase && r->product == product && r->m == size[0] && r->n == size[1] &&
            r->k == size[2] && strcmp(r->op, op) == 0)
            return (int)i;
    }
    if (!heed__grow(p->c, &p->rows, &p->capacity, p->count + 1, sizeof *p->rows)) return -1;
    p->rows[p->count] = (heed_profile_row){
        .phase = p->phase, .op = op, .product = product, .m = size[0], .n = size[1], .k = size[2]};
    return (int)p->count++;
}

void heed__profile_begin(heed_profile *p, const char *op, double bytes) {
    if (!p) return;
    p->op.row = row_of(p, op, NULL, (const int[3]){0});
    if (p->op.row >= 0) p->rows[p->op.row].bytes += bytes;
    p->op.begin = heed__os_seconds();
}

static double bytes_of(const heed_tensor *x) {
    return !x ? 0 : (double)x->size * (double)(x->i ? sizeof *x->i : sizeof *x->x);
}

/* Forward: inputs, output and kept values; backward also writes the gradients of the inputs. */
void heed__profile_node(heed_profile *p, const heed_node *n) {
    if (!p) return;
    double bytes = bytes_of(n->y);
    for (int i = 0; i < n->inputs; i++) {
        bool grad = p->phase == HEED_PHASE_BACKWARD && n->in[i] && n->in[i]->wants_grad;
        bytes += bytes_of(n->in[i]) * (grad ? 2 : 1);
    }
    for (int i = 0; i < n->kept_count; i++) bytes += bytes_of(n->kept[i]);
    heed__profile_begin(p, n->op->name, bytes);
}

void heed__profile_end(heed_profile *p) {
    if (!p || p->op.row < 0) return;
    p->rows[p->op.row].seconds += heed__os_seconds() - p->op.begin;
    p->rows[p->op.row].calls++;
    p->op.row = -1;
}

void heed__profile_product(heed_profile *p, const char *product, const int size[3], double flops) {
    if (!p || p->op.row < 0) return;
    heed__profile_flops(p, flops);
    p->product.row = row_of(p, p->rows[p->op.row].op, product, size);
    if (p->product.row >= 0) p->rows[p->product.row].flops += flops;
    p->product.begin = heed__os_seconds();
}

void heed__profile_product_end(heed_profile *p) {
    if (!p || p->product.row < 0) return;
    p->rows[p->product.row].seconds += heed__os_seconds() - p->product.begin;
    p->rows[p->product.row].calls++;
    p->product.row = -1;
}

void heed__profile_flops(heed_profile *p, double flops) {
    if (p && p->op.row >= 0) p->rows[p->op.row].flops += flops;
}

void heed__profile_collect(heed_profile *p) {
    for (int i = 0; p && i < p->threads; i++) {
        heed__profile_flops(p, p->stretches[i].flops);
        p->stretches[i].flops = 0;
    }
}

/* The mean thread computes for (sum of stretches) / threads. The rest of the region is the wait for
 * the thread with the longest stretch, and what passes before and after that stretch. */
void heed__profile_region(heed_profile *p, double begin, double end) {
    double sum = 0, longest = 0;
    for (int i = 0; i < p->threads; i++) {
        double length = p->stretches[i].end - p->stretches[i].begin;
        sum += length;
        if (length > longest) longest = length;
    }
    const int rows[] = {p->op.row, p->product.row};
    for (int i = 0; i < 2; i++) {
        heed_profile_row *r = rows[i] >= 0 ? &p->rows[rows[i]] : NULL;
        if (!r) continue;
        r->regions++;
        r->parallel += end - begin;
        r->uneven += longest - sum / p->threads;
        r->sync += end - begin - longest;
    }
}
