/* kept.c -- the tokens of a large text, kept in a run in tokens.bin. They are used again only for
 * the same text and tokenizer, by their digests, and only if the file is whole. It holds, in the
 * byte order of the machine: a head of 64-bit numbers; the first token of each line; marks; for
 * each chunk the number of odd tokens, the ids, and the bytes or odd tokens; a hash of all that. */
#include "data/corpus/corpus.h"
#include "text/text.h"
#include "tokenizer/tokenizer.h"

#include <string.h>

static const char file_name[] = "tokens.bin";

enum { VERSION = 2, LISTED = -1 };

typedef struct {
    char magic[8];
    uint64_t order, version;        /* of bytes; of the format */
    uint64_t checksum, digest;      /* of the text; of the tokenizer */
    uint64_t packing, width, usual; /* usual: bytes follow from ids */
    uint64_t tokens, lines, marks;
    uint64_t own_units, own_bytes, val_bytes;
} head;

static head head_of(const heed__corpus *k) {
    const heed__stream *s = &k->stream;
    return (head){.magic = "heedtok",
                  .order = 0x0102030405060708u,
                  .version = VERSION,
                  .checksum = k->info.checksum,
                  .digest = heed_tokenizer_digest(k->k),
                  .packing = k->a.packing,
                  .width = s->width,
                  .usual = s->usual != NULL,
                  .tokens = s->count,
                  .lines = k->a.packing == HEED_LINES ? k->line_count + 1 : 0,
                  .marks = s->mark_count,
                  .own_units = k->own_units,
                  .own_bytes = k->own_bytes,
                  .val_bytes = k->val_bytes};
}

/* FNV-1a over words of 8 bytes: a change of one word always shows. */
static uint64_t hash(uint64_t h, const void *data, size_t n) {
    const char *p = data;
    uint64_t word;
    for (; n; p += sizeof word) {
        size_t part = n < sizeof word ? n : sizeof word;
        word = 0;
        memcpy(&word, p, part);
        h = (h ^ word) * 1099511628211u;
        n -= part;
    }
    return h;
}

static size_t chunk_count(size_t tokens) { return (tokens + HEED__CHUNK - 1) >> HEED__CHUNK_BITS; }

static size_t chunk_tokens(size_t tokens, size_t chunk) {
    size_t left = tokens - (chunk << HEED__CHUNK_BITS);
    return left < HEED__CHUNK ? left : HEED__CHUNK;
}

/* ---- writing ---- */

typedef struct {
    heed__piece *pieces;
    int count;
    uint64_t hash, bytes;
} writing;

static void add(writing *w, const void *data, size_t n) {
    if (!n) return;
    w->hash = hash(w->hash, data, n);
    w->bytes += n;
    w->pieces[w->count++] = (heed__piece){data, n};
}

static void add_all(writing *w, const heed__corpus *k, const head *h, int64_t *odd) {
    const heed__stream *s = &k->stream;
    add(w, h, sizeof *h);
    add(w, k->lines, h->lines * sizeof *k->lines);
    add(w, s->marks, s->mark_count * sizeof *s->marks);
    for (size_t i = 0; i < chunk_count(s->count); i++) {
        const heed__chunk *u = &s->chunks[i];
        size_t n = chunk_tokens(s->count, i);
        odd[i] = u->bytes ? LISTED : (int64_t)u->odd_count;
        add(w, &odd[i], sizeof odd[i]);
        add(w, u->ids, n * s->width);
        if (u->bytes)
            add(w, u->bytes, n * sizeof *u->bytes);
        else
            add(w, u->odd, u->odd_count * sizeof *u->odd);
    }
}

/* The disk must have as much space left for checkpoints. */
static uint64_t write_tokens(heed_ctx *c, const heed__corpus *k, const char *run) {
    size_t chunks = chunk_count(k->stream.count);
    head h = head_of(k);
    writing w = {.pieces = heed__alloc_array(c, 4 + 3 * chunks, sizeof *w.pieces)};
    int64_t *odd = heed__alloc_array(c, chunks, sizeof *odd);
    heed_text path = {.c = c};
    bool ok = w.pieces && odd && heed_text_add(&path, "%s" HEED_INSIDE "%s", run, file_name);
    if (ok) add_all(&w, k, &h, odd);
    uint64_t free = heed__os_free(run);
    if (ok && free / 2 < w.bytes)
        ok = heed_fail(c, HEED_FAILED, "%s has %llu bytes free, and they need %llu", run,
                       (unsigned long long)free, (unsigned long long)w.bytes);
    if (ok) {
        w.pieces[w.count++] = (heed__piece){&w.hash, sizeof w.hash};
        ok = heed__os_write_cache(c, path.s, w.pieces, w.count);
    }
    heed_text_free(&path);
    heed__free(odd);
    heed__free(w.pieces);
    return ok ? w.bytes + sizeof w.hash : 0;
}

