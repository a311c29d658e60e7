/* using.c -- inputs as tokens, and the attention that a position pays. */
#include "using.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* ---- inputs ---- */

enum { LABEL = 128 };

static bool input_room(const heed_run *r, size_t count, input *in) {
    *in = (input){.ids = malloc((count + 1) * sizeof *in->ids),
                  .label = calloc(count + 1, sizeof *in->label),
                  .memory = calloc(count + 1, LABEL)};
    if (in->ids && in->label && in->memory) return true;
    return heed_fail(r->c, HEED_FAILED, "no memory for an input of %zu tokens", count);
}

/* Adds a token; text, of n bytes, is shown where the vocabulary has none for it. */
static void input_add(const heed_run *r, input *in, int32_t id, const char *text, size_t n) {
    char *shown = in->memory + (size_t)in->count * LABEL, own[LABEL];
    bool unknown = n > 0 && id == heed_tokenizer_specials(r->tokenizer).unk;
    snprintf(own, sizeof own, "%.*s", n < 60 ? (int)n : 60, text);
    if (unknown) heed_log(r->c, HEED_WARN, "unknown to the vocabulary: %s", own);
    show_token(shown, LABEL, unknown ? own : heed_token_text(r->tokenizer, id));
    in->label[in->count] = shown;
    in->ids[in->count++] = id;
}

bool input_read(const heed_run *r, const char *text, size_t n, bool bracket, input *out) {
    heed_specials s = heed_tokenizer_specials(r->tokenizer);
    heed_tokens k = {.c = r->c};
    *out = (input){0};
    bool ok = heed_encode(r->tokenizer, text, n, &k) && input_room(r, k.count + 2, out);
    if (ok && bracket && s.cls >= 0) input_add(r, out, s.cls, "", 0);
    for (size_t i = 0; ok && i < k.count; i++)
        input_add(r, out, k.ids[i], text + k.begin[i], k.end[i] - k.begin[i]);
    if (ok && bracket && s.sep >= 0) input_add(r, out, s.sep, "", 0);
    heed_tokens_free(&k);
    return ok;
}

bool input_of(const heed_run *r, const int32_t *ids, int count, input *out) {
    if (!input_room(r, (size_t)count, out)) return false;
    for (int i = 0; i < count; i++) input_add(r, out, ids[i], "", 0);
    return true;
}

void input_free(input *in) {
    free(in->ids);
    free(in->memory);
    free(in->label);
    *in = (input){0};
}

/* One line of f without its end; false at the end of the file. */
static bool read_line(FILE *f, heed_text *line) {
    int ch = getc(f);
    line->n = 0;
    if (ch == EOF) return false;
    for (; ch != EOF && ch != '\n'; ch = getc(f)) {
        char byte = (char)ch;
        if (!heed_text_put(line, &byte, 1)) return false;
    }
    if (line->n && line->s[line->n - 1] == '\r') line->n--;
    return heed_text_put(line, "", 0);
}

/* Text is UTF-8 without NULs: what it would become otherwise is not what was meant. */
bool input_is_text(heed_ctx *c, const char *text, size_t n) {
    for (size_t at = 0; at < n;) {
        utf8proc_int32_t code;
        utf8proc_ssize_t used = utf8proc_iterate((const utf8proc_uint8_t *)text + at,
                                                 (utf8proc_ssize_t)(n - at), &code);
        if (used <= 0 || code == 0)
            return heed_fail(c, HEED_DATA,
                             "the input is not text: byte 0x%02X at offset %zu: expected UTF-8 "
                             "without NUL; hint: iconv -f LATIN1 -t UTF-8",
                             (unsigned)(unsigned char)text[at], at);
        at += (size_t)used;
    }
    return true;
}

void each_input(program *p, void *user, take_input one) {
    heed_text line = {.c = p->c};
    for (int i = 1; i < p->argc; i++) {
        size_t n = strlen(p->argv[i]);
        if (!input_is_text(p->c, p->argv[i], n) || !one(p, user, p->argv[i], n))
            program_complain(p);
    }
    if (p->argc == 1 && is_terminal(stdin))
        fputs("heed: reading lines from the keyboard; Ctrl-D ends\n", stderr);
    while (p->argc == 1 && read_line(stdin, &line))
        if (line.n && (!input_is_text(p->c, line.s, line.n) || !one(p, user, line.s, line.n)))
            program_complain(p);
    heed_text_free(&line);
}

