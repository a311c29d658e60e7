/* next.c -- commands to try after a training run, with words of its data; such words for an error.
 */
#include "kinds/training.h"

#include <ctype.h>
#include <string.h>

enum { LONGEST = FIRST_WORDS - 1, COLUMNS = 80, WORDS = 9, PROMPT = 3 };

/* Whether a character needs no escape between double quotes in any shell. */
static bool is_plain(char ch) {
    return ch && (isalnum((unsigned char)ch) || (unsigned char)ch >= 0x80 || strchr(" .,;:'-", ch));
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
 * begin with a licence; the start of a word, if the file has no lines. */
static char *read_part(const char *path, char text[4096]) {
    FILE *f = fopen(path, "r");
    bool book = f && fseek(f, 0, SEEK_END) == 0 && ftell(f) > 1 << 16;
    if (f) fseek(f, book ? ftell(f) / 2 : 0, SEEK_SET);
    size_t n = f ? fread(text, 1, 4095, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    if (book) return text + strcspn(text, strchr(text, '\n') ? "\n" : " ");
    return n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? text + 3 : text;
}

/* Copies the words with which the n bytes at s begin, as far as they are plain. Whether all are. */
static bool take_words(const char *s, size_t n, char words[LONGEST + 1]) {
    size_t plain = 0;
    while (plain < n && is_plain(s[plain])) plain++;
    snprintf(words, LONGEST + 1, "%.*s", (int)plain, s);
    words[heed_label_cut(words, COLUMNS)] = 0;
    return plain == n;
}

/* A plain line with at least four words that is shown whole; if there is none, the first words of
 * a plain line, or those with which a line begins. "": there are none, either. */
static void first_words(const char *path, char line[LONGEST + 1]) {
    enum { CUT = 1, WHOLE, MANY = 16 /* words, which fit any usual block */ };
    char text[4096], words[LONGEST + 1];
    int best = 0;
    *line = 0;
    for (char *s = read_part(path, text); *s && best < WHOLE; s += strcspn(s, "\n")) {
        s += strspn(s, " \r\n-"); /* a dash would begin an option */
        size_t n = strcspn(s, "\r\n");
        bool plain = take_words(s, n, words), ended = s[n];
        int rank = 0;
        int count = keep_words(words, LONGEST);
        if (plain && count >= 4) rank = ended && strlen(words) == n && count <= MANY ? WHOLE : CUT;
        if (rank > best || !*line) snprintf(line, sizeof words, "%s", words);
        if (rank > best) best = rank;
    }
    if (best < WHOLE) keep_words(line, WORDS);
    for (size_t n = strlen(line); best < WHOLE && n && strchr(" ,;:", line[n - 1]);) line[--n] = 0;
}

/* The first token that begins with a letter, as text; "": none does. */
static void first_token(const heed_tokenizer *k, char words[LONGEST + 1]) {
    heed_text text = {.c = NULL};
    for (int32_t id = 0; id < heed_vocab_size(k) && !*words; id++) {
        text.n = 0;
        bool letter = isalpha((unsigned char)*heed_token_text(k, id));
        if (letter && heed_decode(k, &id, 1, &text)) take_words(text.s, text.n, words);
    }
    heed_text_free(&text);
}

void first_words_of(const heed_run *r, char words[FIRST_WORDS]) {
    const char *data =
        heed_config_has(r->config, "data") ? heed_config_text(r->config, "data") : "";
    *words = 0;
    if (is_file(data)) first_words(data, words);
    keep_words(words, PROMPT);
    if (!*words) first_token(r->tokenizer, words);
}

/* A source, quoted for a shell: the first plain one among the first hundred, which may be cut at
 * COLUMNS; if there is none, the first one that is shorter. "": there is none, either. */
static void first_source(const heed_data *d, char source[4 * LONGEST]) {
    enum { MOST = 100 };
    char words[LONGEST + 1];
    heed_item item = {.source = {.c = d->c}, .targets = {.c = d->c}};
    bool plain = false;
    size_t count = d->kind->inputs(d, false);
    *source = 0;
    for (size_t i = 0; !plain && i < count && i < MOST && d->kind->input(d, false, i, &item); i++) {
        size_t n = item.source.n;
        if ((plain = take_words(item.source.s, n, words)))
            snprintf(source, 4 * LONGEST, "\"%s\"", words);
        else if (!*source && n < LONGEST && heed_label_cut(item.source.s, COLUMNS) == n)
            heed_format_shell(source, 4 * LONGEST, item.source.s);
    }
    heed_item_free(&item);
}

/* A line of the text, with [MASK] for its last word that has a letter; or words to continue. */
static void first_line(const heed_model *m, const char *path, char source[4 * LONGEST]) {
    char line[LONGEST + 1];
    first_words(path, line);
    if (fills_masks(m)) {
        size_t end = strlen(line);
        while (end > 0 && !isalnum((unsigned char)line[end - 1]) &&
               (unsigned char)line[end - 1] < 0x80)
            end--;
        size_t start = end;
        while (start > 0 && line[start - 1] != ' ') start--;
        snprintf(source, 4 * LONGEST, "\"%.*s[MASK]%s\"", (int)start, line, line + end);
        return;
    }
    keep_words(line, PROMPT);
    *source = 0;
    if (*line) snprintf(source, 4 * LONGEST, "%s\"%s\"", m->steps ? "--prompt " : "", line);
}

void print_next(const heed_model *m, const heed_data *d, const char *path, const char *run) {
    char source[4 * LONGEST] = "";
    const char *heed = program_name(), *use = use_of(m), *after = "";
    const heed_data_kind *kind = data_of(m);
    bool pictures = kind->images, text = reads_text(m), uses = strcmp(use, "eval") != 0;
    if (pictures)
        snprintf(source, sizeof source, "PICTURE...%s",
                 makes_pictures(m) ? " --png sheet.png" : "");
    else if (text)
        first_line(m, path, source);
    else if (kind->input)
        first_source(d, source);
    else
        snprintf(source, sizeof source, "NUMBERS...");
    if (text && !uses && m->attending) use = "attend", uses = *source;
    if (kind->target && !pictures) after = " --attention";
    printf("\nNext:\n");
    if (uses && (*source || text))
        printf("  %s %s %s%s%s%s\n", heed, use, run, *source ? " " : "", source, after);
    if (!text && (m->eval_batches || kind->eval_batches))
        printf("  %s eval %s%s\n", heed, run, makes_pictures(m) ? " --code codes.png" : "");
    if (pictures && kind->ask && !kind->target && m->attending)
        printf("  %s attend %s PICTURE --png attention.png\n", heed, run);
    printf("  %s plot %s\n", heed, run);
}
