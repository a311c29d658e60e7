/* survey.c -- what a text file holds: characters and lines. */
#include "data/sets.h"
#include "text/classes.h"
#include "text/text.h"
#include "tokenizer/reading.h"

/* What one passage holds; of lines, those that end in it. */
typedef struct {
    heed__passage passage;
    heed__text_facts found;
    size_t first, last; /* bytes before the first line end, and after the last one */
} counter;

typedef struct {
    heed__reading reading;
    heed__text_facts *out;
    size_t open; /* bytes of a line that has not ended */
} survey;

static bool count(heed__reading *r, heed__passage *p) {
    counter *w = (counter *)(void *)p;
    heed__text_facts *f = &w->found;
    (void)r;
    *f = (heed__text_facts){
        .bytes = p->n, .characters = heed__utf8_count(p->text, p->n), .returns = p->returns};
    w->first = heed__line_length(p->text, p->n);
    size_t length = w->first, at = w->first + 1;
    for (; at <= p->n; at += length + 1) {
        f->lines++;
        length = heed__line_length(p->text + at, p->n - at);
        bool ended = at + length < p->n;
        f->empty += ended && length == 0;
        int32_t first = 0;
        if (length) heed_utf8_read(p->text + at, length, &first);
        f->continued += heed__in_class(HEED__LOWER_CASE, first);
        if (ended && length > f->longest) f->longest = length;
    }
    w->last = length;
    return true;
}

static void end_line(survey *s, size_t bytes) {
    s->out->empty += bytes == 0;
    if (bytes > s->out->longest) s->out->longest = bytes;
}

static bool add(heed__reading *r, heed__passage *p) {
    const counter *w = (counter *)(void *)p;
    survey *s = (survey *)r;
    heed__text_facts *out = s->out;
    out->bytes += w->found.bytes;
    out->characters += w->found.characters;
    out->lines += w->found.lines;
    out->empty += w->found.empty;
    out->continued += w->found.continued;
    out->returns += w->found.returns;
    if (w->found.longest > out->longest) out->longest = w->found.longest;
    if (w->found.lines) end_line(s, s->open + w->first);
    s->open = w->found.lines ? w->last : s->open + w->first;
    return true;
}

bool heed__text_survey(heed_ctx *c, const char *path, heed__text_facts *out) {
    if (out) *out = (heed__text_facts){0};
    if (heed__stopped(c) || !path || !out) return false;
    survey s = {.reading = {.c = c,
                            .path = path,
                            .worker_size = sizeof(counter),
                            .work = count,
                            .join = add},
                .out = out};
    if (!heed__read_text(&s.reading)) return false;
    if (s.open) end_line(&s, s.open); /* the last line has no end */
    out->lines += s.open > 0;
    return true;
}
