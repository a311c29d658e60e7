/* estimate.c -- the mean of a few numbers and its confidence interval. */
#include <heed/inspect.h>

#include <math.h>

/* The 97.5 % point of Student's t with that many degrees of freedom. */
static double student(int freedom) {
    static const double t[] = {12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365,
                               2.306,  2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
                               2.131,  2.120, 2.110, 2.101, 2.093, 2.086};
    int known = (int)(sizeof t / sizeof *t);
    return freedom <= known ? t[freedom - 1] : 1.96 + 2.4 / freedom;
}

heed_estimate heed_estimate_mean(const double *x, int n) {
    heed_estimate e = {.mean = (double)NAN, .half = (double)NAN};
    double sum = 0, squares = 0;
    for (int i = 0; x && i < n; i++)
        if (isfinite(x[i])) sum += x[i], e.count++;
    if (e.count == 0) return e;
    e.mean = sum / e.count;
    for (int i = 0; i < n; i++)
        if (isfinite(x[i])) squares += (x[i] - e.mean) * (x[i] - e.mean);
    if (e.count > 1) e.half = student(e.count - 1) * sqrt(squares / (e.count - 1) / e.count);
    return e;
}