bool heed__corpus_keep(heed__corpus *k, const char *run, size_t least) {
    if (k->info.kept || !k->a.keep || k->own_bytes + k->val_bytes < least) return k->info.kept > 0;
    heed_ctx *c = heed_open(&(heed_options){.threads = 1}); /* a failure is no error of the run */
    k->info.kept = write_tokens(c, k, run);
    if (!k->info.kept)
        heed_message(k->c, HEED_WARN, "tokens are not kept: %s; hint: `token-cache = false`",
                     heed_ctx_error(c));
    heed_close(c);
    return k->info.kept > 0;
}

/* ---- reading ---- */

typedef struct {
    heed_ctx *c; /* a context for this: a damaged file is no error */
    heed__file file;
    uint64_t hash;
} reader;

static bool take(reader *r, void *out, size_t n) {
    size_t got;
    if (!heed__file_read(r->c, &r->file, out, n, &got) || got != n) return false;
    r->hash = hash(r->hash, out, n);
    return true;
}

/* An array of n elements, where the file is long enough for them. */
static void *take_array(reader *r, size_t n, size_t each) {
    if (r->file.size < r->file.at || n > (r->file.size - r->file.at) / each) return NULL;
    void *x = heed__alloc_array(r->c, n, each);
    if (x && take(r, x, n * each)) return x;
    heed__free(x);
    return NULL;
}

static bool ids_fit(const heed__stream *s, const heed__chunk *u, size_t n, size_t vocab) {
    bool fit = true;
    for (size_t i = 0; i < n; i++) {
        size_t id = s->width == 1   ? ((const uint8_t *)u->ids)[i]
                    : s->width == 2 ? ((const uint16_t *)u->ids)[i]
                                    : ((const uint32_t *)u->ids)[i];
        fit = fit && id < vocab;
    }
    return fit;
}

static bool odd_fit(const heed__chunk *u, size_t n) {
    for (size_t i = 0; i < u->odd_count; i++)
        if (u->odd[i].at >= n || (i && u->odd[i].at <= u->odd[i - 1].at)) return false;
    return true;
}

/* Chunks have their full size, as when they are filled. */
static bool take_chunk(reader *r, heed__stream *s, heed__chunk *u, size_t n, size_t vocab) {
    int64_t odd;
    u->ids = heed__alloc_array(r->c, HEED__CHUNK, s->width);
    if (!u->ids || !take(r, &odd, sizeof odd) || !take(r, u->ids, n * s->width)) return false;
    if (odd == LISTED) {
        u->bytes = heed__alloc_array(r->c, HEED__CHUNK, sizeof *u->bytes);
        if (!u->bytes || !take(r, u->bytes, n * sizeof *u->bytes)) return false;
    } else {
        if (!s->usual || odd < 0 || (size_t)odd > n) return false;
        u->odd = take_array(r, (size_t)odd, sizeof *u->odd);
        u->odd_count = u->odd_capacity = (size_t)odd;
        if (!u->odd) return false;
    }
    return ids_fit(s, u, n, vocab) && odd_fit(u, n);
}

static bool lines_fit(const uint32_t *lines, size_t count, size_t tokens) {
    for (size_t i = 0; i + 1 < count; i++)
        if (lines[i] >= lines[i + 1]) return false;
    return lines[count - 1] == tokens;
}

static bool marks_fit(const heed__mark *m, size_t count, size_t tokens) {
    for (size_t i = 0; i < count; i++)
        if (m[i].token >= tokens || (i && m[i].token <= m[i - 1].token)) return false;
    return count == 0 ? tokens == 0 : m[0].token == 0;
}

