/* schedule.c -- learning-rate schedules. */
#include <heed/optim.h>

#include <math.h>

static const double pi = 3.14159265358979323846;

/* The fraction of the steps after warm-up that is done, in [0, 1]. */
static double progress(const heed_schedule *s, int64_t step) {
    if (s->steps <= s->warmup) return 1;
    double done = (double)(step - s->warmup) / (double)(s->steps - s->warmup);
    return done < 0 ? 0 : done > 1 ? 1 : done;
}

static double after_warmup(const heed_schedule *s, int64_t step) {
    double floor = (double)s->floor;
    switch (s->kind) {
    case HEED_COSINE:
        return floor + (1 - floor) * 0.5 * (1 + cos(pi * progress(s, step)));
    case HEED_LINEAR:
        return 1 - (1 - floor) * progress(s, step);
    case HEED_STEPS:
        return s->every > 0 ? pow((double)s->gamma, (double)(step / s->every)) : 1;
    case HEED_INVSQRT:
        return sqrt((double)(s->warmup > 0 ? s->warmup : 1) / (double)(step + 1));
    case HEED_CONSTANT:
        break;
    }
    return 1;
}

/* With warm-up, the inverse square root is eq. 3 of Vaswani et al. 2017: for s < w its second term
 * is s w^-1.5 w^0.5 = s / w, the linear warm-up of all kinds; the two meet at s = w. */
heed_real heed_schedule_at(const heed_schedule *s, int64_t step) {
    if (!s || step < 0) return 1;
    if (step < s->warmup) return (heed_real)((double)(step + 1) / (double)s->warmup);
    return (heed_real)after_warmup(s, step);
}
