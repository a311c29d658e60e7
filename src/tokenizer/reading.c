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

/* ---- what is no text ---- */

/* Detects UTF-16 and UTF-32 by their byte order marks, or by the zeros in Latin text. */
static const char *wide_encoding(const unsigned char *b, size_t n) {
    if (n >= 4 && (memcmp(b, "\xFF\xFE\0\0", 4) == 0 || memcmp(b, "\0\0\xFE\xFF", 4) == 0))
        return "UTF-32";
    if (n >= 2 && (memcmp(b, "\xFF\xFE", 2) == 0 || memcmp(b, "\xFE\xFF", 2) == 0)) return "UTF-16";
    if (n < 4) return NULL;
    if (b[0] && !b[1] && b[2] && !b[3]) return "UTF-16LE";
    return !b[0] && b[1] && !b[2] && b[3] ? "UTF-16BE" : NULL;
}

/* Whether over 1 byte in 20 is a control byte that no text has; in random data 1 in 10 is. */
static bool is_binary(const unsigned char *b, size_t n) {
    size_t strange = 0;
    if (n > 4096) n = 4096;
    for (size_t i = 0; i < n; i++) strange += b[i] < 32 && !(b[i] >= 8 && b[i] <= 13);
    return n >= 256 && strange * 20 > n;
}

/* What the first bytes of a picture say; NULL: it is none of these. */
static const char *picture_format(const unsigned char *b, size_t n) {
    if (n >= 3 && memcmp(b, "\xFF\xD8\xFF", 3) == 0) return "JPEG";
    return n >= 8 && memcmp(b, "\x89PNG\r\n\x1A\n", 8) == 0 ? "PNG" : NULL;
}

/* The length of the path without its extension: "dir/a.csv" is converted to "dir/a.utf8.csv". */
static int stem_of(const char *path) {
    const char *slash = strrchr(path, '/'), *dot = strrchr(slash ? slash : path, '.');
    return dot ? (int)(dot - path) : (int)strlen(path);
}

bool heed__text_begins(heed_ctx *c, const char *path, const unsigned char *bytes, size_t n) {
    if (n == 0)
        return heed_fail(c, HEED_DATA, "text is empty: %s: expected UTF-8 text, found 0 bytes",
                         path);
    const char *picture = picture_format(bytes, n), *wide = wide_encoding(bytes, n);
    int stem = stem_of(path);
    if (picture)
        return heed_fail(c, HEED_DATA,
                         "this is not a text: %s: expected UTF-8 text, found a picture (%s)", path,
                         picture);
    if (wide)
        return heed_fail(
            c, HEED_DATA,
            "text is not UTF-8: %s:1: expected UTF-8, found %s at byte 0; hint: `iconv "
            "-f %s -t UTF-8 '%s' > '%.*s.utf8%s'`",
            path, wide, wide, path, stem, path, path + stem);
    if (memchr(bytes, '\r', n) && !memchr(bytes, '\n', n))
        return heed_fail(c, HEED_DATA,
                         "lines end with CR, as on old Macs: %s: expected LF or CR LF; hint: `tr "
                         "'\\r' '\\n' < '%s' > '%.*s.lf%s'`",
                         path, path, stem, path, path + stem);
    return !is_binary(bytes, n) ||
           heed_fail(c, HEED_DATA, "this is not a text: %s: expected UTF-8 text, found bytes",
                     path);
}

bool heed__text_refuse(heed_ctx *c, const char *path, unsigned char byte, size_t at, size_t line) {
    int stem = stem_of(path);
    if (!byte)
        return heed_fail(c, HEED_DATA,
                         "text holds a NUL byte: %s:%zu: expected UTF-8 text, found 0x00 at byte "
                         "%zu; hint: `tr -d '\\000' < '%s' > '%.*s.clean%s'`",
                         path, line, at, path, stem, path, path + stem);
    return heed_fail(c, HEED_DATA,
                     "text is not UTF-8: %s:%zu: expected UTF-8, found 0x%02X at byte %zu; "
                     "hint: `iconv -f ISO-8859-1 -t UTF-8 '%s' > '%.*s.utf8%s'`",
                     path, line, byte, at, path, stem, path, path + stem);
}

static bool check(heed_ctx *c, const char *path, const unsigned char *bytes, size_t n) {
    if (!heed__text_begins(c, path, bytes, n)) return false;
    const char *text = (const char *)bytes;
    size_t at = heed__text_flaw(text, n);
    return at == n || heed__text_refuse(c, path, bytes[at], at, heed__line_of(text, at));
}

size_t heed__text_straighten(unsigned char *b, size_t n, bool bom, size_t *returns) {
    size_t from = bom && n >= 3 && memcmp(b, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0, to = 0, count = 0;
    if (returns) *returns = 0;
    if (!from && !memchr(b, '\r', n)) return n;
    for (; from < n; from++) {
        bool returns_line = b[from] == '\r' && from + 1 < n && b[from + 1] == '\n';
        count += returns_line;
        if (!returns_line) b[to++] = b[from];
    }
    b[to] = 0;
    if (returns) *returns = count;
    return to;
}

/* heed__free is free: the caller may use either. */
char *heed_text_read(heed_ctx *c, const char *path, size_t *n) {
    if (n) *n = 0;
    if (heed__stopped(c) || !path || !n) return NULL;
    size_t size;
    unsigned char *bytes = heed__os_read(c, path, 0, &size);
    if (!bytes) return NULL;
    if (check(c, path, bytes, size)) {
        *n = heed__text_straighten(bytes, size, true, NULL);
        if (*n || check(c, path, bytes, 0)) return (char *)bytes;
    }
    heed__free(bytes);
    return NULL;
}

bool heed__text_refuse_blank(heed_ctx *c, const char *path, const char *text, size_t n) {
    size_t at = 0;
    char *read = path ? heed_text_read(c, path, &n) : NULL;
    if (path) text = read;
    while (text && at < n && strchr(" \t\n\v\f\r", text[at])) at++;
    if (text && at == n)
        heed_fail(c, HEED_DATA, "text has only blank lines%s%s: expected words", path ? ": " : "",
                  path ? path : "");
    heed__free(read);
    return text && at == n;
}

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
