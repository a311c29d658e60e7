/* next.c -- commands to try after a training run, with words of its data. */
#include "kinds/training.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = 200, WORDS = 9 };

/* Whether a character needs no escape between double quotes in any shell. */
static bool is_plain(char ch) {
    return isalnum((unsigned char)ch) || (unsigned char)ch >= 0x80 || strchr(" .,;:'-", ch);
}

/* Cuts the line after its `most`-th word; returns how many words it has. */
static int keep_words(char *line, int most) {
    int n = 0;
    for (char *s = line; *s; s++) {
        bool after_word = s != line && s[-1] != ' ';
        n += *s != ' ' && !after_word;
        if (*s != ' ' || !after_word || n < most) continue;
        *s = 0;
        return n;
    }
    return n;
}

/* Reads 4 KB of a file and returns the start of a line: for a long one, in its middle, as books
 * begin with a licence. */
static char *read_part(const char *path, char text[4096]) {
    FILE *f = fopen(path, "r");
    bool book = f && fseek(f, 0, SEEK_END) == 0 && ftell(f) > 1 << 16;
    if (f) fseek(f, book ? ftell(f) / 2 : 0, SEEK_SET);
    size_t n = f ? fread(text, 1, 4095, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    if (book) return text + strcspn(text, "\n");
    return strncmp(text, "\xEF\xBB\xBF", 3) == 0 ? text + 3 : text;
}

/* The first words of a plain line with at least four words. */
static bool first_line(const char *path, char line[LONGEST + 2]) {
    char text[4096], *start = read_part(path, text);
    for (char *s = start, *end; (end = strchr(s, '\n')); s = end + 1) {
        *end = 0;
        s[strcspn(s, "\r")] = 0;
        s += strspn(s, " ");
        size_t plain = 0;
        while (s[plain] && is_plain(s[plain])) plain++;
        if (s[plain] || plain > LONGEST || keep_words(s, WORDS) < 4) continue;
        memcpy(line, s, plain + 1);
        return true;
    }
    return false;
}

void next_text(const heed_model *m, const char *data, const char *run) {
    char line[LONGEST + 2] = "Some words and one more .", word[1024];
    const char *heed = program_name();
    first_line(data, line);
    run = heed_format_shell(word, sizeof word, run);
    printf("\nNext:\n");
    if (m->answers == HEED_ANSWER_MASKED) { /* for the last word that has a letter */
        size_t end = strlen(line);
        while (end > 0 && !isalnum((unsigned char)line[end - 1]) &&
               (unsigned char)line[end - 1] < 0x80)
            end--;
        size_t start = end;
        while (start > 0 && line[start - 1] != ' ') start--;
        printf("  %s fill %s \"%.*s[MASK]%s\"\n", heed, run, (int)start, line, line + end);
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
