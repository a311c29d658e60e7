/* sketch.c -- boxes, cells and labels, drawn as PNG or as SVG. */
#include "view/sketch.h"

#include "core/core.h"
#include "core/os.h"
#include "io/io.h"
#include "text/text.h"

#include <math.h>
#include <string.h>

bool heed__sketch_new(heed_ctx *c, heed__sketch *s, bool vector, int width, int height) {
    *s = (heed__sketch){.c = c, .vector = vector, .svg = {.c = c}};
    if (!vector) return heed__canvas_new(c, &s->canvas, width, height);
    heed_text_add(
        &s->svg,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
        "viewBox=\"0 0 %d %d\" font-family=\"monospace\" shape-rendering=\"crispEdges\">\n"
        "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
        width, height, width, height, width, height);
    return !heed__stopped(c);
}

void heed__sketch_free(heed__sketch *s) {
    heed__free(s->canvas.rgb);
    heed_text_free(&s->svg);
}

void heed__sketch_box(heed__sketch *s, int x, int y, int width, int height, heed__rgb k) {
    if (!s->vector) {
        heed__canvas_fill(&s->canvas, x, y, width, height, k);
        return;
    }
    heed_text_add(&s->svg,
                  "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%02x%02x%02x\"/>\n",
                  x, y, width, height, k.r, k.g, k.b);
}

void heed__sketch_frame(heed__sketch *s, int x, int y, int width, int height) {
    static const heed__rgb line = {200, 200, 200};
    heed__sketch_box(s, x - 1, y - 1, width + 2, 1, line);
    heed__sketch_box(s, x - 1, y + height, width + 2, 1, line);
    heed__sketch_box(s, x - 1, y, 1, height, line);
    heed__sketch_box(s, x + width, y, 1, height, line);
}

void heed__sketch_picture(heed__sketch *s, int x, int y, const heed__canvas *from) {
    heed__pixels all = {from->rgb, from->width, from->height, 3};
    if (!s->vector) {
        heed__canvas_pixels(&s->canvas, x, y, from->width, from->height, all);
        return;
    }
    heed_text_add(&s->svg,
                  "<image x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" "
                  "href=\"data:image/png;base64,",
                  x, y, from->width, from->height);
    heed__put_png(&s->svg, "a picture", all);
    heed_text_put(&s->svg, "\"/>\n", 4);
}

/* ---- cells ---- */

enum { LEVELS = 64 };

/* One path per colour that occurs: a few bytes per cell. Level 0 is one box below all cells. */
static void put_paths(heed__sketch *s, const heed__cells *g) {
    heed_text path[LEVELS] = {{0}};
    int side = g->cell - g->line;
    for (int i = 0; i < g->rows * g->cols; i++) {
        float share = g->share[i];
        heed_text *to = &path[share > 0 ? (int)lround((LEVELS - 1) * fmin(share, 1)) : 0];
        to->c = s->c;
        if (!isnan(share))
            heed_text_add(to, "M%d %dh%dv%dh-%dz", g->x + i % g->cols * g->cell,
                          g->y + i / g->cols * g->cell, side, side, side);
    }
    for (int i = 0; i < LEVELS; i++) {
        heed__rgb k = heed__paper(i / (LEVELS - 1.0));
        if (path[i].n)
            heed_text_add(&s->svg, "<path fill=\"#%02x%02x%02x\" d=\"%s\"/>\n", k.r, k.g, k.b,
                          path[i].s);
        heed_text_free(&path[i]);
    }
}

void heed__sketch_cells(heed__sketch *s, const heed__cells *g) {
    int side = g->cell - g->line;
    if (s->vector) {
        put_paths(s, g);
        return;
    }
    for (int i = 0; i < g->rows * g->cols; i++)
        if (!isnan(g->share[i]))
            heed__canvas_fill(&s->canvas, g->x + i % g->cols * g->cell,
                              g->y + i / g->cols * g->cell, side, side,
                              heed__paper((double)g->share[i]));
}

/* ---- text ---- */

int heed__sketch_width(const char *text, int scale) { return 6 * scale * heed_label_columns(text); }

static void put_escaped(heed_text *out, const char *text) {
    for (; *text; text++) {
        static const char special[] = "&<>\"'";
        static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
        const char *at = strchr(special, *text);
        if (at)
            heed_text_add(out, "%s", names[at - special]);
        else
            heed_text_put(out, text, 1);
    }
}

static const char *const anchors[] = {"start", "end", "middle", "start"};

/* The base line is 7 of the 9 points below the top. unicode-bidi keeps right-to-left labels in
 * place. */
static void put_svg_text(heed__sketch *s, int x, int y, int scale, heed__rgb k, heed__place place,
                         const char *text) {
    heed_text_add(&s->svg,
                  "<text font-size=\"%d\" fill=\"#%02x%02x%02x\" text-anchor=\"%s\" "
                  "style=\"unicode-bidi:isolate;white-space:pre\" ",
                  10 * scale, k.r, k.g, k.b, anchors[place]);
    if (place == HEED__UP)
        heed_text_add(&s->svg, "transform=\"translate(%d %d) rotate(-90)\">", x + 7 * scale, y);
    else
        heed_text_add(&s->svg, "x=\"%d\" y=\"%d\">", x, y + 7 * scale);
    put_escaped(&s->svg, text);
    heed_text_put(&s->svg, "</text>\n", 8);
}

void heed__sketch_text(heed__sketch *s, int x, int y, int scale, heed__rgb color, heed__place place,
                       int capacity, const char *text) {
    heed_text cut = {.c = s->c};
    if (!heed_text_put(&cut, "", 0)) return;
    if (s->vector) {
        heed_label_text(text, capacity / (6 * scale), &cut);
        put_svg_text(s, x, y, scale, color, place, cut.s);
    } else {
        char plain[HEED__LABEL];
        heed_label_text(text, HEED__LABEL, &cut);
        heed__text_cut(plain, cut.s, scale, capacity);
        int width = heed__text_width(plain, scale) - scale;
        s->boxed = s->boxed || heed__text_boxed(plain);
        if (place == HEED__RIGHT) x -= width;
        if (place == HEED__MIDDLE) x -= width / 2;
        if (place == HEED__UP)
            heed__canvas_text_up(&s->canvas, x, y, scale, color, plain);
        else
            heed__canvas_text(&s->canvas, x, y, scale, color, plain);
    }
    heed_text_free(&cut);
}

bool heed__sketch_save(heed__sketch *s, const char *path) {
    if (heed__stopped(s->c)) return false;
    if (s->boxed)
        heed_message(
            s->c, HEED_WARN,
            "%s has boxes for letters that its font lacks; hint: `svg`, where available, has them",
            path);
    if (!s->vector)
        return heed_png_save(s->c, path, s->canvas.rgb, s->canvas.width, s->canvas.height);
    heed_text_put(&s->svg, "</svg>\n", 7);
    heed__piece piece = {s->svg.s, s->svg.n};
    return !heed__stopped(s->c) && heed__os_write(s->c, path, &piece, 1);
}
