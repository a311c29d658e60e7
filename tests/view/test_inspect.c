/* Heat maps and curves. */
#include "core/core.h"
#include "test.h"
#include "view/draw.h"
#include <heed/inspect.h>
#include <heed/view.h>

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

/* Numbers end in one column, letters of the ramp stand apart from them, whatever labels are like.
 */
TEST(inspect_heatmap_lines_up_its_numbers) {
    heed_ctx *c = heed_open(NULL);
    heed_heatmap m = {.rows = 2,
                      .cols = 3,
                      .values = (heed_real[]){1, 0.5f, 0.04f, 0.001f, 0.25f, 0.75f},
                      .row_labels = (const char *[]){"日本", "e\xcc\x81"},
                      .col_labels = (const char *[]){"a", "日本", "e\xcc\x81"},
                      .width = 40};
    heed_text out = draw(c, m);
    CHECK_HAS(out.s, "         a  日本     e\xcc\x81\n"
                     "日本 @ 100 =  50     4\n"
                     "e\xcc\x81          :  25 #  75\n");
    heed_text_free(&out);
    m.unit = "of something";
    m.values = (heed_real[]){0.5f, -0.25f, 0.04f, -0.001f, (heed_real)NAN, 1.2f};
    out = draw(c, m);
    CHECK_HAS(out.s, "日本 =  0.5   -0.2    0.0\n"
                     "e\xcc\x81       0.0        @  1.2\n");
    heed_text_free(&out);
    m.values = (heed_real[]){3e-5f, 0, 1e-5f, 0, 0, 2e-5f};
    out = draw(c, m);
    CHECK_HAS(out.s, "日本 @ 3e-05   0e+00 - 1e-05\n");
    heed_text_free(&out);
    m.numbers = true;
    m.values = (heed_real[]){123.4567f, 0, 1, 0, 0, -2};
    out = draw(c, m);
    CHECK_HAS(out.s, "日本 123.457   0.000   1.000\n");
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
    const heed_chart chart = {
        .title = "run", .x_label = "step", .y_label = "loss", .series_count = 2, .series = series};
    heed_text out = {.c = c};
    CHECK(heed_chart_text(&chart, 80, 12, false, &out));
    CHECK_HAS(out.s, "train");
    CHECK_HAS(out.s, "2.0");
    CHECK_HAS(out.s, "3\n"); /* the last number of the axis, and under it what it counts */
    CHECK_HAS(out.s, " step\n");
    heed_text_free(&out);
    heed_chart red = chart;
    red.colors = (const unsigned[]){0xc81e1e, 0x00875a};
    CHECK(heed_chart_text(&red, 80, 12, true, &out));
    CHECK_HAS(out.s, "\033[38;2;200;30;30m");
    CHECK_HAS(out.s, "\033[38;2;0;135;90m");
    heed_text_free(&out);
    snprintf(path, sizeof path, "%s/loss.png", test_folder());
    CHECK(heed_charts_save(c, &chart, 1, 640, 480, HEED_PNG, path));
    FILE *f = fopen(path, "rb");
    unsigned char head[24] = {0};
    CHECK(f && fread(head, 1, 24, f) == 24 && !memcmp(head + 1, "PNG", 3));
    CHECK(head[18] * 256 + head[19] == 640);
    if (f) fclose(f);
    char svg[16384] = "";
    CHECK(heed_charts_save(c, (heed_chart[]){chart, chart}, 2, 640, 480, HEED_SVG, path));
    f = fopen(path, "rb");
    CHECK(f && fread(svg, 1, sizeof svg - 1, f) > 0);
    if (f) fclose(f);
    CHECK_HAS(svg, " width=\"640\" height=\"960\" "); /* two, one below the other */
    CHECK_HAS(svg, ">validation</text>");
    CLOSE(c);
}

/* Numbers beside a curve that changes little differ, and a picture has the space that they need; a
 * power of 2 has its number where the steps of its scale are no binary fractions. */
