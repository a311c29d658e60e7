/* text.c -- readable output of words, numbers and tokens. */
#include "cli/os_files.h"

#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* Global because they are the process's, like argv. */
static const char *own_name = "heed", *typed_name = "heed";

const char *program_name(void) { return typed_name; }
const char *message_name(void) { return own_name; }

void set_program_name(const char *path) {
    static char word[1024];
    const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
    if (!name || !*name) return;
    own_name = name;
    typed_name =
        !slash || is_found_by_name(name, path) ? name : heed_format_shell(word, sizeof word, path);
}

void add_help(heed_text *out, const char *help) {
    static const char word[] = "heed ";
    for (const char *at; (at = strstr(help, word)) != NULL; help = at + sizeof word - 1) {
        bool whole = at == help || strchr(" `\n|", at[-1]);
        heed_text_put(out, help, (size_t)(at - help));
        heed_text_add(out, "%s ", whole ? typed_name : "heed");
    }
    heed_text_add(out, "%s", help);
}

/* jansson omits members when it runs out of memory, so a result could silently lack parts. */
static void *json_memory(size_t size) {
    void *p = malloc(size);
    if (p || size == 0) return p;
    fprintf(stderr, "%s: out of memory: %zu bytes for JSON\n", own_name, size);
    exit(HEED_FAILED);
}

void whole_json(void) { json_set_alloc_funcs(json_memory, free); }

/* jansson writes whole characters, and leaves DEL and C1 controls, which a terminal obeys. */
static int put_escaped(const char *bytes, size_t n, void *file) {
    for (const char *end = bytes + n; bytes < end;) {
        int32_t code;
        size_t length = heed_utf8_read(bytes, (size_t)(end - bytes), &code);
        if (code >= 0x7F && code < 0xA0)
            fprintf(file, "\\u%04x", (unsigned)code);
        else
            fwrite(bytes, 1, length, file);
        bytes += length;
    }
    return ferror((FILE *)file) ? -1 : 0;
}

bool write_json(FILE *file, const json_t *v, int digits) {
    size_t flags = JSON_COMPACT | JSON_REAL_PRECISION((size_t)digits);
    return v && json_dump_callback(v, put_escaped, file, flags) == 0 && putc('\n', file) != EOF;
}

void print_json(program *p, json_t *v) {
    if (!write_json(stdout, v, 9)) heed_fail(p->c, HEED_FAILED, "cannot write the result as JSON");
    json_decref(v);
}

const char *probability_text(char text[16], double p, probability_form form) {
    static const int least[] = {2, 1, 4}, most[] = {4, 2, 4};
    return heed_format_share(text, p, form == PROBABILITY_PERCENT ? 100 : 1, least[form],
                             most[form]);
}

void print_drawn(const program *p, const char *png) {
    const char *svg = heed_config_text(p->flags, "svg");
    if (*png || *svg) putchar('\n');
    if (*png) printf("wrote %s\n", png);
    if (*svg) printf("wrote %s\n", svg);
}

json_t *json_number(double x) { return isfinite(x) ? json_real(x) : json_null(); }

json_t *json_bytes(const char *text, size_t n) {
    json_t *whole = json_stringn(n ? text : "", n);
    heed_text valid = {.c = NULL};
    for (const char *s = text, *end = s + n; !whole && s < end;) {
        int32_t code;
        size_t length = heed_utf8_read(s, (size_t)(end - s), &code);
        heed_text_put(&valid, code < 0 ? "\uFFFD" : s, code < 0 ? strlen("\uFFFD") : length);
        s += length;
    }
    if (!whole) whole = json_stringn(valid.s ? valid.s : "", valid.n);
    heed_text_free(&valid);
    return whole;
}

json_t *json_text(const char *text) { return text ? json_bytes(text, strlen(text)) : json_null(); }

json_t *json_texts(const char *const *list, int count) {
    json_t *texts = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(texts, json_text(list[i]));
    return texts;
}

json_t *json_numbers(const heed_real *x, int count) {
    json_t *numbers = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(numbers, json_number((double)x[i]));
    return numbers;
}

json_t *json_doubles(const double *x, int count) {
    json_t *numbers = json_array();
    for (int i = 0; i < count; i++) json_array_append_new(numbers, json_number(x[i]));
    return numbers;
}

