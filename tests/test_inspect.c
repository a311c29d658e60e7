/* Heat maps and curves. */
#include "test.h"

static heed_text draw(heed_ctx *c, heed_heatmap m) {
    heed_text out = {.c = c};
    CHECK(heed_heatmap_text(&m, &out));
    return out;
}

TEST(inspect_heatmap_aligns_wide_labels_and_cuts_long_ones) {
    heed_ctx *c = heed_open(NULL);
    heed_text out =
        draw(c, (heed_heatmap){.rows = 2,
                               .cols = 3,
                               .values = (heed_real[]){0.5f, 0.25f, 0.25f, 0, 1, 0},
                               .row_labels = (const char *[]){"head 1", "mean"},
                               .col_labels =
                                   (const char *[]){"日本", "incomprehensibilities", "e\xcc\x81"},
                               .width = 60});
    CHECK_HAS(out.s, "日本");
    CHECK_HAS(out.s, "incomprehe…");
    CHECK_HAS(out.s, "50");
    CHECK_HAS(out.s, "100");
    CHECK(!strchr(out.s, '\033'));
    heed_text_free(&out);
    CLOSE(c);
}

TEST(inspect_wide_heatmap_is_drawn_in_bands) {
    heed_ctx *c = heed_open(NULL);
    static heed_real values[100];
    heed_text out = draw(c, (heed_heatmap){.rows = 1, .cols = 100, .values = values, .width = 80});
    size_t widest = 0, line = 0;
    for (const char *p = out.s; *p; p++) {
        line = *p == '\n' ? 0 : line + 1;
        if (line > widest) widest = line;
    }
    CHECK(widest <= 80);
    heed_text_free(&out);
    CLOSE(c);
}

TEST(inspect_charts_survive_gaps_and_flat_curves) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    const double x[] = {0, 1, 2, 3}, y[] = {2, (double)NAN, 2, 2};
    const heed_series series[] = {{"train", 4, x, y}, {"validation", 0, NULL, NULL}};
    const heed_chart chart = {"run", "step", "loss", 2, series};
    heed_text out = {.c = c};
    CHECK(heed_chart_text(&chart, 80, 12, false, &out));
    CHECK_HAS(out.s, "train");
    CHECK_HAS(out.s, "2.0");
    heed_text_free(&out);
    snprintf(path, sizeof path, "%s/loss.png", test_folder());
    CHECK(heed_chart_png(c, &chart, 640, 480, path));
    FILE *f = fopen(path, "rb");
    unsigned char head[24] = {0};
    CHECK(f && fread(head, 1, 24, f) == 24 && !memcmp(head + 1, "PNG", 3));
    CHECK(head[18] * 256 + head[19] == 640);
    if (f) fclose(f);
    CLOSE(c);
}
