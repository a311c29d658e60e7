/* facts.c -- what is to be said of something: lines for people, members of an object for programs.
 */
#include "core/core.h"
#include "text/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool heed_fact_add(heed_facts *f, heed_fact_kind kind, const char *label, const char *format, ...) {
    va_list list, again;
    if (!f || !format || !heed__grow(f->c, &f->list, &f->capacity, f->count + 1, sizeof *f->list))
        return false;
    va_start(list, format);
    va_copy(again, list);
    size_t n = (size_t)vsnprintf(NULL, 0, format, list) + 1;
    heed_fact *one = &f->list[f->count++];
    *one = (heed_fact){kind, heed__copy_text(f->c, label ? label : ""), heed__alloc(f->c, n)};
    if (one->text) vsnprintf(one->text, n, format, again);
    va_end(again);
    va_end(list);
    return one->label && one->text;
}

/* A real number, also if it is whole: "1.0". */
static void add_real(heed_text *out, const char *key, double value) {
    heed_json_real(out, key, value, 17);
    if (isfinite(value) && value == floor(value) && fabs(value) < 1e15) heed_text_put(out, ".0", 2);
}

bool heed_fact_number(heed_facts *f, const char *key, const char *label, double value,
                      const char *format) {
    if (!f) return false;
    add_real(&f->json, key, value);
    return !format || !isfinite(value) || heed_fact_add(f, HEED_FACT, label, format, value);
}

void heed_share_interval(double right, double all, double *low, double *high) {
    double z = 1.959963984540054, p = right / all, z2 = z * z / all;
    double middle = (p + z2 / 2) / (1 + z2);
    double half = z / (1 + z2) * sqrt(p * (1 - p) / all + z2 / (4 * all));
    if (low) *low = all > 0 ? fmax(0, middle - half) : (double)NAN;
    if (high) *high = all > 0 ? fmin(1, middle + half) : (double)NAN;
}

bool heed_fact_share(heed_facts *f, const char *key, const char *label, double right, double all,
                     const char *after) {
    char both[64];
    double low, high, share = all > 0 ? right / all : (double)NAN;
    if (!f || !key) return false;
    heed_share_interval(right, all, &low, &high);
    add_real(&f->json, key, share);
    snprintf(both, sizeof both, "%s_95", key);
    heed_json_open(&f->json, both, '[');
    add_real(&f->json, NULL, low);
    add_real(&f->json, NULL, high);
    heed_json_close(&f->json, ']');
    return !after || !(all > 0) ||
           heed_fact_add(f, HEED_FACT, label, "%.2f %%  (95 %%: %.2f to %.2f)%s", 100 * share,
                         100 * low, 100 * high, after);
}

void heed_facts_free(heed_facts *f) {
    if (!f) return;
    for (size_t i = 0; i < f->count; i++) {
        heed__free(f->list[i].label);
        heed__free(f->list[i].text);
    }
    heed__free(f->list);
    heed_text_free(&f->json);
    *f = (heed_facts){.c = f->c};
}
