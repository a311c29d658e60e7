/* reading.c -- reads a text file in passages: one thread at a time reads, all of them work, and the
 * results are joined in the order of the text. */
#include "tokenizer/reading.h"

#include "text/classes.h"
#include "text/text.h"
#include "tokenizer/pattern.h"

#include <string.h>

enum { PASSAGE = 1 << 20, MOST_THREADS = 64 };

typedef struct {
    heed__reading *r;
    heed__file file;
    heed__monitor *lock; /* NULL: one thread works alone */
    bool done, failed;   /* no passage is left; stop */
    size_t number, turn; /* the next passage to be read; to be joined */
    size_t raw_at, line; /* bytes that were read; line ends that were joined */
    bool inside;
    char *carry; /* what was read after the end of the latest passage */
    size_t carried, carry_capacity;
} state;

typedef struct {
    state *s;
    heed__passage *p;
    bool reports; /* progress: the caller's thread alone */
} worker;

/* ---- where a passage ends ---- */

static size_t after_line(const char *text, size_t n) {
    while (n && text[n - 1] != '\n') n--;
    return n;
}

/* Before white space, or a character that is a word by itself; not before the end of a special
 * token. */
static size_t between_words(const char *text, size_t n) {
    int32_t c;
    for (size_t i = n - 1; i > 0; i--) {
        heed_utf8_read(text + i, n - i, &c);
        if (c >= 0 && c != ']' && (heed__is_space(c) || heed__is_single(c))) return i;
    }
    return 0;
}

/* Before the last character, but not within a special token: these have at most 6 bytes, and one
 * bracket each that opens. */
static size_t between_characters(const char *text, size_t n) {
    enum { CHARACTER = 4, SPECIAL = 6 };
    size_t i = n - 1;
    while (i && n - i < CHARACTER && ((unsigned char)text[i] & 0xC0) == 0x80) i--;
    for (size_t j = 1; j < SPECIAL && j < i; j++)
        if (text[i - j] == '[') return i - j;
    return i;
}

/* Before white space that a letter or number comes before; not before a CR, as its LF may be in the
 * next passage. */
static size_t after_letter(const char *text, size_t n) {
    int32_t c;
    for (size_t i = n - 1; i > 0; i--) {
        if (text[i] != ' ' && text[i] != '\n' && text[i] != '\t') continue;
        size_t length = 1;
        while (length < 4 && length < i && ((unsigned char)text[i - length] & 0xC0) == 0x80)
            length++;
        heed_utf8_read(text + i - length, length, &c);
        if (heed__in_class(HEED__LETTER, c) || heed__in_class(HEED__NUMERAL, c)) return i;
    }
    return 0;
}

static size_t end_of(const char *text, size_t n, heed__cutting cut) {
    if (cut == HEED__CUT_NOWHERE) return 0;
    if (cut == HEED__CUT_SPACES) return after_letter(text, n);
    size_t i = after_line(text, n);
    return i ? i : cut == HEED__CUT_WORDS ? between_words(text, n) : between_characters(text, n);
}

/* ---- reading ---- */

/* Reads on until a place is found where the passage can end. */
static bool fill(state *s, heed__passage *p) {
    heed_ctx *c = s->r->c;
    size_t more = PASSAGE, got, n = s->carried, end = 0;
    if (s->file.regular && s->file.size < more) more = s->file.size + 1;
    if (!heed__grow(c, &p->text, &p->capacity, n + more + 1, 1)) return false;
    if (n) memcpy(p->text, s->carry, n);
    for (; !end && !s->done; more = n) {
        if (!heed__grow(c, &p->text, &p->capacity, n + more + 1, 1) ||
            !heed__file_read(c, &s->file, p->text + n, more, &got))
            return false;
        n += got;
        s->done = got < more;
        end = s->done ? n : end_of(p->text, n, s->r->cut);
    }
    if (s->number == 0 && !heed__text_begins(c, s->r->path, (unsigned char *)p->text, n))
        return false;
    s->carried = n - end;
    if (!heed__grow(c, &s->carry, &s->carry_capacity, s->carried, 1)) return false;
    if (s->carried) memcpy(s->carry, p->text + end, s->carried);
    p->n = p->raw = end;
    return true;
}

