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

/* ---- pictures ---- */

static void png_size(const char *path, int *width, int *height) {
    unsigned char head[24] = {0};
    FILE *f = fopen(path, "rb");
    CHECK(f && fread(head, 1, 24, f) == 24 && !memcmp(head + 1, "PNG", 3));
    *width = head[18] * 256 + head[19];
    *height = head[22] * 256 + head[23];
    if (f) fclose(f);
}

TEST(inspect_sheet_holds_every_tile) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    int width, height, wide, tall;
    static const unsigned char grey[28 * 28] = {255}, rgb[90 * 60 * 3] = {1, 2, 3};
    heed_tile tiles[5] = {{grey, 28, 28, 1, "7", NULL}, {rgb, 90, 60, 3, NULL, NULL}};
    for (int i = 2; i < 5; i++) tiles[i] = tiles[i % 2];
    snprintf(path, sizeof path, "%s/sheet.png", test_folder());
    CHECK(heed_sheet_png(c, &(heed_sheet){NULL, 5, 2, 96, tiles}, path));
    png_size(path, &width, &height);
    CHECK(width >= 2 * 96 && width < 3 * 96 && height >= 3 * 96 && height < 5 * 96);
    CHECK(heed_sheet_png(c, &(heed_sheet){"a title", 5, 2, 96, tiles}, path));
    png_size(path, &wide, &tall);
    CHECK(wide == width && tall > height);
    tiles[3].second = "a second line";
    CHECK(heed_sheet_png(c, &(heed_sheet){NULL, 5, 2, 96, tiles}, path));
    png_size(path, &wide, &tall);
    CHECK(wide == width && tall > height);
    tiles[4].pixels = NULL;
    CHECK(!heed_sheet_png(c, &(heed_sheet){NULL, 5, 2, 96, tiles}, path));
    CHECK_HAS(heed_why(c), "picture 4");
    heed_clear(c);
    CHECK(!heed_sheet_png(c, &(heed_sheet){NULL, 0, 2, 96, tiles}, path));
    heed_clear(c);
    CLOSE(c);
}

TEST(inspect_heatmap_picture_grows_with_cells_and_labels) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    int width, height, wide, tall;
    static const heed_real values[9] = {980, 0, 3, 1, 970, 2, 0, 0, 999};
    const char *names[] = {"a", "b", "a class of a long name"};
    heed_heatmap m = {.title = "t", .rows = 3, .cols = 3, .values = values, .numbers = true};
    snprintf(path, sizeof path, "%s/map.png", test_folder());
    CHECK(heed_heatmap_png(c, &m, path));
    png_size(path, &width, &height);
    m.row_labels = m.col_labels = names;
    CHECK(heed_heatmap_png(c, &m, path));
    png_size(path, &wide, &tall);
    CHECK(wide > width && tall > height + 200);
    m.rows = 20000;
    CHECK(!heed_heatmap_png(c, &m, path));
    heed_clear(c);
    CLOSE(c);
}

TEST(inspect_overlay_lays_panels_side_by_side) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    int width, height, wide, tall;
    static const unsigned char grey[28 * 28] = {255};
    const heed_real a[4] = {0, 1, (heed_real)NAN, 0}, b[4] = {0};
    const heed_real *maps[] = {a, b, a, a, a};
    const char *captions[] = {"mean", "head 1", NULL, "", "head 4"};
    heed_overlay o = {NULL, grey, 28, 28, 1, 2, 2, 2, maps, captions, false};
    snprintf(path, sizeof path, "%s/overlay.png", test_folder());
    CHECK(heed_overlay_png(c, &o, path));
    png_size(path, &width, &height);
    CHECK(width > 3 * 224 && width < 4 * 224);
    o.count = 5;
    CHECK(heed_overlay_png(c, &o, path));
    png_size(path, &wide, &tall);
    CHECK(wide > 6 * 224 && tall == height);
    o.maps = NULL;
    CHECK(!heed_overlay_png(c, &o, path));
    heed_clear(c);
    CLOSE(c);
}
