/* overlay.c -- weights of a grid over a picture: the picture, then a panel for each map. In a
 * drawing the grey picture shows through the map's colours; in a terminal the panels are small. */
#include "core/core.h"
#include "text/text.h"
#include "view/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MARGIN = 20, GAP = 20, WIDTH = 1500, SIDE = 224, LEAST_PANEL = 120, LEAST_WIDTH = 640 };
enum { TITLE = 34, LINE = 22, LEGEND = 40, MEASURE = 28, RAMP = 160 };
/* Of the picture under the maps: the most contrast, the mean lightness to which it is brightened
 * and then the one to which it is paled, both of 1; and the most opacity of the maps. */
static const double PALE = 0.7, MIDDLE = 0.5, LEAST_GAMMA = 0.5, LIGHT = 0.71, OPAQUE = 0.75;
static const heed__rgb INK = {40, 40, 40}, SOFT = {110, 110, 110};

static bool check(heed_ctx *c, const heed_overlay *o) {
    bool ok = o && o->pixels && o->width > 0 && o->height > 0 &&
              (o->channels == 1 || o->channels == 3) && o->rows > 0 && o->cols > 0 &&
              o->count > 0 && o->count <= 1024 && o->maps && o->measures >= 0 && o->fused >= 0 &&
              o->fused <= o->count - o->measures;
    for (int i = 0; ok && i < o->count; i++) ok = o->maps[i] != NULL;
    return ok || heed_fail(c, HEED_USAGE,
                           "overlay is incomplete: expected a picture of 1 or 3 channels and "
                           "1 to 1024 maps of a grid");
}

/* ---- scales ---- */

/* The largest value of `sign` times a map, except cells left out; 0 if there is none. */
static double largest(const heed_overlay *o, int map, int sign) {
    double top = -INFINITY;
    for (int i = 0; i < o->rows * o->cols; i++)
        if (isfinite((double)o->maps[map][i])) top = fmax(top, sign * (double)o->maps[map][i]);
    return isfinite(top) ? top : 0;
}

static double size_of(const heed_overlay *o, int map) {
    return fmax(largest(o, map, 1), largest(o, map, -1));
}

/* Its index among the measures; below 0: it is none. */
static int measure_of(const heed_overlay *o, int map) { return map - (o->count - o->measures); }

static bool is_share(const heed_overlay *o, int map) {
    int measure = measure_of(o, map);
    return measure < 0 || (o->shares && o->shares[measure]);
}

/* Whether it has its own scale. */
static bool is_apart(const heed_overlay *o, int map) {
    return map < o->fused || measure_of(o, map) >= 0;
}

/* End of the scale of attention, `least` or more. */
static double shared_top(const heed_overlay *o, double least) {
    if (o->hi > 0) return o->hi;
    for (int i = 0; i < o->count; i++)
        if (!is_apart(o, i)) least = fmax(least, largest(o, i, 1));
    return least;
}

static double uniform_of(const heed_overlay *o) {
    return o->uniform > 0 ? o->uniform : 1 / ((double)o->rows * o->cols);
}

/* End of the scale of a map that has its own. */
static double end_of(const heed_overlay *o, int map) {
    double least = o->least && measure_of(o, map) >= 0 ? o->least[measure_of(o, map)] : 0;
    if (is_share(o, map)) least = fmax(least, fmin(2 * uniform_of(o), 1));
    return fmax(size_of(o, map), least);
}

/* Whether a map has a scale that is not the shared one: of shares it may end where that ends. */
static bool has_scale(const heed_overlay *o, int map, double shared) {
    return is_apart(o, map) &&
           !(is_share(o, map) && fabs(end_of(o, map) - shared) < 1e-6 * shared); /* of a float */
}

static int count_scales(const heed_overlay *o, double shared) {
    int count = 0;
    for (int i = 0; i < o->count; i++) count += has_scale(o, i, shared);
    return count;
}

static double top_of(const heed_overlay *o, int map, double shared) {
    double top = is_apart(o, map) ? end_of(o, map) : shared;
    return top > 0 ? top : 1;
}

static bool is_even(const heed_overlay *o, int map) {
    return is_share(o, map) && heed_nearly_uniform(o->maps[map], o->rows * o->cols);
}

/* Where the scale of a measure begins: below 0 only if it has a value there. */
static double start_of(const heed_overlay *o, int map) {
    return largest(o, map, -1) > 0 ? -end_of(o, map) : 0;
}

