/* test_heatmap.c -- what a heat map says of its labels and colours, in a terminal and in pictures.
 */
#include "core/core.h"
#include "files.h"
#include "view/draw.h"
#include <heed/view.h>

enum { SIDE = 30, MANY = 90 };

/* A map of count x count values, whose labels are all `label`. */
static heed_heatmap map_of(int count, const char *label) {
    static heed_real values[MANY * MANY] = {1};
    static const char *labels[MANY];
    for (int i = 0; i < count; i++) labels[i] = label;
    return (heed_heatmap){.rows = count,
                          .cols = count,
                          .values = values,
                          .row_labels = labels,
                          .col_labels = labels,
                          .width = 40};
}

static int count_of(const char *text, const char *part) {
    int count = 0;
    for (; text && (text = strstr(text, part)); text += strlen(part)) count++;
    return count;
}

static heed_text drawn(heed_ctx *c, heed_heatmap m) {
    heed_text out = {.c = c};
    CHECK(heed_heatmap_text(&m, &out));
    return out;
}

/* The SVG of a map; to be freed. */
static char *svg_of(heed_ctx *c, heed_heatmap m) {
    size_t n = 0;
    const char *path = in_folder("map.svg");
    CHECK(heed_heatmaps_save(c, &m, 1, HEED_SVG, path));
    char *svg = heed_text_read(c, path, &n);
    CHECK(svg != NULL);
    return svg;
}

/* A map of `first` other tokens and the patches of a grid with as many rows as columns. */
static heed_heatmap map_of_patches(int first, int cols) {
    static char name[MANY][24];
    static const char *labels[MANY];
    heed_heatmap m = map_of(first + cols * cols, "q");
    for (int i = 0; i < m.cols; i++) {
        snprintf(name[i], sizeof name[i], "%d,%d", (i - first) / cols + 1, (i - first) % cols + 1);
        labels[i] = i < first ? "C" : name[i];
    }
    m.row_labels = m.col_labels = labels;
    m.grid_cols = cols;
    return m;
}

TEST_IN(heatmap_of_patches_labels_some_columns_from_left_to_right, heed_open(NULL)) {
    heed_heatmap m = map_of_patches(0, 8);
    m.width = 100; /* cells of one column: every fourth label, so that each row begins with one */
    heed_text out = drawn(c, m);
    CHECK_HAS(out.s, "     1,1 1,5 2,1 2,5 3,1 3,5 4,1 4,5 5,1 5,5 6,1 6,5 7,1 7,5 8,1 8,5\n");
    CHECK_HAS(out.s, "labels are ROW,COLUMN; one column in 4 has its label\n");
    heed_text_free(&out);
    m.width = 160; /* cells of two columns */
    out = drawn(c, m);
    CHECK_HAS(out.s, "     1,1 1,3 1,5 1,7 2,1 2,3 ");
    heed_text_free(&out);
    m.width = 40; /* two patches a cell */
    out = drawn(c, m);
    CHECK_HAS(out.s, "     1,1 2,1 3,1 4,1 5,1 6,1 7,1 8,1\n");
    CHECK_HAS(out.s, "each cell: the largest of");
    heed_text_free(&out);
    m = map_of_patches(1, 6); /* labels of four columns, but a row of the grid has six */
    m.width = 60;
    out = drawn(c, m);
    CHECK_HAS(out.s, "      1,1   2,1   3,1   4,1   5,1   6,1\n");
    heed_text_free(&out);
}

TEST_IN(heatmap_in_a_narrow_terminal_labels_all_columns_or_says_how_many, heed_open(NULL)) {
    heed_text out = drawn(c, map_of(SIDE, "q"));
    const char *line = strchr(out.s, 'q');
    CHECK(line && strspn(line, "q") == SIDE); /* one beside the other */
    CHECK(!strstr(out.s, "label"));
    heed_text_free(&out);
    out = drawn(c, map_of(SIDE, "日"));
    line = strchr(out.s, '\n');
    CHECK_HAS(out.s, "every second column has its label\n");
    CHECK(count_of(out.s, "日") == SIDE + SIDE / 2); /* of rows, and of every second column */
    heed_text_free(&out);
    out = drawn(c, map_of(MANY, "日"));
    CHECK_HAS(out.s, "each cell: the largest of 3 x 3; every");
    heed_text_free(&out);
}

