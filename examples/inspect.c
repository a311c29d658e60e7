/* What a trained model attends to on a text, and whether that matters: inspect RUN TEXT writes
 * inspect.png, the attention of the last layer, and inspect.html, the page with all views.
 *     cc inspect.c $(pkg-config --cflags --libs heed) -o inspect */
#include <heed/heed.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* The record of the text, with rollout and occlusion beside the attention. */
static heed_record *record_of(heed_run *run, const char *text) {
    heed_example input = {0};
    heed_record *r = NULL;
    if (heed_run_text(run, text, strlen(text), NULL, &input) &&
        (r = heed_capture(run, &input, NULL)) && heed_rollout_add(run, &input, NULL, r))
        heed_occlusion_add(run, &input, NULL, r);
    heed_example_free(&input);
    return r;
}

/* How much each token contributes to the last prediction: its row of every map. A [MASK] is never
 * hidden, so occlusion has no number for it. */
static void print_maps(const heed_record *r) {
    int n = r->axes[0].count, row = r->guess_count ? r->guesses[r->guess_count - 1].query : 0;
    if (row < 0) row = 0; /* a prediction about the entire input is in all rows */
    for (int k = 0; k < n; k++) {
        printf("%-12s", r->axes[0].labels[k]);
        for (int m = 0; m < r->map_count; m++) {
            double x = (double)r->maps[m].values[row * n + k];
            if (x > -0.0005 && x < 0) x = 0; /* not -0.000 */
            if (isnan(x))
                printf("  %s -", r->maps[m].name);
            else
                printf("  %s %.3f", r->maps[m].name, x);
        }
        putchar('\n');
    }
}

static bool write_files(heed_ctx *c, const heed_record *r) {
    const heed_record_block *last = &r->blocks[r->block_count - 1];
    const heed_record_axis *queries = &r->axes[last->queries], *keys = &r->axes[last->keys];
    heed_heatmap map = {.title = r->title,
                        .rows = queries->count,
                        .cols = keys->count,
                        .values = last->weights, /* its first head */
                        .row_labels = queries->labels,
                        .col_labels = keys->labels};
    heed_page page = {.count = 1, .records = r};
    return heed_heatmaps_save(c, &map, 1, HEED_PNG, "inspect.png") &&
           heed_page_write(c, &page, "inspect.html");
}

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: inspect RUN TEXT\n"), 2;
    heed_ctx *c = heed_open(NULL);
    heed_run *run = heed_run_open(c, argv[1], heed_models, NULL);
    heed_record *r = run ? record_of(run, argv[2]) : NULL;
    if (heed_ctx_status(c) == HEED_OK) print_maps(r);
    bool ok = heed_ctx_status(c) == HEED_OK && write_files(c, r);
    if (!ok) fprintf(stderr, "inspect: %s\n", heed_ctx_error(c));
    heed_close(c);
    return !ok;
}
