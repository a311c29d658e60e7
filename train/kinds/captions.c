/* captions.c -- what the program prints during and after training on pictures with captions. */
#include "kinds/image.h"
#include "kinds/pairs.h"

#include <string.h>

/* ---- the banner ---- */

static void banner_captions(const heed_model *m, const heed_data *d, const heed_config *f) {
    const heed_captions *k = d->batches;
    const heed_captions_info *a = heed_captions_about(k);
    const heed_pairs_info *t = heed_pairs_about(heed_captions_pairs(k));
    const heed_images_info *pictures = heed_images_about(heed_captions_images(k));
    char n1[32], n2[32], n3[32], n4[32], note[160], augmented[480];
    banner_row("data", "%s", heed_config_text(f, "data"));
    banner_row("training", "%s captions of %s pictures", heed_format_count(n1, a->captions),
               heed_format_count(n2, a->pictures));
    if (d->no_val)
        banner_row("validation", "none");
    else
        banner_row("validation", "%s captions of %s pictures",
                   heed_format_count(n3, a->val_captions), heed_format_count(n4, a->val_pictures));
    for (int i = 0; pairs_note(t, f, i, note); i++)
        if (*note) banner_row("", "%s", note);
    banner_vocabulary("vocabulary", d->tokenizer, t->target_unknown, t->target_tokens);
    banner_sizes(pictures);
    if (pictures->overlap[HEED_VAL_PART])
        banner_row("overlap", "%s validation captions are of pictures that the training part has",
                   heed_format_count(n1, pictures->overlap[HEED_VAL_PART]));
    banner_skipped(m, heed_captions_images(k), f);
    banner_row("augmented", "%s", augmented_text(d, f, augmented));
}

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
    .banner = banner_captions,
    .begun = begun_captions,
    .evaluated = sample_captions,
    .finish = finish_captions,
    .next = next_captions,
    .eval = eval_captions,
    .check = check_captions,
};
