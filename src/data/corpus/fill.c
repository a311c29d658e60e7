/* fill.c -- encodes a text file into the stream of a corpus. */
#include "data/corpus/corpus.h"
#include "text/text.h"

/* One thread's tokens of a passage. */
typedef struct {
    heed__passage passage;
    heed_ctx *c;
    heed__memo memo;
    int32_t *ids;
    uint32_t *bytes; /* from the previous token's end, or the begin of the passage */
    size_t count, ids_capacity, bytes_capacity;
    uint32_t *lines; /* the first token of each line that has any */
    size_t line_count, lines_capacity;
    size_t last;     /* end of the latest token */
    bool first_line; /* of these lines, the first one is the passage's */
} slab;

typedef struct {
    heed__sink sink;
    slab *to;
    size_t base; /* of what is encoded, in the passage */
} filler;

typedef struct {
    heed__reading reading;
    heed_corpus *k;
    size_t last, end; /* in the text: end of the latest token; of the latest passage */
} filling;

static bool put(heed__sink *sink, int32_t id, size_t begin, size_t end) {
    filler *f = (filler *)sink;
    slab *s = f->to;
    (void)begin;
    if (s->count == s->bytes_capacity &&
        (!heed__grow(s->c, &s->ids, &s->ids_capacity, s->count + 1, sizeof *s->ids) ||
         !heed__grow(s->c, &s->bytes, &s->bytes_capacity, s->count + 1, sizeof *s->bytes)))
        return false;
    s->ids[s->count] = id;
    s->bytes[s->count++] = (uint32_t)(f->base + end - s->last);
    s->last = f->base + end;
    return true;
}

/* Each line with at least one token becomes a unit. */
static bool encode_lines(const heed_tokenizer *k, slab *s, filler *f) {
    const heed__passage *p = &s->passage;
    for (size_t length; f->base < p->n; f->base += length + 1) {
        size_t before = s->count, at = f->base;
        length = heed__line_length(p->text + at, p->n - at);
        if (!heed__encode_by(k, &s->memo, p->text + at, length, &f->sink)) return false;
        if (s->count == before) continue;
        if (!heed__grow(s->c, &s->lines, &s->lines_capacity, s->line_count + 1, sizeof *s->lines))
            return false;
        if (at == 0) s->first_line = true;
        s->lines[s->line_count++] = (uint32_t)before;
    }
    return true;
}

static bool encode(heed__reading *r, heed__passage *p) {
    slab *s = (slab *)(void *)p;
    const heed_corpus *k = ((filling *)r)->k;
    filler f = {.sink = {put}, .to = s};
    s->c = r->c;
    s->count = s->line_count = s->last = 0;
    s->first_line = false;
    return k->a.packing == HEED_LINES ? encode_lines(k->k, s, &f)
                                      : heed__encode_by(k->k, &s->memo, p->text, p->n, &f.sink);
}

/* ---- in the order of the text ---- */

/* A tentative start of a line: it becomes one when the next is added. */
static bool mark_line(heed_corpus *k, size_t token) {
    if (!heed__grow(k->c, &k->lines, &k->lines_capacity, k->line_count + 1, sizeof *k->lines))
        return false;
    k->lines[k->line_count] = (uint32_t)token;
    return true;
}

/* A line that began in an earlier passage may already have tokens. */
static bool join_lines(heed_corpus *k, const slab *s) {
    const heed__passage *p = &s->passage;
    size_t first = k->stream.count;
    bool goes_on = p->inside && k->line_begun;
    for (size_t i = 0; i < s->line_count; i++) {
        if (i == 0 && s->first_line && goes_on) continue;
        if (!mark_line(k, first + s->lines[i])) return false;
        k->line_count++;
    }
    bool ended = p->n && p->text[p->n - 1] == '\n',
         broken = heed__line_length(p->text, p->n) < p->n;
    bool tail =
        s->line_count && heed__line_length(p->text + s->last, p->n - s->last) == p->n - s->last;
    k->line_begun = !ended && (tail || (!broken && goes_on));
    return true;
}

static bool join(heed__reading *r, heed__passage *p) {
    slab *s = (slab *)(void *)p;
    filling *f = (filling *)r;
    heed_corpus *k = f->k;
    k->info.checksum = heed__hash64(p->text, p->n, k->info.checksum);
    if (k->a.packing == HEED_LINES && !join_lines(k, s)) return false;
    size_t gap = f->end - f->last;
    for (size_t i = 0; i < s->count; i++) {
        size_t bytes = s->bytes[i] + (i ? 0 : gap);
        if (!heed__stream_put(&k->stream, s->ids[i], bytes, f->last)) return false;
        f->last += bytes;
    }
    f->end += p->n;
    return true;
}

static bool drop(heed__reading *r, heed__passage *p) {
    slab *s = (slab *)(void *)p;
    (void)r;
    heed__memo_free(&s->memo);
    heed__free(s->ids);
    heed__free(s->bytes);
    heed__free(s->lines);
    return true;
}

bool heed__corpus_fill(heed_corpus *k, const char *path, heed__watch *watch) {
    filling f = {.reading = {.c = k->c,
                             .path = path,
                             .words = k->k->kind >= HEED__WORD,
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
