/* using.c -- inputs as tokens. */
#include "using.h"

#include <stdlib.h>
#include <string.h>
#include <utf8proc.h>

/* ---- inputs ---- */

static void warn_of_unknown(const heed_run *r, const heed_tokens *k, const char *text) {
    int unknown = heed_tokenizer_specials(r->tokenizer).unk;
    for (size_t i = 0; i < k->count; i++) {
        size_t n = k->end[i] - k->begin[i];
        if (n > 0 && k->ids[i] == unknown)
            heed_log(r->c, HEED_WARN, "unknown to the vocabulary: %.*s", n < 60 ? (int)n : 60,
                     text + k->begin[i]);
    }
}

bool input_read(const heed_run *r, const char *text, size_t n, bool bracket, input *out) {
    heed_specials s = heed_tokenizer_specials(r->tokenizer);
    heed_tokens k = {.c = r->c};
    *out = (input){0};
    bool ok = heed_encode(r->tokenizer, text, n, &k);
    if (ok) out->ids = malloc((k.count + 2) * sizeof *out->ids);
    if (ok && !out->ids)
        ok = heed_fail(r->c, HEED_FAILED, "no memory for an input of %zu tokens", k.count);
    if (ok) {
        warn_of_unknown(r, &k, text);
        if (bracket && s.cls >= 0) out->ids[out->count++] = s.cls;
        for (size_t i = 0; i < k.count; i++) out->ids[out->count++] = k.ids[i];
        if (bracket && s.sep >= 0) out->ids[out->count++] = s.sep;
    }
    heed_tokens_free(&k);
    return ok;
}

void input_free(input *in) {
    free(in->ids);
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
