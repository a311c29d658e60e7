/* translating.c -- a run makes targets: it translates a text, or writes the caption of a picture.
 */
#include "kinds/inputs.h"
#include "kinds/pairs.h"

#include <stdlib.h>

bool translator_open(translator *k, heed_run *r, const heed_config *f) {
    size_t block = (size_t)heed_config_int(r->config, "block");
    heed_specials s = heed_tokenizer_specials(r->tokenizer);
    *k = (translator){
        .run = r, .how = {.has_end = true, .end = s.sep, .never = k->never}, .begin = s.cls};
    k->how.never_count = heed_never(r->tokenizer, s.sep, k->never);
    if (f) {
        k->how.beam = (int)heed_config_int(f, "beam");
        k->how.length_penalty = heed_config_real(f, "length-penalty");
    }
    bool one = f && heed_config_has(f, "sample") && heed_config_bool(f, "sample");
    bool several = f && heed_config_has(f, "samples") && heed_config_int(f, "samples") > 0;
    if (one || several) {
        k->how.temperature = heed_config_real(f, "temperature");
        k->how.top_k = (int)heed_config_int(f, "top-k");
        k->how.top_p = heed_config_real(f, "top-p");
        k->how.seed = (uint64_t)heed_config_int(f, "seed");
    }
    k->ids = malloc((block + 2) * sizeof *k->ids);
    return k->ids || heed_fail(r->c, HEED_FAILED, "no memory for %zu tokens", block);
}

void translator_close(translator *k) {
    heed_example_free(&k->in);
    free(k->ids);
    *k = (translator){0};
}

bool translate(translator *k, const char *text, size_t n) {
    const heed_run *r = k->run;
    heed_reader reader = heed_run_reader(r);
    reader.cut = k->cuts;
    reader.quiet = k->quiet;
    if (!heed_example_text(&reader, text, n, &k->in)) return false;
    heed_generation how = k->how;
    how.source = k->in.text.tokens.ids;
    how.source_count = k->in.text.tokens.count;
    how.prompt = &k->begin;
    how.prompt_count = 1;
    return heed_generate(r->model, r->self, r->tape, &how, k->ids, &k->about);
}

bool translate_picture(translator *k, heed_picture *p, const char *name) {
    const heed_run *r = k->run;
    heed_reader reader = heed_run_reader(r);
    reader.show = k->show;
    if (!heed_example_picture(&reader, p, name, &k->in)) return false;
    heed_generation how = k->how;
    how.picture = k->in.x;
    how.picture_size = k->in.transform.size;
    how.picture_channels = k->in.transform.channels;
    how.prompt = &k->begin;
    how.prompt_count = 1;
    return heed_generate(r->model, r->self, r->tape, &how, k->ids, &k->about);
}

bool translated_text(const translator *k, heed_text *out) {
    return heed_decode(k->run->tokenizer, k->ids, (size_t)k->about.count, out);
}
