/* kind.c -- the data_kind of each model, and that of models that make their own batches. */
#include "kinds/training.h"

const data_kind *kind_of(const heed_model *m) {
    switch (m->kind) {
    case HEED_INPUT_TOKENS:
        return &text_kind;
    case HEED_INPUT_PICTURE:
        return &picture_kind;
    case HEED_INPUT_PAIR:
        return &translation_kind;
    case HEED_INPUT_LABELLED:
        return &label_kind;
    case HEED_INPUT_DENSE:
        break;
    }
    return &dense_kind;
}

/* ---- models that make their own batches ---- */

static void banner_nothing(const heed_model *m, const heed_data *d, const heed_config *f) {
    (void)m, (void)d, (void)f;
}

static void steps_rows(const heed_config *f, uint64_t epoch_batches) {
    char n[64];
    banner_row("epoch", "%s%lld rows", epoch_steps(n, f, epoch_batches),
               (long long)heed_config_int(f, "batch"));
}

static void next_plot(const heed_model *m, const char *data, const char *run) {
    char word[1024];
    (void)data;
    run = heed_format_shell(word, sizeof word, run);
    printf("\nNext:\n");
    if (m->eval_batches) printf("  heed %s %s\n", use_of(m), run);
    printf("  heed plot %s\n", run);
}

static void check_nothing(program *p, heed_data *d) {
    (void)d;
    heed_fail(p->c, HEED_USAGE, "there is nothing to check: %s makes its own data", p->model->name);
}

const data_kind dense_kind = {.banner = banner_nothing,
                              .steps = steps_rows,
                              .next = next_plot,
                              .eval = eval_scores,
                              .check = check_nothing};