static const char *unit_of(const heed_overlay *o, int map) {
    return o->units && measure_of(o, map) >= 0 ? o->units[measure_of(o, map)] : NULL;
}

static const char *name_of(const heed_overlay *o, int map) {
    return o->captions && o->captions[map] ? o->captions[map] : "";
}

/* ---- a drawing ---- */

typedef struct {
    const heed_overlay *o;
    heed__sketch sketch;
    int full_width, full_height;
    int width, height, cell, columns; /* of a panel; its width with the gap; panels per row */
    int caption, head;                /* heights of the lines below a panel and above all */
    double top, uniform;              /* end of the scale; weight of a cell if all are equal */
    int digits;                       /* decimals of weights */
    char to[160], mark[48];           /* of the legend: the end of the scale, the uniform weight */
    heed_text note;
    int note_height;
} plan;

static int text_width(const char *text) {
    return text ? heed__text_width(text, 2) + 2 * MARGIN : 0;
}

/* A head with uniform attention does not look as if it attended to something, so the scale ends at
 * twice the uniform weight or more. */
static void set_scale(plan *p) {
    const heed_overlay *o = p->o;
    p->uniform = uniform_of(o);
    p->digits = 1 - (int)floor(log10(p->uniform));
    if (p->digits < 1) p->digits = 1;
    p->top = shared_top(o, fmin(2 * p->uniform, 1));
    snprintf(p->to, sizeof p->to, "%.*f  of %.100s (1 = 100 %%)", p->digits, p->top,
             o->of ? o->of : "a row's attention");
    snprintf(p->mark, sizeof p->mark, "uniform = %.*f", p->digits, p->uniform);
}

/* The legend of attention, from the left edge. */
static int legend_width(const plan *p) {
    return MARGIN + 28 + RAMP + heed__text_width(p->to, 2) + 32 + heed__text_width(p->mark, 2) +
           MARGIN;
}

/* The legend of a measure. */
static int put_measure(const plan *p, heed__sketch *s, int map, int y) {
    return heed__sketch_scale(s, MARGIN + 20, y,
                              (heed__scale){.name = name_of(p->o, map),
                                            .unit = unit_of(p->o, map),
                                            .from = start_of(p->o, map),
                                            .end = end_of(p->o, map),
                                            .shares = is_share(p->o, map)});
}

static bool lay_out(heed_ctx *c, plan *p, bool vector) {
    int panels = p->o->count + 1;
    p->width = p->o->width;
    p->height = p->o->height;
    heed__fit_size(SIDE, &p->width, &p->height);
    p->cell = (p->width > LEAST_PANEL ? p->width : LEAST_PANEL) + GAP;
    p->columns = (WIDTH - 2 * MARGIN + GAP) / p->cell;
    if (p->columns > panels) p->columns = panels;
    int rows = (panels + p->columns - 1) / p->columns;
    p->columns = (panels + rows - 1) / rows;
    int width = 2 * MARGIN - GAP + p->columns * p->cell;
    p->full_width = heed__larger(heed__larger(width, LEAST_WIDTH),
                                 heed__larger(text_width(p->o->title), text_width(p->o->subtitle)));
    p->full_width = heed__larger(p->full_width, legend_width(p));
    p->caption = 12 + 2 * LINE;
    for (int i = 0; i < p->o->count; i++)
        if (is_even(p->o, i)) p->caption = 12 + 3 * LINE;
    for (int i = 0; i < p->o->count; i++)
        if (has_scale(p->o, i, p->top))
            p->full_width =
                heed__larger(p->full_width, 2 * MARGIN + 20 + put_measure(p, NULL, i, 0));
    p->note.c = c;
    heed_text note = {.c = c};
    heed_text_add(&note, "Darker is more.%s%s", p->o->note ? " " : "",
                  p->o->note ? p->o->note : "");
    p->note_height =
        HEED__NOTE_LINE * heed__wrap_note(note.s, p->full_width - 2 * MARGIN, &p->note);
    heed_text_free(&note);
    p->head = MARGIN + (p->o->title ? TITLE : 0) + (p->o->subtitle ? LINE : 0);
    p->full_height = MARGIN + p->head + LEGEND + count_scales(p->o, p->top) * MEASURE +
                     p->note_height + rows * (p->height + p->caption);
    return heed__sketch_new(c, &p->sketch, vector, p->full_width, p->full_height);
}

