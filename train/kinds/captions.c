/* captions.c -- what the program prints during and after training on pictures with captions. */
#include "kinds/image.h"
#include "kinds/pairs.h"

#include <string.h>

/* ---- the course and the end of a training run ---- */

static void begun_captions(program *p, const heed_data *d, const char *run) {
    remove_scores(run);
    log_skipped(p, heed_captions_images(d->batches), run);
}

static void finish_captions(program *p, const heed_data *d, training_end *e) {
    e->waited =
        heed_images_waited(heed_captions_images(d->batches)) / (e->seconds > 0 ? e->seconds : 1);
    finish_scores(p, d, e, "pictures captioned", captions_scores);
}

static void next_captions(const heed_model *m, const heed_data *d, const char *path,
                          const char *run) {
    (void)d;
    (void)path;
    const char *heed = program_name();
    printf("\nNext:\n");
    if (m->steps) printf("  %s caption %s PICTURE...\n", heed, run);
    printf("  %s eval %s\n  %s plot %s\n", heed, run, heed, run);
}

const data_kind caption_kind = {
    .begun = begun_captions,
    .evaluated = sample_captions,
    .finish = finish_captions,
    .next = next_captions,
    .eval = eval_captions,
};
