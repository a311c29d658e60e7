/* sheet.c -- a contact sheet: pictures in rows, each in its own square, with lines of text under
 * it. */
#include "core/core.h"
#include "view/draw.h"

enum { MARGIN = 20, GAP = 14, WIDTH = 1000, TITLE = 34, MOST = 16384 };
static const heed__rgb INK = {40, 40, 40}, SOFT = {110, 110, 110}, FRAME = {243, 243, 240};

typedef struct {
    const heed_sheet *sheet;
    int side, columns, rows;
    int scale, line, tall; /* scale and height of captions; height of a tile with its captions */
    heed__canvas canvas;
} layout;

/* Sizes of captions: of larger letters if every one then fits under its picture. */
static void size_captions(layout *l) {
    int lines = 0;
    l->scale = 2;
    for (int i = 0; i < l->sheet->count; i++) {
        const char *const *text = l->sheet->tiles[i].captions;
        for (int k = 0; k < HEED_TILE_LINES; k++) {
            if (text[k] && lines <= k) lines = k + 1;
            if (text[k] && heed__text_width(text[k], 2) > l->side) l->scale = 1;
        }
    }
    l->line = 9 * l->scale + 4;
    l->tall = l->side + GAP + lines * l->line;
}

static bool lay_out(heed_ctx *c, const heed_sheet *s, layout *l) {
    *l = (layout){.sheet = s, .side = s->side > 0 ? s->side : 96};
    if (l->side > MOST)
        return heed_fail(c, HEED_USAGE, "tiles of %d pixels are too large", l->side);
    l->columns = s->columns > 0 ? s->columns : (WIDTH - 2 * MARGIN + GAP) / (l->side + GAP);
    if (l->columns < 1) l->columns = 1;
    if (l->columns > s->count) l->columns = s->count;
    l->rows = (s->count + l->columns - 1) / l->columns;
    size_captions(l);
    int64_t width = 2 * MARGIN - GAP + ((int64_t)l->side + GAP) * l->columns;
    int64_t height = 2 * MARGIN - GAP + (int64_t)l->tall * l->rows + (s->title ? TITLE : 0);
    if (s->title && width < heed__text_width(s->title, 2) + 2 * MARGIN)
        width = heed__text_width(s->title, 2) + 2 * MARGIN;
    if (width > MOST || height > MOST)
        return heed_fail(c, HEED_USAGE, "a sheet of %d pictures of %d pixels is too large",
                         s->count, l->side);
    return heed__canvas_new(c, &l->canvas, (int)width, (int)height);
}

static void draw_line(layout *l, const char *text, int x, int y, heed__rgb color) {
    char cut[HEED__LABEL];
    if (!text) return;
    heed__text_cut(cut, text, l->scale, l->side);
    heed__canvas_text(&l->canvas, x + (l->side - heed__text_width(cut, l->scale)) / 2, y, l->scale,
                      color, false, cut);
}

static void draw_tile(layout *l, int index) {
    const heed_tile *t = &l->sheet->tiles[index];
    int width = t->width, height = t->height;
    int x = MARGIN + index % l->columns * (l->side + GAP);
    int y = MARGIN + (l->sheet->title ? TITLE : 0) + index / l->columns * l->tall;
    heed__canvas_fill(&l->canvas, x, y, l->side, l->side, FRAME);
    heed__fit_size(l->side, &width, &height);
    heed__canvas_pixels(&l->canvas, x + (l->side - width) / 2, y + (l->side - height) / 2, width,
                        height, (heed__pixels){t->pixels, t->width, t->height, t->channels});
    for (int k = 0; k < HEED_TILE_LINES; k++)
        draw_line(l, t->captions[k], x, y + l->side + 4 + k * l->line, k ? SOFT : INK);
}

static bool check(heed_ctx *c, const heed_sheet *s) {
    if (!s || s->count < 1 || !s->tiles)
        return heed_fail(c, HEED_USAGE, "a contact sheet needs pictures: found none");
    for (int i = 0; i < s->count; i++) {
        const heed_tile *t = &s->tiles[i];
        if (!t->pixels || t->width < 1 || t->height < 1 || (t->channels != 1 && t->channels != 3))
            return heed_fail(c, HEED_USAGE,
                             "picture %d of the sheet: expected pixels of 1 or 3 channels, found "
                             "%d x %d of %d",
                             i, t->width, t->height, t->channels);
    }
    return true;
}

bool heed_sheet_png(heed_ctx *c, const heed_sheet *s, const char *path) {
    layout l;
    if (heed__stopped(c) || !check(c, s) || !lay_out(c, s, &l)) return false;
    if (s->title) heed__canvas_text(&l.canvas, MARGIN, MARGIN, 2, INK, false, s->title);
    for (int i = 0; i < s->count; i++) draw_tile(&l, i);
    bool ok = heed_png_save(c, path, l.canvas.rgb, l.canvas.width, l.canvas.height);
    heed__free(l.canvas.rgb);
    return ok;
}