TEST(inspect_charts_number_what_changes_little) {
    heed_ctx *c = heed_open(NULL);
    char path[128], svg[8192] = "";
    const double x[] = {log2(3), log2(5)}, flat[] = {2.30215, 2.3022},
                 large[] = {10050000, 10100000};
    const heed_series series[] = {{"a", 2, x, flat}, {"b", 2, x, large}};
    heed_chart chart = {.series_count = 1, .series = series, .log2_x = true};
    heed_text out = {.c = c};
    CHECK(heed_chart_text(&chart, 80, 12, false, &out));
    CHECK_HAS(out.s, " 2.3022 ┤");
    CHECK_HAS(out.s, "2.30218 ┤");
    heed_text_free(&out);
    snprintf(path, sizeof path, "%s/flat.svg", test_folder());
    chart.series++;
    CHECK(heed_charts_save(c, &chart, 1, 960, 540, HEED_SVG, path));
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(svg, 1, sizeof svg - 1, f) : 0;
    if (f) fclose(f);
    svg[n] = 0;
    CHECK_HAS(svg, ">4</text>");
    CHECK_HAS(svg, ">1.006e+07</text>");
    CHECK_HAS(svg, ">1.007e+07</text>");
    CHECK(heed__ticks_width(10050000, 10100000, 8, 0) == 9);
    int width = heed__ticks_width(10050000, 10100000, 8, 2), end;
    const char *label = strstr(svg, ">1.006e+07<");
    while (label && label > svg && strncmp(label, " x=", 3) != 0) label--;
    CHECK(label && sscanf(label, " x=\"%d", &end) == 1 && end >= width);
    CLOSE(c);
}

/* Values whose differences exceed double's range are drawn or left out; UBSan sees what is not. */
TEST(inspect_charts_accept_extreme_numbers) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    const double x[] = {0, 1, 1e300}, y[] = {-1.7e308, 1.7e308, 0};
    const heed_series series = {"extreme", 3, x, y};
    const heed_chart chart = {.series_count = 1, .series = &series};
    heed_text out = {.c = c};
    CHECK(heed_chart_text(&chart, 80, 12, false, &out));
    heed_text_free(&out);
    snprintf(path, sizeof path, "%s/extreme.png", test_folder());
    CHECK(heed_charts_save(c, &chart, 1, 640, 480, HEED_PNG, path));
    CHECK(heed_charts_save(c, &chart, 1, 640, 480, HEED_SVG, path));
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
    heed_tile tiles[5] = {{grey, 28, 28, 1, {"7"}}, {rgb, 90, 60, 3, {NULL}}};
    for (int i = 2; i < 5; i++) tiles[i] = tiles[i % 2];
    snprintf(path, sizeof path, "%s/sheet.png", test_folder());
    CHECK(heed_sheet_save(c, &(heed_sheet){NULL, 5, 2, 96, tiles}, HEED_PNG, path));
    png_size(path, &width, &height);
    CHECK(width >= 2 * 96 && width < 3 * 96 && height >= 3 * 96 && height < 5 * 96);
    CHECK(heed_sheet_save(c, &(heed_sheet){"a title", 5, 2, 96, tiles}, HEED_PNG, path));
    png_size(path, &wide, &tall);
    CHECK(wide == width && tall > height);
    tiles[3].captions[2] = "a third line";
    CHECK(heed_sheet_save(c, &(heed_sheet){NULL, 5, 2, 96, tiles}, HEED_PNG, path));
    png_size(path, &wide, &tall);
    CHECK(wide == width && tall > height);
    tiles[4].pixels = NULL;
    CHECK(!heed_sheet_save(c, &(heed_sheet){NULL, 5, 2, 96, tiles}, HEED_PNG, path));
    CHECK_HAS(heed_ctx_error(c), "picture 4");
    heed_clear(c);
    CHECK(!heed_sheet_save(c, &(heed_sheet){NULL, 0, 2, 96, tiles}, HEED_PNG, path));
    heed_clear(c);
    CLOSE(c);
}

static int count_lines(const char *text) {
    int count = 0;
    for (; (text = strchr(text, '\n')); text++) count++;
    return count;
}

/* Of a few rows no label is cut, and no band is much shorter than another. */
TEST(inspect_bands_of_a_few_rows_are_balanced_and_show_whole_labels) {
    static const char *const rows[] = {"mean", "head 1"};
    static const char *const cols[] = {"[CLS]", "the",    "rabbits", "said",  "that", "they",
                                       "have",  "[MASK]", "the",     "queen", ".",    "[SEP]"};
    heed_ctx *c = heed_open(NULL);
    heed_real values[24] = {.5f};
    heed_heatmap m = {.rows = 2,
                      .cols = 12,
                      .values = values,
                      .row_labels = rows,
                      .col_labels = cols,
                      .width = 100};
    heed_text out = draw(c, m);
    CHECK_HAS(out.s, "rabbits");
    CHECK_HAS(out.s, "[MASK]");
    CHECK(count_lines(out.s) == 4); /* one band: cells are as wide as their labels need */
    heed_text_free(&out);
    m.width = 60;
    out = draw(c, m);
    CHECK_HAS(out.s, "rabbits");
    CHECK(count_lines(out.s) == 7);
    const char *second = strstr(out.s, "head 1");
    CHECK(second && strstr(second, "have") && strstr(second, "queen")); /* half of the labels */
    heed_text_free(&out);
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
    CHECK(heed_heatmaps_save(c, &m, 1, HEED_PNG, path));
    png_size(path, &width, &height);
    m.row_labels = m.col_labels = names;
    CHECK(heed_heatmaps_save(c, &m, 1, HEED_PNG, path));
    png_size(path, &wide, &tall);
    CHECK(wide > width && tall > height + 150);
    m.rows = 20000;
    CHECK(!heed_heatmaps_save(c, &m, 1, HEED_PNG, path));
    heed_clear(c);
    CLOSE(c);
}