/* Reads the next passage; false at the end, or after an error. */
static bool take(state *s, heed__passage *p) {
    if (s->done || s->failed) return false;
    if (!fill(s, p)) {
        s->failed = true;
        return false;
    }
    if (p->n == 0) return false;
    p->number = s->number++;
    p->raw_at = s->raw_at;
    p->inside = s->inside;
    s->raw_at += p->n;
    s->inside = p->text[p->n - 1] != '\n';
    return true;
}

/* ---- working ---- */

static size_t line_ends(const char *text, size_t n) {
    size_t count = 0, length;
    for (size_t at = 0; at < n; at += length + 1, count++)
        if ((length = heed__line_length(text + at, n - at)) == n - at) break;
    return count;
}

/* Works on a passage unless it has a flaw, which *flaw gets, or p->n. */
static bool work(const state *s, heed__passage *p, size_t *flaw) {
    *flaw = heed__text_flaw(p->text, p->n);
    if (*flaw < p->n) return true;
    p->line_ends = line_ends(p->text, p->n);
    p->n = heed__text_straighten((unsigned char *)p->text, p->n, p->number == 0, &p->returns);
    *flaw = p->n;
    return !s->r->work || s->r->work(s->r, p);
}

static bool join(const worker *w, size_t flaw) {
    heed__reading *r = w->s->r;
    heed__passage *p = w->p;
    if (flaw < p->n)
        return heed__text_refuse(r->c, r->path, (unsigned char)p->text[flaw], p->raw_at + flaw,
                                 w->s->line + heed__line_of(p->text, flaw));
    w->s->line += p->line_ends;
    if (p->n == 0) return heed__text_begins(r->c, r->path, NULL, 0); /* only a BOM */
    if (r->join && !r->join(r, p)) return false;
    if (!w->reports || !r->watch || !r->watch->progress) return true;
    return r->watch->progress(r->watch->user, r->watch->before + p->raw_at + p->raw,
                              r->watch->all) ||
           heed_fail(r->c, HEED_INTERRUPTED, "interrupted");
}

static void run(void *data) {
    worker *w = data;
    state *s = w->s;
    heed__monitor_enter(s->lock);
    while (take(s, w->p)) {
        size_t flaw;
        heed__monitor_leave(s->lock);
        bool good = work(s, w->p, &flaw);
        heed__monitor_enter(s->lock);
        while (!s->failed && s->turn != w->p->number) heed__monitor_wait(s->lock);
        if (s->failed) break;
        heed__monitor_leave(s->lock);
        good = good && join(w, flaw);
        heed__monitor_enter(s->lock);
        s->turn++;
        if (!good) s->failed = true;
        heed__monitor_broadcast(s->lock);
    }
    if (s->failed) heed__monitor_broadcast(s->lock);
    heed__monitor_leave(s->lock);
}

static size_t thread_count(const state *s) {
    size_t count = (size_t)heed_threads(s->r->c), passages = s->file.size / PASSAGE + 1;
    if (count > MOST_THREADS) count = MOST_THREADS;
    return s->file.regular && passages < count ? passages : count;
}

static bool run_all(state *s) {
    heed__reading *r = s->r;
    worker workers[MOST_THREADS] = {0};
    heed__thread *threads[MOST_THREADS] = {0};
    size_t count = thread_count(s);
    s->lock = heed__monitor_new(r->c);
    for (size_t i = 0; i < count; i++)
        workers[i] = (worker){s, heed__alloc(r->c, r->worker_size), i == 0};
    if (!heed__stopped(r->c)) {
        for (size_t i = 1; i < count && !heed__stopped(r->c); i++)
            threads[i] = heed__thread_start(r->c, run, &workers[i]);
        run(&workers[0]);
        for (size_t i = 1; i < count; i++) heed__thread_join(threads[i]);
    }
    bool good = !heed__stopped(r->c) && !s->failed;
    for (size_t i = 0; i < count; i++) {
        heed__passage *p = workers[i].p;
        if (p && r->end && !r->end(r, p)) good = false;
        if (p) heed__free(p->text);
        heed__free(p);
    }
    heed__monitor_free(s->lock);
    return good;
}

bool heed__read_text(heed__reading *r) {
    state s = {.r = r};
    bool good = heed__file_open(r->c, r->path, &s.file) && run_all(&s);
    heed__file_close(&s.file);
    heed__free(s.carry);
    if (r->watch) r->watch->before += s.raw_at;
    return good;
}
