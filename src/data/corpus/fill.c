/* fill.c -- encodes a text file into the stream of a corpus. */
#include "data/corpus/corpus.h"
#include "text/text.h"
#include "tokenizer/tokenizer.h"

#include <string.h>

/* One thread's tokens of a passage. */
typedef struct {
    heed__passage passage;
    heed__memo memo;
    heed__run run;
    uint32_t *lines; /* the first token of each line that has any */
    size_t line_count, lines_capacity;
    bool first_line; /* of these lines, the first one is the passage's */
} slab;

typedef struct {
    heed__sink sink;
    heed__run *run;
    size_t base; /* of what is encoded, in the passage */
} filler;

typedef struct {
    heed__reading reading;
    heed__corpus *k;
    size_t last, end; /* in the text: end of the latest token; of the latest passage */
} filling;

static bool put(heed__sink *sink, int32_t id, size_t begin, size_t end) {
    filler *f = (filler *)sink;
    (void)begin;
    return heed__run_put(f->run, id, f->base + end);
}

/* Each line with at least one token becomes a unit. */
static bool encode_lines(heed_ctx *c, const heed_tokenizer *k, slab *s, filler *f) {
    const heed__passage *p = &s->passage;
    for (size_t length; f->base < p->n; f->base += length + 1) {
        size_t before = s->run.count, at = f->base;
        length = heed__line_length(p->text + at, p->n - at);
        if (!heed__encode_by(k, &s->memo, HEED__SPECIAL_IS_TEXT, p->text + at, length, &f->sink))
            return false;
        if (s->run.count == before) continue;
        if (!heed__grow(c, &s->lines, &s->lines_capacity, s->line_count + 1, sizeof *s->lines))
            return false;
        if (at == 0) s->first_line = true;
        s->lines[s->line_count++] = (uint32_t)before;
    }
    return true;
}

static bool encode(heed__reading *r, heed__passage *p) {
    slab *s = (slab *)(void *)p;
    const heed__corpus *k = ((filling *)r)->k;
    filler f = {.sink = {put}, .run = &s->run};
    s->run.form = &k->stream;
    s->run.count = s->run.odd_count = s->run.mark_count = s->run.last = s->line_count = 0;
    s->first_line = false;
    if (k->a.packing == HEED_LINES) return encode_lines(r->c, k->k, s, &f);
    return heed__encode_by(k->k, &s->memo, HEED__SPECIAL_IS_TEXT, p->text, p->n, &f.sink);
}

/* ---- in the order of the text ---- */

/* A tentative start of a line: it becomes one when the next is added. */
static bool mark_line(heed__corpus *k, size_t token) {
    if (!heed__grow(k->c, &k->lines, &k->lines_capacity, k->line_count + 1, sizeof *k->lines))
        return false;
    k->lines[k->line_count] = (uint32_t)token;
    return true;
}

/* A line that began in an earlier passage may already have tokens. */
static bool join_lines(heed__corpus *k, const slab *s) {
    const heed__passage *p = &s->passage;
    bool goes_on = p->inside && k->line_begun;
    for (size_t i = goes_on && s->first_line; i < s->line_count; i++, k->line_count++)
        if (!mark_line(k, k->stream.count + s->lines[i])) return false;
    size_t rest = p->n - s->run.last; /* after the latest token */
    k->line_begun = (s->line_count || goes_on) && !memchr(p->text + s->run.last, '\n', rest);
    return true;
}

static bool join(heed__reading *r, heed__passage *p) {
    slab *s = (slab *)(void *)p;
    filling *f = (filling *)r;
    heed__corpus *k = f->k;
    k->info.checksum = heed__hash64(p->text, p->n, k->info.checksum);
    if (k->a.packing == HEED_LINES && !join_lines(k, s)) return false;
    if (!heed__stream_append(&k->stream, &s->run, f->end, f->end - f->last)) return false;
    if (s->run.count) f->last = f->end + s->run.last;
    f->end += p->n;
    return true;
}

static bool drop(heed__reading *r, heed__passage *p) {
    slab *s = (slab *)(void *)p;
    (void)r;
    heed__memo_free(&s->memo);
    heed__run_free(&s->run);
    heed__free(s->lines);
    return true;
}

bool heed__corpus_fill(heed__corpus *k, const char *path, heed__watch *watch) {
    filling f = {.reading = {.c = k->c,
                             .path = path,
                             .cut = heed__cut_of(k->k),
                             .worker_size = sizeof(slab),
                             .watch = watch,
                             .work = encode,
                             .join = join,
                             .end = drop},
                 .k = k};
    k->line_begun = false;
    bool good = heed__read_text(&f.reading);
    *(k->own_bytes ? &k->val_bytes : &k->own_bytes) = f.end;
    return good && (k->a.packing != HEED_LINES || mark_line(k, k->stream.count));
}