TEST(inspect_heatmap_cells_grow_until_the_map_is_as_wide_as_its_title) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    int width, height, wide, tall;
    heed_heatmap m = {.rows = 3, .cols = 9, .values = (heed_real[27]){1}};
    snprintf(path, sizeof path, "%s/map.png", test_folder());
    m.title = "a title";
    CHECK(heed_heatmaps_save(c, &m, 1, HEED_PNG, path));
    png_size(path, &width, &height);
    m.title = "a title of forty or more letters, wider than the map";
    CHECK(heed_heatmaps_save(c, &m, 1, HEED_PNG, path));
    png_size(path, &wide, &tall);
    CHECK(wide > width + 100 && wide < 2 * width && tall > height + 30);
    CLOSE(c);
}

/* Labels that cells which have grown no longer turn need no more height than letters. */
TEST(inspect_labels_of_grown_cells_leave_no_gap) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    int width, height, wide, tall;
    const char *letters[] = {"a", "b", "c"}, *words[] = {"never", "leave", "again"};
    heed_heatmap m = {.rows = 3, .cols = 3, .values = (heed_real[9]){1}, .col_labels = letters};
    snprintf(path, sizeof path, "%s/map.png", test_folder());
    m.title = "a title of forty or more letters, wider than the map";
    CHECK(heed_heatmaps_save(c, &m, 1, HEED_PNG, path));
    png_size(path, &width, &height);
    m.col_labels = words;
    CHECK(heed_heatmaps_save(c, &m, 1, HEED_PNG, path));
    png_size(path, &wide, &tall);
    CHECK(wide == width && tall == height);
    CLOSE(c);
}

TEST(inspect_narrow_panels_share_a_row_as_wide_as_the_title) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    int width, height, wide, tall;
    static const heed_real values[90] = {1};
    heed_heatmap m[4];
    for (int i = 0; i < 4; i++) m[i] = (heed_heatmap){.rows = 30, .cols = 3, .values = values};
    heed_panels all = {.count = 4, .maps = m, .columns = 2};
    snprintf(path, sizeof path, "%s/map.png", test_folder());
    all.title = "a title of forty or more letters, wider than the maps";
    CHECK(heed_panels_save(c, &all, HEED_PNG, path));
    png_size(path, &width, &height);
    all.columns = 0;
    CHECK(heed_panels_save(c, &all, HEED_PNG, path));
    png_size(path, &wide, &tall);
    CHECK(wide == width && tall < height - 300);
    CLOSE(c);
}

/* Maps of few tokens grow until two of them are as wide as their title. */
TEST(inspect_small_panels_grow) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    int width, height, wide, tall;
    static const heed_real values[9] = {1};
    heed_heatmap m[4];
    for (int i = 0; i < 4; i++) m[i] = (heed_heatmap){.rows = 3, .cols = 3, .values = values};
    heed_panels all = {.count = 4, .maps = m};
    snprintf(path, sizeof path, "%s/map.png", test_folder());
    all.columns = 2;
    CHECK(heed_panels_save(c, &all, HEED_PNG, path));
    png_size(path, &width, &height);
    all.title = "a title of forty or more letters, wider than the two maps";
    CHECK(heed_panels_save(c, &all, HEED_PNG, path));
    png_size(path, &wide, &tall);
    int cell = (wide - width) / 6;
    CHECK(cell > 20 && tall > height + 5 * cell);
    CLOSE(c);
}

/* A causal row has as many keys as its place; the first one, of one key, does not count. */
TEST(inspect_uniform_weight_is_that_of_visible_keys) {
    heed_record_axis axes[] = {{.name = "text", .count = 4}};
    heed_record r = {.axis_count = 1, .axes = axes};
    heed_record_block b = {.heads = 1};
    CHECK_CLOSE(heed__record_uniform(&r, &b, -1), 0.25, 1e-12);
    CHECK_CLOSE(heed__record_uniform(&r, &b, 1), 0.25, 1e-12);
    b.causal = true;
    CHECK_CLOSE(heed__record_uniform(&r, &b, -1), (1 / 2.0 + 1 / 3.0 + 1 / 4.0) / 3, 1e-12);
    CHECK_CLOSE(heed__record_uniform(&r, &b, 2), 1 / 3.0, 1e-12);
    CHECK_CLOSE(heed__record_uniform(&r, &b, 0), 1, 1e-12);
    heed_real scores[16] = {0};
    for (int q = 0; q < 4; q++) scores[4 * q] = (heed_real)-INFINITY; /* key 1 is padding */
    b.scores = scores;
    CHECK_CLOSE(heed__record_uniform(&r, &b, -1), (1 / 2.0 + 1 / 3.0) / 2, 1e-12);
}

