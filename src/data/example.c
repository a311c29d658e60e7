/* example.c -- reads one text, pair of texts or picture as a model does. */
#include "data/kind.h"
#include "text/text.h"
#include "tokenizer/tokenizer.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool heed_check_text(heed_ctx *c, const char *text, size_t n) {
    size_t flaw = heed__text_flaw(text, n);
    return flaw == n ||
           heed_fail(
               c, HEED_DATA,
               "the input is not text: byte 0x%02X at offset %zu: expected UTF-8 without NUL; "
               "hint: iconv -f LATIN1 -t UTF-8",
               (unsigned)(unsigned char)text[flaw], flaw);
}

/* ---- words that the vocabulary lacks ---- */

/* Token i is unknown, and no earlier token covers the same text. */
static bool is_new_unknown(const heed_tokens *k, int unknown, const char *text, size_t i) {
    enum { BACK = 4096 }; /* avoids quadratic time on a text of unknown words only */
    size_t n = k->end[i] - k->begin[i];
    if (k->ids[i] != unknown || n == 0) return false;
    for (size_t j = i > BACK ? i - BACK : 0; j < i; j++)
        if (k->ids[j] == unknown && k->end[j] - k->begin[j] == n &&
            memcmp(text + k->begin[i], text + k->begin[j], n) == 0)
            return false;
    return true;
}

/* Warns of the first five, and of how many more there are. */
static void warn_of_unknown(const heed_reader *r, const heed_tokenizer *t, const heed_tokens *k,
                            const char *text) {
    enum { SHOWN = 5, COLUMNS = 60 };
    int unknown = heed_tokenizer_specials(t).unk;
    size_t found = 0;
    heed_text list = {.c = r->c}, word = {.c = r->c};
    for (size_t i = 0; !r->quiet && i < k->count; i++) {
        if (!is_new_unknown(k, unknown, text, i) || ++found > SHOWN) continue;
        word.n = 0;
        heed_text_put(&word, text + k->begin[i], k->end[i] - k->begin[i]);
        heed_text_put(&list, ", ", found > 1 ? 2 : 0);
        if (word.s) heed_label_text(word.s, COLUMNS, &list);
    }
    if (found > SHOWN) heed_text_add(&list, " and %zu more", found - SHOWN);
    if (list.s) heed_message(r->c, HEED_WARN, "unknown to the vocabulary: %s", list.s);
    heed_text_free(&word);
    heed_text_free(&list);
}

/* ---- sequences ---- */

void *heed__example_own(heed_ctx *c, heed_example *e, void *p) {
    if (p && heed__grow(c, &e->owned, &e->owned_capacity, e->owned_count + 1, sizeof *e->owned))
        return e->owned[e->owned_count++] = p;
    heed__free(p);
    return NULL;
}

void *heed__example_room(heed_ctx *c, heed_example *e, size_t count, size_t each) {
    return heed__example_own(c, e, heed__alloc_array(c, count + 1, each));
}

/* Sets the tokens' labels; without a tokenizer they are the ids. text: the text that they cover;
 * NULL: none. */
static bool label(heed_ctx *c, const heed_tokenizer *t, const char *text, heed_example *e,
                  heed_sequence *s) {
    char number[16];
    heed_tokens *k = &s->tokens;
    heed_specials x = heed_tokenizer_specials(t);
    s->labels = heed__example_room(c, e, k->count, sizeof *s->labels);
    s->special = heed__example_room(c, e, k->count, 1);
    for (size_t i = 0; s->labels && s->special && i < k->count; i++) {
        int32_t id = k->ids[i];
        snprintf(number, sizeof number, "%d", (int)id);
        const char *own = t ? heed_token_text(t, id) : number;
        size_t n = strlen(own);
        if (text && (!t || id == x.unk) && k->end[i] > k->begin[i])
            own = text + k->begin[i], n = k->end[i] - k->begin[i];
        s->special[i] = id == x.cls || id == x.sep || id == x.pad || id == x.newline;
        if (!(s->labels[i] = heed__example_room(c, e, n, 1))) break;
        memcpy(s->labels[i], own, n);
    }
    return !heed__stopped(c);
}

