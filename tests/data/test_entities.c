/* Entities in labels of words: the counts are those of seqeval 1.2.2 (tests/parity/entities.py). */
#include "data/sets.h"
#include "files.h"

enum { LABELS = 32, WORDS = 64 };

/* Labels of sentences, which "|" ends, and the different ones. */
typedef struct {
    char text[1024];
    char *word[WORDS];
    int count;
} words;

static void cut(words *w, const char *text) {
    snprintf(w->text, sizeof w->text, "%s", text);
    w->count = 0;
    for (char *s = strtok(w->text, " "); s && w->count < WORDS; s = strtok(NULL, " "))
        w->word[w->count++] = s;
}

static int number_of(const char **labels, int *count, const char *label) {
    for (int i = 0; i < *count; i++)
        if (strcmp(labels[i], label) == 0) return i;
    labels[*count] = label;
    return (*count)++;
}

/* "LOC 7 6 3 PER 9 11 5": type, entities, predicted ones and correct ones of each. */
static const char *counted(heed_ctx *c, const char *gold, const char *predicted, bool strict,
                           const char *scheme) {
    static char out[512];
    static words g, p;
    const char *labels[LABELS];
    int count = 0;
    size_t types, n = 0;
    cut(&g, gold);
    cut(&p, predicted);
    CHECK(g.count == p.count);
    for (int i = 0; i < g.count; i++)
        if (*g.word[i] != '|') {
            number_of(labels, &count, g.word[i]);
            number_of(labels, &count, p.word[i]);
        }
    heed__entities *e = heed__entities_new(c, labels, count, strict);
    CHECK(e && (!strict || strcmp(heed__entities_scheme(e), scheme) == 0));
    for (int i = 0; i < g.count; i++)
        if (*g.word[i] == '|')
            heed__entities_end(e);
        else
            heed__entities_word(e, number_of(labels, &count, g.word[i]),
                                number_of(labels, &count, p.word[i]));
    heed__entities_end(e);
    const heed__entity_score *list = heed__entities_scores(e, &types);
    *out = 0;
    for (size_t i = 0; i < types; i++)
        n += (size_t)snprintf(out + n, sizeof out - n, "%s%s %zu %zu %zu", i ? " " : "",
                              list[i].type, list[i].gold, list[i].predicted, list[i].correct);
    heed__entities_free(e);
    return out;
}

TEST_IN(entities_are_counted_as_by_seqeval, heed_open(NULL)) {
    static const struct {
        const char *gold, *predicted, *scheme, *counts[2]; /* default, strict */
    } cases[] = {
        {"I-LOC I-LOC I-LOC O O I-LOC I-PER I-LOC B-PER | I-PER I-PER I-LOC B-PER O B-PER B-LOC O "
         "B-LOC | O O O B-PER I-LOC O I-PER O B-PER | O O I-LOC B-PER O B-LOC O O B-LOC | B-PER O "
         "B-LOC I-LOC I-PER O I-PER B-PER B-LOC",
         "I-LOC I-LOC I-PER O O I-LOC I-LOC I-LOC B-LOC | I-PER I-LOC I-LOC B-PER O O I-LOC O "
         "B-LOC | O O O B-PER I-LOC I-PER I-PER O B-LOC | I-PER O I-PER B-PER O B-LOC O I-LOC "
         "B-LOC | B-PER O B-LOC I-LOC I-PER O I-PER B-PER B-LOC",
         "IOB2",
         {"LOC 12 13 7 PER 13 12 7", "LOC 6 7 5 PER 8 5 5"}},
        {"B-A S-A B-A S-B-C O O I-A E-A B-B-C | S-B-C I-A B-A O O O O I-B-C I-B-C | I-B-C S-A "
         "B-B-C O E-B-C O S-A E-A E-A | O B-A O O E-A I-B-C B-B-C E-B-C O | E-A E-A O S-A O I-A O "
         "B-B-C B-B-C",
         "I-B-C S-A I-B-C I-A O O E-A E-A B-B-C | S-B-C I-A B-A O O O O B-A I-B-C | I-B-C S-A "
         "B-B-C I-A E-B-C O B-A E-A E-A | B-A B-A O O E-A I-B-C E-A E-B-C O | E-A E-A O S-A O "
         "I-B-C E-B-C B-B-C B-B-C",
         "IOBES",
         {"A 16 18 10 B-C 11 13 8", "A 4 4 3 B-C 3 1 1"}},
        {"I I O I I-PER O O I-PER O | I-PER O O O O O O I O | O I I-PER I-PER I-PER I-PER O O O | "
         "O O O I-PER O I-PER I I-PER O | I-PER O I I-PER O I I-PER I I-PER",
         "I I O I I-PER O I-PER I-PER O | I O I-PER O O O O I O | O I I-PER I-PER I-PER I-PER O O "
         "O | O O O I-PER O I-PER I I-PER O | I-PER O I O I-PER O I I I-PER",
         NULL,
         {"PER 11 10 7 _ 8 8 6"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int strict = 0; strict < 2 && cases[i].counts[strict]; strict++)
            CHECK_TEXT(counted(c, cases[i].gold, cases[i].predicted, strict, cases[i].scheme),
                       cases[i].counts[strict]);
}

TEST_IN(entities_are_of_labels_that_name_them, heed_open(NULL)) {
    static const char *const pos[] = {"NOUN", "O", "B"}, *const none[] = {"O", "O"},
                             *const inside[] = {"I-A", "O"}, *const mixed[] = {"B-A", "L-A", "S-A"};
    CHECK(!heed__entities_new(c, pos, 3, false) && !heed__entities_new(c, none, 2, false));
    CHECK(!heed__entities_new(c, inside, 2, true) && !heed__entities_new(c, mixed, 3, true));
    heed__entities *e = heed__entities_new(c, inside, 2, false);
    size_t count;
    CHECK(e && !heed__entities_scheme(e));
    heed__entities_scores(e, &count);
    CHECK(count == 0);
    heed__entities_free(e);
    heed__entities_free(NULL);
}
