/* sketch.c -- boxes, cells and labels, drawn as PNG or as SVG. */
#include "core/core.h"
#include "core/os.h"
#include "text/text.h"
#include "view/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

bool heed__sketch_new(heed_ctx *c, heed__sketch *s, bool vector, int width, int height) {
    *s = (heed__sketch){.c = c, .vector = vector, .svg = {.c = c}};
    if (!vector) return heed__canvas_new(c, &s->canvas, width, height);
    s->canvas.width = width;
    s->canvas.height = height;
    heed_text_add(&s->svg,
                  "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
                  "viewBox=\"0 0 %d %d\" font-family=\"DejaVu Sans, Verdana, sans-serif\" "
                  "shape-rendering=\"crispEdges\">\n"
                  "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n",
                  width, height, width, height, width, height);
    return !heed__stopped(c);
}

void heed__sketch_free(heed__sketch *s) {
    heed__free(s->canvas.rgb);
    heed_text_free(&s->svg);
    for (int i = 0; i < HEED__LEVELS; i++) heed_text_free(&s->cells[i]);
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

void heed__sketch_cell(heed__sketch *s, int x, int y, int side, float share) {
    if (!s->vector) {
        heed__canvas_fill(&s->canvas, x, y, side, side, heed__paper((double)share));
        return;
    }
    heed_text *path = &s->cells[share > 0 ? lround((HEED__LEVELS - 1) * fmin(share, 1)) : 0];
    path->c = s->c;
    heed_text_add(path, "M%d %dh%dv%dh-%dz", x, y, side, side, side);
}

void heed__sketch_end_cells(heed__sketch *s) {
    for (int i = 0; i < HEED__LEVELS; i++) {
        heed__rgb k = heed__paper(i / (HEED__LEVELS - 1.0));
        if (s->cells[i].n)
            heed_text_add(&s->svg, "<path fill=\"#%02x%02x%02x\" d=\"%s\"/>\n", k.r, k.g, k.b,
                          s->cells[i].s);
        s->cells[i].n = 0;
    }
}

/* ---- text ---- */

void heed__put_escaped(heed_text *out, const char *text) {
    static const char special[] = "&<>\"'";
    static const char *const names[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
    for (size_t n; *text; text += n) {
        int32_t code;
        n = heed_utf8_read(text, SIZE_MAX, &code);
        const char *at = n == 1 ? strchr(special, *text) : NULL;
        bool valid = code >= 32 && code != 127 && code != 0xFFFE && code != 0xFFFF; /* in XML 1.0 */
        if (at)
            heed_text_add(out, "%s", names[at - special]);
        else
            heed_text_put(out, valid ? text : "?", valid ? n : 1);
    }
}

/* The base line is 7 of the 9 points below the top. unicode-bidi keeps right-to-left labels in
 * place. */
static void put_svg_text(heed__sketch *s, int x, int y, int scale, heed__rgb k, heed__place place,
                         const char *text) {
    static const char *const anchors[] = {"start", "end", "middle", "start"};
    heed_text_add(&s->svg,
                  "<text font-size=\"%d\" fill=\"#%02x%02x%02x\" text-anchor=\"%s\" "
                  "style=\"unicode-bidi:isolate;white-space:pre\" ",
                  scale > 1 ? 18 : 10, k.r, k.g, k.b, anchors[place]);
    if (place == HEED__UP)
        heed_text_add(&s->svg, "transform=\"translate(%d %d) rotate(-90)\">", x + 7 * scale, y);
    else
        heed_text_add(&s->svg, "x=\"%d\" y=\"%d\">", x, y + 7 * scale);
    heed__put_escaped(&s->svg, text);
    heed_text_put(&s->svg, "</text>\n", 8);
}

void heed__sketch_text(heed__sketch *s, int x, int y, int scale, heed__rgb color, heed__place place,
                       int capacity, const char *text) {
    char plain[HEED__LABEL];
    heed_text whole = {.c = s->c};
    if (!heed_text_put(&whole, "", 0)) return;
    heed_label_text(text, HEED__LABEL, &whole);
    heed__text_cut(plain, whole.s, scale, capacity);
    /* The sign of a space hangs below the letters: where it is alone it is raised to them. */
    int raise = plain[strspn(plain, "␣")] ? 0 : 3 * scale;
    *(place == HEED__UP ? &x : &y) -= raise;
    if (s->vector) {
        put_svg_text(s, x, y, scale, color, place, plain);
    } else {
        int width = heed__text_width(plain, scale);
        s->boxed = s->boxed || heed__text_boxed(plain);
        if (place == HEED__RIGHT) x -= width;
        if (place == HEED__MIDDLE) x -= width / 2;
        heed__canvas_text(&s->canvas, x, y, scale, color, place == HEED__UP, plain);
    }
    heed_text_free(&whole);
}

/* Measures the lines of a note: their number, and whether all are at most `width` pixels wide. */
static int count_lines(const heed_text *note, int width, bool *fit) {
    int lines = 0;
    *fit = true;
    for (char *line = note->s, *end; line; line = end ? end + 1 : NULL, lines++) {
        end = strchr(line, '\n');
        if (end) *end = 0;
        *fit = *fit && heed__text_width(line, 2) <= width;
        if (end) *end = '\n';
    }
    return lines;
}

/* Lines have a number of columns, first as many as fit of average width; fewer if they hold wider
 * letters than others do. */
int heed__wrap_note(const char *note, int width, heed_text *out) {
    if (!note || !*note) return 0;
    int lines = 0, columns = width * heed_label_columns(note) / heed__text_width(note, 2);
    for (bool fit = false; !fit && columns > 0; columns--) {
        out->n = 0;
        heed_label_words(note, 0, columns, out);
        lines = count_lines(out, width, &fit);
    }
    return lines;
}

bool heed__sketch_save(heed__sketch *s, const char *path) {
    if (heed__stopped(s->c)) return false;
    if (s->boxed)
        heed_message(s->c, HEED_WARN,
                     "%s has boxes for letters that its font lacks; an SVG has the letters", path);
    if (!s->vector)
        return heed__png_save(s->c, path, s->canvas.rgb, s->canvas.width, s->canvas.height);
    heed_text_put(&s->svg, "</svg>\n", 7);
    heed__piece piece = {s->svg.s, s->svg.n};
    return path && !heed__stopped(s->c) && heed__os_write(s->c, path, &piece, 1);
}

/* ---- several as one ---- */

static void copy(heed__canvas *to, const heed__canvas *from, int x, int y) {
    size_t row = 3 * (size_t)from->width;
    for (int j = 0; j < from->height; j++)
        memcpy(to->rgb + 3 * ((size_t)(y + j) * (size_t)to->width + (size_t)x),
               from->rgb + (size_t)j * row, row);
}

/* Puts a sketch at (x,y) of a larger one. In SVG it is an element of its own. */
static void place(heed__sketch *all, const heed__sketch *one, int x, int y) {
    all->boxed |= one->boxed;
    if (!all->vector)
        copy(&all->canvas, &one->canvas, x, y);
    else
        heed_text_add(&all->svg, "<g transform=\"translate(%d %d)\">\n%s</svg>\n</g>\n", x, y,
                      one->svg.s ? one->svg.s : "");
}

/* Appends a sketch to those so far; both are freed. */
static bool append(heed__sketch *all, heed__sketch *one, bool down) {
    const heed__canvas *a = &all->canvas, *b = &one->canvas;
    int x = down ? 0 : a->width, y = down ? a->height : 0;
    int width = x + b->width, height = y + b->height;
    heed__sketch joined;
    bool ok = heed__sketch_new(one->c, &joined, one->vector, width > a->width ? width : a->width,
                               height > a->height ? height : a->height);
    if (ok) place(&joined, all, 0, 0);
    if (ok) place(&joined, one, x, y);
    heed__sketch_free(all);
    heed__sketch_free(one);
    *all = joined;
    return ok;
}

bool heed__sketches_save(heed_ctx *c, heed__drawer *draw, const void *list, int count, bool down,
                         bool vector, const char *path) {
    heed__sketch all = {0}, one = {0};
    bool ok = !heed__stopped(c) && count > 0 && draw(c, list, 0, vector, &all);
    for (int i = 1; ok && i < count; i++) {
        ok = draw(c, list, i, vector, &one);
        if (ok)
            ok = append(&all, &one, down);
        else
            heed__sketch_free(&one);
    }
    ok = ok && heed__sketch_save(&all, path);
    heed__sketch_free(&all);
    return ok;
}