/* Appends tokens that cover no text; -1: none. */
static bool put_id(int32_t id, heed_tokens *k) { return id < 0 || heed__tokens_put(k, id, 0, 0); }

static bool put_ids(const int32_t *ids, size_t n, heed_tokens *k) {
    for (size_t i = 0; i < n; i++)
        if (!put_id(ids[i], k)) return false;
    return true;
}

/* Whether a text is read for itself, without label or target. */
static bool is_plain(const heed_reader *r) { return !r->kind->label && !r->kind->target; }

static bool labels_words(const heed_reader *r) { return r->kind->ask == heed__ask_words; }

/* Whether special tokens are read in the text: where a language model goes on from it or fills it
 * in, and where [SEP] divides a text with one label into segments; elsewhere a text is data. */
static bool reads_specials(const heed_reader *r) {
    bool segments = heed_config_has(r->config, "segment-token") &&
                    heed_config_int(r->config, "segment-token") >= 0;
    return is_plain(r) || (segments && r->kind->label && !labels_words(r));
}

/* Appends the tokens of a piece of the text. */
static bool put_text(const heed_reader *r, const heed_tokenizer *t, const char *text, size_t begin,
                     size_t end, heed_tokens *k) {
    size_t before = k->count;
    bool ok = (reads_specials(r) ? heed_encode : heed_encode_text)(t, text + begin, end - begin, k);
    for (size_t i = before; i < k->count; i++) k->begin[i] += begin, k->end[i] += begin;
    return ok;
}

/* ---- texts ---- */

/* Appends the word at `begin` of the text. A word without tokens becomes [UNK], as in training. */
static bool put_word(const heed_reader *r, const char *text, size_t begin, size_t end,
                     heed_example *out) {
    heed_tokens *k = &out->text.tokens;
    size_t before = k->count;
    if (!heed__grow(r->c, &out->words, &out->word_capacity, out->word_count + 1,
                    sizeof *out->words) ||
        !put_text(r, r->tokenizer, text, begin, end, k))
        return false;
    int32_t unknown = heed_tokenizer_specials(r->tokenizer).unk;
    if (k->count == before && !heed__tokens_put(k, unknown, begin, end)) return false;
    out->words[out->word_count++] = before;
    return true;
}

static bool put_words(const heed_reader *r, const char *text, size_t n, heed_example *out) {
    for (size_t at = 0; at < n;) {
        size_t begin = at;
        while (at < n && !isspace((unsigned char)text[at])) at++;
        if (at > begin && !put_word(r, text, begin, at, out)) return false;
        while (at < n && isspace((unsigned char)text[at])) at++;
    }
    return true;
}

/* Appends the numbers of a text, which are ids: the run has no tokenizer. */
static bool put_numbers(const heed_reader *r, const char *text, size_t n, heed_tokens *k) {
    int64_t vocab = heed_config_int(r->config, "vocab"), id = 0;
    for (size_t at = 0, end; at < n; at = end + 1) {
        for (end = at; end < n && !isspace((unsigned char)text[end]); end++)
            id = isdigit((unsigned char)text[end]) && id < vocab
                     ? (end == at ? 0 : id * 10) + text[end] - '0'
                     : vocab;
        if (end > at && id >= vocab)
            return heed_fail(r->c, HEED_DATA,
                             "the input is not a list of ids: the run has no tokenizer: expected "
                             "numbers below %lld, found %.*s",
                             (long long)vocab, (int)(end - at < 40 ? end - at : 40), text + at);
        if (end > at && !heed__tokens_put(k, (int32_t)id, at, end)) return false;
        id = 0;
    }
    return true;
}

