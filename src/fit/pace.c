/* pace.c -- notices steps that a crowded machine slows down. A team of threads waits for its
 * slowest at every kernel, and does so spinning: where other programs take a CPU, two threads are
 * many times slower than one. */
#include "fit/fit.h"

enum { TIMES = 8, IN_A_ROW = 3 };

bool heed__pace_slow(heed__pace *p, double took) {
    if (p->best <= 0 || took < p->best) p->best = took;
    p->slow = took > TIMES * p->best ? p->slow + 1 : 0;
    if (p->slow < IN_A_ROW) return false;
    p->slow = 0;
    return true;
}
