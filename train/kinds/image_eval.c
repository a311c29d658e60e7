/* image_eval.c -- heed eval for classifiers of pictures. */
#include "kinds/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- output ---- */

static const char *read_name(const judgement *j) { return j->whole ? "all" : part_name(j->part); }
static const char *read_key(const judgement *j) {
    return heed_part_name(j->whole ? HEED_PARTS : j->part);
}

static void print_measures(const program *p, const heed_config *f, const judgement *j,
                           const measures *m) {
    char n[32];
    enum { AT = 15 };
    print_fact(0, "", j->whole ? "%s on %s: %s %s pictures" : "%s on %s, %s part: %s pictures",
               p->argv[0], heed_config_text(f, "data"), read_name(j),
               heed_format_count(n, j->count));
    putchar('\n');
    print_fact(AT, "  loss", "%.4f", m->loss);
    print_fact(AT, "  accuracy", "%.2f %%  (95 %%: %.2f to %.2f)", 100 * m->accuracy, 100 * m->low,
               100 * m->high);
    if (j->classes > 5) print_fact(AT, "  top 5", "%.2f %%", 100 * m->top5);
}

static void print_object(program *p, const heed_config *f, const judgement *j, const measures *m,
                         const size_t *confusion) {
    print_json(p,
               json_pack("{s:o, s:s, s:o, s:o, s:[o,o], s:o, s:I, s:o}", "data",
                         json_text(heed_config_text(f, "data")), "part", read_key(j), "loss",
                         json_number(m->loss), "accuracy", json_number(m->accuracy), "accuracy_95",
                         json_number(m->low), json_number(m->high), "top5", json_number(m->top5),
                         "items", (json_int_t)m->items, "classes", classes_json(j, confusion)));
}

static void write_pictures(program *p, heed_images *k, const judgement *j,
                           const size_t *confusion) {
    const char *matrix = heed_config_text(p->flags, "confusion"),
               *mistakes = heed_config_text(p->flags, "mistakes");
    bool json = heed_config_bool(p->flags, "json");
    if (*matrix && confusion_png(p->c, j, confusion, matrix) && !json)
        printf("\nwrote %s\n", matrix);
    if (*mistakes && mistakes_png(p->c, k, j, (int)heed_config_int(p->flags, "worst"), mistakes) &&
        !json)
        printf("\nwrote %s\n", mistakes);
}

static void report(program *p, const heed_config *f, heed_images *k, const judgement *j) {
    measures m = measure(&j->score);
    size_t *confusion = heed_confusion(p->c, j->list, j->count, j->classes);
    if (confusion && heed_config_bool(p->flags, "json"))
        print_object(p, f, j, &m, confusion);
    else if (confusion) {
        print_measures(p, f, j, &m);
        print_classes(j, confusion);
        print_confusion(j, confusion);
    }
    if (confusion) write_pictures(p, k, j, confusion);
    free(confusion);
}

/* Warns if the training part was evaluated only because there is no other. */
static void warn_of_seen(program *p, const judgement *j) {
    bool asked = strcmp(heed_config_text(p->flags, "part"), "auto") != 0;
    if (j->whole || asked || j->part != HEED_TRAIN_PART) return;
    heed_message(p->c, HEED_WARN,
                 "there is no validation and no test part: this is measured on the training "
                 "pictures; hint: `eval %s OTHER-PICTURES`",
                 p->argv[0]);
}

void eval_pictures(program *p, const heed_model *m, heed_config *f, heed_run *r) {
    char what[512];
    judgement j = {0};
    heed_data *d = eval_data_open(p, m, f, r, what);
    if (!d) return;
    heed_images *images = d->batches;
    const heed_images_info *a = heed_images_about(images);
    if (judge_part(r->tape, r->model, r->self, images, d->part, (int)heed_config_int(f, "batch"),
                   &j)) {
        j.whole = d->whole;
        report(p, f, images, &j);
        warn_of_seen(p, &j);
    }
    if (a->bad) {
        heed_message(p->c, HEED_WARN, "%zu pictures cannot be decoded and were skipped", a->bad);
        size_t more = print_skipped(stderr, images, "  ", 3);
        if (more) fprintf(stderr, "  and %zu more\n", more);
    }
    judgement_free(&j);
    heed_data_close(d);
}