/* Keeps of a labelled text with `before` and `after` special tokens as much as training does. */
static void cut_text(const heed_reader *r, size_t before, size_t after, heed_example *out) {
    size_t block = (size_t)heed_config_int(r->config, "block");
    heed_tokens *k = &out->text.tokens;
    if (k->count + after <= block) return;
    size_t all = k->count - before, most = block - before - after, dropped = all - most;
    const char *truncate =
        heed_config_has(r->config, "truncate") ? heed_config_text(r->config, "truncate") : "head";
    size_t front = before + heed__front(truncate, most), left = all + before - front - dropped;
    memmove(k->ids + front, k->ids + front + dropped, left * sizeof *k->ids);
    memmove(k->begin + front, k->begin + front + dropped, left * sizeof *k->begin);
    memmove(k->end + front, k->end + front + dropped, left * sizeof *k->end);
    k->count -= dropped;
    for (size_t i = 0; i < out->word_count; i++)
        if (out->words[i] >= front)
            out->words[i] =
                out->words[i] < front + dropped ? HEED_NO_TOKEN : out->words[i] - dropped;
    out->cut = dropped;
    if (!r->quiet)
        heed_message(r->c, HEED_WARN,
                     "the text has %zu tokens: the model reads %zu of them, its %s", all, most,
                     strcmp(truncate, "head+tail") ? truncate : "head and tail");
}

/* Checks the tokens of the text, or of none, after `before` special tokens; `after` more will
 * follow. */
static bool check_length(const heed_reader *r, const char *text, size_t n, heed_tokens *k,
                         size_t before, size_t after) {
    size_t block = (size_t)heed_config_int(r->config, "block"), shown = n < 40 ? n : 40;
    bool paired = r->kind->target;
    if (r->any_length) return true;
    if (k->count == before && !(r->empty && before))
        return heed_fail(r->c, HEED_DATA, "the input is empty%s",
                         paired ? ": expected a text to translate" : "");
    if (k->count + after > block && r->cut) k->count = block - after;
    shown = heed__utf8_valid(text, shown); /* do not split a character */
    return k->count + after <= block ||
           heed_fail(r->c, HEED_DATA,
                     "the input is too long: %zu tokens%s, the model accepts %zu%s%.*s%s",
                     k->count + after, is_plain(r) ? "" : " with [SEP]", block, n ? ": " : "",
                     (int)shown, text, n ? "..." : "");
}

/* Tokens before and after a text: [CLS] and [SEP], or, for a model that has no brackets, those of
 * the tokenizer's template, "<s> A". */
typedef struct {
    int32_t cls, sep;
    const int32_t *first, *last;
    size_t before, after;
} frame;

static void set_frame(const heed_reader *r, const heed_tokenizer *t, frame *f) {
    const heed_config *c = r->config;
    bool plain = is_plain(r);
    bool bracket =
        plain ? r->kind->mask : heed_config_has(c, "bracket") && heed_config_bool(c, "bracket");
    heed_specials s = heed_tokenizer_specials(t);
    *f = (frame){.cls = s.cls, .sep = s.sep, .first = &f->cls, .last = &f->sep};
    f->before = bracket && s.cls >= 0;
    f->after = (!plain || bracket) && s.sep >= 0;
    if (!plain || bracket || !t) return;
    f->first = t->frame;
    f->last = t->frame + t->before;
    f->before = t->before;
    f->after = t->after;
}

