/* choose.c -- settings of language models by the text: sentences apart, or windows of a text. What
 * they reach compared with a search is in docs/figures.md. */
#include "parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_given(const heed_config *f, const char *key) {
    return heed_config_rank(f, key) != HEED_FROM_DEFAULT;
}

/* ---- what a text looks like ---- */

enum { LOOK = 1 << 20 }; /* bytes */

/* What the beginning of a text file looks like. */
typedef struct {
    double bytes;                         /* of the file */
    size_t lines, sentences;              /* lines that are not blank; those that end like one */
    size_t words, longest, longest_bytes; /* words and marks; of the longest line */
    size_t wide;                          /* bytes that begin a character of Chinese or Japanese */
} text_look;

/* A character of Chinese or Japanese, which is a word of its own: U+3000 to U+9FFF. */
static bool is_wide(unsigned char c) { return c >= 0xE3 && c <= 0xE9; }

static bool is_letter(unsigned char c) {
    return c >= 0x80 || (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

/* The words, and marks between them, of a line. */
static size_t count_words(const char *s, size_t n) {
    size_t count = 0;
    bool inside = false;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        bool letter = is_letter(c), continues = (c & 0xC0) == 0x80;
        if (continues) continue;
        count += is_wide(c) || (letter ? !inside : c > ' ');
        inside = letter && !is_wide(c);
    }
    return count;
}

static bool ends_with(const char *s, size_t n, const char *end) {
    size_t m = strlen(end);
    return n >= m && memcmp(s + n - m, end, m) == 0;
}

/* Whether a line ends like a sentence, maybe with a closing quote or bracket. */
static bool is_sentence(const char *s, size_t n) {
    static const char *const closing[] = {"\"", "'", ")", "\u201D", "\u2019", "\u00BB", "\u300D"};
    static const char *const ends[] = {".", "!", "?", "\u3002", "\uFF01", "\uFF1F", "\u2026"};
    for (size_t i = 0; i < sizeof closing / sizeof *closing; i++)
        if (ends_with(s, n, closing[i])) {
            n -= strlen(closing[i]);
            break;
        }
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (ends_with(s, n, ends[i])) return true;
    return false;
}

static void look_at_line(const char *s, size_t n, text_look *out) {
    while (n && (unsigned char)s[n - 1] <= ' ') n--;
    if (n == 0) return;
    size_t words = count_words(s, n);
    out->lines++;
    out->sentences += is_sentence(s, n);
    out->words += words;
    for (size_t i = 0; i < n; i++) out->wide += is_wide((unsigned char)s[i]);
    if (words > out->longest) out->longest = words;
    if (n > out->longest_bytes) out->longest_bytes = n;
}

/* Looks at the first LOOK bytes. False: there is nothing to see, or it is not a text. */
static bool look_at_text(const char *path, text_look *out) {
    *out = (text_look){0};
    FILE *f = fopen(path, "rb");
    char *text = f ? malloc(LOOK) : NULL;
    size_t n = text ? fread(text, 1, LOOK, f) : 0, length;
    if (f && fseek(f, 0, SEEK_END) == 0) out->bytes = (double)ftell(f);
    if (f) fclose(f);
    bool is_text = n > 0 && !memchr(text, 0, n);
    for (size_t at = 0; is_text && at < n; at += length + 1) {
        const char *end = memchr(text + at, '\n', n - at);
        length = end ? (size_t)(end - text) - at : n - at;
        if (end || n < LOOK || out->lines == 0) look_at_line(text + at, length, out);
    }
    free(text);
    return is_text && out->lines > 0;
}

/* ---- batches ---- */

/* Whether the number of steps or the batch was given. */
static bool is_planned(const heed_config *f) {
    return is_given(f, "steps") || is_given(f, "epochs") || is_given(f, "batch");
}

typedef struct {
    const char *settings, *why;
} choice;

static bool choose_all(heed_choices *k, const choice *list) {
    for (; list->settings; list++)
        if (!heed_choose(k, list->settings, "%s", list->why)) return false;
    return true;
}

/* A smaller batch in more steps, of as many examples, where neither was given, and the settings
 * `more` that suit it. */
static bool choose_batch(heed_choices *k, int batch, const choice *more) {
    char settings[64];
    const heed_config *f = k->config;
    int64_t was = heed_config_int(f, "batch"), steps = heed_config_int(f, "steps");
    bool ok;
    if (is_planned(f)) return true;
    if (is_given(f, "minutes")) {
        snprintf(settings, sizeof settings, "batch=%d", batch);
        ok = heed_choose(k, settings, "smaller batches reach a lower loss in the same time");
    } else {
        snprintf(settings, sizeof settings, "batch=%d steps=%lld", batch,
                 (long long)(steps * was / batch));
        ok =
            heed_choose(k, settings, "reaches a lower loss in the time of %lld steps of batch %lld",
                        (long long)steps, (long long)was);
    }
    return ok && choose_all(k, more);
}

/* The rate that was best for the smaller batch. */
#define LOWER(rate)                                                                                \
    { "lr=" rate, "a lower rate suits smaller batches" }
static const choice no_more[] = {{NULL, NULL}};

/* ---- language models ---- */

/* Lines that are sentences of moderate length, nearly all of them. */
static bool has_sentences(const text_look *t) {
    return t->lines >= 30 && t->sentences * 10 >= t->lines * 9 && t->longest <= 62 &&
           t->words >= 3 * t->lines;
}

static size_t lines_of(const text_look *t) { /* of the whole file, about */
    return t->bytes > LOOK ? (size_t)((double)t->lines * t->bytes / LOOK) : t->lines;
}

static int multiple_of_8(size_t n) { return (int)((n + 7) / 8 * 8); }

static bool choose_size(heed_choices *k, const text_look *t, const char *size) {
    char bytes[32];
    return heed_choose(k, size, "a small model learns %s fastest",
                       heed_format_bytes(bytes, t->bytes));
}

/* Sentences are rows of their own, and those of up to `few` lines are learned fastest by a small
 * model. The longest has so many of what the block is for. */
static bool choose_sentences(heed_choices *k, const text_look *t, size_t longest, const char *unit,
                             int block, size_t few, const choice *small) {
    char settings[80];
    size_t lines = lines_of(t);
    snprintf(settings, sizeof settings, "packing=lines block=%d batch=64", block);
    return heed_choose(k, settings, "%zu lines, each a sentence of at most %zu %s", lines, longest,
                       unit) &&
           (lines > few || (choose_size(k, t, "layers=2 width=64") && choose_all(k, small)));
}

/* Of a few sentences, each is learned by heart: in many steps, because a step masks one word in
 * seven, and with none kept for validation, because no other line tells what it says. A word that
 * occurs once is then several word pieces, for which one [MASK] cannot stand. */
static bool choose_facts(heed_choices *k, const text_look *t) {
    enum { FEW = 4000, EPOCHS = 130, BATCH = 64 };
    char steps[32];
    const heed_config *f = k->config;
    size_t lines = lines_of(t), count = EPOCHS * lines / BATCH;
    if (count < 1000) count = 1000;
    double epochs = (double)count * (double)heed_config_int(f, "batch") / (double)lines;
    bool timed = is_given(f, "minutes") || is_given(f, "epochs");
    snprintf(steps, sizeof steps, "steps=%zu", count);
    return lines > FEW ||
           ((k->only || heed_choose(k, "tokenizer=word", "one [MASK] stands for any word")) &&
            (timed || heed_choose(k, steps, "%.0f epochs", epochs)) &&
            heed_choose(k, "val-split=0", "a sentence kept for validation would not be learned"));
}

/* A few pages: a small model learns them as well in a fifth of the time. */
static bool is_small(const text_look *t) { return t->bytes <= 80000; }

/* Whether rotary positions are possible, which turn the columns of a head in pairs, and no others
 * were given; a preset is a whole model, which is left as it is. */
static bool can_turn(const heed_config *f) {
    bool preset = heed_config_has(f, "preset") && strcmp(heed_config_text(f, "preset"), "none");
    int64_t key = heed_config_int(f, "key-width");
    if (!key) key = heed_config_int(f, "width") / heed_config_int(f, "heads");
    return key % 2 == 0 && !preset &&
           (heed_config_rank(f, "positions") == HEED_FROM_DEFAULT ||
            strcmp(heed_config_text(f, "positions"), "rotary") == 0);
}

/* With the learned positions of BERT, heads need far more steps to find the words beside a masked
 * one, and until then the model learns only how frequent each token is. */
static bool choose_rotary(heed_choices *k) {
    return !can_turn(k->config) ||
           heed_choose(
               k, "positions=rotary layers=2 lr=0.002",
               "heads find neighbouring tokens sooner than with learned positions, so fewer "
               "layers and a higher rate suffice");
}

#define BY_HEART                                                                                   \
    { "dropout=0 decay=0.01", "so few sentences are learned by heart" }

bool heed__choose_mlm(heed_choices *k) {
    static const choice small[] = {{"norm=pre transform-head=false init-std=0.1",
                                    "the loss falls sooner below that of guessing by frequency"},
                                   {"lr=0.004 warmup=0.2", "a small model tolerates a high rate"},
                                   BY_HEART,
                                   {NULL, NULL}};
    enum { FEW = 20000 };      /* lines */
    const double book = 400e3; /* bytes, up to which 1,000 steps of batch 32 are enough */
    text_look t;
    if (k->data || !look_at_text(heed_config_text(k->config, "data"), &t)) return true;
    if (has_sentences(&t))
        return choose_sentences(k, &t, t.longest, 2 * t.wide > t.words ? "characters" : "words",
                                multiple_of_8(2 * t.longest + 2), FEW, small) &&
               choose_facts(k, &t) && (lines_of(&t) <= FEW || choose_rotary(k));
    if (is_small(&t) && !choose_size(k, &t, "width=64")) return false;
    if (!choose_rotary(k)) return false;
    if (is_small(&t) && !is_planned(k->config) && !is_given(k->config, "minutes"))
        return heed_choose(k, "batch=8 steps=1500", "more steps would learn the text by heart");
    return t.bytes <= book || choose_batch(k, 16, no_more);
}

bool heed__choose_gpt(heed_choices *k) {
    static const choice small[] = {{"init-std=0.1 lr=0.004",
                                    "a small model tolerates larger weights and a higher rate"},
                                   BY_HEART,
                                   {NULL, NULL}},
                        steady[] = {
                            LOWER("0.002"),
                            {"warmup=0.15", "a slower rise of the rate lets the loss end lower"},
                            {NULL, NULL}};
    text_look t;
    if (k->data || !look_at_text(heed_config_text(k->config, "data"), &t)) return true;
    if (has_sentences(&t))
        return choose_sentences(k, &t, t.longest_bytes, "bytes", multiple_of_8(t.longest_bytes + 1),
                                2000, small);
    if (is_small(&t) && (!choose_size(k, &t, "layers=2 width=64") ||
                         !heed_choose(k, "lr=0.004", "a small model tolerates a high rate")))
        return false;
    return choose_batch(k, 8, steady);
}

/* ---- pairs of texts ---- */

/* Whether the texts, a line each, are of words: several in a text, with few digits, most of which
 * occur more than once. */
static bool has_words(heed_ctx *c, const char *text, size_t n) {
    enum { FEW = 200 }; /* lines */
    size_t lines = 0, apart = 0, digits = 0, words = 0, length;
    for (size_t at = 0; at < n; at += length + 1) {
        const char *end = memchr(text + at, '\n', n - at);
        length = end ? (size_t)(end - text) - at : n - at;
        words += count_words(text + at, length);
        lines++;
    }
    for (size_t i = 0; i < n; i++) {
        apart += text[i] == ' ' || is_wide((unsigned char)text[i]);
        digits += text[i] >= '0' && text[i] <= '9';
    }
    if (lines < FEW || apart < lines || digits * 10 > n) return false;
    heed_tokenizer *t = heed_tokenizer_train(c, text, n, (heed_tokenizer_args){.kind = "word"});
    size_t different = (size_t)heed_vocab_size(t);
    heed_tokenizer_free(t);
    return different > 0 && different * 2 <= words;
}

/* Whether most of a text is Chinese or Japanese, whose characters have three bytes. */
static bool is_chinese(const char *text, size_t n) {
    size_t wide = 0;
    for (size_t i = 0; i < n; i++) wide += is_wide((unsigned char)text[i]);
    return wide * 6 > n;
}

/* Of words that repeat, pieces are learned in fewer steps than characters. */
static bool choose_pieces(heed_choices *k) {
    const heed_config *f = k->config;
    if (k->only || is_given(f, "tokenizer")) return true;
    heed_ctx *c = heed_open(&(heed_options){.threads = 1}); /* opening the data reports errors */
    heed_lines lines;
    heed_text sides[2] = {{.c = c}, {.c = c}};
    bool words = heed_lines_read(c, heed_config_text(f, "data"), HEED_TARGET_TEXT,
                                 heed_config_text(f, "columns"), heed_config_text(f, "header"),
                                 &lines, sides);
    bool wide = false;
    for (int side = 0; side < 2; side++) {
        heed_text *text = &sides[side];
        if (text->n > LOOK)
            for (text->n = LOOK; text->n && text->s[text->n - 1] != '\n';) text->n--;
        words = words && has_words(c, text->s, text->n);
        wide = wide || (words && is_chinese(text->s, text->n));
        heed_text_free(text);
    }
    heed_close(c);
    if (!words) return true;
    return wide ? heed_choose(k, "tokenizer=wordpiece vocab=4000",
                              "texts of words that repeat, and of thousands of characters")
                : heed_choose(k, "tokenizer=wordpiece vocab=2000", "texts of words that repeat");
}

bool heed__choose_seq2seq(heed_choices *k) {
    static const choice lower[] = {LOWER("0.0014"), {NULL, NULL}};
    return k->data || (choose_pieces(k) && choose_batch(k, 8, lower));
}

bool heed__choose_rnn(heed_choices *k) {
    return k->data || (choose_pieces(k) && choose_batch(k, 8, no_more));
}

/* ---- pictures ---- */

bool heed__choose_cnn(heed_choices *k) {
    static const choice lower[] = {LOWER("0.003"), {NULL, NULL}};
    return !k->data || choose_batch(k, 16, lower);
}

bool heed__choose_caption(heed_choices *k) { return !k->data || choose_batch(k, 8, no_more); }

/* Attention over patches starts slowly: several epochs, where pictures are many. */
static bool choose_epochs(heed_choices *k, size_t n) {
    enum { EPOCHS = 6, LEAST = 1000, MOST = 8000 };
    const heed_config *f = k->config;
    char steps[32];
    if (is_given(f, "epochs") || is_given(f, "minutes")) return true;
    double count = EPOCHS * (double)n / (double)heed_config_int(f, "batch");
    snprintf(steps, sizeof steps, "steps=%.0f", fmin(fmax(count, LEAST), MOST));
    return heed_choose(k, steps, "%d epochs of %zu pictures, at most %d steps", EPOCHS, n, MOST);
}

bool heed__choose_vit(heed_choices *k) {
    enum { FEW = 1000 };
    if (!k->data) return true;
    size_t n = heed_data_count(k->data, -1);
    return choose_epochs(k, n) &&
           (n >= FEW || heed_choose(k, "dropout=0.2", "%zu pictures are soon learned by heart", n));
}