static double weight_at(const heed_overlay *o, const heed_real *map, int row, int col) {
    row = row < 0 ? 0 : row >= o->rows ? o->rows - 1 : row;
    col = col < 0 ? 0 : col >= o->cols ? o->cols - 1 : col;
    double v = (double)map[(size_t)row * (size_t)o->cols + (size_t)col];
    return isfinite(v) ? v : 0;
}

/* The map at (u,v) of the unit square: its cell, or interpolated between the centres of four cells.
 */
static double sample(const heed_overlay *o, const heed_real *map, double u, double v) {
    if (o->cells) return weight_at(o, map, (int)(v * o->rows), (int)(u * o->cols));
    double x = u * o->cols - 0.5, y = v * o->rows - 0.5;
    int col = (int)floor(x), row = (int)floor(y);
    double fx = x - col, fy = y - row;
    double above = weight_at(o, map, row, col) * (1 - fx) + weight_at(o, map, row, col + 1) * fx;
    double below =
        weight_at(o, map, row + 1, col) * (1 - fx) + weight_at(o, map, row + 1, col + 1) * fx;
    return above * (1 - fy) + below * fy;
}

static double grey_of(heed__rgb c) { return (0.299 * c.r + 0.587 * c.g + 0.114 * c.b) / 255; }

/* How the grey picture is drawn under the maps: of lightness 1 - contrast (1 - grey^gamma). */
typedef struct {
    double gamma, contrast;
} tone;

static double mean_of(const heed__canvas *picture, double gamma) {
    double sum = 0;
    int n = picture->width * picture->height;
    for (int i = 0; i < n; i++) {
        const unsigned char *at = picture->rgb + 3 * (size_t)i;
        sum += pow(grey_of((heed__rgb){at[0], at[1], at[2]}), gamma);
    }
    return sum / n;
}

/* Dark colours, which are much, are not seen over a dark picture: that is lightened and, where this
 * is not enough, paler. The page does the same (picture.js). */
static tone tone_of(const heed__canvas *picture) {
    double mean = mean_of(picture, 1);
    tone t = {.gamma = 1};
    if (mean < MIDDLE) t.gamma = fmax(LEAST_GAMMA, log(MIDDLE) / log(fmax(mean, 1e-3)));
    t.contrast = fmin(PALE, (1 - LIGHT) / fmax(1 - mean_of(picture, t.gamma), 1e-3));
    return t;
}

/* The picture in grey, paler than it is; over it the colour of the weight, the more opaque the more
 * it is above uniform, so that the picture is recognised everywhere. The page does the same
 * (picture.js). Of other measures, what differs from 0 is coloured, also the more opaque; pale
 * colours would hide dark parts of the picture. */
static void tint(const plan *p, int map, heed__canvas *panel) {
    bool measure = !is_share(p->o, map);
    double top = top_of(p->o, map, p->top), from = measure ? 0 : p->uniform;
    tone t = tone_of(panel);
    for (int j = 0; j < p->height; j++)
        for (int i = 0; i < p->width; i++) {
            unsigned char *at = panel->rgb + 3 * ((size_t)j * (size_t)p->width + (size_t)i);
            double w = sample(p->o, p->o->maps[map], (i + 0.5) / p->width, (j + 0.5) / p->height);
            double light = pow(grey_of((heed__rgb){at[0], at[1], at[2]}), t.gamma);
            double grey = 255 * (1 - t.contrast * (1 - light));
            double above = top > from ? ((measure ? fabs(w) : w) - from) / (top - from) : 0;
            above = fmax(0, fmin(above, 1));
            double opacity = OPAQUE * (measure ? above : sqrt(above));
            heed__rgb c = measure ? heed__signed(w < 0 ? -1 : 1) : heed__paper(w / top);
            at[0] = (unsigned char)lround(grey + (c.r - grey) * opacity);
            at[1] = (unsigned char)lround(grey + (c.g - grey) * opacity);
            at[2] = (unsigned char)lround(grey + (c.b - grey) * opacity);
        }
}

static void write_line(plan *p, int x, int y, const char *text) {
    int capacity = p->cell - GAP / 2;
    int scale = heed__text_width(text, 2) <= capacity ? 2 : 1;
    heed__sketch_text(&p->sketch, x, y, scale, INK, HEED__LEFT, capacity, text);
}

