/* cloze.c -- a file of questions: each line a text with one [MASK], a tab, and the right word. */
#include "training.h"
#include "using.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    heed_run *run;
    const char *path;
    int line;
    heed_score score;
} questions;

static bool wrong(const questions *q, const char *expected, const char *text, size_t n) {
    return heed_fail(q->run->c, HEED_DATA,
                     "question is wrong: %s:%d: expected %s, found \"%.*s\"; hint: a line is "
                     "TEXT WITH ONE [MASK], a tab, ANSWER",
                     q->path, q->line, expected, n < 80 ? (int)n : 80, text);
}

/* The token of the right word; -1 unless it is exactly one known token. */
static int32_t answer_of(const questions *q, const char *text, size_t n) {
    heed_tokens k = {.c = q->run->c};
    int unknown = heed_tokenizer_specials(q->run->tokenizer).unk;
    int32_t id = -1;
    if (heed_encode(q->run->tokenizer, text, n, &k) && k.count == 1 && k.ids[0] != unknown)
        id = k.ids[0];
    heed_tokens_free(&k);
    return id;
}

/* Position of the one mask, -1 if there is none or several. */
static int32_t mask_of(const questions *q, const input *in) {
    int mask = heed_tokenizer_specials(q->run->tokenizer).mask;
    int32_t at = -1;
    for (int i = 0; i < in->count; i++) {
        if (in->ids[i] != mask) continue;
        if (at >= 0) return -1;
        at = i;
    }
    return at;
}

/* Counts -log softmax(logits)[answer], and the answer's rank. */
static void count_answer(heed_score *s, const heed_tensor *logits, int32_t answer) {
    double top = (double)logits->x[answer], sum = 0, own = top;
    int better = 0;
    for (size_t i = 0; i < logits->size; i++) {
        better += i != (size_t)answer && (double)logits->x[i] >= own;
        top = fmax(top, (double)logits->x[i]);
    }
    for (size_t i = 0; i < logits->size; i++) sum += exp((double)logits->x[i] - top);
    s->loss += log(sum) + top - own;
    s->weight++;
    s->judged++;
    s->right += better < 1;
    s->right5 += better < 5;
}

static bool ask(questions *q, const input *in, int32_t answer) {
    heed_run *r = q->run;
    int32_t at = mask_of(q, in);
    if (at < 0 || in->count > heed_config_int(r->config, "block")) return false;
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    heed_tensor *ids = heed_ids(r->tape, in->ids, 1, in->count);
    heed_tensor *pick = heed_input_ids(r->tape, &at, 1, (int[]){1});
    heed_tensor *logits = mlm_logits(r->self, r->tape, ids, NULL, NULL, pick);
    if (logits) count_answer(&q->score, logits, answer);
    return logits != NULL;
}

static bool one_line(questions *q, const char *line, size_t n) {
    const char *tab = memchr(line, '\t', n);
    if (!tab) return wrong(q, "a tab before the answer", line, n);
    size_t text = (size_t)(tab - line);
    int32_t answer = answer_of(q, tab + 1, n - text - 1);
    if (answer < 0) return wrong(q, "an answer of one known token", tab + 1, n - text - 1);
    input in;
    bool ok = input_read(q->run, line, text, true, &in);
    if (ok && !ask(q, &in, answer) && heed_state(q->run->c) == HEED_OK)
        ok = wrong(q, "a text with one [MASK] that fits the block", line, text);
    input_free(&in);
    return ok && heed_state(q->run->c) == HEED_OK;
}

heed_score cloze_score(heed_run *r, const char *path) {
    questions q = {.run = r, .path = path, .line = 1};
    size_t n = 0;
    char *text = heed_text_read(r->c, path, &n);
    for (size_t at = 0; text && at < n; q.line++) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t size = end ? (size_t)(end - text) - at : n - at;
        if (size > 0 && !one_line(&q, text + at, size)) break;
        at += size + 1;
    }
    free(text);
    return q.score;
}
