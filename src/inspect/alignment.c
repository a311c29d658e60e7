/* alignment.c -- the attention of a target to its source, and where it peaks. Bahdanau et al. 2015,
 * sec. 5.2 and fig. 3. */
#include "core/core.h"
#include "inspect/inspect.h"

#include <ctype.h>
#include <string.h>

bool heed_cross_layer(const heed_run *r, int layer, heed_attention_info *out) {
    heed_attention_info a;
    if (!r || !out) return false;
    for (int i = 0; r->model->attending && r->model->attending(r->self, i, &a); i++)
        if (a.stack == HEED_CROSS && layer-- == 0) {
            *out = a;
            return true;
        }
    return false;
}

/* Passes the pair through its model and keeps the weights. */
static bool pass(const heed_run *r, const heed_example *e) {
    const char *keep = "*.weights";
    if (!e->read)
        return heed_fail(r->c, HEED_USAGE, "attention to a source: expected a pair of texts");
    return heed__run_example(r, e, &(heed__passing){.keep = &keep, .keep_count = 1}) != NULL;
}

static const heed_tensor *weights_of(const heed_run *r, const heed_example *e, int layer) {
    heed_attention_info a = {.path = "decoder"};
    heed_cross_layer(r, layer, &a);
    return heed__kept(r, a.path, (size_t)a.heads * e->target.tokens.count * e->text.tokens.count);
}

const heed_tensor *heed_alignment(const heed_run *r, const heed_example *e, int layer) {
    if (!heed__inspectable(r, e)) return NULL;
    return pass(r, e) ? weights_of(r, e, layer) : NULL;
}

/* ---- the correct tokens of the source ---- */

/* Whether the token is [SEP], the end of the target. */
static bool is_end(const heed_run *r, const heed_example *e, int row) {
    return e->target.tokens.ids[row] == heed_tokenizer_specials(r->tokenizer).sep;
}

void heed_alignment_diagonal(const heed_run *r, const heed_example *e, int within, bool reversed,
                             heed_alignment_range *out) {
    if (!r || !e || !e->read || !out) return;
    int source = (int)e->text.tokens.count - 1;
    for (int row = 0; row < (int)e->target.tokens.count; row++) {
        int wanted = reversed ? source - 1 - row : row;
        int first = wanted - within, last = wanted + within;
        out[row] = (heed_alignment_range){first < 0 ? 0 : first, last < source ? last : source - 1};
        if (is_end(r, e, row)) out[row] = (heed_alignment_range){-1, -1};
    }
}

/* A range of bytes of the source. */
typedef struct {
    size_t begin, end;
} span;
enum { SPANS = 32 };

/* "9-13 0-5 6-7": returns how many there are; 0: not such a list. */
static int read_spans(const heed_pair *pair, span out[SPANS]) {
    const char *s = pair->note, *end = s ? s + pair->note_n : s;
    int count = 0;
    for (; s < end && count < SPANS; count++) {
        size_t number[2] = {0, 0};
        for (int i = 0; i < 2; i++) {
            if (s == end || !isdigit((unsigned char)*s)) return 0;
            for (; s < end && isdigit((unsigned char)*s) && number[i] < SIZE_MAX / 16; s++)
                number[i] = 10 * number[i] + (size_t)(*s - '0');
            if (i == 0 && (s == end || *s++ != '-')) return 0;
        }
        out[count] = (span){number[0], number[1]};
        if (number[1] <= number[0] || number[1] > pair->source_n) return 0;
        if (s < end && *s++ != ' ') return 0;
    }
    return s == end ? count : 0;
}

/* The tokens of the source that overlap a span. */
static heed_alignment_range tokens_in(const heed_example *e, span at) {
    const heed_tokens *t = &e->text.tokens;
    heed_alignment_range found = {0, -1};
    for (int i = (int)e->text.tokens.count - 1; i-- > 0;)
        if (t->begin[i] < at.end && t->end[i] > at.begin) {
            if (found.last < 0) found.last = i;
            found.first = i;
        }
    return found;
}

static bool in_field(char ch) { return isalnum((unsigned char)ch) || (unsigned char)ch >= 0x80; }

bool heed_alignment_fields(const heed_run *r, const heed_example *e, const heed_pair *pair,
                           heed_alignment_range *out) {
    if (!heed__inspectable(r, e) || !e->read || !pair || !out) return false;
    span at[SPANS];
    int count = read_spans(pair, at);
    if (count == 0)
        return heed_fail(
            r->c, HEED_DATA,
            "line %zu has no fields: expected a third column of positions in the source, "
            "as \"9-13 0-5 6-7\" (bytes, the end not counted), one for each run of "
            "letters and digits of the target",
            pair->line);
    heed_text text = {.c = r->c};
    bool ok = heed_text_put(&text, "", 0), inside = false;
    int field = -1;
    for (int i = 0; ok && i < (int)e->target.tokens.count; i++) {
        size_t from = text.n;
        out[i] = (heed_alignment_range){-1, -1};
        if (is_end(r, e, i)) continue;
        text.n = 0;
        ok = heed_decode(r->tokenizer, e->target.tokens.ids, (size_t)i + 1, &text);
        for (size_t j = from; ok && j < text.n; j++) {
            if (in_field(text.s[j]) && !inside) field++;
            inside = in_field(text.s[j]);
            if (inside)
                out[i] = field < count ? tokens_in(e, at[field]) : (heed_alignment_range){0, -1};
        }
    }
    heed_text_free(&text);
    return ok;
}

/* ---- peaks ---- */

bool heed_alignment_peaks_open(heed_run *r, heed_alignment_peaks *out) {
    heed_attention_info a;
    if (!out) return false;
    *out = (heed_alignment_peaks){.layers = 0};
    if (!r || heed__stopped(r->c)) return false;
    for (; heed_cross_layer(r, out->layers, &a); out->layers++, out->heads = a.heads)
        if (out->layers && a.heads != out->heads)
            return heed_fail(r->c, HEED_USAGE, "%s: expected %d heads as in other layers, found %d",
                             a.path, out->heads, a.heads);
    if (out->layers == 0)
        return heed_fail(r->c, HEED_USAGE, "model %s has no attention to a source", r->model->name);
    out->correct =
        heed__alloc_array(r->c, (size_t)out->layers * (size_t)out->heads, sizeof *out->correct);
    return out->correct != NULL;
}

void heed_alignment_peaks_free(heed_alignment_peaks *p) {
    if (!p) return;
    heed__free(p->correct);
    *p = (heed_alignment_peaks){.layers = 0};
}

bool heed_alignment_peaks_add(heed_alignment_peaks *p, const heed_run *r, const heed_example *e,
                              const heed_alignment_range *right) {
    if (!p || !heed__inspectable(r, e) || !right) return false;
    size_t rows = e->target.tokens.count, cols = e->text.tokens.count;
    bool ok = pass(r, e);
    for (int l = 0; ok && l < p->layers; l++) {
        const heed_tensor *w = weights_of(r, e, l);
        ok = w != NULL;
        for (size_t at = 0; ok && at < (size_t)p->heads * rows; at++) {
            int peak = heed__largest(w->x + at * cols, (int)e->text.tokens.count);
            const heed_alignment_range *range = &right[at % rows];
            p->correct[(size_t)(l * p->heads) + at / rows] +=
                peak >= range->first && peak <= range->last;
        }
    }
    for (size_t i = 0; ok && i < rows; i++) p->count += right[i].first >= 0;
    heed_probe_clear(r->tape);
    return ok;
}
