/* census.c -- counts what the training and validation parts of a corpus hold. */
#include "data/corpus/corpus.h"
#include "text/classes.h"
#include "text/text.h"

/* ---- tokens and bytes ---- */

/* The byte of the first file where a unit begins; the end of the file for later units. */
static size_t byte_of(const heed__corpus *k, size_t unit) {
    if (unit == 0) return 0;
    if (unit >= k->own_units) return k->own_bytes;
    size_t byte = heed__stream_place(&k->stream, heed__unit_token(k, unit));
    return byte < k->own_bytes ? byte : k->own_bytes;
}

static void count_part(const heed__corpus *k, const heed__part *p, size_t *tokens, size_t *unknown,
                       size_t *bytes) {
    for (size_t i = 0; i < p->count; i++) {
        size_t at = heed__unit_token(k, p->spans[i].begin);
        size_t end = heed__unit_token(k, p->spans[i].end);
        size_t from = byte_of(k, p->spans[i].begin), to = byte_of(k, p->spans[i].end);
        *tokens += end - at;
        *unknown += heed__stream_find(&k->stream, at, end, k->k->special.unk);
        *bytes += to > from ? to - from : 0;
    }
}

void heed__corpus_count(heed__corpus *k) {
    heed__corpus_info *f = &k->info;
    bool split = k->a.val_split > 0 && !k->a.eval;
    count_part(k, &k->train, &f->tokens, &f->unknown, &f->bytes);
    if (k->a.val_path || split)
        count_part(k, &k->val, &f->val_tokens, &f->val_unknown, &f->val_bytes);
    if (k->a.val_path) f->val_bytes = k->val_bytes;
}

/* ---- lines ---- */

/* Visits the lines of one part. Where a part ends within a line, its share counts as a line. */
typedef struct {
    heed__reading reading;
    heed__corpus *k;
    bool val;
    const heed__part *part; /* NULL: the whole file */
    size_t span;            /* the latest */
    size_t at;              /* in the text */
    uint64_t hash;          /* of the line so far */
    bool line, blank;       /* a line has begun; it has only white space */
    bool special;           /* the line, of whatever parts, has the text of a special token */
    heed__counts *seen;     /* lines of the validation part, by their hashes */
} survey;

static bool end_line(survey *s) {
    heed__corpus_info *f = &s->k->info;
    const char *key = (const char *)&s->hash;
    bool counts = s->line && !s->blank;
    s->line = false;
    if (!counts) return true;
    *(s->val ? &f->val_lines : &f->lines) += 1;
    if (s->val) return heed__counts_add(s->seen, key, sizeof s->hash, 1);
    int32_t same = heed__names_look(&s->seen->names, key, sizeof s->hash);
    if (same >= 0) {
        f->overlap += s->seen->counts[same];
        s->seen->counts[same] = 0;
    }
    return true;
}

static bool is_blank(const char *s, size_t n) {
    int32_t c;
    for (size_t at = 0; at < n;) {
        at += heed_utf8_read(s + at, n - at, &c);
        if (!heed__is_space(c)) return false;
    }
    return true;
}

static bool visit(survey *s, const char *text, size_t n) {
    for (size_t at = 0, length; at < n; at += length + 1) {
        length = heed__line_length(text + at, n - at);
        if (!s->line) s->hash = 0;
        s->blank = (!s->line || s->blank) && is_blank(text + at, length);
        s->hash = heed__hash64(text + at, length, s->hash);
        s->line = true;
        if (at + length < n && !end_line(s)) return false;
    }
    return true;
}

/* Counts whole lines: the split may divide the text of a special token. */
static void count_special(survey *s, const char *text, size_t n) {
    for (size_t at = 0, length; at < n; at += length + 1) {
        length = heed__line_length(text + at, n - at);
        s->special |= heed__finds_special(s->k->k, text + at, length);
        if (at + length >= n) return;
        s->k->info.special_lines += s->special;
        s->special = false;
    }
}

/* Visits what the part covers of a passage. */
static bool survey_passage(heed__reading *r, heed__passage *p) {
    survey *s = (survey *)r;
    if (!s->val || !s->part) count_special(s, p->text, p->n);
    size_t end = s->at + p->n;
    bool good = true;
    for (; good && s->part && s->span < s->part->count; s->span++) {
        const heed__span *u = &s->part->spans[s->span];
        size_t from = byte_of(s->k, u->begin), to = byte_of(s->k, u->end);
        size_t begin = from > s->at ? from : s->at, finish = to < end ? to : end;
        if (begin < finish) good = visit(s, p->text + begin - s->at, finish - begin);
        if (to > end) break; /* it goes on in the next passage */
        good = good && end_line(s);
    }
    if (!s->part) good = visit(s, p->text, p->n);
    s->at = end;
    return good;
}

static bool survey_file(heed__corpus *k, const char *path, bool val, const heed__part *part,
                        heed__counts *seen, heed__watch *watch) {
    survey s = {.reading = {.c = k->c,
                            .path = path,
                            .worker_size = sizeof(heed__passage),
                            .watch = watch,
                            .join = survey_passage},
                .k = k,
                .val = val,
                .part = part,
                .seen = seen};
    bool good = heed__read_text(&s.reading) && end_line(&s);
    k->info.special_lines += s.special;
    return good;
}

bool heed__corpus_census(heed__corpus *k, const char *path, heed__watch *watch) {
    heed__counts seen = {.names.c = k->c};
    bool good = true;
    if (k->a.val_path)
        good = survey_file(k, k->a.val_path, true, NULL, &seen, watch);
    else if (k->a.val_split > 0 && !k->a.eval)
        good = survey_file(k, path, true, &k->val, &seen, watch);
    good = good && survey_file(k, path, false, &k->train, &seen, watch);
    heed__counts_free(&seen);
    return good;
}
