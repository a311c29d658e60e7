/* fitting.c -- whether data is of the kind that a task reads; if not, the error names a task that
 * does, and the command. */
#include "cli/gather.h"

#include "cli/os_files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const heed_model *first_of(const heed_model *const *models, heed_input_kind kind) {
    while (*models && (*models)->kind != kind) models++;
    return *models;
}

/* "; hint: `train gpt book.txt -o runs/first`, if it is a text", with the first task that reads
 * such inputs; "" if there is none. */
static const char *hint_of(const program *p, heed_input_kind kind, const char *data,
                           const char *when, char text[1200]) {
    const heed_model *m = first_of(p->models, kind);
    bool trains = strcmp(p->command->name, "train") == 0;
    const char *run = trains ? flag_text(p, "out") : "";
    char word[500];
    *text = 0;
    if (m)
        snprintf(text, 1200, "; hint: `%s %s %.400s%s%.400s`, if it %s", p->command->name, m->name,
                 heed_format_shell(word, sizeof word, data), trains ? " -o " : "",
                 trains && !*run ? "runs/first" : run, when);
    return text;
}

/* The folder of class folders that holds the picture "flowers/rose/1.jpg". */
static const char *folder_of(const char *picture, char folder[400]) {
    snprintf(folder, 400, "%.399s", picture);
    for (int i = 0; i < 2; i++) {
        char *slash = strrchr(folder, '/');
        if (!slash || slash == folder) return "FOLDER";
        *slash = 0;
    }
    return folder;
}

static bool has_ending(const char *path, const char *ending) {
    const char *dot = strrchr(path, '.');
    return dot && strcasecmp(dot, ending) == 0;
}

/* Whether most files below a folder are pictures: a list of their sources may lie beside them. */
static bool holds_pictures(const char *folder) {
    paths list = {0};
    size_t pictures = 0;
    if (files_of(NULL, folder, &list))
        for (size_t i = 0; i < list.count; i++) pictures += is_picture_name(list.at[i]);
    bool most = 2 * pictures > list.count;
    paths_free(&list);
    return most;
}

/* Whether a few short texts are one column, each of them many times: they are classes. */
static bool are_classes(const heed_pairs_info *a) {
    enum { MOST = 50, TIMES = 5, LONGEST = 24 };
    bool few = a && a->classes > 1 && a->classes <= MOST && a->pairs >= TIMES * (size_t)a->classes;
    for (int i = 0; few && i < a->classes; i++) few = strlen(a->labels[i]) <= LONGEST;
    return few;
}

/* Whether a file can be read for a hint without delay: no pipe, and at most 4 MiB. */
static bool is_small(const char *path) {
    FILE *f = is_file(path) ? fopen(path, "rb") : NULL;
    long n = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (f) fclose(f);
    return n >= 0 && n <= 1 << 22;
}

/* Whether a column of a small file, known by its name or one of the first two, is of classes. */
static bool has_classes(const char *data) {
    static const char *const columns[] = {"", "2,1", "1,2"};
    bool any = false, small = is_small(data);
    for (int i = 0; small && !any && i < 3; i++) {
        heed_ctx *c = heed_open(NULL);
        any = are_classes(heed_pairs_about(heed_pairs_open(
            c, data,
            &(heed_pairs_args){.kind = HEED_CLASSES, .block = 512, .columns = columns[i]})));
        heed_close(c);
    }
    return any;
}

const char *likely_task(const program *p, const char *data) {
    bool pictures = is_directory(data) ? holds_pictures(data) : is_picture_name(data);
    bool pairs = has_ending(data, ".tsv") || has_ending(data, ".csv") || has_ending(data, ".jsonl");
    const heed_model *m = first_of(p->models, pictures                     ? HEED_INPUT_PICTURE
                                              : pairs && has_classes(data) ? HEED_INPUT_LABELLED
                                              : pairs                      ? HEED_INPUT_PAIR
                                                                           : HEED_INPUT_TOKENS);
    return m ? m->name : p->models[0]->name;
}

/* Whether the file is lines of text, of which none has a tab, and no JSON. It is read up to the
 * first tab, at most a megabyte. */
static bool lacks_tabs(const char *path) {
    enum { MOST = 1 << 20 };
    int first = 0, ch = EOF, n = 0;
    bool lines = false;
    if (!is_file(path) || has_ending(path, ".csv") || has_ending(path, ".jsonl")) return false;
    FILE *f = fopen(path, "r");
    while (f && first != '{' && n++ < MOST && (ch = getc(f)) != EOF && ch != '\t' && ch != 0) {
        lines = lines || ch == '\n';
        if (!first && !isspace(ch)) first = ch;
    }
    if (f) fclose(f);
    return ch != '\t' && ch != 0 && lines && first && first != '{';
}

/* Data of pictures: a folder, or a list of them. */
static bool fits_pictures(program *p, const char *data) {
    char hint[1200];
    if (!is_file(data) || has_ending(data, ".csv")) return true;
    return heed_fail(p->c, HEED_DATA,
                     "%s is a file: %s reads a folder of pictures, or a CSV file of path,label "
                     "lines%s",
                     data, p->model->name, hint_of(p, HEED_INPUT_TOKENS, data, "is a text", hint));
}

/* Whether it is a folder of pictures with their captions. */
static bool has_captions(const char *data) {
    char path[1100];
    snprintf(path, sizeof path, "%.1000s/metadata.jsonl", data);
    return is_file(path);
}

bool data_fits(program *p, const char *data) {
    const heed_model *m = p->model;
    const char *noun = data_of(m)->noun;
    char hint[1200], folder[400];
    bool text = m->kind == HEED_INPUT_TOKENS, captions = writes_captions(m);
    if (is_file(data) && is_picture_name(data))
        return heed_fail(p->c, HEED_DATA, "%s is one picture: %s reads %s%s", data, m->name, noun,
                         hint_of(p, HEED_INPUT_PICTURE, folder_of(data, folder),
                                 "has a folder of pictures for each class", hint));
    if (m->kind == HEED_INPUT_PICTURE) return fits_pictures(p, data);
    if (captions && has_captions(data)) return true;
    if (is_directory(data) && (!text || !holds_texts(p->c, data)))
        return heed_fail(p->c, HEED_DATA, "%s is a folder: %s reads %s%s", data, m->name, noun,
                         hint_of(p, HEED_INPUT_PICTURE, data, "holds pictures", hint));
    bool per_word = heed_model_spec(m).per_word; /* CoNLL has spaces, too */
    if (!text && !per_word && p->argc == 1 && lacks_tabs(data))
        return heed_fail(p->c, HEED_DATA, "%s has no tabs: %s reads %s; in TSV a line has %s%s",
                         data, m->name, noun,
                         captions         ? "a picture's file, a tab and a caption"
                         : reads_pairs(m) ? "a source, a tab and a target"
                                          : "two columns",
                         hint_of(p, HEED_INPUT_TOKENS, data, "is a text", hint));
    return true;
}
