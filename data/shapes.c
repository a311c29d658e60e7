/* shapes FOLDER [--train N] [--val N] [--unseen N] [--size PIXELS] [--captions 1|2] [--seed N] --
 * draws coloured shapes and says what they are.
 *
 * FOLDER/train.tsv and val.tsv have lines of a picture's file and a caption: "a small red circle",
 * or of two shapes "a small red circle left of a large blue square". Which of the two comes first
 * is chance; with --captions 2 a picture has both captions. With --unseen N some combinations of
 * colour and shape are in no picture of these files, and each of the N pictures of unseen.tsv has
 * one of them. boxes.tsv has a line for each shape of each picture: file, phrase, the box x, y,
 * width, height in pixels, and the picture's side. Picture i of a part is a function of (seed,
 * part, i) alone; arithmetic is of integers, so the bytes are equal everywhere. */
#define MAKER "shapes"
#define PICTURES
#include "maker.h"

enum { SMALLEST = 32, LARGEST = 256, UNIT = 4 }; /* UNIT: subpixels a side */
enum { SHAPES = 4, COLOURS = 6, SIZES = 2, RELATIONS = 4, PARTS = 3 };
enum { CIRCLE, SQUARE, TRIANGLE, CROSS };
enum { TRAIN, VAL, UNSEEN };

static const char *const shape_names[SHAPES] = {"circle", "square", "triangle", "cross"};
static const char *const size_names[SIZES] = {"small", "large"};
static const char *const relation_names[RELATIONS] = {"left of", "right of", "above", "below"};
static const char *const part_names[PARTS] = {"train", "val", "unseen"};
static const struct {
    const char *name;
    int rgb[3];
} colours[COLOURS] = {{"red", {215, 40, 40}},     {"green", {40, 170, 60}},
                      {"blue", {50, 90, 225}},    {"yellow", {235, 215, 50}},
                      {"purple", {150, 60, 200}}, {"white", {240, 240, 240}}};

/* From low to high, both included. */
static int between(dice *d, int low, int high) {
    return low + (int)(roll(d) % (uint64_t)(high - low + 1));
}

/* ---- a scene ---- */

typedef struct {
    int shape, colour, size;
    int x, y, radius; /* centre and half the box's side, in subpixels */
    int rgb[3];
} thing;

typedef struct {
    thing things[2];
    int count, relation; /* the first thing is in this relation to the second */
} scene;

/* The combinations that only the part UNSEEN has: one colour for each shape. */
static bool is_held_out(const thing *t) { return t->colour == (t->shape * 2 + 1) % COLOURS; }

static void choose_look(thing *t, int side, dice *d) {
    t->shape = between(d, 0, SHAPES - 1);
    t->colour = between(d, 0, COLOURS - 1);
    t->size = between(d, 0, SIZES - 1);
    int share = t->size ? between(d, 16, 19) : between(d, 9, 11); /* hundredths of the side */
    t->radius = side * UNIT * share / 100;
    for (int c = 0; c < 3; c++) {
        int value = colours[t->colour].rgb[c] + between(d, -15, 15);
        t->rgb[c] = value < 0 ? 0 : value > 255 ? 255 : value;
    }
}

/* Looks that a part may have; two things differ in shape or colour. */
static bool looks_fit(const scene *s, int part, bool holds_out) {
    const thing *a = &s->things[0], *b = &s->things[1];
    bool held = is_held_out(a) || (s->count == 2 && is_held_out(b));
    if (s->count == 2 && a->shape == b->shape && a->colour == b->colour) return false;
    return part == UNSEEN ? held : !holds_out || !held;
}

/* Places the things inside the picture, apart along one axis and closer along the other; false if
 * they did not come to lie so. */
static bool place(scene *s, int side, dice *d) {
    int all = side * UNIT;
    for (int i = 0; i < s->count; i++) {
        thing *t = &s->things[i];
        t->x = between(d, t->radius + UNIT, all - t->radius - UNIT);
        t->y = between(d, t->radius + UNIT, all - t->radius - UNIT);
    }
    if (s->count == 1) return true;
    const thing *a = &s->things[0], *b = &s->things[1];
    int right = b->x - a->x, down = b->y - a->y, least = a->radius + b->radius + UNIT;
    int across = abs(right), along = abs(down);
    if (across >= least && along * 2 <= across)
        s->relation = right > 0 ? 0 : 1;
    else if (along >= least && across * 2 <= along)
        s->relation = down > 0 ? 2 : 3;
    else
        return false;
    return true;
}

static scene scene_of(int side, int part, bool holds_out, dice *d) {
    scene s = {.count = between(d, 0, 2) ? 2 : 1};
    do
        for (int i = 0; i < s.count; i++) choose_look(&s.things[i], side, d);
    while (!looks_fit(&s, part, holds_out));
    while (!place(&s, side, d)) {}
    return s;
}

/* ---- words ---- */

static void put_phrase(FILE *f, const thing *t) {
    fprintf(f, "a %s %s %s", size_names[t->size], colours[t->colour].name, shape_names[t->shape]);
}

static void put_caption(FILE *f, const scene *s, bool turned) {
    put_phrase(f, &s->things[turned]);
    if (s->count == 1) return;
    fprintf(f, " %s ", relation_names[turned ? s->relation ^ 1 : s->relation]);
    put_phrase(f, &s->things[!turned]);
}

/* ---- the picture ---- */

