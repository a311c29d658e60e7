/* kind.c -- what is printed of data before a training: choices, an epoch. */
#include "kinds/training.h"

#include <stdlib.h>
#include <string.h>

/* Appends the text with whole numbers as "4,000". */
static void add_grouped(heed_text *out, const char *text) {
    char n[32];
    for (const char *s = text; *s;) {
        size_t digits = strspn(s, "0123456789");
        char before = s == text ? ' ' : s[-1], after = s[digits];
        bool whole = digits > 0 && digits < 19 && before == ' ' && strchr(" ,:", after);
        size_t length = digits ? digits : 1;
        if (whole)
            heed_text_add(out, "%s", heed_format_count(n, strtoull(s, NULL, 10)));
        else
            heed_text_put(out, s, length);
        s += length;
    }
}

const char *choice_text(const heed_choice *k, char text[CHOICE_TEXT]) {
    heed_text shown = {.c = NULL};
    add_grouped(&shown, k->what);
    heed_text_put(&shown, ": ", 2);
    add_grouped(&shown, k->why);
    snprintf(text, CHOICE_TEXT, "%s", shown.s ? shown.s : k->what);
    heed_text_free(&shown);
    return text;
}

void banner_choices(const heed_choices *k) {
    char text[CHOICE_TEXT];
    for (int i = 0; i < k->count; i++)
        banner_row(i ? "" : "chosen", "%s", choice_text(&k->list[i], text));
}

json_t *choices_json(const heed_choices *k) {
    json_t *list = json_array();
    for (int i = 0; i < k->count; i++)
        json_array_append_new(
            list, json_pack("{s:s, s:s}", "settings", k->list[i].what, "reason", k->list[i].why));
    return list;
}

void banner_epoch(const heed_model *m, const heed_config *f, uint64_t epoch_batches) {
    char n[32], batches[48] = "", block[32] = "";
    bool full = heed_optimizer_named(heed_config_text(f, "optimizer"))->full_batch;
    uint64_t each = full ? epoch_batches : (uint64_t)heed_config_int(f, "accumulate");
    if (reads_pictures(m)) each = 1;
    uint64_t steps = (epoch_batches + each - 1) / each;
    if (each > 1) snprintf(batches, sizeof batches, "%s x ", heed_format_count(n, each));
    if (reads_text(m))
        snprintf(block, sizeof block, "x %lld ", (long long)heed_config_int(f, "block"));
    banner_row("epoch", "%s step%s of %s%lld %s%s", heed_format_count(n, steps),
               steps == 1 ? "" : "s", batches, (long long)heed_config_int(f, "batch"), block,
               data_of(m)->items);
}

void print_start(const char *text, size_t n, int columns) {
    char line[512];
    snprintf(line, sizeof line, "%.*s", n < 400 ? (int)n : 400, text);
    print_name(line, 0, columns);
}

bool are_few(const heed_model *m, const heed_data *d, const heed_config *f, char text[256]) {
    enum { FEW = 5000 };
    size_t n = heed_data_count(d, -1);
    char count[32];
    *text = 0;
    if (!reads_patches(m) || !names_pictures(m) || heed_config_int(f, "channels") != 3 ||
        n >= FEW || *heed_config_text(f, "from"))
        return false;
    snprintf(
        text, 256,
        "%s pictures are few for attention over patches: a CNN (%s train cnn) often learns "
        "more from them, but has no attention to show; to keep the attention, --from RUN starts "
        "from a run on other pictures",
        heed_format_count(count, n), program_name());
    return true;
}
