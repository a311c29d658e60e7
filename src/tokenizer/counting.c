/* counting.c -- counts the letters and the words of a text in memory or in a file, which is read by
 * several threads. */
#include "text/text.h"
#include "tokenizer/pipeline.h"
#include "tokenizer/reading.h"
#include "tokenizer/words.h"

#include <string.h>

/* ---- letters ---- */

enum { PAGE = 256, PAGES = 0x110000 / PAGE };

typedef struct {
    uint64_t ascii[128];
    uint64_t *pages[PAGES]; /* counts of the others by code point; NULL: none of them */
} letters;

static bool add_letters(heed_ctx *c, letters *l, const char *text, size_t n) {
    int32_t ch;
    uint64_t ascii[128] = {0}; /* most letters of most texts */
    for (size_t at = 0; at < n;) {
        if ((unsigned char)text[at] < 128) {
            ascii[(unsigned char)text[at++]]++;
            continue;
        }
        at += heed_utf8_read(text + at, n - at, &ch);
        if (ch < 0) continue;
        uint64_t **page = &l->pages[ch / PAGE];
        if (!*page && !(*page = heed__alloc_array(c, PAGE, sizeof **page))) return false;
        (*page)[ch % PAGE]++;
    }
    for (int i = 0; i < 128; i++) l->ascii[i] += ascii[i];
    return true;
}

/* Adds what was counted to `out`, and frees it. */
static bool move_letters(letters *l, heed__counts *out) {
    char text[4];
    bool good = true;
    for (int i = 0; good && i < 128; i++)
        if (l->ascii[i]) good = heed__counts_add(out, &(char){(char)i}, 1, l->ascii[i]);
    for (int32_t i = 0; i < PAGES; i++) {
        for (int32_t j = 0; good && l->pages[i] && j < PAGE; j++)
            if (l->pages[i][j])
                good = heed__counts_add(out, text, heed_utf8_write(i * PAGE + j, text),
                                        l->pages[i][j]);
        heed__free(l->pages[i]);
    }
    return good;
}

typedef struct {
    heed__passage passage;
    letters found;
} letter_worker;

typedef struct {
    heed__reading reading;
    heed__counts *out;
} letter_reading;

static bool letters_of(heed__reading *r, heed__passage *p) {
    return add_letters(r->c, &((letter_worker *)(void *)p)->found, p->text, p->n);
}

static bool end_letters(heed__reading *r, heed__passage *p) {
    return move_letters(&((letter_worker *)(void *)p)->found, ((letter_reading *)r)->out);
}

bool heed__count_text(const heed__source *s, heed__counts *out) {
    heed_ctx *c = out->names.c;
    if (!s->path) {
        letters *l = heed__alloc(c, sizeof *l);
        bool good = l && add_letters(c, l, s->text, s->n);
        good = l && move_letters(l, out) && good;
        heed__free(l);
        return good;
    }
    letter_reading r = {.reading = {.c = c,
                                    .path = s->path,
                                    .worker_size = sizeof(letter_worker),
                                    .watch = s->watch,
                                    .work = letters_of,
                                    .end = end_letters},
                        .out = out};
    return heed__read_text(&r.reading);
}

/* ---- words ---- */

enum { LIMIT = 1 << 20 }; /* of distinct words */

/* Bounds the memory for text with ever new words: keeps the words that occurred at least twice or,
 * if that frees too little, only the most frequent half of the limit. */
static bool forget_rare(heed__counts *w) {
    heed__counts fewer = {.names.c = w->names.c};
    bool good = true;
    heed__ranked *r = heed__rank(w, 2);
    for (size_t i = 0; r && good && i < LIMIT / 2 && r[i].text; i++)
        good = heed__counts_add(&fewer, r[i].text, strlen(r[i].text), r[i].count);
    if (!r) return false;
    heed__free(r);
    heed__counts_free(w);
    *w = fewer;
    return good;
}

static bool add_word(heed__counts *out, const char *word, size_t n) {
    return heed__counts_add(out, word, n, 1) && (out->names.count < LIMIT || forget_rare(out));
}

static bool add_byte_words(const char *text, size_t n, heed__counts *out) {
    for (size_t at = 0, end; at < n; at = end) {
        end = heed__gpt2_end(text, n, at);
        if (!add_word(out, text + at, end - at)) return false;
    }
    return true;
}

/* Words of more than 100 characters are always [UNK] and are not counted. */
static bool add_words(const heed_tokenizer *k, const char *text, size_t n, heed__counts *out) {
    if (k->kind == HEED__BPE) return add_byte_words(text, n, out);
    heed__words words = {
        .text = text, .n = n, .lower = k->lower, .strip = k->lower && k->kind == HEED__WORDPIECE};
    heed__word w;
    char plain[HEED__WORD_CHARS];
    for (;;) {
        size_t begin, length = heed__words_plain(&words, plain, &begin);
        if (!length && !heed__words_next(&words, &w)) return true;
        if (!length && w.chars > HEED__WORD_CHARS) continue;
        const char *word = length ? plain : w.buffer + w.at[0];
        if (!add_word(out, word, length ? length : w.at[w.chars] - w.at[0])) return false;
    }
}

typedef struct {
    heed__passage passage;
    heed__counts found;
} word_worker;

typedef struct {
    heed__reading reading;
    const heed_tokenizer *k;
    heed__counts *out;
    size_t bytes;
} word_reading;

static bool words_of(heed__reading *r, heed__passage *p) {
    heed__counts *found = &((word_worker *)(void *)p)->found;
    heed__counts_clear(found);
    found->names.c = r->c;
    return add_words(((word_reading *)r)->k, p->text, p->n, found);
}

/* As if all words were counted one by one: near the limit they are. */
static bool join_words(heed__reading *r, heed__passage *p) {
    word_reading *all = (word_reading *)r;
    const heed__counts *found = &((word_worker *)(void *)p)->found;
    all->bytes += p->n;
    if (all->out->names.count + found->names.count >= LIMIT)
        return add_words(all->k, p->text, p->n, all->out);
    for (size_t i = 0; i < found->names.count; i++)
        if (!heed__counts_add(all->out, heed__names_text(&found->names, i),
                              heed__names_length(&found->names, i), found->counts[i]))
            return false;
    return true;
}

static bool end_words(heed__reading *r, heed__passage *p) {
    (void)r;
    heed__counts_free(&((word_worker *)(void *)p)->found);
    return true;
}

bool heed__count_words(const heed__source *s, const heed_tokenizer *k, heed__counts *out) {
    word_reading r = {.reading = {.c = k->c,
                                  .path = s->path,
                                  .cut = heed__cut_of(k),
                                  .worker_size = sizeof(word_worker),
                                  .watch = s->watch,
                                  .work = words_of,
                                  .join = join_words,
                                  .end = end_words},
                      .k = k,
                      .out = out,
                      .bytes = s->n};
    bool good = s->path ? heed__read_text(&r.reading) : add_words(k, s->text, s->n, out);
    if (good && !out->names.count && heed__text_refuse_blank(k->c, s->path, s->text, s->n))
        return false;
    return good && (out->names.count ||
                    heed_fail(k->c, HEED_DATA,
                              "text holds no word of at most %d characters: expected at least one "
                              "in %zu bytes; hint: `tokenizer = char`",
                              HEED__WORD_CHARS, r.bytes));
}