/* Whether the subpixel at (x, y) from the centre, whose box has half a side of r, is inside. */
static bool covers(int shape, int x, int y, int r) {
    switch (shape) {
    case CIRCLE:
        return x * x + y * y <= r * r;
    case SQUARE:
        return 10 * abs(x) <= 9 * r && 10 * abs(y) <= 9 * r;
    case TRIANGLE: /* its tip is above */
        return y <= r && 2 * abs(x) <= y + r;
    default:
        return (3 * abs(x) <= r && abs(y) <= r) || (3 * abs(y) <= r && abs(x) <= r);
    }
}

/* How many subpixels of a pixel the thing covers, up to UNIT * UNIT. */
static int cover_of(const thing *t, int px, int py) {
    int count = 0;
    for (int i = 0; i < UNIT * UNIT; i++)
        count +=
            covers(t->shape, px * UNIT + i % UNIT - t->x, py * UNIT + i / UNIT - t->y, t->radius);
    return count;
}

static void draw(const scene *s, int side, unsigned char *out, dice *d) {
    int ground[3];
    for (int c = 0; c < 3; c++) ground[c] = between(d, 10, 45);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++, out += 3) {
            int grain = between(d, -8, 8), pixel[3];
            for (int c = 0; c < 3; c++) pixel[c] = ground[c];
            for (int i = 0; i < s->count; i++) {
                int cover = cover_of(&s->things[i], x, y), all = UNIT * UNIT;
                for (int c = 0; c < 3; c++)
                    pixel[c] = (pixel[c] * (all - cover) + s->things[i].rgb[c] * cover) / all;
            }
            for (int c = 0; c < 3; c++) {
                int value = pixel[c] + grain;
                out[c] = (unsigned char)(value < 0 ? 0 : value > 255 ? 255 : value);
            }
        }
}

/* ---- files ---- */

typedef struct {
    const char *folder;
    uint64_t seed, count[PARTS], size, captions;
} order;

static void put_box(FILE *f, const char *file, const thing *t, int picture) {
    int left = (t->x - t->radius) / UNIT, top = (t->y - t->radius) / UNIT;
    int side = (2 * t->radius + UNIT - 1) / UNIT;
    fprintf(f, "%s\t", file);
    put_phrase(f, t);
    fprintf(f, "\t%d\t%d\t%d\t%d\t%d\n", left, top, side, side, picture);
}

static bool write_picture(const order *o, int part, uint64_t index, FILE *captions, FILE *boxes) {
    static unsigned char pixels[3 * LARGEST * LARGEST];
    char file[64], path[PATH_ROOM + 64];
    int side = (int)o->size;
    dice d = dice_of(o->seed, (uint64_t)part, index);
    scene s = scene_of(side, part, o->count[UNSEEN] > 0, &d);
    bool turned = s.count == 2 && between(&d, 0, 1);
    snprintf(file, sizeof file, "%s/%05llu.png", part_names[part], (unsigned long long)index);
    snprintf(path, sizeof path, "%s/%s", o->folder, file);
    for (uint64_t i = 0; i < o->captions && i < (uint64_t)s.count; i++) {
        fprintf(captions, "%s\t", file);
        put_caption(captions, &s, i ? !turned : turned);
        putc('\n', captions);
    }
    for (int i = 0; i < s.count; i++) put_box(boxes, file, &s.things[i], side);
    draw(&s, side, pixels, &d);
    return write_png(path, side, 3, pixels);
}

static bool write_part(const order *o, int part, FILE *boxes) {
    char path[PATH_ROOM + 64];
    snprintf(path, sizeof path, "%s/%s", o->folder, part_names[part]);
    if (!make_folder(path)) return false;
    snprintf(path, sizeof path, "%s/%s.tsv", o->folder, part_names[part]);
    FILE *captions = fopen(path, "w");
    bool ok = captions != NULL;
    if (ok) fputs("file\tcaption\n", captions);
    for (uint64_t i = 0; ok && i < o->count[part]; i++)
        ok = write_picture(o, part, i, captions, boxes);
    return finish(captions, path) && ok;
}

int main(int argc, char **argv) {
    order o = {.seed = 1, .count = {4000, 400, 0}, .size = 48, .captions = 1};
    char path[PATH_ROOM + 64];
    const flag flags[] = {{"--train", 1, 99999, &o.count[TRAIN], NULL},
                          {"--val", 0, 99999, &o.count[VAL], NULL},
                          {"--unseen", 0, 99999, &o.count[UNSEEN], NULL},
                          {"--size", SMALLEST, LARGEST, &o.size, NULL},
                          {"--captions", 1, 2, &o.captions, NULL},
                          {"--seed", 0, UINT64_MAX, &o.seed, NULL},
                          {0}};
    if (!read_arguments(argc, argv, flags, &o.folder, 1)) {
        fprintf(stderr, "usage: shapes FOLDER [--train N] [--val N] [--unseen N] [--size PIXELS] "
                        "[--captions 1|2] [--seed N]\n");
        return 2;
    }
    if (!make_folder(o.folder)) return 1;
    snprintf(path, sizeof path, "%s/boxes.tsv", o.folder);
    FILE *boxes = fopen(path, "w");
    bool ok = boxes != NULL;
    if (ok) fputs("file\tphrase\tx\ty\twidth\theight\tpicture\n", boxes);
    for (int part = 0; ok && part < PARTS; part++)
        if (o.count[part]) ok = write_part(&o, part, boxes);
    return finish(boxes, path) && ok ? 0 : 1;
}