bool heed_example_text(const heed_reader *r, const char *text, size_t n, heed_example *out) {
    if (!r || heed__stopped(r->c) || !text || !out) return false;
    bool paired = r->kind->target;
    const heed_tokenizer *t = paired && r->source ? r->source : r->tokenizer;
    if (r->kind->images || !r->kind->open)
        return heed_fail(r->c, HEED_USAGE,
                         "the run reads pictures: expected a picture, found a text");
    size_t begin = 0, end = n;
    frame f;
    set_frame(r, t, &f);
    heed_example_free(out);
    heed_tokens *k = &out->text.tokens;
    k->c = r->c;
    /* White space around a source is dropped, as in training. */
    while (paired && begin < end && isspace((unsigned char)text[begin])) begin++;
    while (paired && end > begin && isspace((unsigned char)text[end - 1])) end--;
    bool ok =
        put_ids(f.first, f.before, k) && (!t                ? put_numbers(r, text, n, k)
                                          : labels_words(r) ? put_words(r, text, n, out)
                                                            : put_text(r, t, text, begin, end, k));
    if (!ok) return false;
    if (r->kind->label && !r->any_length) cut_text(r, f.before, f.after, out);
    if (!check_length(r, text, n, k, f.before, f.after) || !put_ids(f.last, f.after, k))
        return false;
    warn_of_unknown(r, t, k, text);
    return label(r->c, t, text, out, &out->text);
}

bool heed__example_tokens(const heed_reader *r, const int32_t *ids, size_t n, heed_example *out) {
    if (!r || heed__stopped(r->c) || !out || (n && !ids)) return false;
    heed_example_free(out);
    heed_tokens *k = &out->text.tokens;
    k->c = r->c;
    return put_ids(ids, n, k) && check_length(r, "", 0, k, 0, 0) &&
           label(r->c, r->tokenizer, NULL, out, &out->text);
}

/* ---- targets ---- */

/* Ends the target with [SEP] if it ended, and checks its length. */
static bool finish_target(const heed_reader *r, bool ended, heed_example *out) {
    heed_tokens *k = &out->target.tokens;
    out->target.labels = NULL;
    int64_t block = heed_config_int(r->config, "block");
    if (!put_id(ended ? heed_tokenizer_specials(r->tokenizer).sep : -1, k)) return false;
    if (k->count == 0) return heed_fail(r->c, HEED_FAILED, "the model made no token to look at");
    if (k->count > (size_t)block)
        return heed_fail(r->c, HEED_DATA,
                         "the target is too long: %zu tokens, the model accepts %lld", k->count,
                         (long long)block);
    return label(r->c, r->tokenizer, NULL, out, &out->target);
}

bool heed_example_target(const heed_reader *r, const char *text, size_t n, heed_example *out) {
    if (!r || heed__stopped(r->c) || !r->tokenizer || !text || !out) return false;
    heed_tokens *k = &out->target.tokens;
    heed_tokens_free(k);
    k->c = r->c;
    if (!heed_encode_text(r->tokenizer, text, n, k)) return false;
    warn_of_unknown(r, r->tokenizer, k, text);
    return finish_target(r, true, out);
}

bool heed_example_made(const heed_reader *r, bool ended, heed_example *out) {
    if (!r || heed__stopped(r->c) || !r->tokenizer || !out) return false;
    return finish_target(r, ended, out);
}

/* ---- pictures ---- */

/* The centre square, or all of it if both sides were resized alike, as bytes. */
static bool show_square(heed_ctx *c, const heed_picture *p, bool all, heed_picture *out) {
    enum { SIDE = 224 };
    int least = p->width < p->height ? p->width : p->height, side = least < SIDE ? least : SIDE;
    heed_box box = {(p->width - least) / 2.0, (p->height - least) / 2.0, least, least};
    if (all) box = (heed_box){0, 0, p->width, p->height};
    size_t n = (size_t)side * (size_t)side * (size_t)p->channels;
    heed_real *x = heed__alloc_array(c, n + heed_resize_work(p, side, side), sizeof *x);
    *out = (heed_picture){side, side, p->channels, x ? heed__alloc(c, n) : NULL};
    if (out->pixels) heed_picture_resize(p, box, side, side, x, x + n);
    for (size_t i = 0; out->pixels && i < n; i++)
        out->pixels[i] = (unsigned char)lround(fmin(fmax((double)x[i], 0), 255));
    heed__free(x);
    return out->pixels != NULL;
}

