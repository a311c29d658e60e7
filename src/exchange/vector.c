/* vector.c -- the vector of a text. */
#include "core/core.h"
#include "exchange/exchange.h"

/* The tokens to be read: of a text that is longer than the setting embed-tokens, the first ones and
 * the last, [SEP], which is moved to them. */
static int cut(const heed_run *r, heed_tokens *k) {
    size_t most = heed_config_has(r->config, "embed-tokens")
                      ? (size_t)heed_config_int(r->config, "embed-tokens")
                      : 0;
    if (!most || k->count <= most) return (int)k->count;
    k->ids[most - 1] = k->ids[k->count - 1];
    return (int)most;
}

const heed_tensor *heed_text_vector(heed_run *r, const char *text, size_t n) {
    if (!r || !text || heed__stopped(r->c)) return NULL;
    const heed_model *m = r->model;
    const heed_data_kind *kind = heed_model_data(m);
    bool reads_text =
        heed_option_find(kind->options, "tokenizer") && !kind->images && !kind->target;
    if (!m->code || !reads_text) {
        heed_fail(r->c, HEED_USAGE, "there is no vector of a text: %s makes none", m->name);
        return NULL;
    }
    heed_example e = {0};
    heed_reader how = heed_run_reader(r);
    how.cut = how.empty = true;
    const heed_tensor *y = NULL;
    if (heed_example_text(&how, text, n, &e)) {
        int count = cut(r, &e.text.tokens);
        heed_tape_begin(r->tape, HEED_EVAL, 0);
        heed_model_input in = {.x = heed_ids(r->tape, e.text.tokens.ids, 1, count)};
        y = m->code(r->self, r->tape, &in);
    }
    heed_example_free(&e);
    return y;
}
