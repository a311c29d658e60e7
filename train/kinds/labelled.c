/* labelled.c -- a text as textcls and tag read it. */
#include "kinds/pairs.h"

#include <ctype.h>
#include <stdlib.h>

static bool word_capacity(labelled_text *k) {
    if (k->words < k->capacity) return true;
    size_t capacity = k->capacity ? 2 * k->capacity : 64;
    size_t *first = realloc(k->first, capacity * sizeof *first);
    if (!first) return heed_fail(k->tokens.c, HEED_FAILED, "no memory for %zu words", capacity);
    k->first = first;
    k->capacity = capacity;
    return true;
}

/* The word at `begin` of the text. One that leaves no token stands as [UNK], as in training. */
static bool add_word(labelled_text *k, const heed_tokenizer *t, const char *text, size_t begin,
                     size_t end) {
    size_t before = k->tokens.count;
    if (!word_capacity(k) || !heed_encode(t, text + begin, end - begin, &k->tokens)) return false;
    if (k->tokens.count == before && !heed_encode(t, "[UNK]", 5, &k->tokens)) return false;
    for (size_t i = before; i < k->tokens.count; i++) {
        k->tokens.begin[i] += begin;
        k->tokens.end[i] += begin;
        if (k->tokens.end[i] > end) k->tokens.end[i] = end; /* of an [UNK] put in */
    }
    k->first[k->words++] = before;
    return true;
}

static bool add_words(labelled_text *k, const heed_tokenizer *t, const char *text, size_t n) {
    for (size_t at = 0; at < n;) {
        size_t begin = at;
        while (at < n && !isspace((unsigned char)text[at])) at++;
        if (at > begin && !add_word(k, t, text, begin, at)) return false;
        while (at < n && isspace((unsigned char)text[at])) at++;
    }
    return true;
}

bool labelled_read(labelled_text *k, const heed_run *r, const char *text, size_t n) {
    int64_t block = heed_config_int(r->config, "block");
    k->tokens.count = k->words = 0;
    bool ok = r->model->answers == HEED_ANSWER_SAME
                  ? add_words(k, r->tokenizer, text, n)
                  : heed_encode(r->tokenizer, text, n, &k->tokens);
    if (ok && k->tokens.count == 0) ok = heed_fail(r->c, HEED_DATA, "the input is empty");
    if (ok && k->tokens.count >= (size_t)block)
        ok = heed_fail(r->c, HEED_DATA,
                       "the input is too long: %zu tokens with [SEP], the model takes %lld: "
                       "%.*s...",
                       k->tokens.count + 1, (long long)block, n < 40 ? (int)n : 40, text);
    size_t words = k->tokens.count;
    ok = ok && heed_encode(r->tokenizer, "[SEP]", 5, &k->tokens);
    for (size_t i = words; i < k->tokens.count; i++) k->tokens.begin[i] = k->tokens.end[i] = 0;
    return ok;
}

void labelled_free(labelled_text *k) {
    heed_tokens_free(&k->tokens);
    free(k->first);
    *k = (labelled_text){0};
}
