/* text_check.c -- heed data check of a text file: what a training run would read. */
#include "cli/gather.h"
#include "kinds/training.h"

#include <string.h>

/* The first lines of a text that are not empty. */
static void print_sample(const char *path) {
    enum { LINES = 3, COLUMNS = 76, BYTES = 1 << 14 };
    int capacity = line_width(stdout) - 2 < COLUMNS ? line_width(stdout) - 2 : COLUMNS;
    int shown = 0;
    char text[BYTES];
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, BYTES, f) : 0;
    if (f) fclose(f);
    puts("\nSample:");
    for (size_t at = n >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0 ? 3 : 0;
         at < n && shown < LINES;) {
        size_t length = 0;
        while (at + length < n && text[at + length] != '\n') length++;
        if (length > 0) {
            fputs("  ", stdout);
            print_start(text + at, length, capacity);
            putchar('\n');
            shown++;
        }
        at += length + 1;
    }
}

bool overlap_text(const heed_corpus_info *a, char text[OVERLAP]) {
    char n1[32], n2[32];
    bool much = a->overlap * 10 > a->val_lines;
    snprintf(text, OVERLAP, "%s of %s validation lines are also in the training part%s",
             heed_format_count(n1, a->overlap), heed_format_count(n2, a->val_lines),
             much ? ": the validation loss says little" : "");
    return much;
}

const char *special_note(size_t lines, char text[160]) {
    char n[32];
    snprintf(text, 160, "%s line%s the text of a special token, which is read as text",
             heed_format_count(n, lines), lines == 1 ? " has" : "s have");
    return text;
}

enum { AT = 15 }; /* column at which facts begin, after their labels */

/* Whether lines are broken at a width, so that they are no examples of their own: long ones, of
 * which many begin in lower case, or that blank lines gather in paragraphs. */
static bool is_prose(const heed_text_facts *t) {
    enum { LONG = 30 };
    size_t full = t->lines - t->empty;
    return t->bytes > LONG * full && (t->continued * 5 > full || t->empty * 50 > full);
}

static void print_warnings(const program *p, const heed_corpus_info *a, const heed_text_facts *t) {
    int64_t block = heed_config_int(p->flags, "block");
    size_t unknown = a->unknown + a->val_unknown, tokens = a->tokens + a->val_tokens;
    char n[32];
    if (unknown * 100 > tokens)
        print_fact(AT, "  note",
                   "more than 1 %% is unknown: a larger --vocab, or another --tokenizer");
    if (a->cut_lines)
        print_fact(AT, "  note", "%s line%s cut at --block %lld",
                   heed_format_count(n, a->cut_lines), a->cut_lines == 1 ? " is" : "s are",
                   (long long)block);
    char note[160];
    if (a->special_lines) print_fact(AT, "  note", "%s", special_note(a->special_lines, note));
    if (a->val_tokens == 0)
        print_fact(AT, "  note", "no validation part: --val-split X or --val FILE makes one");
    bool blocks = strcmp(heed_config_text(p->flags, "packing"), "blocks") == 0;
    double longest = (double)t->longest * (double)tokens / (double)t->bytes; /* in tokens, about */
    if (blocks && t->lines > 50 && longest + 2 < (double)block && !is_prose(t))
        print_fact(AT, "  note", "every line fits into a block: --packing lines keeps them apart");
}

static void print_facts(program *p, const heed_tokenizer *k, const heed_corpus_info *a,
                        const heed_text_facts *t) {
    char n1[32], n2[32], n3[32];
    double tokens = (double)(a->tokens + a->val_tokens);
    print_fact(0, "", "%s", data_name(p, heed_config_text(p->flags, "data")));
    putchar('\n');
    print_fact(AT, "  encoding", "UTF-8, %s bytes, %s characters", heed_format_count(n1, t->bytes),
               heed_format_count(n2, t->characters));
    if (t->returns)
        print_fact(AT, "  line ends",
                   "CR LF: %s carriage returns are read as line ends, and not counted",
                   heed_format_count(n1, t->returns));
    print_fact(AT, "  lines", "%s, %s of them empty; the longest has %s bytes",
               heed_format_count(n1, t->lines), heed_format_count(n2, t->empty),
               heed_format_count(n3, t->longest));
    print_fact(AT, "  vocabulary", "%s, %s tokens", heed_tokenizer_kind(k),
               heed_format_count(n1, (uint64_t)heed_vocab_size(k)));
    print_fact(AT, "  training", "%s tokens", heed_format_count(n1, a->tokens));
    print_fact(AT, "  validation", "%s tokens (%.1f %%)", heed_format_count(n1, a->val_tokens),
               100 * (double)a->val_tokens / tokens);
    print_fact(AT, "  unknown", "%s tokens (%.2f %%)",
               heed_format_count(n1, a->unknown + a->val_unknown),
               100 * (double)(a->unknown + a->val_unknown) / tokens);
    char overlap[OVERLAP];
    overlap_text(a, overlap);
    bool pieces = a->lines > t->lines - t->empty; /* the split cut lines */
    if (a->val_lines && pieces)
        print_fact(AT, "  overlap", "unknown: lines are cut into pieces, %s of them for validation",
                   heed_format_count(n1, a->val_lines));
    else if (a->val_lines)
        print_fact(AT, "  overlap", "%s", overlap);
    print_warnings(p, a, t);
}

static void print_object(program *p, const heed_tokenizer *k, const heed_corpus_info *a,
                         const heed_text_facts *t) {
    print_json(
        p, json_pack("{s:s, s:I, s:I, s:I, s:I, s:I, s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:o}",
                     "data", data_name(p, heed_config_text(p->flags, "data")), "bytes",
                     (json_int_t)t->bytes, "characters", (json_int_t)t->characters, "lines",
                     (json_int_t)t->lines, "empty_lines", (json_int_t)t->empty, "longest_line",
                     (json_int_t)t->longest, "tokenizer", heed_tokenizer_kind(k), "vocab",
                     heed_vocab_size(k), "tokens", (json_int_t)a->tokens, "val_tokens",
                     (json_int_t)a->val_tokens, "unknown",
                     (json_int_t)(a->unknown + a->val_unknown), "val_lines",
                     (json_int_t)a->val_lines, "overlap", (json_int_t)a->overlap, "special_lines",
                     (json_int_t)a->special_lines, "chosen", choices_json(&p->chosen)));
}

void check_text(program *p, heed_data *d) {
    heed_text_facts facts;
    const char *data = heed_config_text(p->flags, "data");
    if (!heed_text_survey(p->c, data, &facts)) return;
    heed_corpus_info about = heed_corpus_about(d->batches);
    if (heed_config_bool(p->flags, "json"))
        print_object(p, d->tokenizer, &about, &facts);
    else {
        print_facts(p, d->tokenizer, &about, &facts);
        print_sample(data);
        print_try(p, p->model, "");
    }
}
