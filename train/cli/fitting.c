/* fitting.c -- whether data is of the kind that a task reads; if not, the error names a task that
 * does, and the command. */
#include "cli/gather.h"

#include "cli/os_files.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const heed_model *first_of(const heed_model *const *models, bool (*fits)(const heed_model *m)) {
    while (*models && !fits(*models)) models++;
    return *models;
}

/* "; hint: `train gpt book.txt -o runs/first`, if it is a text", with the first task that reads
 * such inputs; "" if there is none. */
static const char *hint_of(const program *p, bool (*fits)(const heed_model *m), const char *data,
                           const char *when, char text[1200]) {
    const heed_model *m = first_of(p->models, fits);
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
static bool are_classes(const heed_lines *a) {
    enum { MOST = 50, TIMES = 5, LONGEST = 24 };
    return a->classes > 1 && a->classes <= MOST && a->pairs >= TIMES * (size_t)a->classes &&
           a->longest <= LONGEST;
}

/* Whether a file can be read for a hint without delay: no pipe, and at most 4 MiB. */
static bool is_small(const char *path) {
    FILE *f = is_file(path) ? fopen(path, "rb") : NULL;
    long n = f && fseek(f, 0, SEEK_END) == 0 ? ftell(f) : -1;
    if (f) fclose(f);
    return n >= 0 && n <= 1 << 22;
}

/* Reads the lines of a small file for a hint; what is wrong with them is not reported. */
static heed_lines lines_of(heed_ctx *c, const char *data, heed_target_kind kind,
                           const char *columns) {
    heed_lines found;
    heed_lines_read(c, data, kind, columns, *columns ? "no" : "auto", &found, NULL);
    heed_clear(c);
    return found;
}

/* Whether a column of a small file, known by its name or one of the first two, is of classes. */
static bool has_classes(heed_ctx *c, const char *data) {
    static const char *const columns[] = {"", "2,1", "1,2"};
    bool any = false;
    for (int i = 0; !any && i < 3; i++) {
        heed_lines found = lines_of(c, data, HEED_TARGET_CLASSES, columns[i]);
        any = are_classes(&found);
    }
    return any;
}

/* Whether lines have as many labels as words, and words in every second line, or are those of a
 * CoNLL file. conll: only the latter. */
static bool has_tags(heed_ctx *c, const char *data, bool conll) {
    heed_lines a = lines_of(c, data, HEED_TARGET_TAGS, "");
    return a.pairs && (a.conll || (!conll && 2 * a.several >= a.pairs)) &&
           (size_t)a.classes <= a.pairs * 2 && a.longest <= 24;
}

/* What a model must read for a list of pictures: NULL if no column after the first line has names
 * of pictures only. Beside labels, captions are sentences. */
static bool (*list_reader(heed_ctx *c, const char *data))(const heed_model *m) {
    enum { ROWS = 20, COLUMNS = 64 };
    bool pictures[COLUMNS], any = false, sentences = false;
    size_t n = 0, rows = 0;
    heed_csv r;
    char *text = heed_text_read(c, data, &n);
    memset(pictures, true, sizeof pictures);
    if (heed_csv_open(&r, c, "table is wrong", data, text, n) && heed_csv_next(&r))
        for (; rows < ROWS && heed_csv_next(&r); rows++)
            for (size_t i = 0; i < COLUMNS; i++) {
                pictures[i] = pictures[i] && i < r.count && is_picture_name(r.fields[i]);
                sentences = sentences || (i < r.count && strchr(r.fields[i], ' '));
            }
    for (size_t i = 0; i < COLUMNS; i++) any = any || pictures[i];
    free(text);
    heed_clear(c);
    return !rows || !any ? NULL : sentences ? writes_captions : reads_pictures;
}

/* What a model must read for the first of a file's JSON objects; NULL: it does not say. */
static bool (*object_reader(heed_ctx *c, const char *data))(const heed_model *m) {
    size_t n = 0, lists = 0, files = 0;
    char *text = heed_text_read(c, data, &n);
    json_t *first = text ? json_loadb(text, strcspn(text, "\n"), 0, NULL) : NULL, *value;
    const char *key;
    json_object_foreach(first, key, value) {
        lists += json_is_array(value);
        files += json_is_string(value) && is_picture_name(json_string_value(value));
    }
    json_decref(first);
    free(text);
    heed_clear(c);
    return files ? writes_captions : lists >= 2 ? names_words : NULL;
}

static const heed_model *task_of_lines(const program *p, const char *data) {
    heed_ctx *c = is_small(data) ? heed_open(NULL) : NULL;
    bool json = has_ending(data, ".jsonl");
    bool (*fits)(const heed_model *m) = !c     ? NULL
                                        : json ? object_reader(c, data)
                                               : list_reader(c, data);
    bool table = json || has_ending(data, ".tsv") || has_ending(data, ".csv");
    bool conll = has_ending(data, ".conll") || has_ending(data, ".conllu");
    bool text = !table; /* prose, unless it lists pictures, or words line by line */
    if (conll || (c && !fits && has_tags(c, data, text))) fits = names_words;
    if (c && !text && !fits && has_classes(c, data)) fits = names_texts;
    if (!text && !fits) fits = reads_pairs;
    heed_close(c);
    const heed_model *m = fits ? first_of(p->models, fits) : NULL;
    return m ? m : first_of(p->models, reads_text);
}

const char *likely_task(const program *p, const char *data) {
    bool pictures = is_directory(data) ? holds_pictures(data) : is_picture_name(data);
    const heed_model *m = !pictures && !is_directory(data)
                              ? task_of_lines(p, data)
                              : first_of(p->models, pictures ? reads_pictures : reads_text);
    return m ? m->name : p->models[0]->name;
}

/* Whether a line may name the columns of a table: a few words between separators. */
static bool may_name_columns(const char *line) {
    enum { WORDS = 3 };
    size_t separators = 0, spaces = 0;
    for (; *line && *line != '\n'; line++) {
        separators += strchr(",;|", *line) != NULL;
        spaces += *line == ' ';
    }
    return separators && spaces < WORDS * (separators + 1);
}

/* Whether the file is lines of text, of which none has a tab, and no table or JSON. It is read up
 * to the first tab, at most a megabyte. */
static bool lacks_tabs(const char *path) {
    enum { MOST = 1 << 20 };
    char line[400];
    int first = 0, ch = EOF, n = 0;
    bool lines = false;
    if (!is_file(path) || has_ending(path, ".csv") || has_ending(path, ".jsonl")) return false;
    FILE *f = fopen(path, "r");
    bool table = f && fgets(line, sizeof line, f) && may_name_columns(line);
    if (f) rewind(f);
    while (f && first != '{' && n++ < MOST && (ch = getc(f)) != EOF && ch != '\t' && ch != 0) {
        lines = lines || ch == '\n';
        if (!first && !isspace(ch)) first = ch;
    }
    if (f) fclose(f);
    return !table && ch != '\t' && ch != 0 && lines && first && first != '{';
}

/* Data of pictures: a folder, or a list of them. */
static bool fits_pictures(program *p, const char *data) {
    char hint[1200];
    if (!is_file(data) || has_ending(data, ".csv") || has_ending(data, ".tsv")) return true;
    return heed_fail(p->c, HEED_DATA,
                     "%s is a file: %s reads a folder of pictures, or a CSV file of path,label "
                     "lines%s",
                     data, p->model->name, hint_of(p, reads_text, data, "is a text", hint));
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
    bool text = reads_text(m), captions = writes_captions(m);
    if (is_file(data) && is_picture_name(data))
        return heed_fail(p->c, HEED_DATA, "%s is one picture: %s reads %s%s", data, m->name, noun,
                         hint_of(p, reads_pictures, folder_of(data, folder),
                                 "has a folder of pictures for each class", hint));
    if (reads_pictures(m)) return fits_pictures(p, data);
    if (captions && has_captions(data)) return true;
    if (is_directory(data) && (!text || !holds_texts(p->c, data)))
        return heed_fail(p->c, HEED_DATA, "%s is a folder: %s reads %s%s", data, m->name, noun,
                         hint_of(p, reads_pictures, data, "holds pictures", hint));
    /* CoNLL has spaces, too */
    if (reads_tables(m) && !names_words(m) && p->argc == 1 && lacks_tabs(data))
        return heed_fail(p->c, HEED_DATA, "%s has no tabs: %s reads %s; in TSV a line has %s%s",
                         data, m->name, noun,
                         captions         ? "a picture's file, a tab and a caption"
                         : reads_pairs(m) ? "a source, a tab and a target"
                                          : "two columns",
                         hint_of(p, reads_text, data, "is a text", hint));
    return true;
}