TEST_IN(heatmap_says_which_way_its_colours_run, heed_open(NULL)) {
    heed_heatmap m = map_of(4, "q");
    heed_text out = drawn(c, m);
    CHECK(!strstr(out.s, "is more")); /* letters: denser ones */
    heed_text_free(&out);
    m.terminal = HEED_TRUECOLOR;
    m.width = 100;
    out = drawn(c, m);
    CHECK_HAS(out.s, "percent of a row's attention; brighter is more\n");
    heed_text_free(&out);
    char *svg = svg_of(c, m);
    CHECK(svg && strstr(svg, ">Darker is more.</text>"));
    free(svg);
}

TEST_IN(heatmap_picture_of_values_below_0_is_blue_there_and_orange_above, heed_open(NULL)) {
    const heed_real values[] = {-3, 0, 1, 3};
    heed_heatmap m = {.rows = 2, .cols = 2, .values = values, .lo = -3, .numbers = true};
    char *svg = svg_of(c, m);
    CHECK(svg && strstr(svg, ">Blue is below 0, orange above.</text>") && strstr(svg, ">-3<"));
    CHECK(svg && strstr(svg, "#1454a0") && strstr(svg, "#a84800"));
    free(svg);
}

TEST_IN(heatmap_picture_of_few_columns_has_letters_as_large_as_its_title, heed_open(NULL)) {
    const char *names[30] = {"a row"};
    heed_heatmap m = {.rows = 30, .cols = 3, .values = (heed_real[90]){1}, .row_labels = names};
    m.title = "a title of forty or more letters, wider than the map";
    char *svg = svg_of(c, m);
    const char *label = svg ? strstr(svg, ">a row<") : NULL;
    while (label && label > svg && strncmp(label, "<text font-size=\"18\"", 20) != 0 &&
           strncmp(label, "<text font-size=\"9\"", 19) != 0)
        label--;
    CHECK(label && strncmp(label, "<text font-size=\"18\"", 20) == 0);
    free(svg);
}

TEST_IN(heatmap_picture_says_that_it_lacks_labels, heed_open(NULL)) {
    heed_heatmap two[2];
    for (int i = 0; i < 2; i++) two[i] = map_of(MANY, "q");
    const char *path = in_folder("two.svg");
    size_t n = 0;
    CHECK(
        heed_panels_save(c, &(heed_panels){.count = 2, .maps = two, .columns = 2}, HEED_SVG, path));
    char *svg = heed_text_read(c, path, &n);
    CHECK(svg && strstr(svg, "Every 2nd label is shown.") && count_of(svg, ">q<") == 2 * MANY);
    free(svg);
    svg = svg_of(c, map_of(SIDE, "q"));
    CHECK(svg && !strstr(svg, "label is shown") && count_of(svg, ">q<") == 2 * SIDE);
    free(svg);
}

/* Its height in the picture's SVG. */
static int height_of(heed_ctx *c, const char *label, const char *shown) {
    int y = 0;
    char *svg = svg_of(c, map_of(1, label)), *at = svg ? strstr(svg, shown) : NULL;
    while (at && at > svg && strncmp(at, " y=\"", 4) != 0) at--;
    CHECK(at && sscanf(at, " y=\"%d\"", &y) == 1);
    free(svg);
    return y;
}

TEST_IN(heatmap_raises_the_sign_of_a_space_that_is_alone, heed_open(NULL)) {
    CHECK(height_of(c, " ", ">␣<") == height_of(c, "q", ">q<") - 6);
    CHECK(height_of(c, " q", ">␣q<") == height_of(c, "q", ">q<"));
}