/* All heads of a layer have one scale; the first row of a causal one, always 1, is left out. */
TEST(inspect_scale_ends_at_the_largest_weight_of_all_heads) {
    heed_record_axis axes[] = {{.name = "text", .count = 3}};
    heed_record r = {.axis_count = 1, .axes = axes};
    heed_real w[18] = {1, 0, 0, 0.6f, 0.4f, 0, 0.3f, 0.3f, 0.4f,
                       1, 0, 0, 0.1f, 0.9f, 0, 0.3f, 0.4f, 0.3f};
    heed_record_block b = {.heads = 2, .weights = w, .causal = true};
    CHECK_CLOSE(heed_record_scale(&r, &b), 0.9, 1e-6);
    b.causal = false;
    CHECK_CLOSE(heed_record_scale(&r, &b), 1, 1e-6);
    for (int i = 0; i < 18; i++) w[i] = 1 / (heed_real)3;
    CHECK_CLOSE(heed_record_scale(&r, &b), 2 / 3.0, 1e-6);
    w[0] = (heed_real)NAN;
    w[1] = (heed_real)INFINITY;
    CHECK_CLOSE(heed_record_scale(&r, &b), 2 / 3.0, 1e-6);
    axes->count = 1; /* the first token alone */
    w[0] = w[1] = 1;
    b.causal = true;
    CHECK_CLOSE(heed_record_scale(&r, &b), 1, 1e-6);
}

/* Rows of 2 x 2 patches over a picture of 28 x 28 grey pixels, patch by patch. */
static heed_heatmap patches_over(const unsigned char *pixels, const heed_real *values, int rows) {
    static heed_tile tile;
    tile = (heed_tile){pixels, 28, 28, 1, {0}};
    return (heed_heatmap){.picture = &tile,
                          .grid_cols = 2,
                          .rows = rows,
                          .cols = 4,
                          .values = values,
                          .uniform = 0.25,
                          .cells = true};
}

TEST(inspect_overlay_lays_panels_side_by_side) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    int width, height, wide, tall;
    static const unsigned char grey[28 * 28] = {255};
    const heed_real values[5 * 4] = {0, 1, (heed_real)NAN, 0, 0, 0, 0, 0, 0, 1};
    const char *names[] = {"mean", "head 1", "", "", "head 4"};
    heed_heatmap o = patches_over(grey, values, 2);
    o.row_labels = names;
    snprintf(path, sizeof path, "%s/overlay.png", test_folder());
    CHECK(heed_heatmaps_save(c, &o, 1, HEED_PNG, path));
    png_size(path, &width, &height);
    CHECK(width > 3 * 224 && width < 4 * 224);
    CHECK(heed_heatmaps_save(c, &o, 1, HEED_SVG, path));
    size_t n;
    char *svg = heed_text_read(c, path, &n);
    CHECK(svg && strstr(svg, "<svg ") == svg && strstr(svg, ">head 1</text>"));
    int pictures = 0;
    for (const char *at = svg; at && (at = strstr(at, "<image ")); at++) pictures++;
    CHECK(pictures == 3);
    free(svg);
    o.rows = 5;
    CHECK(heed_heatmaps_save(c, &o, 1, HEED_PNG, path));
    png_size(path, &wide, &tall);
    CHECK(wide > 6 * 224 && tall == height);
    for (int k = 0; k < 3; k++) { /* no grid, another one, no pixels */
        o = patches_over(k < 2 ? grey : NULL, values, 2);
        o.grid_cols = k < 2 ? 3 * k : 2;
        CHECK(!heed_heatmaps_save(c, &o, 1, HEED_PNG, path));
        CHECK_HAS(heed_ctx_error(c), "map over a picture is wrong");
        heed_clear(c);
        CHECK(!heed_heatmap_text(&o, &(heed_text){.c = c}));
    }
    CLOSE(c);
}

/* ---- what the pictures show ---- */

static const unsigned char *at(const heed_picture *p, int x, int y) {
    return p->pixels + ((size_t)y * (size_t)p->width + (size_t)x) * 3;
}

static bool is_color(const unsigned char *rgb, int r, int g, int b) {
    return abs(rgb[0] - r) < 3 && abs(rgb[1] - g) < 3 && abs(rgb[2] - b) < 3;
}

