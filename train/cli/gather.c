/* gather.c -- joins the standard input, several texts or two parallel texts to one file. */
#include "cli/gather.h"

#include "cli/os_files.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    program *p;
    FILE *out;
    gathered *g;
    int texts;
    size_t bytes;
} joining;

static bool put(joining *j, const char *bytes, size_t n) {
    j->bytes += n;
    return fwrite(bytes, 1, n, j->out) == n ||
           heed_fail(j->p->c, HEED_FAILED, "cannot write %s: %s", j->g->path, strerror(errno));
}

/* ---- the standard input ---- */

/* Lines of pairs are distinguished by their first line; one that has neither tab, comma nor
 * semicolon is a line of TSV without its tab. */
static const char *form_of(const char *bytes, size_t n) {
    const char *end = memchr(bytes, '\n', n);
    size_t line = end ? (size_t)(end - bytes) : n;
    bool commas = memchr(bytes, ',', line) || memchr(bytes, ';', line);
    return *bytes == '{' ? "jsonl" : commas && !memchr(bytes, '\t', line) ? "csv" : "tsv";
}

static bool check_input(joining *j, const char *bytes, size_t n) {
    const size_t most = (size_t)1 << 32;
    if (memchr(bytes, 0, n))
        return heed_fail(j->p->c, HEED_DATA,
                         "standard input is not a text: expected UTF-8, found a NUL byte");
    return j->bytes + n <= most || heed_fail(j->p->c, HEED_DATA,
                                             "standard input is too long: expected at most 4 GB; "
                                             "hint: save it in a file");
}

static bool copy_input(joining *j, bool text) {
    static char bytes[1 << 16];
    size_t n;
    if (is_terminal(stdin)) print_note("", "reading the data from the keyboard; Ctrl-D ends");
    while ((n = fread(bytes, 1, sizeof bytes, stdin)) > 0) {
        if (j->bytes == 0)
            snprintf(j->g->name, sizeof j->g->name, "heed-data.%s",
                     text ? "txt" : form_of(bytes, n));
        if (!check_input(j, bytes, n) || !put(j, bytes, n)) return false;
        if (was_interrupted(NULL)) return heed_fail(j->p->c, HEED_INTERRUPTED, "interrupted");
    }
    if (!stdin_ended(j->p->c)) return false;
    return j->bytes > 0 ||
           heed_fail(
               j->p->c, HEED_DATA,
               "standard input is empty: expected %s, found 0 bytes; hint: is the file or the "
               "pipe empty?",
               text ? "a text" : "lines of data");
}

/* ---- texts ---- */

/* Adds a text, whose last line gets an end. named: an argument names it, so it must be a text. */
static bool add_text(joining *j, const char *path, bool named) {
    heed_ctx *c = j->p->c;
    size_t n = 0;
    char *text = heed_text_read(c, path, &n);
    if (!text && !named && heed_ctx_status(c) == HEED_DATA) {
        heed_text why = {.c = NULL};
        heed_text_add(&why, "%s", heed_ctx_error(c));
        heed_clear(c);
        heed_message(c, HEED_WARN, "left out: %s", why.s ? why.s : path);
        heed_text_free(&why);
        return true;
    }
    bool ok = text && put(j, text, n) && (text[n - 1] == '\n' || put(j, "\n", 1));
    free(text);
    j->texts += ok;
    if (ok && was_interrupted(NULL)) ok = heed_fail(c, HEED_INTERRUPTED, "interrupted");
    return ok;
}

/* Says how many pictures lie beside the texts; if they are more than the texts, they may be meant.
 */
static void note_pictures(const joining *j, const char *input, int pictures, int texts) {
    char n[32];
    if (pictures)
        heed_message(j->p->c, HEED_WARN, "left out: %s picture%s of %s%s",
                     heed_format_count(n, (uint64_t)pictures), pictures == 1 ? "" : "s", input,
                     pictures <= texts ? ""
                                       : ", which are not texts; hint: `train vit` and `train cnn` "
                                         "train on pictures");
}

