/* translating.c -- a run translates texts: from a source to a target. */
#include "kinds/inputs.h"
#include "kinds/pairs.h"

#include <stdlib.h>

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
    *k = (translator){.run = r};
    k->how = decoding_of(f, heed_tokenizer_specials(r->tokenizer));
    k->begin = heed_tokenizer_specials(r->tokenizer).cls;
    k->ids = malloc((block + 2) * sizeof *k->ids);
    return k->ids || heed_fail(r->c, HEED_FAILED, "no memory for %zu tokens", block);
}

void translator_close(translator *k) {
    heed_example_free(&k->in);
    free(k->ids);
    *k = (translator){0};
}

bool translator_read(translator *k, const char *text, size_t n) {
    heed_reader how = heed_run_reader(k->run);
    how.cut = k->cuts;
    how.quiet = k->quiet;
    return heed_example_text(&how, text, n, &k->in);
}

bool translate(translator *k, const char *text, size_t n) {
    const heed_run *r = k->run;
    if (!translator_read(k, text, n)) return false;
    heed_generation how = k->how;
    how.source = k->in.text.tokens.ids, how.source_count = k->in.text.tokens.count;
    how.prompt = &k->begin, how.prompt_count = 1;
    return heed_generate(r->model, r->self, r->tape, &how, k->ids, &k->about);
}

bool translated_text(const translator *k, heed_text *out) {
    return heed_decode(k->run->tokenizer, k->ids, (size_t)k->about.count, out);
}
