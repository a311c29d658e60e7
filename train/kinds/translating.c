/* translating.c -- a run at work on texts: from a source to a target. */
#include "kinds/inputs.h"
#include "kinds/pairs.h"

#include <ctype.h>
#include <stdlib.h>

const heed_tokenizer *source_tokenizer(const heed_run *r) {
    return r->source ? r->source : r->tokenizer;
}

static heed_generation decoding_of(const heed_config *f, heed_specials s) {
    heed_generation a = {.has_end = true, .end = s.sep};
    if (!f) return a;
    a.beam = (int)heed_config_int(f, "beam");
    a.length_penalty = heed_config_real(f, "length-penalty");
    if (heed_config_has(f, "sample") && heed_config_bool(f, "sample")) {
        a.temperature = heed_config_real(f, "temperature");
        a.top_k = (int)heed_config_int(f, "top-k");
        a.top_p = heed_config_real(f, "top-p");
        a.seed = (uint64_t)heed_config_int(f, "seed");
    }
    return a;
}

bool translator_open(translator *k, heed_run *r, const heed_config *f) {
    size_t block = (size_t)heed_config_int(r->config, "block");
    *k = (translator){.run = r, .source = {.c = r->c}};
    k->how = decoding_of(f, heed_tokenizer_specials(r->tokenizer));
    k->begin = heed_tokenizer_specials(r->tokenizer).cls;
    k->ids = malloc((block + 2) * sizeof *k->ids);
    return k->ids || heed_fail(r->c, HEED_FAILED, "no memory for %zu tokens", block);
}

void translator_close(translator *k) {
    heed_tokens_free(&k->source);
    free(k->ids);
    *k = (translator){0};
}

/* White space around a text is no part of it, as in training. */
static void trim(const char **text, size_t *n) {
    while (*n && isspace((unsigned char)**text)) (*text)++, (*n)--;
    while (*n && isspace((unsigned char)(*text)[*n - 1])) (*n)--;
}

bool translator_read(translator *k, const char *text, size_t n) {
    trim(&text, &n);
    const heed_tokenizer *own = source_tokenizer(k->run);
    int64_t block = heed_config_int(k->run->config, "block");
    k->source.count = 0;
    k->text = text;
    if (n == 0)
        return heed_fail(k->run->c, HEED_DATA, "the input is empty: expected a text to translate");
    if (!heed_encode(own, text, n, &k->source)) return false;
    if (!k->quiet) warn_of_unknown(own, &k->source, text);
    if (k->cuts && k->source.count >= (size_t)block) k->source.count = (size_t)block - 1;
    if (k->source.count >= (size_t)block)
        return heed_fail(k->run->c, HEED_DATA,
                         "the input is too long: %zu tokens with [SEP], the model takes %lld: "
                         "%.*s...",
                         k->source.count + 1, (long long)block, n < 40 ? (int)n : 40, text);
    return heed_encode(own, "[SEP]", 5, &k->source); /* all sources end with it */
}

bool translate(translator *k, const char *text, size_t n) {
    const heed_run *r = k->run;
    if (!translator_read(k, text, n)) return false;
    heed_generation how = k->how;
    how.source = k->source.ids, how.source_count = k->source.count;
    how.prompt = &k->begin, how.prompt_count = 1;
    return heed_generate(r->model, r->self, r->tape, &how, k->ids, &k->about);
}

bool translated_text(const translator *k, heed_text *out) {
    return heed_decode(k->run->tokenizer, k->ids, (size_t)k->about.count, out);
}