/* Panel 0 is the picture, panel i map i - 1. */
static void draw_panel(plan *p, int index) {
    const heed_overlay *o = p->o;
    char second[64];
    int x = MARGIN + index % p->columns * p->cell;
    int y = p->head + index / p->columns * (p->height + p->caption);
    heed__canvas panel;
    if (!heed__canvas_new(p->sketch.c, &panel, p->width, p->height)) return;
    heed__canvas_pixels(&panel, 0, 0, p->width, p->height,
                        (heed__pixels){o->pixels, o->width, o->height, o->channels});
    if (index > 0) tint(p, index - 1, &panel);
    heed__sketch_picture(&p->sketch, x, y, &panel);
    heed__free(panel.rgb);
    if (index == 0) {
        write_line(p, x, y + p->height + 6, "picture");
        return;
    }
    if (!is_share(o, index - 1))
        snprintf(second, sizeof second, "%.3g to %.3g", fmin(-largest(o, index - 1, -1), 0),
                 fmax(largest(o, index - 1, 1), 0));
    else
        snprintf(second, sizeof second, "largest %.*f", p->digits, largest(o, index - 1, 1));
    y += p->height + 6;
    write_line(p, x, y, name_of(o, index - 1));
    write_line(p, x, y + LINE, second);
    if (is_even(o, index - 1)) write_line(p, x, y + 2 * LINE, "nearly uniform");
}

/* "0 [colours] 0.210  | uniform 0.016": a mark shows the uniform weight. This is the scale of
 * attention; those of the measures are below. */
static void draw_legend(plan *p) {
    int y = p->full_height - MARGIN - 20 - count_scales(p->o, p->top) * MEASURE - p->note_height;
    heed__sketch_text(&p->sketch, MARGIN, y + 2, 2, SOFT, HEED__LEFT, p->full_width, "0");
    for (int i = 0; i < RAMP; i++)
        heed__sketch_box(&p->sketch, MARGIN + 20 + i, y, 1, 18, heed__paper(i / (RAMP - 1.0)));
    heed__sketch_frame(&p->sketch, MARGIN + 20, y, RAMP, 18);
    int x = MARGIN + 28 + RAMP;
    heed__sketch_text(&p->sketch, x, y + 2, 2, SOFT, HEED__LEFT, p->full_width, p->to);
    heed__sketch_uniform(&p->sketch, MARGIN + 20, RAMP, p->uniform / p->top, y,
                         x + heed__text_width(p->to, 2) + 24, p->mark);
    y += MEASURE;
    for (int i = 0; i < p->o->count; i++)
        if (has_scale(p->o, i, p->top)) put_measure(p, &p->sketch, i, y), y += MEASURE;
    heed__sketch_note(&p->sketch, MARGIN, y, &p->note);
}

static bool draw(heed_ctx *c, const heed_overlay *o, bool vector, const char *path) {
    plan p = {.o = o};
    if (heed__stopped(c) || !check(c, o)) return false;
    set_scale(&p);
    bool ok = lay_out(c, &p, vector);
    if (ok && o->title)
        heed__sketch_text(&p.sketch, MARGIN, MARGIN, 2, INK, HEED__LEFT, p.full_width, o->title);
    if (ok && o->subtitle)
        heed__sketch_text(&p.sketch, MARGIN, p.head - TITLE, 2, SOFT, HEED__LEFT, p.full_width,
                          o->subtitle);
    for (int i = 0; ok && i <= o->count; i++) draw_panel(&p, i);
    if (ok) draw_legend(&p);
    ok = ok && heed__sketch_save(&p.sketch, path);
    heed_text_free(&p.note);
    heed__sketch_free(&p.sketch);
    return ok;
}

bool heed_overlay_png(heed_ctx *c, const heed_overlay *o, const char *path) {
    return draw(c, o, false, path);
}

bool heed_overlay_svg(heed_ctx *c, const heed_overlay *o, const char *path) {
    return draw(c, o, true, path);
}

/* ---- in a terminal ---- */

enum { POINTS = 28, APART = 2 };

/* A point is one column by half a line. */
typedef struct {
    const heed_overlay *o;
    heed_terminal terminal;
    heed_text *out;
    heed__canvas points; /* the picture */
    double top;
} panels;

static heed__rgb point_of(const panels *p, int x, int y) {
    const unsigned char *at = p->points.rgb + 3 * (y * p->points.width + x);
    return (heed__rgb){at[0], at[1], at[2]};
}

/* The share on the scale of map i - 1, shown in panel i; NAN: left out. */
static double map_share(const panels *p, int panel, int x, int y) {
    const heed_overlay *o = p->o;
    int row = y * o->rows / p->points.height, col = x * o->cols / p->points.width;
    return (double)o->maps[panel - 1][row * o->cols + col] / top_of(o, panel - 1, p->top);
}