/* ---- attention ---- */

static bool path_of(const attention *a, char path[64]) {
    bool causal = strcmp(a->run->model->name, "gpt") == 0;
    int n = snprintf(path, 64, "%s.%d.attn.weights", causal ? "decoder" : "encoder", a->layer - 1);
    return n > 0 && n < 64;
}

bool attention_ask(attention *a) {
    char path[64];
    int layers = (int)heed_config_int(a->run->config, "layers");
    if (a->layer == 0) a->layer = layers;
    if (a->layer > layers)
        return heed_fail(a->run->c, HEED_USAGE, "--layer %d: expected 1 to %d, or 0 for the last",
                         a->layer, layers);
    heed_unprobe(a->run->tape);
    if (path_of(a, path)) heed_probe(a->run->tape, path, false);
    return true;
}

/* Weights (1,h,T,T) of the layer asked for. */
static const heed_tensor *weights_of(const attention *a) {
    char path[64];
    const heed_tensor *w = path_of(a, path) ? heed_probe_find(a->run->tape, path) : NULL;
    if (!w) heed_fail(a->run->c, HEED_FAILED, "the model kept no attention weights: %s", path);
    return w;
}

static const heed_real *head_row(const heed_tensor *w, int head, int position) {
    size_t queries = (size_t)w->shape[2], keys = (size_t)w->shape[3];
    return w->x + ((size_t)head * queries + (size_t)position) * keys;
}

/* Rows: the mean over the heads, then each head. (1 + h, count), to be freed. */
static heed_real *attention_rows(const attention *a, const heed_tensor *w) {
    int heads = w->shape[1], n = a->count;
    heed_real *rows = calloc((size_t)(heads + 1) * (size_t)n, sizeof *rows);
    if (!rows) {
        heed_fail(a->run->c, HEED_FAILED, "no memory for %d attention weights", (heads + 1) * n);
        return NULL;
    }
    for (int h = 0; h < heads; h++) {
        const heed_real *x = head_row(w, h, a->position);
        for (int i = 0; i < n; i++) {
            rows[(h + 1) * n + i] = x[i];
            rows[i] += x[i] / (heed_real)heads;
        }
    }
    return rows;
}

bool attention_print(const attention *a) {
    const heed_tensor *w = weights_of(a);
    heed_real *rows = w ? attention_rows(a, w) : NULL;
    if (!rows) return false;
    char title[160], names[65][24] = {"mean"};
    const char *label[65] = {names[0]};
    int heads = w->shape[1] < 64 ? w->shape[1] : 64;
    for (int h = 1; h <= heads; h++) {
        snprintf(names[h], sizeof names[h], "head %d", h);
        label[h] = names[h];
    }
    snprintf(title, sizeof title, "attention of %.60s (token %d), layer %d of %lld",
             a->label[a->position], a->position + 1, a->layer,
             (long long)heed_config_int(a->run->config, "layers"));
    heed_terminal kind = terminal_kind(stdout);
    heed_heatmap map = {.title = title,
                        .rows = heads + 1,
                        .cols = a->count,
                        .values = rows,
                        .row_labels = label,
                        .col_labels = a->label,
                        .hi = 1,
                        .numbers = kind == HEED_ASCII,
                        .terminal = kind,
                        .width = terminal_width()};
    heed_text text = {.c = a->run->c};
    if (heed_heatmap_text(&map, &text)) print_text(&text);
    heed_text_free(&text);
    free(rows);
    return heed_state(a->run->c) == HEED_OK;
}

static json_t *number_list(const heed_real *x, int n) {
    json_t *list = json_array();
    for (int i = 0; i < n; i++) json_array_append_new(list, json_number((double)x[i]));
    return list;
}

json_t *attention_json(const attention *a) {
    const heed_tensor *w = weights_of(a);
    heed_real *rows = w ? attention_rows(a, w) : NULL;
    if (!rows) return json_null();
    json_t *heads = json_array();
    for (int h = 1; h <= w->shape[1]; h++)
        json_array_append_new(heads, number_list(rows + h * a->count, a->count));
    json_t *o = json_pack("{s:i, s:i, s:o, s:o}", "layer", a->layer, "position", a->position,
                          "mean", number_list(rows, a->count), "heads", heads);
    free(rows);
    return o;
}