bool heed_example_picture(const heed_reader *r, heed_picture *p, const char *name,
                          heed_example *out) {
    if (!r || heed__stopped(r->c) || !p || !p->pixels || !out) return false;
    heed_image_transform *v = &out->transform;
    heed_example_free(out);
    if (!r->kind->images)
        return heed_fail(r->c, HEED_USAGE,
                         "the run reads texts: expected a text, found a picture: %s", name);
    if (!heed_image_transform_of(r->c, r->config, v)) return false;
    if (heed_picture_convert(p, v->channels) != HEED_OK)
        return heed_fail(r->c, HEED_FAILED, "no memory for %s", name);
    size_t n = (size_t)v->size * (size_t)v->size * (size_t)v->channels;
    out->x = heed__alloc_array(r->c, n + heed_image_transform_work(p, v), sizeof *out->x);
    if (!out->x) return false;
    out->dims = 4;
    memcpy(out->shape, (int[]){1, v->size, v->size, v->channels}, sizeof out->shape);
    heed_picture_transform(p, v, NULL, NULL, out->x, out->x + n);
    out->cropped = v->resize_to >= 0 && p->width != p->height;
    return !r->show || show_square(r->c, p, v->resize_to < 0, &out->shown);
}

void heed_example_free(heed_example *e) {
    if (!e) return;
    while (e->owned_count) heed__free(e->owned[--e->owned_count]);
    heed__free(e->owned);
    heed_tokens_free(&e->text.tokens);
    heed_tokens_free(&e->target.tokens);
    heed__free(e->words);
    heed__free(e->x);
    heed_picture_free(&e->shown);
    *e = (heed_example){0};
}

/* ---- what is predicted of an input ---- */

int heed__ask_class(const heed_reader *r, const heed_example *e, int positions,
                    heed_example_question *out) {
    (void)r, (void)e, (void)positions;
    *out = (heed_example_question){.query = -1, .says = "the class"};
    return 1;
}

int heed__ask_masks(const heed_reader *r, const heed_example *e, int positions,
                    heed_example_question *out) {
    int mask = r->tokenizer ? heed_tokenizer_specials(r->tokenizer).mask : -1, count = 0;
    (void)positions;
    for (int i = 0; i < (int)e->text.tokens.count; i++)
        if (e->text.tokens.ids[i] == mask) {
            out[count] = (heed_example_question){.query = i, .row = count, .says = "[MASK]"};
            count++;
        }
    return count;
}

/* At every token, asks for the one `ahead` positions after it. Tokens count from 1, as on the
 * screen. */
static int ask_tokens(int axis, int positions, int ahead, heed_example_question *out) {
    for (int i = 0; i < positions; i++) {
        out[i] = (heed_example_question){.axis = axis, .query = i, .row = i};
        snprintf(out[i].says, sizeof out[i].says, "token %d", i + 1 + ahead);
    }
    return positions;
}

int heed__ask_next(const heed_reader *r, const heed_example *e, int positions,
                   heed_example_question *out) {
    (void)e;
    return ask_tokens(0, positions, r->kind->ahead, out);
}

int heed__ask_target(const heed_reader *r, const heed_example *e, int positions,
                     heed_example_question *out) {
    (void)r, (void)e;
    return ask_tokens(1, positions, 0, out);
}

int heed__ask_words(const heed_reader *r, const heed_example *e, int positions,
                    heed_example_question *out) {
    size_t words = e->words ? e->word_count : (size_t)positions;
    int count = 0;
    (void)r;
    for (size_t i = 0; i < words; i++) {
        size_t at = e->words ? e->words[i] : i;
        if (at != HEED_NO_TOKEN)
            out[count++] =
                (heed_example_question){.query = (int)at, .row = (int)at, .says = "the label"};
    }
    return count;
}
