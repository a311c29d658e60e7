/* facts.c -- what is to be said of something: lines for people, members of an object for programs.
 */
#include "core/core.h"
#include "text/text.h"

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