void *allocate(heed_ctx *c, size_t count, size_t size, const char *what) {
    void *p = calloc(count ? count : 1, size);
    if (!p) heed_fail(c, HEED_FAILED, "no memory for %zu %s", count, what);
    return p;
}

void print_text(heed_text *t) {
    if (t->n) fwrite(t->s, 1, t->n, stdout);
    heed_text_free(t);
}

void add_to_run(program *p, const char *run, const char *name, heed_text *t) {
    char path[1024];
    snprintf(path, sizeof path, "%s" HEED_INSIDE "%s", run, name);
    t->c = heed_open(&(heed_options){.threads = 1}); /* a failure is no error of the training */
    if (!heed_text_append(t, path)) heed_message(p->c, HEED_WARN, "%s", heed_ctx_error(t->c));
    heed_close(t->c);
    heed_text_free(t);
}

void print_hanging(program *p, const char *text, int indent) {
    heed_text t = {.c = p->c};
    heed_label_words(text, indent, terminal_width(), &t);
    puts(t.s ? t.s : "");
    heed_text_free(&t);
}

void print_wrapped(program *p, const char *format, ...) {
    char text[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    print_hanging(p, text, 0);
}

void print_fact(int at, const char *label, const char *format, ...) {
    heed_text text = {.c = NULL}, shown = {.c = NULL};
    char line[4096];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    heed_text_add(&shown, "%-*s", at, label);
    if (at + heed_label_text(line, INT_MAX, &text) <= line_width(stdout))
        heed_text_put(&shown, text.s, text.n);
    else
        heed_label_words(line, at, line_width(stdout), &shown);
    heed_text_free(&text);
    heed_text_put(&shown, "\n", 1);
    print_text(&shown);
}

static int last_line_columns(const heed_text *t) {
    const char *end = t->s ? strrchr(t->s, '\n') : NULL, *line = end ? end + 1 : t->s;
    return line ? heed_label_columns(line) : 0;
}

static void cut_blanks(heed_text *t) {
    while (t->n > 0 && t->s[t->n - 1] == ' ') t->s[--t->n] = 0;
}

void add_piece(heed_text *out, int gap, const char *piece, int indent, int width) {
    int used = last_line_columns(out);
    bool wraps = used > indent && used + gap + heed_label_columns(piece) > width;
    if (wraps) cut_blanks(out);
    heed_text_add(out, "%s%*s%s", wraps ? "\n" : "", wraps ? indent : gap, "", piece);
}

void print_line(heed_text *line) {
    cut_blanks(line);
    puts(line->s ? line->s : "");
    line->n = 0;
}

void add_typed(heed_text *out, int width, const char *words) {
    int used = last_line_columns(out);
    if (used > 0 && used + 1 + heed_label_columns(words) + 2 > width)
        heed_text_add(out, " \\\n     ");
    heed_text_add(out, " %s", words);
}

void print_table(heed_ctx *c, const heed_table *t) {
    heed_text text = {.c = c};
    heed_table_text(t, terminal_width(), &text);
    print_text(&text);
}

void print_name(const char *name, int least, int most) {
    heed_text shown = {.c = NULL};
    int used = heed_label_text(name, most ? most : INT_MAX, &shown);
    print_text(&shown);
    if (used < least) printf("%*s", least - used, "");
}

/* The bytes of the first word; a command in backquotes is one, so that it can be copied. */
static size_t message_word(const char *s) {
    const char *end = *s == '`' ? strchr(s + 1, '`') : NULL;
    return end ? (size_t)(end - s) + strcspn(end, " ") : strcspn(s, " ");
}

void print_note(const char *kind, const char *message) {
    char text[PLAIN];
    heed_text all = {.c = NULL}, shown = {.c = NULL}, word = {.c = NULL};
    heed_text_add(&all, "%s: %s%s", own_name, kind, heed_format_line(text, sizeof text, message));
    for (const char *s = all.s; s && *s;) {
        size_t gap = strspn(s, " "), n = message_word(s + gap);
        word.n = 0;
        if (!heed_text_put(&word, s + gap, n)) break;
        add_piece(&shown, (int)gap, word.s, 0, line_width(stderr));
        s += gap + n;
    }
    fprintf(stderr, "%s\n", shown.s ? shown.s : message);
    heed_text_free(&all);
    heed_text_free(&shown);
    heed_text_free(&word);
}
