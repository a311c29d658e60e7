/* captions_check.c -- heed data check of pictures with captions: what a training run would read. */
#include "kinds/image.h"
#include "kinds/pairs.h"

#include <string.h>

enum { AT = 15 }; /* column at which facts begin, after their labels */

static double share(size_t part, size_t all) { return all ? 100 * (double)part / (double)all : 0; }

static void print_part(const char *label, size_t captions, size_t pictures) {
    char n1[32], n2[32];
    print_fact(AT, label, "%s caption%s of %s picture%s", heed_format_count(n1, captions),
               captions == 1 ? "" : "s", heed_format_count(n2, pictures), pictures == 1 ? "" : "s");
}

static void print_captions(const heed_data *d, const heed_pairs_info *t) {
    char n1[32], n2[32], n3[32], n4[32];
    print_fact(AT, "  vocabulary", "%s, %s tokens", heed_tokenizer_kind(d->tokenizer),
               heed_format_count(n1, (uint64_t)heed_vocab_size(d->tokenizer)));
    print_fact(AT, "  tokens",
               "%s, %s of them unknown (%.2f %%); the longest caption has %d, [SEP] counted",
               heed_format_count(n1, t->target_tokens), heed_format_count(n2, t->target_unknown),
               share(t->target_unknown, t->target_tokens), t->target_longest);
    if (t->val_target_tokens)
        print_fact(AT, "", "validation: %s, %s of them unknown (%.2f %%)",
                   heed_format_count(n3, t->val_target_tokens),
                   heed_format_count(n4, t->val_target_unknown),
                   share(t->val_target_unknown, t->val_target_tokens));
}

static void print_pictures(heed_images *k) {
    const heed_images_info *a = heed_images_about(k);
    size_t copies = a->overlap[HEED_VAL_PART];
    char n[32];
    print_sizes(AT, a);
    print_fact(AT, "  skipped", "%s",
               a->bad ? heed_format_count(n, a->bad) : "none: all pictures can be decoded");
    print_skipped(stdout, k, "               ", SIZE_MAX);
    print_fact(AT, "  duplicates",
               "%s validation captions are of pictures that are in the training part, too",
               copies ? heed_format_count(n, copies) : "no");
    print_duplicate(k);
}

static void print_facts(program *p, const heed_data *d) {
    const heed_captions *k = d->batches;
    const heed_captions_info *a = heed_captions_about(k);
    const heed_pairs_info *t = heed_pairs_about(heed_captions_pairs(k));
    char note[160];
    print_fact(0, "", "%s", heed_config_text(p->flags, "data"));
    putchar('\n');
    print_part("  training", a->captions, a->pictures);
    if (d->no_val)
        print_fact(AT, "  validation", "none: --val-split 0.1");
    else
        print_part("  validation", a->val_captions, a->val_pictures);
    print_fact(AT, "  captions",
               a->fewest == a->most ? "%zu for each picture" : "%zu to %zu for each picture",
               a->fewest, a->most);
    print_captions(d, t);
    print_pictures(heed_captions_images(k));
    if (*d->sided) print_fact(AT, "  note", "%s: pictures are not mirrored", d->sided);
    for (int i = 0; pairs_note(t, p->flags, i, note); i++)
        if (*note) print_fact(AT, "  note", "%s", note);
}

static void print_samples(heed_captions *k) {
    enum { SHOWN = 3, COLUMNS = 60, START = 5 };
    int capacity = line_width(stdout) - START < COLUMNS ? line_width(stdout) - START : COLUMNS;
    heed_captioned found;
    size_t n;
    puts("\nSamples of the training part:");
    for (size_t i = 0; i < SHOWN && i < heed_captions_about(k)->pictures; i++) {
        if (!heed_captions_get(k, false, i, &found, NULL)) return;
        fputs("  ", stdout);
        print_name(found.path, 0, 0);
        for (size_t j = 0; j < SHOWN && j < found.captions; j++) {
            const char *text = heed_captions_text(k, false, i, j, &n);
            fputs("\n     ", stdout);
            print_start(text, n, capacity);
        }
        putchar('\n');
    }
}

static json_t *skipped_json(const heed_images *k) {
    json_t *bad = json_array();
    const char *path, *why;
    for (size_t i = 0; heed_images_bad(k, i, &path, &why); i++)
        json_array_append_new(bad, json_pack("{s:o, s:s}", "path", json_text(path), "why", why));
    return bad;
}

static void print_object(program *p, const heed_data *d) {
    const heed_captions *k = d->batches;
    const heed_captions_info *a = heed_captions_about(k);
    const heed_pairs_info *t = heed_pairs_about(heed_captions_pairs(k));
    const heed_images_info *v = heed_images_about(heed_captions_images(k));
    json_t *o = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:b, s:I, s:I, s:I, s:I}", "data",
        heed_config_text(p->flags, "data"), "captions", (json_int_t)a->captions, "pictures",
        (json_int_t)a->pictures, "val_captions", (json_int_t)(d->no_val ? 0 : a->val_captions),
        "val_pictures", (json_int_t)(d->no_val ? 0 : a->val_pictures), "fewest",
        (json_int_t)a->fewest, "most", (json_int_t)a->most, "directions", *d->sided != 0, "blank",
        (json_int_t)t->blank, "left_out", (json_int_t)t->left_out, "cut", (json_int_t)t->cut.texts,
        "empty", (json_int_t)t->empty);
    json_object_update_new(
        o, json_pack(
               "{s:s, s:i, s:I, s:I, s:I, s:I, s:i, s:i, s:i, s:I, s:I, s:o, s:o}", "tokenizer",
               heed_tokenizer_kind(d->tokenizer), "vocab", heed_vocab_size(d->tokenizer), "tokens",
               (json_int_t)t->target_tokens, "unknown", (json_int_t)t->target_unknown, "val_tokens",
               (json_int_t)t->val_target_tokens, "val_unknown", (json_int_t)t->val_target_unknown,
               "longest", t->target_longest, "image_size", v->view.size, "channels",
               v->view.channels, "duplicates", (json_int_t)v->overlap[HEED_VAL_PART],
               "special_lines", (json_int_t)t->special_lines, "skipped",
               skipped_json(heed_captions_images(k)), "chosen", choices_json(&p->chosen)));
    print_json(p, o);
}

void check_captions(program *p, heed_data *d) {
    const heed_pairs_info *t = heed_pairs_about(heed_captions_pairs(d->batches));
    char suggestion[64] = "";
    if (t->left_out) snprintf(suggestion, sizeof suggestion, "--block %d", t->target_longest);
    if (heed_config_bool(p->flags, "json")) {
        print_object(p, d);
        return;
    }
    print_facts(p, d);
    print_samples(d->batches);
    print_try(p, p->model, suggestion);
}