TEST_IN(notes_of_pictures_with_lines_of_wide_letters_stay_within_their_width, heed_open(NULL)) {
    enum { WIDTH = 400 };
    heed_text out = {.c = c};
    int lines = heed__wrap_note("ill ill ill ill ill ill ill ill ill ill ill ill ill ill ill ill "
                                "WWW WWW WWW WWW WWW WWW WWW WWW",
                                WIDTH, &out);
    CHECK(lines > 2 && count_of(out.s, "\n") == lines - 1 && count_of(out.s, "WWW") == 8);
    for (char *line = strtok(out.s, "\n"); line; line = strtok(NULL, "\n"))
        CHECK(heed__text_width(line, 2) <= WIDTH);
    heed_text_free(&out);
}

TEST_IN(heatmap_of_pixels_is_as_bright_as_they_are, heed_open(NULL)) {
    heed_heatmap m = {.rows = 1, .cols = 3, .values = (heed_real[]){0, 0.5f, 1}, .hi = 1};
    m.pixels = true;
    char *svg = svg_of(c, m), *last = svg ? strstr(svg, "Brighter is more.") : NULL;
    char *black = svg ? strstr(svg, "fill=\"#000000\"") : NULL;
    char *grey = black ? strstr(black, "fill=\"#808080\"") : NULL;
    CHECK(grey && last && strstr(grey, "fill=\"#ffffff\"") < last);
    free(svg);
}

/* The height of the last label that is `shown`. */
static int last_height(const char *svg, const char *shown) {
    const char *at = NULL, *next = svg;
    int y = -1;
    while (next && (next = strstr(next, shown))) at = next++;
    while (at && at > svg && strncmp(at, " y=\"", 4) != 0) at--;
    CHECK(at && sscanf(at, " y=\"%d\"", &y) == 1);
    return y;
}

TEST_IN(heatmap_that_continues_another_has_its_rows_at_the_same_height, heed_open(NULL)) {
    static const heed_real values[90] = {1};
    static const char *const rows[2][3] = {{"a", "b", "c"}, {"A", "B", "C"}};
    const char *path = in_folder("maps.svg"), *cols[] = {"a long label"};
    heed_heatmap maps[2] = {
        {.title = "z", .rows = 3, .cols = 30, .values = values, .row_labels = rows[0]},
        {.title = "zE", .rows = 3, .cols = 1, .values = values, .row_labels = rows[1]}};
    maps[1].col_labels = cols;
    for (int joined = 0; joined < 2; joined++) {
        size_t n = 0;
        maps[1].continues = joined;
        CHECK(heed_heatmaps_save(c, maps, 2, HEED_SVG, path));
        char *svg = heed_text_read(c, path, &n);
        CHECK((last_height(svg, ">c<") == last_height(svg, ">C<")) == joined);
        CHECK(!joined || last_height(svg, ">a<") == last_height(svg, ">A<"));
        free(svg);
    }
}

/* Two maps in the same rows have cells of one size, which the wider map limits. */
TEST_IN(heatmap_beside_a_wide_one_is_as_small, heed_open(NULL)) {
    static const heed_real values[3 * 3000] = {1};
    heed_heatmap maps[2] = {{.rows = 3, .cols = 3000, .values = values},
                            {.rows = 3, .cols = 1, .values = values, .continues = true}};
    const char *path = in_folder("wide.svg");
    size_t n = 0;
    int width = 0;
    CHECK(heed_heatmaps_save(c, maps, 2, HEED_SVG, path));
    char *svg = heed_text_read(c, path, &n), *at = svg ? strstr(svg, " width=\"") : NULL;
    CHECK(at && sscanf(at, " width=\"%d\"", &width) == 1 && width > 12000 && width < 13000);
    free(svg);
    maps[1].cols = 1 << 30; /* is not read */
    CHECK(!heed_heatmaps_save(c, maps, 2, HEED_SVG, path));
    CHECK(strstr(heed_ctx_error(c), "expected values of 1 to"));
    heed_clear(c);
}