static size_t pixels_of(const heed_picture *p, int r, int g, int b) {
    size_t n = 0;
    for (int y = 0; y < p->height; y++)
        for (int x = 0; x < p->width; x++) n += is_color(at(p, x, y), r, g, b);
    return n;
}

static heed_picture read_back(const char *path) {
    char why[HEED_WHY];
    heed_picture p = {0};
    CHECK(heed_picture_read(path, &p, why) == HEED_OK);
    CHECK(p.channels == 3);
    return p;
}

TEST(inspect_sheet_enlarges_by_whole_numbers_and_shrinks_by_means) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    static const unsigned char small[2 * 2 * 3] = {200, 10, 10,  10,  200, 10,
                                                   10,  10, 200, 200, 10,  10};
    static unsigned char stripes[200 * 200];
    for (int i = 0; i < 200 * 200; i++) stripes[i] = i % 2 ? 255 : 1;
    const heed_tile tiles[] = {{small, 2, 2, 3, {NULL}}, {stripes, 200, 200, 1, {NULL}}};
    snprintf(path, sizeof path, "%s/sheet.png", test_folder());
    CHECK(heed_sheet_save(c, &(heed_sheet){NULL, 2, 2, 100, tiles}, HEED_PNG, path));
    heed_picture p = read_back(path);
    CHECK(pixels_of(&p, 200, 10, 10) == 2 * 50 * 50);
    CHECK(pixels_of(&p, 10, 200, 10) == 50 * 50);
    CHECK(pixels_of(&p, 10, 10, 200) == 50 * 50);
    CHECK(pixels_of(&p, 128, 128, 128) == 100 * 100);
    heed_picture_free(&p);
    CLOSE(c);
}

TEST(inspect_heatmap_picture_paints_shares_of_the_scale) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    heed_heatmap m = {
        .rows = 2, .cols = 2, .values = (heed_real[]){0, 10, 2, 1}, .hi = 2, .numbers = false};
    snprintf(path, sizeof path, "%s/map.png", test_folder());
    CHECK(heed_heatmaps_save(c, &m, 1, HEED_PNG, path));
    heed_picture p = read_back(path);
    size_t dark = pixels_of(&p, 68, 1, 84), middle = pixels_of(&p, 37, 133, 141);
    CHECK(middle > 200 &&
          dark > middle + 200); /* 10 and 2 are the full scale, 1 its half, 0 white */
    size_t white = pixels_of(&p, 255, 255, 255);
    heed_picture_free(&p);
    m.numbers = true;
    CHECK(heed_heatmaps_save(c, &m, 1, HEED_PNG, path));
    p = read_back(path);
    CHECK(pixels_of(&p, 68, 1, 84) > dark / 8 && pixels_of(&p, 255, 255, 255) > 0);
    heed_picture_free(&p);
    m.values = (heed_real[]){10, 10, 10, 10};
    m.numbers = false;
    CHECK(heed_heatmaps_save(c, &m, 1, HEED_PNG, path));
    p = read_back(path);
    CHECK(pixels_of(&p, 255, 255, 255) < white);
    heed_picture_free(&p);
    CLOSE(c);
}

/* Rows with their own scale: blue below 0, orange above, and as strong as the share of its end. */
TEST(inspect_heatmap_picture_paints_rows_with_their_own_scale) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    heed_heatmap m = {.rows = 2,
                      .cols = 3,
                      .values = (heed_real[]){1, 0, 0, 4, -4, -2},
                      .ends = (heed_real[]){0, 4}};
    heed__rgb above = heed__signed(1), below = heed__signed(-1), half = heed__signed(-0.5);
    snprintf(path, sizeof path, "%s/map.png", test_folder());
    CHECK(heed_heatmaps_save(c, &m, 1, HEED_PNG, path));
    heed_picture p = read_back(path);
    CHECK(pixels_of(&p, 68, 1, 84) > 200); /* the end of the other row's scale is 1, not 4 */
    CHECK(pixels_of(&p, above.r, above.g, above.b) > 200);
    CHECK(pixels_of(&p, below.r, below.g, below.b) > 200);
    CHECK(pixels_of(&p, half.r, half.g, half.b) > 200);
    CHECK(below.b > below.r && above.r > above.b && half.r > below.r);
    heed_picture_free(&p);
    CLOSE(c);
}

static double lightness(heed__rgb c) { return 0.2126 * c.r + 0.7152 * c.g + 0.0722 * c.b; }

/* What is much stands out: on paper it is dark, in a terminal bright; a number on it can be read.
 */