static bool add_listed(joining *j, const char *input) {
    paths list = {0};
    bool folder = is_directory(input), ok = files_of(j->p->c, input, &list);
    int before = j->texts, pictures = 0;
    for (size_t i = 0; ok && i < list.count; i++) {
        bool picture = is_picture_name(list.at[i]);
        pictures += picture;
        if (!picture) ok = add_text(j, list.at[i], false);
    }
    paths_free(&list);
    if (ok && j->texts == before)
        return heed_fail(j->p->c, HEED_DATA, "no text in %s: expected files of text %s it", input,
                         folder ? "below" : "that match");
    if (ok) note_pictures(j, input, pictures, j->texts - before);
    return ok;
}

static bool join_texts(joining *j, int count, char *const *inputs) {
    bool ok = true;
    for (int i = 0; ok && i < count; i++) {
        bool listed = is_directory(inputs[i]) || (is_pattern(inputs[i]) && !is_file(inputs[i]));
        ok = listed ? add_listed(j, inputs[i]) : add_text(j, inputs[i], true);
    }
    return ok;
}

/* ---- two parallel texts ---- */

static size_t count_lines(const char *text, size_t n) {
    size_t lines = n > 0 && text[n - 1] != '\n';
    for (size_t i = 0; i < n; i++) lines += text[i] == '\n';
    return lines;
}

static bool is_blank(const char *s, size_t n) { return strspn(s, " \t\r\v\f") >= n; }

/* Writes the lines in pairs, as JSON: whatever is in a line is text. Those of which one side is
 * blank are left out. */
static bool put_pairs(joining *j, char *a, char *b) {
    heed_text pair = {.c = j->p->c};
    size_t left_out = 0;
    bool ok = true;
    while (ok && *a && *b) {
        size_t n = strcspn(a, "\n"), m = strcspn(b, "\n");
        bool blank = is_blank(a, n) || is_blank(b, m), more = a[n] && b[m];
        left_out += blank;
        a[n] = b[m] = 0;
        pair.n = 0;
        heed_json_open(&pair, NULL, '{');
        heed_json_text(&pair, "source", a);
        heed_json_text(&pair, "target", b);
        heed_json_close(&pair, '}');
        ok = heed_text_put(&pair, "\n", 1) && (blank || put(j, pair.s, pair.n));
        a += n + more;
        b += m + more;
    }
    heed_text_free(&pair);
    if (ok && left_out)
        heed_message(j->p->c, HEED_INFO, "%zu lines are blank on a side, and left out", left_out);
    return ok;
}

static bool join_parallel(joining *j, const char *source, const char *target) {
    heed_ctx *c = j->p->c;
    size_t n = 0, m = 0;
    if (same_file(source, target))
        return heed_fail(c, HEED_DATA,
                         "the two texts are one file: %s: expected the sources in one and their "
                         "translations in another; hint: a file of pairs is given once",
                         source);
    char *a = heed_text_read(c, source, &n), *b = a ? heed_text_read(c, target, &m) : NULL;
    bool ok = a && b;
    size_t lines = ok ? count_lines(a, n) : 0, others = ok ? count_lines(b, m) : 0;
    if (ok && memchr(a, '\t', strcspn(a, "\n")))
        ok = heed_fail(c, HEED_DATA,
                       "%s has a tab in its first line: expected two parallel texts, whose lines "
                       "are translations of each other; hint: join files of pairs with cat",
                       source);
    else if (ok && lines != others)
        ok = heed_fail(c, HEED_DATA,
                       "the texts are not parallel: %s has %zu lines, %s has %zu: expected as many",
                       source, lines, target, others);
    ok = ok && put_pairs(j, a, b);
    free(a);
    free(b);
    return ok;
}

/* ---- all ---- */

