/* alignment_peaks.c -- where the decoder's attention peaks: the share of the tokens made whose
 * largest weight over the source lies where the task has its answer. */
#include "kinds/alignment_peaks.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FIELDS = 32 };

/* Bytes of the source. */
typedef struct {
    size_t begin, end;
} span;

/* What a pair says about where the answers are. */
typedef struct {
    const translator *k;
    span field[FIELDS];
    int fields, source;  /* source: its tokens without [SEP] */
    const int *of_token; /* the field of each token made; -1: between two fields */
} place;

/* ---- open and close ---- */

bool alignment_peaks_open(peaks *p, heed_run *r, const heed_config *flags) {
    static const char *const kinds[] = {"none", "diagonal", "anti", "fields"};
    const char *name = heed_config_text(flags, "alignment");
    *p = (peaks){.within = (int)heed_config_int(flags, "within"), .layers = alignment_layers(r)};
    while (p->kind < PEAKS_FIELDS && strcmp(name, kinds[p->kind]) != 0) p->kind++;
    p->name = kinds[p->kind];
    if (p->kind == PEAKS_NONE) return true;
    p->heads = alignment_heads(r);
    p->right = calloc((size_t)(p->layers * p->heads), sizeof *p->right);
    return p->right || heed_fail(r->c, HEED_FAILED, "no memory for %d heads", p->heads);
}

void alignment_peaks_close(peaks *p) {
    free(p->right);
    *p = (peaks){0};
}

/* ---- fields ---- */

/* "9-13 0-5 6-7": a span for each field of the target. */
static bool read_spans(const heed_pair *pair, place *out) {
    const char *s = pair->note, *end = s ? s + pair->note_n : s;
    for (out->fields = 0; s < end && out->fields < FIELDS; out->fields++) {
        size_t number[2] = {0, 0};
        for (int i = 0; i < 2; i++) {
            if (s == end || !isdigit((unsigned char)*s)) return false;
            for (; s < end && isdigit((unsigned char)*s) && number[i] < SIZE_MAX / 16; s++)
                number[i] = 10 * number[i] + (size_t)(*s - '0');
            if (i == 0 && (s == end || *s++ != '-')) return false;
        }
        out->field[out->fields] = (span){number[0], number[1]};
        if (number[1] <= number[0] || number[1] > pair->source_n) return false;
        if (s < end && *s++ != ' ') return false;
    }
    return out->fields > 0 && s == end;
}

static bool in_field(char ch) { return isalnum((unsigned char)ch) || (unsigned char)ch >= 0x80; }

/* The field of each token made: fields of a target are its runs of letters and digits. */
static bool fields_of_tokens(const translator *k, int *out) {
    heed_text text = {.c = k->run->c};
    bool ok = heed_text_put(&text, "", 0), inside = false;
    int field = -1;
    for (int i = 0; ok && i < k->about.count; i++) {
        size_t from = text.n;
        out[i] = -1;
        text.n = 0;
        ok = heed_decode(k->run->tokenizer, k->ids, (size_t)i + 1, &text);
        for (size_t j = from; ok && j < text.n; j++) {
            if (in_field(text.s[j]) && !inside) field++;
            inside = in_field(text.s[j]);
            if (inside) out[i] = field;
        }
    }
    heed_text_free(&text);
    return ok;
}

/* ---- judging ---- */

static bool overlaps(const place *at, int field, int token) {
    const heed_tokens *t = &at->k->in.text.tokens;
    if (token >= at->source || field >= at->fields) return false;
    return t->begin[token] < at->field[field].end && t->end[token] > at->field[field].begin;
}

static bool is_right(const peaks *p, const place *at, int row, int peak) {
    if (p->kind == PEAKS_FIELDS) return overlaps(at, at->of_token[row], peak);
    int wanted = p->kind == PEAKS_ANTI ? at->source - 1 - row : row;
    return peak < at->source && abs(peak - wanted) <= p->within;
}

static bool counts(const peaks *p, const place *at, int row) {
    return p->kind != PEAKS_FIELDS || at->of_token[row] >= 0;
}

static int largest(const heed_real *x, int n) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (x[i] > x[best]) best = i;
    return best;
}

