/* image.c -- what the program prints during and after training on pictures. */
#include "kinds/image.h"
#include "kinds/inputs.h"

#include <math.h>
#include <string.h>

/* ---- skipped pictures ---- */

const char *part_name(heed_part part) {
    static const char *const names[] = {"training", "validation", "test"};
    return names[part];
}

static size_t add_skipped(heed_text *out, const heed_images *k, const char *indent, size_t most) {
    const char *path, *why;
    char shown[PLAIN];
    size_t i = 0;
    for (; i < most && heed_images_bad(k, i, &path, &why); i++)
        heed_text_add(out, "%s%s %s\n", indent, heed_format_line(shown, sizeof shown, path), why);
    return heed_images_about(k)->bad - i;
}

size_t print_skipped(FILE *out, const heed_images *k, const char *indent, size_t most) {
    heed_text text = {.c = NULL};
    size_t more = add_skipped(&text, k, indent, most);
    if (text.s) fputs(text.s, out);
    heed_text_free(&text);
    return more;
}

/* Without a banner, which lists them. */
static void warn_of_skipped(program *p, const heed_images *k) {
    const char *first, *why;
    show_mode mode = show_mode_of(flag_text(p, "progress"));
    bool banner = mode == SHOW_BAR || mode == SHOW_LINES;
    if (!banner && heed_images_bad(k, 0, &first, &why))
        heed_message(p->c, HEED_WARN, "skipped pictures: %zu; the first: %s %s",
                     heed_images_about(k)->bad, first, why);
}

void log_skipped(program *p, const heed_images *k, const char *run) {
    heed_text text = {.c = NULL};
    if (!heed_images_about(k)->bad) return;
    warn_of_skipped(p, k);
    add_skipped(&text, k, "skipped: ", SIZE_MAX);
    add_to_run(p, run, "train.log", &text);
}

void begun_pictures(program *p, const heed_data *d, const char *run) {
    log_skipped(p, d->batches, run);
}

/* ---- the end of a training run ---- */

static void next_pictures(const heed_model *m, const heed_data *d, const char *path,
                          const char *run) {
    (void)d;
    (void)path;
    const char *heed = program_name();
    printf("\nNext:\n  %s eval %s\n  %s classify %s PICTURE...\n", heed, run, heed, run);
    if (m->attending) printf("  %s attend %s PICTURE --png attention.png\n", heed, run);
    printf("  %s plot %s\n", heed, run);
}

/* Writes the test results of the best weights as a line of metrics.csv. */
static void note_test(program *p, const char *run, int64_t step, const measures *m) {
    heed_text row = {.c = NULL};
    heed_text_add(&row, "%lld,,test,%.9g,", (long long)step, m->loss);
    if (isfinite(m->accuracy)) heed_text_add(&row, "%.9g", m->accuracy);
    heed_text_add(&row, ",,,,\n");
    add_to_run(p, run, "metrics.csv", &row);
}

static void print_test(const measures *m, const training_end *e) {
    char n[32];
    if (isfinite(m->accuracy))
        print_fact(
            0, "",
            "test part, read once with the best weights: accuracy %.2f %% (95 %%: %.2f to %.2f) "
            "of %s pictures",
            100 * m->accuracy, 100 * m->low, 100 * m->high,
            heed_format_count(n, (uint64_t)m->items));
    if (e->trained) print_waited(e);
}

void print_waited(const training_end *e) {
    enum { SECONDS = 10 }; /* of a shorter training, the first pictures are a large part */
    int64_t workers = heed_config_int(e->f, "workers"), more = workers ? 2 * workers : 1;
    if (e->waited > 0.1 && e->seconds > SECONDS && more <= cpu_count())
        printf("training waited for pictures %.1f %% of the time; hint: --workers %lld\n",
               100 * e->waited, (long long)more);
}

/* Reads the test part, batch by batch, so that it may be interrupted. */
static heed_score read_test(const training_end *e, heed_run *r, const heed_data *d) {
    heed_score score = {0};
    heed_batch b;
    heed_evaluation s = {.run = r, .data = d, .rows = (int)heed_config_int(e->f, "batch")};
    bool ok = true;
    if (e->bar) fputs("reading the test part ...", stderr);
    heed_images_set_eval_part(d->batches, HEED_TEST_PART);
    s.batches = heed_model_eval_batches(r->model, r->self, d, s.rows);
    for (uint64_t i = 0; ok && i < s.batches; i++)
        ok = was_interrupted(NULL) ? heed_fail(r->c, HEED_INTERRUPTED, "interrupted")
                                   : heed_evaluation_batch(&s, i, &b, &score);
    if (e->bar) fputs("\r\033[K", stderr);
    return score;
}

bool test_pictures(program *p, const heed_data *d, training_end *e, measures *m) {
    heed_images *k = d->batches;
    run_curves curves = {.test = (double)NAN};
    if (!e->trained) curves_read(p->c, e->run, &curves);
    bool tested = curves.tested;
    curves_free(&curves);
    if (tested) return false;
    heed_score score = {0};
    e->waited = heed_images_waited(k) / (e->seconds > 0 ? e->seconds : 1);
    heed_run *r = heed_images_about(k)->count[HEED_TEST_PART] ? open_run(p, e->run) : NULL;
    if (r) score = read_test(e, r, d);
    *m = measure(&score);
    if (r && heed_ctx_status(p->c) == HEED_OK) note_test(p, e->run, e->step, m);
    close_run(p, r);
    return heed_ctx_status(p->c) == HEED_OK;
}

static void finish_pictures(program *p, const heed_data *d, training_end *e) {
    measures m;
    if (!test_pictures(p, d, e, &m)) return;
    if (!e->json)
        print_test(&m, e);
    else
        json_object_update_new(
            e->json, json_pack("{s:o, s:o, s:o}", "test_loss", json_number(m.loss), "test_accuracy",
                               json_number(m.accuracy), "waited", json_number(e->waited)));
}

const data_kind picture_kind = {
    .begun = begun_pictures,
    .next = next_pictures,
    .finish = finish_pictures,
    .eval = eval_classes,
};