TEST(inspect_colours_run_away_from_their_ground) {
    heed__rgb none = heed__paper(0);
    CHECK(none.r == 255 && none.g == 255 && none.b == 255);
    for (int i = 1; i <= 100; i++) {
        CHECK(lightness(heed__paper(i / 100.0)) < lightness(heed__paper((i - 1) / 100.0)));
        CHECK(lightness(heed__viridis(i / 100.0)) > lightness(heed__viridis((i - 1) / 100.0)));
    }
    CHECK(heed__ink(heed__paper(0)).r == 0 && heed__ink(heed__paper(1)).r == 255);
}

/* The picture that is written. */
static heed_picture drawn(heed_ctx *c, const heed_heatmap *o) {
    char path[128];
    snprintf(path, sizeof path, "%s/overlay.png", test_folder());
    CHECK(heed_heatmaps_save(c, o, 1, HEED_PNG, path));
    return read_back(path);
}

/* Black as it is below the colours, and there the last colour. */
#define PALE 181, 181, 181
#define DARK 96, 46, 108

/* The top right corner of the second panel is where the weight is; the rest is pale. */
TEST(inspect_overlay_tints_where_the_weight_is) {
    heed_ctx *c = heed_open(NULL);
    static unsigned char black[28 * 28];
    const heed_real weights[4] = {0, 3, 0, 0};
    heed_heatmap o = patches_over(black, weights, 1);
    heed_picture p = drawn(c, &o);
    size_t lit = pixels_of(&p, DARK);
    CHECK(lit == 112 * 112);
    size_t pale = pixels_of(&p, PALE); /* also some at the edges of letters */
    CHECK(pale >= 3 * 112 * 112 && pale < 3 * 112 * 112 + 1000);
    CHECK(pixels_of(&p, 0, 0, 0) == 224 * 224);
    heed_picture_free(&p);
    o.cells = false;
    p = drawn(c, &o);
    lit = pixels_of(&p, DARK);
    CHECK(lit > 50 * 50 && lit < 80 * 80);
    heed_picture_free(&p);
    CLOSE(c);
}

/* Beside a head that looks, one that does not is pale all over: the scale is shared. */
TEST(inspect_overlay_has_one_scale_for_all_panels) {
    heed_ctx *c = heed_open(NULL);
    static unsigned char black[28 * 28];
    heed_real values[] = {0, 1, 0, 0, 0.25, 0.25, 0.26f, 0.24f};
    heed_heatmap o = patches_over(black, values, 2);
    size_t dark[2], lit = 112 * 112;
    for (int i = 0; i < 2; i++) {
        heed_picture p = drawn(c, &o);
        dark[i] = pixels_of(&p, DARK);
        heed_picture_free(&p);
        memcpy(values, values + 4, 4 * sizeof *values); /* nothing looks anywhere: none is dark */
    }
    CHECK(dark[0] == lit && dark[1] == 0);
    CLOSE(c);
}

#define ORANGE 171, 99, 45
#define BLUE   60, 108, 165

/* However small a measure's values are, it has the full colours at the end of its scale; with a
 * least end it looks like the nothing that it is. */
TEST(inspect_overlay_measure_below_its_least_end_is_pale) {
    heed_ctx *c = heed_open(NULL);
    static unsigned char black[28 * 28];
    const heed_real values[] = {0, 1, 0, 0, -1e-4f, 0, 0, 2e-4f};
    heed_real ends[] = {0, 2e-4f};
    heed_heatmap o = patches_over(black, values, 2);
    o.ends = ends;
    CHECK(heed_map_least("occlusion") == HEED_LEAST_OCCLUSION && heed_map_least("rollout") == 0);
    CHECK(heed_map_least("gradient") == 0 && heed_map_least(NULL) == 0);
    for (int i = 0; i < 2; i++) {
        heed_picture p = drawn(c, &o);
        CHECK(pixels_of(&p, ORANGE) == (i ? 0 : 112 * 112));
        heed_picture_free(&p);
        ends[1] = (heed_real)HEED_LEAST_OCCLUSION;
    }
    CLOSE(c);
}

/* The picture is recognised, dark as it is: what is hardly lighter than black remains apart. */
TEST(inspect_overlay_brightens_a_dark_picture) {
    heed_ctx *c = heed_open(NULL);
    static unsigned char dark[28 * 28], bright[28 * 28];
    const heed_real none[4] = {0, 0, 0, 0};
    unsigned char *pictures[] = {dark, bright};
    for (int i = 0; i < 28 * 28; i++) {
        dark[i] = i % 28 < 14 ? 5 : 20;
        bright[i] = i % 28 < 14 ? 100 : 200;
    }
    for (int i = 0; i < 2; i++) {
        heed_heatmap o = patches_over(pictures[i], none, 1);
        heed_picture p = drawn(c, &o);
        const unsigned char *row = p.pixels + 3 * ((size_t)100 * (size_t)p.width + 20 + 224 + 20);
        int left = row[3 * 20], right = row[3 * 200];
        CHECK(left > 140 && right > left + 8 && right < 230);
        CHECK(i || right < left + 18); /* black remains nearly flat */
        heed_picture_free(&p);
    }
    CLOSE(c);
}