static bool take_all(reader *r, heed__corpus *k, const head *h) {
    heed__stream *s = &k->stream;
    size_t tokens = (size_t)h->tokens, chunks = chunk_count(tokens);
    uint64_t found, expected;
    if (h->lines) {
        k->lines = take_array(r, (size_t)h->lines, sizeof *k->lines);
        if (!k->lines || !lines_fit(k->lines, (size_t)h->lines, tokens)) return false;
        k->line_count = (size_t)h->lines - 1;
        k->lines_capacity = (size_t)h->lines;
    }
    s->marks = take_array(r, (size_t)h->marks, sizeof *s->marks);
    if (!s->marks || !marks_fit(s->marks, (size_t)h->marks, tokens)) return false;
    s->mark_count = s->mark_capacity = (size_t)h->marks;
    s->chunks = heed__alloc_array(r->c, chunks, sizeof *s->chunks);
    s->capacity = chunks;
    for (size_t i = 0; s->chunks && i < chunks; i++) {
        s->count += chunk_tokens(tokens, i); /* first, so that all is freed */
        if (!take_chunk(r, s, &s->chunks[i], chunk_tokens(tokens, i),
                        (size_t)heed_vocab_size(k->k)))
            return false;
    }
    expected = r->hash;
    return s->chunks && take(r, &found, sizeof found) && found == expected &&
           r->file.at == r->file.size;
}

/* Whether the head is of the corpus, whose text is known by now. */
static bool agrees(const heed__corpus *k, const head *h) {
    head like = head_of(k);
    like.tokens = h->tokens;
    like.lines = h->lines;
    like.marks = h->marks;
    like.own_units = h->own_units;
    uint64_t units = like.packing == HEED_LINES ? h->lines - 1 : h->tokens;
    return memcmp(&like, h, sizeof like) == 0 && h->tokens < UINT32_MAX &&
           (h->lines > 0) == (like.packing == HEED_LINES) && h->own_units <= units;
}

typedef struct {
    heed__reading reading;
    heed__corpus *k;
    size_t bytes;
} hashing;

static bool join(heed__reading *r, heed__passage *p) {
    hashing *h = (hashing *)r;
    h->k->info.checksum = heed__hash64(p->text, p->n, h->k->info.checksum);
    h->bytes += p->n;
    return true;
}

static bool hash_text(heed__corpus *k, const char *path, size_t *bytes) {
    hashing h = {.reading = {.c = k->c,
                             .path = path,
                             .cut = heed__cut_of(k->k),
                             .worker_size = sizeof(heed__passage),
                             .join = join},
                 .k = k};
    bool good = heed__read_text(&h.reading);
    *bytes = h.bytes;
    return good;
}

/* Forgets what was read of a damaged file, or of the text. */
static void clear(heed__corpus *k) {
    heed__stream_free(&k->stream);
    heed__free(k->lines);
    k->lines = NULL;
    k->line_count = k->lines_capacity = 0;
    k->own_bytes = k->val_bytes = k->own_units = 0;
    k->info.checksum = 0;
    heed__stream_begin(&k->stream, k->k);
}

static bool load(reader *r, heed__corpus *k, const char *path) {
    head h;
    if (!take(r, &h, sizeof h) || memcmp(h.magic, "heedtok", 8) != 0) return false;
    if (!hash_text(k, path, &k->own_bytes)) return false;
    if (k->a.val_path && !hash_text(k, k->a.val_path, &k->val_bytes)) return false;
    if (!agrees(k, &h)) return false;
    k->own_units = (size_t)h.own_units;
    return take_all(r, k, &h);
}

bool heed__corpus_load(heed__corpus *k, const char *path) {
    const char *val = k->a.val_path;
    heed_text name = {.c = k->c};
    if (!k->a.cache || !heed__os_is_file(path) || (val && !heed__os_is_file(val))) return false;
    bool ok = heed_text_add(&name, "%s" HEED_INSIDE "%s", k->a.cache, file_name) &&
              heed__os_is_file(name.s);
    if (ok) {
        reader r = {.c = heed_open(&(heed_options){.threads = 1})};
        ok = heed__file_open(r.c, name.s, &r.file) && load(&r, k, path);
        heed__file_close(&r.file);
        heed_close(r.c);
        if (ok)
            k->info.kept = r.file.size;
        else
            clear(k);
    }
    heed_text_free(&name);
    return ok;
}