/* The weights of a layer: (heads, rows, cols). */
static bool judge_layer(peaks *p, const place *at, int layer) {
    const heed_tensor *w = alignment_weights(at->k->run, layer + 1);
    int rows = alignment_rows(at->k), cols = (int)at->k->in.text.tokens.count;
    if (!w || w->size != (size_t)p->heads * (size_t)rows * (size_t)cols) return false;
    for (int h = 0; h < p->heads; h++)
        for (int i = 0; i < at->k->about.count; i++) {
            const heed_real *row = w->x + ((size_t)h * (size_t)rows + (size_t)i) * (size_t)cols;
            if (counts(p, at, i))
                p->right[layer * p->heads + h] += is_right(p, at, i, largest(row, cols));
        }
    return true;
}

bool alignment_peaks_add(peaks *p, const translator *k, const heed_pair *pair) {
    heed_ctx *c = k->run->c;
    place at = {.k = k, .source = (int)k->in.text.tokens.count - 1};
    if (p->kind == PEAKS_NONE || k->about.count < 1) return true;
    if (p->kind == PEAKS_FIELDS && !read_spans(pair, &at))
        return heed_fail(c, HEED_DATA,
                         "line %zu has no fields: expected a third column of places in the source, "
                         "as \"9-13 0-5 6-7\" (bytes, the end not counted), one for each run of "
                         "letters and digits of the target",
                         pair->line);
    int *of_token = malloc((size_t)k->about.count * sizeof *of_token);
    if (!of_token) return heed_fail(c, HEED_FAILED, "no memory for %d tokens", k->about.count);
    at.of_token = of_token;
    bool ok = fields_of_tokens(k, of_token) && alignment_look(k, 0);
    for (int i = 0; ok && i < k->about.count; i++) p->count += counts(p, &at, i);
    for (int layer = 0; ok && layer < p->layers; layer++) ok = judge_layer(p, &at, layer);
    heed_unprobe(k->run->tape);
    free(of_token);
    return ok;
}

/* ---- output ---- */

static int best_of(const peaks *p) {
    int best = 0;
    for (int i = 1; i < p->layers * p->heads; i++)
        if (p->right[i] > p->right[best]) best = i;
    return best;
}

static json_t *head_json(const peaks *p, int head) {
    double low, high, n = (double)p->count, right = (double)p->right[head];
    share_interval(right, n, &low, &high);
    return json_pack("{s:i, s:i, s:o, s:[o,o]}", "layer", head / p->heads + 1, "head",
                     head % p->heads + 1, "share", json_number(right / n), "share_95",
                     json_number(low), json_number(high));
}

json_t *alignment_peaks_json(const peaks *p) {
    if (p->kind == PEAKS_NONE) return NULL;
    json_t *heads = json_array();
    for (int i = 0; i < p->layers * p->heads; i++) json_array_append_new(heads, head_json(p, i));
    return json_pack("{s:s, s:i, s:I, s:o, s:o}", "kind", p->name, "within", p->within, "outputs",
                     (json_int_t)p->count, "best", head_json(p, best_of(p)), "heads", heads);
}

static void print_head(const peaks *p, int head, const char *label) {
    double low, high, n = (double)p->count, right = (double)p->right[head];
    share_interval(right, n, &low, &high);
    char start[64];
    snprintf(start, sizeof start, "  %s", label);
    print_fact(19, start, "%.2f %%  (95 %%: %.2f to %.2f)", 100 * right / n, 100 * low, 100 * high);
}

void alignment_peaks_print(const peaks *p) {
    char n[32], label[48];
    if (p->kind == PEAKS_NONE) return;
    char where[64] = "inside the field that is written";
    if (p->kind != PEAKS_FIELDS)
        snprintf(where, sizeof where, "within %d of the %s", p->within,
                 p->kind == PEAKS_ANTI ? "anti-diagonal" : "diagonal");
    putchar('\n');
    print_fact(0, "", "peak of the attention %s, of %s tokens made", where,
               heed_format_count(n, p->count));
    putchar('\n');
    int all = p->layers * p->heads;
    for (int i = 0; all > 1 && i < all; i++) {
        snprintf(label, sizeof label, "layer %d, head %d", i / p->heads + 1, i % p->heads + 1);
        print_head(p, i, label);
    }
    print_head(p, best_of(p), all > 1 ? "best head" : "attention");
}
