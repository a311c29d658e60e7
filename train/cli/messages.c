/* messages.c -- errors, warnings and notes as they are shown: what a file is called, a name that
 * was probably meant, settings and commands as they are typed. */
#include "cli/os_files.h"

#include <errno.h>
#include <string.h>
#include <strings.h>

void print_event(const char *event, const char *note) {
    char text[PLAIN];
    json_t *o =
        json_pack("{s:s, s:s}", "event", event, "note", heed_format_line(text, sizeof text, note));
    write_json(stderr, o, 9);
    json_decref(o);
}

static void print_message(program *p, const char *event, const char *mark, const char *message) {
    if (p->json_lines) {
        print_event(event, message);
        return;
    }
    char start[48], where[32] = "";
    if (p->line_open) fputs("\r\033[K", stderr);
    p->line_open = false;
    if (p->line) snprintf(where, sizeof where, "line %zu: ", p->line);
    snprintf(start, sizeof start, "%s%s", mark, where);
    print_note(start, message);
}

/* Appends the message, in which a file of joined inputs is called what it is of. A hint that names
 * the file is left out. */
static void add_named(const program *p, const char *message, heed_text *out) {
    const char *at = *p->joined ? strstr(message, p->joined) : NULL;
    const char *hint = strstr(message, "; hint: "), *end = message + strlen(message);
    if (at) {
        const char *rest = at + strlen(p->joined);
        if (hint && strstr(hint, p->joined)) end = hint;
        heed_text_add(out, "%.*s%s%.*s", (int)(at - message), message, p->joined_name,
                      (int)(end - rest), rest);
    } else
        heed_text_add(out, "%s", message);
}

/* The model of the run that is the command's first argument; or NULL. */
static const heed_model *model_of_first(const program *p) {
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    const heed_model *m = p->argc > 1 ? model_of_run(c, p->models, p->argv[0]) : NULL;
    heed_close(c);
    return m;
}

/* What was expected in place of a file that does not exist. A run without weights was killed before
 * its first checkpoint. */
static void add_expected(const program *p, char *path, heed_text *out) {
    const heed_model *m = p->model ? p->model : model_of_first(p);
    bool data = false, weights = strcmp(file_name(path), "model.safetensors") == 0;
    for (int i = 0; i < p->argc; i++) data = data || strcmp(p->argv[i], path) == 0;
    char *slash = strrchr(path, '/');
    if (slash && slash > path) *slash = 0;
    if (slash && slash > path && !is_directory(path))
        heed_text_add(out, "; there is no folder %s", path);
    else if (slash && weights)
        heed_text_add(out, "; hint: `resume %s`", path);
    else if (data && m && !strstr(p->command->usage, "DATA"))
        heed_text_add(out, "; expected the file of a picture");
    else if (data && m)
        heed_text_add(out, "; expected %s", data_of(m)->noun);
    else if (p->command)
        heed_text_add(out, "; hint: `--help`");
}

/* The run that is an argument after the first, of a command whose first argument is the run; or
 * NULL. */
static const char *later_run(const program *p) {
    char path[1100];
    const char *usage = p->command ? p->command->usage : "";
    if (strncmp(usage, "RUN ", 4) != 0 || strstr(usage + 4, "RUN")) return NULL;
    for (int i = 1; i < p->argc; i++) {
        snprintf(path, sizeof path, "%.1000s/config.conf", p->argv[i]);
        if (is_file(path)) return p->argv[i];
    }
    return NULL;
}

/* Appends the message; if an input does not exist, with one of a similar name or, unless the
 * message has a hint, with what was expected. */
static void add_near(const program *p, const char *message, heed_text *out) {
    char path[1024], near[1024];
    bool of_run;
    const char *missing = heed_ctx_missing(p->c, &of_run);
    snprintf(path, sizeof path, "%s", strstr(message, missing) ? missing : "");
    const char *hint = strstr(message, "; hint: "), *run = *path ? later_run(p) : NULL;
    int length = hint ? (int)(hint - message) : (int)strlen(message);
    if (run)
        heed_text_add(out, "%.*s; hint: `%s %s ...`, with the run first", length, message,
                      p->command->name, run);
    else if (*path && *near_path(path, of_run, near, sizeof near))
        heed_text_add(out, "%.*s; did you mean %s?", length, message, near);
    else
        heed_text_add(out, "%s", message);
    if (*path && !run && !*near && !hint) add_expected(p, path, out);
}

/* ---- words ---- */

/* The word of a vocabulary that an unknown one was probably meant to be: in other case, or one edit
 * away. NULL: none. */
static const char *near_word(const heed_tokenizer *k, const char *word) {
    enum { LEAST = 4 }; /* bytes: any shorter word is an edit away from several */
    const char *near = NULL;
    size_t n = strlen(word);
    for (int id = 0; id < heed_vocab_size(k); id++) {
        const char *other = heed_token_text(k, id);
        if (strcasecmp(word, other) == 0) return other;
        if (!near && n >= LEAST && heed_text_edits(word, n, other, strlen(other)) == 1)
            near = other;
    }
    return near;
}

/* Appends the words that were probably meant, if the message names words that a vocabulary lacks.
 */
static void add_near_words(const heed_tokenizer *k, const char *message, heed_text *out) {
    static const char start[] = "unknown to the vocabulary: ";
    char word[256];
    int found = 0;
    if (strncmp(message, start, strlen(start)) != 0) return;
    if (strncmp(heed_tokenizer_kind(k), "word", 4) != 0) return; /* word and wordpiece */
    for (const char *s = message + strlen(start); s; s = strncmp(s, ", ", 2) ? NULL : s + 2) {
        size_t n = strcspn(s, ", ");
        snprintf(word, sizeof word, "%.*s", (int)n, s);
        const char *near = n ? near_word(k, word) : NULL;
        if (near) heed_text_add(out, "%s%s", found++ ? ", " : "; did you mean ", near);
        s += n;
    }
    if (found) heed_text_put(out, "?", 1);
}

static void show(program *p, const char *event, const char *mark, const char *message) {
    heed_text text = {.c = NULL}, near = {.c = NULL}, named = {.c = NULL};
    add_near(p, message, &near);
    if (p->vocabulary) add_near_words(p->vocabulary, message, &near);
    add_named(p, near.s ? near.s : message, &named);
    add_shown(p, named.s ? named.s : message, &text);
    heed_text_free(&near);
    heed_text_free(&named);
    print_message(p, event, mark, text.s ? text.s : message);
    heed_text_free(&text);
}

void show_message(void *user, heed_level level, const char *message) {
    program *p = user;
    bool warns = level == HEED_WARN, once = !warns || p->warns_once;
    char *last = p->last[warns];
    if (once && strncmp(message, last, sizeof *p->last - 1) == 0) return;
    snprintf(last, sizeof *p->last, "%s", message);
    show(p, warns ? "warning" : "note", warns ? "warning: " : "", message);
}

void show_error(program *p, const char *message) { show(p, "error", "", message); }

void program_complain(program *p) {
    if (heed_ctx_status(p->c) == HEED_OK) return;
    fflush(stdout);
    show_error(p, heed_ctx_error(p->c));
    p->status = heed_ctx_status(p->c);
    heed_clear(p->c);
}