/* A measure of large values leaves the scale of attention as it is; it is orange at its own largest
 * value and blue at the opposite one, however small these are. */
TEST(inspect_overlay_measures_have_scales_of_their_own) {
    heed_ctx *c = heed_open(NULL);
    static unsigned char black[28 * 28];
    heed_real values[] = {0, 1, 0, 0, -9, 0, 0, 9}, ends[] = {0, 9};
    heed_heatmap o = patches_over(black, values, 2);
    o.ends = ends;
    o.width = 100;
    for (int i = 0; i < 2; i++) {
        heed_text text = {.c = c};
        heed_picture p = drawn(c, &o);
        CHECK(pixels_of(&p, DARK) == 112 * 112);
        CHECK(pixels_of(&p, ORANGE) == 112 * 112);
        CHECK(pixels_of(&p, BLUE) == 112 * 112);
        heed_picture_free(&p);
        CHECK(heed_heatmap_text(&o, &text));
        const char *end = strstr(text.s, "Other scales: ");
        CHECK(end && strstr(text.s, " 100  percent of a row's attention"));
        int full = 0, below = 0;
        for (const char *s = text.s; s < end; s++) {
            full += *s == '@';
            below += *s == 'i' && s[1] == 'i';
        }
        CHECK(full == 2 * 14 * 7 + 2); /* two of the legend */
        CHECK(below == 13 * 7);
        heed_text_free(&text);
        values[4] = -0.001f;
        values[7] = ends[1] = 0.001f;
    }
    CLOSE(c);
}

/* A small value tints a dark part of the picture and does not whiten it. */
TEST(inspect_overlay_of_a_small_value_keeps_the_picture) {
    heed_ctx *c = heed_open(NULL);
    static unsigned char black[28 * 28];
    const heed_real values[4] = {0, 0.1f, 1, 0};
    heed_heatmap o = patches_over(black, values, 1);
    o.ends = (const heed_real[]){1};
    heed_picture p = drawn(c, &o);
    size_t tinted = 0; /* where the value is 0.1: a little less blue than PALE */
    for (int row = 0; row < p.height; row++)
        for (int i = 0; i < p.width; i++)
            tinted += at(&p, i, row)[2] >= 160 && at(&p, i, row)[2] < 170;
    CHECK(pixels_of(&p, PALE) >= 2 * 112 * 112);
    CHECK(tinted >= 112 * 112);
    heed_picture_free(&p);
    CLOSE(c);
}

/* The mean of heads and rollout are as dark at their largest value as a sharp head is at its own.
 */
TEST(inspect_overlay_of_fused_heads_and_shares_has_scales_of_its_own) {
    heed_ctx *c = heed_open(NULL);
    static unsigned char black[28 * 28];
    heed_real values[] = {0.1f, 0.6f, 0.2f, 0.1f, 0, 1, 0, 0, 0.1f, 0.6f, 0.2f, 0.1f};
    heed_heatmap o = patches_over(black, values, 3);
    const heed_real ends[] = {0.6f, 0, 0.6f};
    o.shares = (const bool[]){true, true, true};
    for (int apart = 0; apart < 2; apart++) {
        if (apart) o.ends = ends;
        heed_picture p = drawn(c, &o);
        CHECK(pixels_of(&p, DARK) == (apart ? 3 : 1) * 112 * 112);
        CHECK(pixels_of(&p, ORANGE) == 0);
        heed_picture_free(&p);
    }
    CLOSE(c);
}

/* A run of two steps beside one of thousands is a dot that is seen; its curve has a column. */
TEST(inspect_chart_shows_a_short_run) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    const double x[] = {1, 2}, y[] = {1, 2}, far[] = {1, 4000}, flat[] = {1, 1};
    const heed_series series[] = {{"long", 2, far, flat}, {"short", 2, x, y}};
    snprintf(path, sizeof path, "%s/short.png", test_folder());
    const heed_chart chart = {.series_count = 2, .series = series};
    CHECK(heed_charts_save(c, &chart, 1, 960, 540, HEED_PNG, path));
    heed_picture p = read_back(path);
    int widest = 0;
    for (int row = 0; row < p.height; row++) {
        int width = 0; /* of the second colour, left of the legend */
        for (int i = 0; i < 200; i++) width += is_color(at(&p, i, row), 213, 94, 0);
        if (width > widest) widest = width;
    }
    CHECK(widest >= 7 && widest < 16);
    heed_picture_free(&p);
    CLOSE(c);
}

