/* next.c -- commands to try after a training, with words of its data. */
#include "kinds/training.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 200, WORDS = 9 };

/* Whether a character needs no escape between double quotes in any shell. */
static bool is_plain(char ch) {
    return isalnum((unsigned char)ch) || (unsigned char)ch >= 0x80 || strchr(" .,;:'-", ch);
}

static int words_in(const char *line) {
    int n = 0;
    for (const char *s = line; *s; s++) n += *s != ' ' && (s == line || s[-1] == ' ');
    return n;
}

/* Cuts the line after its count-th word. */
static void keep_words(char *line, int count) {
    for (char *s = line; *s; s++)
        if (*s == ' ' && s != line && s[-1] != ' ' && --count == 0) *s = 0;
}

/* The first words of the first plain line with at least four words. */
static bool first_line(const char *path, char line[LONGEST + 2]) {
    char text[4096];
    FILE *f = fopen(path, "r");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    char *start = strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? text + 3 : text;
    for (char *s = start, *end; (end = strchr(s, '\n')); s = end + 1) {
        *end = 0;
        s[strcspn(s, "\r")] = 0;
        size_t plain = 0;
        while (s[plain] && is_plain(s[plain])) plain++;
        if (s[plain] || plain > LONGEST || words_in(s) < 4) continue;
        memcpy(line, s, plain + 1);
        keep_words(line, WORDS);
        return true;
    }
    return false;
}

/* Prints the line with its last word that has a letter replaced by [MASK]. */
static void print_masked(const char *line) {
    size_t end = strlen(line);
    while (end > 0 && !isalnum((unsigned char)line[end - 1]) && (unsigned char)line[end - 1] < 0x80)
        end--;
    size_t start = end;
    while (start > 0 && line[start - 1] != ' ') start--;
    printf("%.*s[MASK]%s", (int)start, line, line + end);
}

void next_text(const heed_model *m, const char *data, const char *run) {
    char line[LONGEST + 2] = "Some words and one more .", word[1024];
    const char *heed = program_name();
    first_line(data, line);
    run = heed_format_shell(word, sizeof word, run);
    printf("\nNext:\n");
    if (m->answers == HEED_ANSWER_MASKED) {
        printf("  %s fill %s \"", heed, run);
        print_masked(line);
        printf("\"\n");
    } else {
        keep_words(line, 3);
        if (m->steps) printf("  %s generate %s --prompt \"%s\"\n", heed, run, line);
        if (!m->steps && m->attending) printf("  %s attend %s \"%s\"\n", heed, run, line);
    }
    printf("  %s plot %s\n", heed, run);
}

/* Reads a column of the second line, as the first may name the columns. */
static bool first_source(const char *path, int column, char source[LONGEST + 2]) {
    char text[4096] = "", *line = text;
    FILE *f = fopen(path, "r");
    bool ok = f && fgets(text, sizeof text, f) && fgets(text, sizeof text, f) && strchr(text, '\t');
    if (f) fclose(f);
    if (ok && column == 1) line = strchr(text, '\t') + 1;
    size_t n = strcspn(line, "\t\r\n"), plain = 0;
    while (plain < n && is_plain(line[plain])) plain++;
    if (!ok || n == 0 || n > LONGEST || plain < n) return false;
    memcpy(source, line, n);
    source[n] = 0;
    return true;
}

void next_pairs(const heed_model *m, const char *data, const char *run) {
    char source[LONGEST + 2] = "some text", word[1024];
    const char *heed = program_name();
    bool pairs = m->kind == HEED_INPUT_PAIR;
    first_source(data, m->kind == HEED_INPUT_LABELLED && !heed_model_spec(m).per_word, source);
    run = heed_format_shell(word, sizeof word, run);
    printf("\nNext:\n");
    if (!pairs || m->steps)
        printf("  %s %s %s \"%s\"%s\n", heed, use_of(m), run, source, pairs ? " --attention" : "");
    printf("  %s eval %s\n  %s plot %s\n", heed, run, heed, run);
}
