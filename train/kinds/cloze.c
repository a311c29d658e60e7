/* cloze.c -- a file of questions: each line is a text with one [MASK], a tab and the right word. */
#include "kinds/inputs.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    heed_example text;
    int32_t at, answer; /* position of the mask; token of the right word */
} one_question;

struct cloze {
    heed_run *run;
    const char *path;
    int line;
    one_question *list;
    size_t count, capacity;
};

static bool wrong(const cloze *q, const char *expected, const char *text, size_t n) {
    return heed_reject(q->run->c, HEED_DATA,
                       (heed_problem){.what = "question is wrong",
                                      .where = q->path,
                                      .line = (size_t)q->line,
                                      .expected = expected,
                                      .text = text,
                                      .n = n,
                                      .hint = "a line is TEXT WITH ONE [MASK], a tab, ANSWER"});
}

/* The token of the right word; -1 unless it is exactly one known token. */
static int32_t answer_of(const cloze *q, const char *text, size_t n) {
    heed_tokens k = {.c = q->run->c};
    int unknown = heed_tokenizer_specials(q->run->tokenizer).unk;
    int32_t id = -1;
    if (heed_encode_text(q->run->tokenizer, text, n, &k) && k.count == 1 && k.ids[0] != unknown)
        id = k.ids[0];
    heed_tokens_free(&k);
    return id;
}

/* Position of the one mask, -1 if there is none or several. */
static int32_t mask_of(const cloze *q, const heed_tokens *in) {
    int mask = heed_tokenizer_specials(q->run->tokenizer).mask;
    int32_t at = -1;
    for (size_t i = 0; i < in->count; i++) {
        if (in->ids[i] != mask) continue;
        if (at >= 0) return -1;
        at = (int32_t)i;
    }
    return at;
}

bool cloze_ask(const cloze *q, size_t index, heed_batch *b, heed_score *score) {
    heed_run *r = q->run;
    const one_question *k = &q->list[index];
    const heed_tokens *tokens = &k->text.text.tokens;
    *b = (heed_batch){.rows = 1, .len = (int)tokens->count, .ids = tokens->ids};
    heed_tape_begin(r->tape, HEED_EVAL, index);
    heed_model_input in = {.x = heed_ids(r->tape, tokens->ids, 1, b->len),
                           .masked_positions = heed_input_ids(r->tape, &k->at, 1, (int[]){1})};
    heed_tensor *logits = r->model->logits(r->self, r->tape, &in);
    if (!logits) return false;
    heed_prediction one = heed_prediction_of(logits->x, (int)logits->size, k->answer);
    heed_score_prediction(score, &one, one.rank == 0);
    return true;
}

/* ---- the file ---- */

static bool one_line(cloze *q, const char *line, size_t n) {
    const char *tab = memchr(line, '\t', n);
    if (!tab) return wrong(q, "a tab before the answer", line, n);
    size_t text = (size_t)(tab - line);
    one_question k = {.answer = answer_of(q, tab + 1, n - text - 1)};
    if (k.answer < 0) return wrong(q, "an answer of one known token", tab + 1, n - text - 1);
    heed_reader reader = heed_run_reader(q->run);
    reader.any_length = true;
    const heed_tokens *tokens = &k.text.text.tokens;
    bool ok = heed_example_text(&reader, line, text, &k.text);
    if (ok && ((k.at = mask_of(q, tokens)) < 0 ||
               tokens->count > (size_t)heed_config_int(q->run->config, "block")))
        ok = wrong(q, "a text with one [MASK] that fits the block", line, text);
    if (ok && q->count == q->capacity) {
        size_t capacity = q->capacity ? 2 * q->capacity : 64;
        one_question *list = realloc(q->list, capacity * sizeof *list);
        ok = list || heed_fail(q->run->c, HEED_FAILED, "no memory for %zu questions", capacity);
        if (list) {
            q->list = list;
            q->capacity = capacity;
        }
    }
    if (ok)
        q->list[q->count++] = k;
    else
        heed_example_free(&k.text);
    return ok;
}

bool is_cloze(const program *p, const heed_run *r) {
    const char *dot = p->argc > 1 ? strrchr(p->argv[1], '.') : NULL;
    return fills_masks(r->model) && dot && strcmp(dot, ".tsv") == 0;
}

cloze *cloze_open(heed_run *r, const char *path) {
    cloze *q = calloc(1, sizeof *q);
    if (!q) {
        heed_fail(r->c, HEED_FAILED, "no memory for questions");
        return NULL;
    }
    *q = (cloze){.run = r, .path = path, .line = 1};
    size_t n = 0;
    char *text = heed_text_read(r->c, path, &n);
    for (size_t at = 0; text && at < n; q->line++) {
        const char *end = memchr(text + at, '\n', n - at);
        size_t size = end ? (size_t)(end - text) - at : n - at;
        if (size > 0 && !one_line(q, text + at, size)) break;
        at += size + 1;
    }
    free(text);
    if (heed_ctx_status(r->c) == HEED_OK && q->count) return q;
    heed_fail(r->c, HEED_DATA,
              "no questions: %s: expected lines of TEXT WITH ONE [MASK], a tab, ANSWER", path);
    cloze_close(q);
    return NULL;
}

size_t cloze_count(const cloze *q) { return q->count; }

void cloze_close(cloze *q) {
    for (size_t i = 0; q && i < q->count; i++) heed_example_free(&q->list[i].text);
    if (q) free(q->list);
    free(q);
}
