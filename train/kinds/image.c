/* image.c -- what the program prints during and after training on pictures. */
#include "kinds/image.h"
#include "kinds/inputs.h"

#include <math.h>
#include <string.h>

/* ---- the banner ---- */

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

const char *others_text(const heed_images_info *a, char text[400]) {
    char n[32];
    *text = 0;
    if (a->others)
        snprintf(text, 400,
                 a->others == 1 ? "%s file is not a picture: %.300s"
                                : "%s files are not pictures; the first is %.300s",
                 heed_format_count(n, a->others), a->other);
    return text;
}

static void add_strength(char text[160], const char *format, double v) {
    size_t n = strlen(text);
    if (!(v > 0)) return;
    n += (size_t)snprintf(text + n, 160 - n, "%s", n ? ", " : "");
    snprintf(text + n, 160 - n, format, v);
}

const char *augment_text(const heed_augment *a, char text[160]) {
    *text = 0;
    add_strength(text, "flip %.3g", a->flip);
    add_strength(text, "pad %.0f", a->pad);
    add_strength(text, "scale %.3g", a->scale);
    add_strength(text, "brightness %.3g", a->brightness);
    add_strength(text, "contrast %.3g", a->contrast);
    add_strength(text, "saturation %.3g", a->saturation);
    return text;
}

const char *augmented_text(const heed_data *d, const heed_config *f, char text[480]) {
    heed_augment augment = heed_augment_of(f);
    char strengths[160];
    bool flips = augment.flip > 0, refused = d->kind->target;
    augment_text(&augment, strengths);
    snprintf(text, 480, "%s%s%s%s", *strengths ? strengths : "none",
             !*d->sided ? ""
             : flips    ? ", although "
                        : "; no flip, as ",
             d->sided,
             flips                   ? "; --flip 0 turns the flip off"
             : *d->sided && !refused ? "; --flip 0.5 enables it"
             : *d->sided             ? ""
                         : "; --flip, --pad, --scale, --brightness and others enable it");
    return text;
}

void banner_sizes(const heed_images_info *a) {
    const heed_image_transform *v = &a->view;
    char was[96] = "";
    bool same = a->low_width == v->size && a->high_width == v->size && a->low_height == v->size &&
                a->high_height == v->size;
    if (!same && a->low_width == a->high_width && a->low_height == a->high_height)
        snprintf(was, sizeof was, ", from %d x %d", a->low_width, a->low_height);
    else if (!same)
        snprintf(was, sizeof was, ", from %d x %d up to %d x %d", a->low_width, a->low_height,
                 a->high_width, a->high_height);
    banner_row("read as", "%d x %d, %s%s", v->size, v->size, v->channels == 1 ? "grey" : "colour",
               was);
    if (v->channels == 1)
        banner_row("normalised", "mean %.4f, deviation %.4f", v->mean[0], v->deviation[0]);
    else
        banner_row("normalised", "mean %.3f %.3f %.3f, deviation %.3f %.3f %.3f", v->mean[0],
                   v->mean[1], v->mean[2], v->deviation[0], v->deviation[1], v->deviation[2]);
}

void banner_skipped(const heed_model *m, const heed_images *k, const heed_config *f) {
    char n[32], others[400];
    size_t bad = heed_images_about(k)->bad;
    if (*others_text(heed_images_about(k), others)) banner_row("ignored", "%s", others);
    if (!bad) return;
    banner_row("skipped", "%s that cannot be decoded", heed_format_count(n, bad));
    size_t more = print_skipped(stderr, k, "             ", 3);
    if (more)
        banner_row("", "and %zu more: %s data check %s %s lists them", more, program_name(),
                   m->name, heed_config_text(f, "data"));
}

bool are_few(const heed_model *m, const heed_data *d, const heed_config *f, char text[256]) {
    enum { FEW = 5000 };
    const heed_images_info *a = heed_images_about(d->batches);
    size_t n = a->count[HEED_TRAIN_PART];
    char count[32];
    if (!reads_patches(m) || !names_pictures(m) || a->view.channels != 3 || n >= FEW ||
        *heed_config_text(f, "from"))
        return false;
    snprintf(
        text, 256,
        "%s pictures are few for attention over patches: a CNN (%s train cnn) often learns "
        "more from them, but has no attention to show; to keep the attention, --from RUN starts "
        "from a run on other pictures",
        heed_format_count(count, n), program_name());
    return true;
}

static void banner_hints(const heed_model *m, const heed_data *d, const heed_config *f) {
    char hint[256];
    if (are_few(m, d, f, hint)) banner_row("note", "%s", hint);
    if (!d->class_weights && *balance_hint(d, hint)) banner_row("note", "%s", hint);
}

void banner_pictures(const heed_model *m, const heed_data *d, const heed_config *f) {
    const heed_images_info *a = heed_images_about(d->batches);
    char n1[32], n2[32], n3[32], names[256], augmented[480];
    const size_t *n = a->count;
    banner_row("data", "%s (%s)", heed_config_text(f, "data"), a->kind);
    banner_row("pictures", "%s for training, %s for validation, %s for the test",
               heed_format_count(n1, n[HEED_TRAIN_PART]),
               n[HEED_VAL_PART] ? heed_format_count(n2, n[HEED_VAL_PART]) : "none",
               n[HEED_TEST_PART] ? heed_format_count(n3, n[HEED_TEST_PART]) : "none");
    banner_row("classes", "%d: %s", a->classes, label_list(a->labels, a->classes, 60, names));
    banner_balance(d);
    banner_sizes(a);
    size_t copies = a->overlap[HEED_VAL_PART] + a->overlap[HEED_TEST_PART];
    if (copies)
        banner_row("overlap",
                   "%s of validation and test %s in the training part, too: %s data check "
                   "%s %s names one",
                   heed_format_count(n1, copies), copies == 1 ? "is" : "are", program_name(),
                   m->name, heed_config_text(f, "data"));
    banner_skipped(m, d->batches, f);
    banner_row("augmented", "%s", augmented_text(d, f, augmented));
    banner_hints(m, d, f);
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
    .banner = banner_pictures,
    .begun = begun_pictures,
    .next = next_pictures,
    .finish = finish_pictures,
    .eval = eval_classes,
    .check = check_pictures,
};