static bool join(joining *j, const heed_model *m, int count, char *const *inputs) {
    heed_ctx *c = j->p->c;
    bool text = reads_text(m), in = strcmp(inputs[0], "-") == 0;
    snprintf(j->g->name, sizeof j->g->name, "heed-data.%s", text ? "txt" : "jsonl");
    for (int i = 0; count > 1 && i < count; i++)
        if (strcmp(inputs[i], "-") == 0)
            return heed_fail(c, HEED_USAGE, "- is the standard input: expected it alone");
    if (in) return copy_input(j, text);
    return text ? join_texts(j, count, inputs) : join_parallel(j, inputs[0], inputs[1]);
}

/* How messages call what was joined. */
static void name_joined(const joining *j, const char *first) {
    program *p = j->p;
    if (strcmp(first, "-") == 0)
        snprintf(p->joined_name, sizeof p->joined_name, "standard input");
    else if (j->texts)
        snprintf(p->joined_name, sizeof p->joined_name, "%d text%s", j->texts,
                 j->texts == 1 ? "" : "s");
    else
        snprintf(p->joined_name, sizeof p->joined_name, "two parallel texts");
}

/* Whether the input is one file, or a set of pictures, which is read where it is. */
static bool is_one(const heed_model *m, int count, char *const *inputs) {
    bool text = reads_text(m);
    if (count != 1 || strcmp(inputs[0], "-") == 0) return false;
    return !text || is_file(inputs[0]) || is_stream(inputs[0]) ||
           !(is_directory(inputs[0]) || is_pattern(inputs[0]));
}

/* A run holds texts, too: its settings and its vocabulary. */
static bool is_no_run(const program *p, const heed_model *m, const char *input) {
    char settings[4096], weights[4096];
    snprintf(settings, sizeof settings, "%s/config.conf", input);
    snprintf(weights, sizeof weights, "%s/model.safetensors", input);
    return !is_directory(input) || !is_file(settings) || !is_file(weights) ||
           heed_fail(p->c, HEED_USAGE,
                     "%s is a run: expected %s; hint: `compare` compares runs, `--from` continues "
                     "from the weights of one",
                     input, data_of(m)->noun);
}

bool gather(program *p, const heed_model *m, const char *run, int count, char *const *inputs,
            gathered *g) {
    bool text = reads_text(m);
    bool lines = has_tokenizer(m) && !sees_pictures(m);
    *g = (gathered){.name = ""};
    for (int i = 0; i < count; i++)
        if (!is_no_run(p, m, inputs[i])) return false;
    if (count < 1 || is_one(m, count, inputs)) return true;
    int files = data_of(m)->files, most = text ? count : files ? files : 1;
    if (count > most)
        return heed_fail(p->c, HEED_USAGE, "one argument too many: %s: %s reads %s", inputs[most],
                         m->name, data_of(m)->noun);
    if (!lines)
        return heed_fail(p->c, HEED_USAGE, "- is the standard input: %s reads %s", m->name,
                         data_of(m)->noun);
    if (p->cluster.processes)
        return heed_fail(p->c, HEED_USAGE, "several processes read one file: expected its name");
    joining j = {.p = p, .g = g, .out = temporary_file(run, g->path, sizeof g->path)};
    if (!j.out)
        return heed_fail(p->c, HEED_FAILED, "cannot write %s: %s", g->path, strerror(errno));
    bool ok = join(&j, m, count, inputs);
    if (fclose(j.out) != 0 && ok)
        ok = heed_fail(p->c, HEED_FAILED, "cannot write %s: %s", g->path, strerror(errno));
    ok = ok && extend_name(p->c, g->path, sizeof g->path, strrchr(g->name, '.'));
    if (ok) name_joined(&j, inputs[0]);
    snprintf(p->joined, sizeof p->joined, "%s", g->path);
    g->bytes = j.bytes;
    return ok;
}

void gather_end(const gathered *g) {
    if (*g->path) remove(g->path);
}

const char *data_name(const program *p, const char *path) {
    return *path && strcmp(path, p->joined) == 0 ? p->joined_name : path;
}

bool holds_texts(heed_ctx *c, const char *folder) {
    paths list = {0};
    bool any = false;
    if (files_of(c, folder, &list))
        for (size_t i = 0; i < list.count; i++) any = any || !is_picture_name(list.at[i]);
    paths_free(&list);
    return any;
}