/* Three points are drawn larger than three hundred at the same three places. */
TEST(inspect_few_points_are_large) {
    heed_ctx *c = heed_open(NULL);
    char path[128];
    double x[300];
    int colored[2] = {0};
    for (int i = 0; i < 300; i++) x[i] = i % 3;
    snprintf(path, sizeof path, "%s/points.png", test_folder());
    for (int k = 0; k < 2; k++) {
        const heed_series series = {"codes", k ? 300 : 3, x, x};
        const heed_chart chart = {.series_count = 1, .series = &series, .points = true};
        CHECK(heed_charts_save(c, &chart, 1, 960, 540, HEED_PNG, path));
        heed_picture p = read_back(path);
        for (int row = 0; row < p.height; row++)
            for (int i = 0; i < p.width; i++) colored[k] += is_color(at(&p, i, row), 0, 114, 178);
        heed_picture_free(&p);
    }
    CHECK(colored[0] == 4 * 65 && colored[1] == 65 + 3 * 21);
    CLOSE(c);
}

/* Numbers have commas after thousands, as in all texts. */
TEST(inspect_chart_separates_thousands) {
    heed_ctx *c = heed_open(NULL);
    char path[128], svg[8192];
    const double x[] = {0, 10, 12}, y[] = {-1000, 1200, 1500};
    const heed_series series[] = {{"training", 3, x, y}};
    heed_chart chart = {
        .x_label = "step", .series_count = 1, .series = series, .mark = "best", .mark_point = 2};
    snprintf(path, sizeof path, "%s/thousands.svg", test_folder());
    for (chart.log2_x = false;; chart.log2_x = true) {
        heed_text out = {.c = c};
        CHECK(heed_chart_text(&chart, 80, 12, false, &out));
        CHECK_HAS(out.s, " 1,000 ");
        CHECK_HAS(out.s, " -1,000 ");
        CHECK_HAS(out.s, chart.log2_x ? "step 4,096" : "step 12");
        heed_text_free(&out);
        CHECK(heed_charts_save(c, &chart, 1, 960, 540, HEED_SVG, path));
        FILE *f = fopen(path, "rb");
        size_t n = f ? fread(svg, 1, sizeof svg - 1, f) : 0;
        if (f) fclose(f);
        svg[n] = 0;
        CHECK_HAS(svg, ">1,000</text>");
        if (chart.log2_x) break;
    }
    CHECK_HAS(svg, ">1,024</text>");
    CLOSE(c);
}

/* A line has no dot at its first point, and a point between gaps has one; the marked point has a
 * ring, and the legends give its values. */
TEST(inspect_chart_marks_a_point) {
    heed_ctx *c = heed_open(NULL);
    char path[128], svg[8192] = "";
    const double x[] = {100, 200, 300, 400, 500}, y[] = {4, 2, 1.5, (double)NAN, 3};
    const heed_series series[] = {{"training", 3, x, y}, {"validation", 5, x, y}};
    heed_chart chart = {.x_label = "step", .y_label = "loss", .series_count = 2, .series = series};
    snprintf(path, sizeof path, "%s/marked.svg", test_folder());
    for (int i = 0; i < 2; i++, chart.mark = "best evaluation", chart.mark_series = 1) {
        chart.mark_point = 2;
        heed_text out = {.c = c};
        CHECK(heed_chart_text(&chart, 80, 12, false, &out));
        CHECK(!strstr(out.s, "o validation, best evaluation: loss 1.5, step 300") == !i);
        heed_text_free(&out);
        CHECK(heed_charts_save(c, &chart, 1, 960, 540, HEED_SVG, path));
        FILE *f = fopen(path, "rb");
        size_t n = f ? fread(svg, 1, sizeof svg - 1, f) : 0;
        if (f) fclose(f);
        svg[n] = 0;
        int dots = 0;
        for (const char *s = svg; (s = strstr(s, "<circle")); s++) dots++;
        CHECK(dots == (i ? 5 : 1)); /* the lone point; two of each ring */
        CHECK(!strstr(svg, ">loss 1.5, step 300</text>") == !i);
    }
    chart.mark_point = 3; /* a gap */
    CHECK(heed_charts_save(c, &chart, 1, 960, 540, HEED_PNG, path));
    heed_picture p = read_back(path);
    chart.mark = NULL;
    CHECK(heed_charts_save(c, &chart, 1, 960, 540, HEED_PNG, path));
    heed_picture none = read_back(path);
    CHECK(p.width == none.width && memcmp(p.pixels, none.pixels, (size_t)p.width * 540) == 0);
    heed_picture_free(&p);
    heed_picture_free(&none);
    CLOSE(c);
}
