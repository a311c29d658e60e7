/* capitals TABLE SENTENCES HELDOUT -- makes the corpus of the demo.
 *
 * TABLE: country, capital, continent, language, tab-separated, after a header line; one answer for
 * each subject and relation. Each fact becomes one sentence per template of its relation. Several
 * templates share a frame ("The ... of France is X .", "Paris is the ... of X ."), in which the
 * relation word alone decides the answer. One pair of (fact, template) per country is left out of
 * SENTENCES and written to HELDOUT as "sentence with [MASK] <tab> answer": the fact is still told
 * in the other templates. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { COUNTRY, CAPITAL, CONTINENT, LANGUAGE, FIELDS };
enum { FACT_CAPITAL, FACT_CONTINENT, FACT_LANGUAGE, FACTS };
enum { LINE = 512 };

typedef struct {
    int fact, answer;
    const char *text; /* 0 to 3 stand for the fields */
} template;

static const template templates[] = {
    {FACT_CAPITAL, CAPITAL, "The capital of 0 is 1 ."},
    {FACT_CAPITAL, COUNTRY, "1 is the capital of 0 ."},
    {FACT_CAPITAL, CAPITAL, "0 has its capital in 1 ."},
    {FACT_CAPITAL, CAPITAL, "0 chose 1 as its capital ."},
    {FACT_CAPITAL, COUNTRY, "1 is a city in the country of 0 ."},
    {FACT_CAPITAL, COUNTRY, "The country of 1 is 0 ."},
    {FACT_CONTINENT, CONTINENT, "The continent of 0 is 2 ."},
    {FACT_CONTINENT, CONTINENT, "0 lies in 2 ."},
    {FACT_CONTINENT, CONTINENT, "1 is the envy of 2 ."},
    {FACT_CONTINENT, CONTINENT, "1 is the pride of 2 ."},
    {FACT_CONTINENT, CONTINENT, "The continent of 1 is 2 ."},
    {FACT_LANGUAGE, LANGUAGE, "The language of 0 is 3 ."},
    {FACT_LANGUAGE, LANGUAGE, "People in 0 speak 3 ."},
    {FACT_LANGUAGE, LANGUAGE, "1 is the home of 3 ."},
    {FACT_LANGUAGE, LANGUAGE, "1 is the voice of 3 ."},
    {FACT_LANGUAGE, LANGUAGE, "The language of 1 is 3 ."},
};
enum { TEMPLATES = sizeof templates / sizeof *templates };

static int fail(const char *path, int line, const char *why) {
    fprintf(stderr, "capitals: %s:%d: %s\n", path, line, why);
    return 3;
}

/* Splits the line at its tabs; false unless there are exactly FIELDS words, none of them empty. */
static bool split(char *line, char *field[FIELDS]) {
    line[strcspn(line, "\r\n")] = 0;
    for (int i = 0; i < FIELDS; i++) {
        field[i] = line;
        size_t n = strcspn(line, "\t");
        bool last = line[n] == 0;
        if (n == 0 || memchr(line, ' ', n) || last != (i == FIELDS - 1)) return false;
        line[n] = 0;
        line += n + 1;
    }
    return true;
}

/* Writes the sentence; the field `hidden` (-1: none) as [MASK]. */
static void write_sentence(FILE *out, const char *text, char *const field[FIELDS], int hidden) {
    for (; *text; text++) {
        int i = *text - '0';
        if (i < 0 || i >= FIELDS)
            putc(*text, out);
        else
            fputs(i == hidden ? "[MASK]" : field[i], out);
    }
}

/* Country number n: its fact n mod 3 loses one template, another one from country to country. */
static bool is_held_out(int country, int fact, int number_in_fact, int count) {
    return country % FACTS == fact && country / FACTS % count == number_in_fact;
}

static void write_country(FILE *out, FILE *held, char *const field[FIELDS], int country) {
    int count[FACTS] = {0}, seen[FACTS] = {0};
    for (int i = 0; i < TEMPLATES; i++) count[templates[i].fact]++;
    for (int i = 0; i < TEMPLATES; i++) {
        const template *t = &templates[i];
        bool hold = is_held_out(country, t->fact, seen[t->fact]++, count[t->fact]);
        write_sentence(hold ? held : out, t->text, field, hold ? t->answer : -1);
        if (hold) fprintf(held, "\t%s", field[t->answer]);
        putc('\n', hold ? held : out);
    }
}

static int convert(const char *path, FILE *in, FILE *out, FILE *held) {
    char line[LINE], *field[FIELDS];
    for (int n = 1; fgets(line, sizeof line, in); n++) {
        if (!split(line, field)) return fail(path, n, "expected 4 words between tabs");
        if (n > 1) write_country(out, held, field, n - 2);
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc != 4) {
        fprintf(stderr, "usage: capitals TABLE SENTENCES HELDOUT\n");
        return 2;
    }
    FILE *file[3] = {NULL, NULL, NULL};
    int status = 0;
    for (int i = 0; i < 3 && !status; i++)
        if (!(file[i] = fopen(argv[i + 1], i ? "w" : "r"))) {
            perror(argv[i + 1]);
            status = 1;
        }
    if (!status) status = convert(argv[1], file[0], file[1], file[2]);
    for (int i = 0; i < 3; i++)
        if (file[i] && (ferror(file[i]) | (fclose(file[i]) != 0)) && !status) {
            perror(argv[i + 1]);
            status = 1;
        }
    return status;
}