/* Panel 0 is the picture; cells that a map leaves out show the picture in dark grey. */
static heed__rgb color_at(const panels *p, int panel, int x, int y) {
    heed__rgb c = point_of(p, x, y);
    if (panel == 0) return c;
    double share = map_share(p, panel, x, y);
    if (isfinite(share))
        return is_share(p->o, panel - 1) ? heed__viridis(share) : heed__signed_dark(share);
    unsigned char grey = (unsigned char)(110 * grey_of(c));
    return (heed__rgb){grey, grey, grey};
}

static double share_at(const panels *p, int panel, int x, int y) {
    if (panel == 0) return grey_of(point_of(p, x, y));
    double share = map_share(p, panel, x, y);
    return isfinite(share) ? share : 0;
}

static void put_line(const panels *p, int panel, int line) {
    int above = 2 * line, below = above + 1 < p->points.height ? above + 1 : above;
    for (int x = 0; x < p->points.width; x++)
        if (p->terminal == HEED_ASCII)
            heed__put_shade(p->out, HEED_ASCII,
                            (share_at(p, panel, x, above) + share_at(p, panel, x, below)) / 2, 1);
        else
            heed__put_half(p->out, p->terminal, color_at(p, panel, x, above),
                           color_at(p, panel, x, below));
    heed__put_plain(p->out, p->terminal);
}

/* Panels [from, to) side by side. */
static void put_row(const panels *p, int from, int to) {
    for (int line = -1; line < (p->points.height + 1) / 2; line++) {
        for (int i = from; i < to; i++) {
            if (line < 0)
                heed__put_label(p->out, i ? name_of(p->o, i - 1) : "picture", p->points.width,
                                false);
            else
                put_line(p, i, line);
            heed_text_add(p->out, "%*s", APART, "");
        }
        heed__end_line(p->out);
    }
}

/* "Other scales: mean of heads 0 to 0.25, occlusion -0.9 to 0.9; letters a to i are below 0." */
static void put_scales(const panels *p, int width) {
    const heed_overlay *o = p->o;
    heed_text line = {.c = p->out->c};
    bool below = false;
    heed_text_add(&line, "Other scales");
    for (int i = 0, n = 0; i < o->count; i++) {
        if (!has_scale(o, i, p->top)) continue;
        heed_text_add(&line, "%s %s %.3g to %.3g", n++ ? "," : ":", name_of(o, i), start_of(o, i),
                      end_of(o, i));
        below |= start_of(o, i) < 0;
    }
    if (below)
        heed_text_add(&line, "; %s below 0",
                      p->terminal == HEED_ASCII ? "letters a to i are" : "blue is");
    heed_text_add(&line, ".");
    if (line.s) heed_label_words(line.s, 0, width, p->out);
    heed__end_line(p->out);
    heed_text_free(&line);
}

static void put_panels(const panels *p, int width) {
    const heed_overlay *o = p->o;
    int per_row = (width + APART) / (p->points.width + APART), count = o->count + 1;
    if (per_row < 1) per_row = 1;
    if (o->title) {
        heed_label_text(o->title, width, p->out);
        heed__end_line(p->out);
    }
    for (int from = 0; from < count; from += per_row)
        put_row(p, from, from + per_row < count ? from + per_row : count);
    heed__put_legend(
        p->out, p->terminal,
        (heed__legend){
            .hi = p->top, .times = 100, .unit = "percent of a row's attention", .width = width});
    if (count_scales(o, p->top)) put_scales(p, width);
}

bool heed_overlay_text(const heed_overlay *o, heed_terminal terminal, int width, heed_text *out) {
    if (!o || !out || !check(out->c, o)) return false;
    if (width < 20) width = 100;
    /* Points are square: a cell of the grid covers a whole number of them. */
    int most = o->rows > o->cols ? o->rows : o->cols, capacity = width < POINTS ? width : POINTS;
    int times = capacity / most > 1 ? capacity / most : 1;
    panels p = {
        .o = o, .terminal = terminal, .out = out, .top = shared_top(o, fmin(2 * uniform_of(o), 1))};
    if (!heed__canvas_new(out->c, &p.points, o->cols * times, o->rows * times)) return false;
    heed__canvas_pixels(&p.points, 0, 0, p.points.width, p.points.height,
                        (heed__pixels){o->pixels, o->width, o->height, o->channels});
    put_panels(&p, width);
    heed__free(p.points.rgb);
    return !heed__stopped(out->c);
}
