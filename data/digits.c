/* digits FOLDER [--train N] [--test N] [--seed N] [--png] -- draws digits as hands write them.
 *
 * 28 x 28 grey pictures, dark ink on light paper: four IDX files in FOLDER, or with --png a picture
 * a file, FOLDER/train/7/00017.png. A digit is strokes through a few points; each picture has a
 * hand (one of the digit's forms, shaky points, slant, size, tilt, bend), a pen (width, pressure,
 * softness, ink) and a paper (shade, light from one side, grain, sometimes a ruled line) of its
 * own. Picture i of a part is a function of (seed, part, i) alone. No sine, logarithm or other
 * function that differs between C libraries is used, so that the bytes do not either. */
#define MAKER "digits"
#define PICTURES
#include "maker.h"

#include <math.h>

enum { SIDE = 28, PIXELS = SIDE * SIDE, POINTS = 16 };

/* Points "x,y" of 0 to 99, rightwards and downwards; "/" lifts the pen, a point twice is a corner.
 */
static const char *const forms[10][4] = {
    {"55,2 30,12 20,50 32,90 52,98 72,85 80,48 70,12 50,3 40,7",
     "50,8 24,25 20,60 45,93 75,75 78,35 56,10 46,12",
     "54,3 32,14 24,50 34,88 52,97 68,84 75,48 66,12 50,4 / 74,18 28,82"},
    {"53,3 50,97", "32,27 55,4 55,4 52,97", "34,24 54,4 54,4 53,95 / 32,96 74,95"},
    {"24,28 32,8 55,2 74,15 72,38 48,68 22,95 22,95 50,94 80,95",
     "25,25 40,4 68,8 72,32 50,65 28,88 20,82 34,76 52,88 80,94",
     "26,15 50,3 72,18 64,45 22,94 22,94 78,90"},
    {"26,12 50,2 72,15 66,38 44,47 44,47 72,56 76,80 52,98 22,88",
     "24,5 74,5 74,5 46,40 46,40 74,55 74,82 48,98 22,88",
     "28,14 52,3 70,18 58,42 46,48 66,54 74,76 54,96 26,90"},
    {"34,5 22,55 22,55 80,55 / 62,30 60,97", "62,97 64,3 64,3 18,64 18,64 84,64",
     "30,8 26,48 36,56 72,50 / 72,6 66,96"},
    {"34,6 30,44 30,44 52,38 76,55 72,84 46,98 22,88 / 34,6 76,5",
     "74,6 36,5 36,5 30,42 30,42 58,40 76,62 64,92 24,92",
     "72,5 42,8 34,36 60,46 74,68 56,94 24,88"},
    {"66,4 40,22 24,62 34,92 58,96 74,78 66,58 44,56 26,72",
     "56,2 30,40 24,76 46,97 70,84 68,62 48,54 28,68",
     "60,3 34,36 24,70 42,97 68,88 70,66 50,58 28,74"},
    {"22,8 78,6 78,6 60,45 44,97", "22,10 76,6 76,6 58,45 42,97 / 36,50 72,48",
     "24,22 26,6 26,6 76,8 76,8 54,50 50,97"},
    {"66,16 46,3 28,16 36,36 60,56 74,78 52,97 28,80 40,56 64,36 70,18 58,6",
     "50,4 30,14 32,36 52,46 70,32 68,12 48,4 / 52,46 26,62 26,88 52,98 76,84 72,58 48,47"},
    {"70,22 50,4 28,20 30,44 52,50 70,34 72,16 72,16 68,60 60,97",
     "72,20 52,4 30,18 30,40 50,48 70,32 73,18 74,60 60,92 32,94",
     "68,10 40,6 28,28 42,46 64,38 70,10 70,10 70,97"},
};

typedef struct {
    double x, y;
} point;

/* ---- chance ---- */

static double between(dice *d, double low, double high) {
    return low + (high - low) * ((double)(roll(d) >> 11) * 0x1p-53);
}

/* Mean 0, standard deviation s, at most 3.5 s: four uniform numbers, each of variance 1/3. */
static double about(dice *d, double s) {
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += between(d, -1, 1);
    return sum * s * 0.8660254037844386;
}

/* ---- one picture ---- */

typedef struct {
    double xx, xy, yx, yy;   /* from the form's box to pixels */
    point middle, bend;      /* pixels; how far the box's ends are bent */
    double radius, pressure; /* of the pen in pixels; share by which it changes along a stroke */
    double soft;             /* pixels over which an edge fades */
    double ink, dry;         /* darkness; share of it that grain of the paper takes away */
} hand;

/* The tilt's tangent of half the angle gives cosine and sine without calling them. */
static hand hand_of(dice *d) {
    double half = about(d, 0.045), slant = 0.12 + about(d, 0.2);
    double cosine = (1 - half * half) / (1 + half * half), sine = 2 * half / (1 + half * half);
    double high = between(d, 0.165, 0.235), wide = high * between(d, 0.75, 1.2);
    hand h = {.xx = cosine * wide, .xy = -sine * high - slant * cosine * high};
    h.yx = sine * wide;
    h.yy = cosine * high - slant * sine * high;
    h.middle = (point){SIDE / 2.0 + about(d, 1.2), SIDE / 2.0 + about(d, 1.0)};
    h.bend = (point){about(d, 1.1), about(d, 0.7)};
    h.radius = between(d, 0.55, 1.5);
    h.pressure = between(d, 0, 0.45);
    h.soft = between(d, 0.7, 1.6);
    h.ink = between(d, 0.55, 1);
    h.dry = between(d, 0, 1) < 0.3 ? between(d, 0.2, 0.7) : 0;
    return h;
}

static point place(const hand *h, point p) {
    double u = p.x - 50, v = p.y - 50;
    double x = h->middle.x + h->xx * u + h->xy * v + h->bend.x * v * v / 2500;
    return (point){x, h->middle.y + h->yx * u + h->yy * v + h->bend.y * u * u / 2500};
}

/* The pen's round tip at p: each pixel keeps the darkest it was touched with. */
static void touch(double ink[PIXELS], point p, double radius, double soft) {
    int reach = (int)(radius + soft) + 1;
    for (int y = (int)p.y - reach; y <= (int)p.y + reach; y++)
        for (int x = (int)p.x - reach; x <= (int)p.x + reach; x++) {
            if (x < 0 || y < 0 || x >= SIDE || y >= SIDE) continue;
            double dx = x + 0.5 - p.x, dy = y + 0.5 - p.y;
            double cover = (radius - sqrt(dx * dx + dy * dy)) / soft + 0.5;
            ink[y * SIDE + x] = fmax(ink[y * SIDE + x], fmin(1, cover));
        }
}

/* Between b and c at t in [0,1]. Catmull and Rom 1974. */
static double spline(double a, double b, double c, double d, double t) {
    double first = c - a, second = 2 * a - 5 * b + 4 * c - d, third = 3 * (b - c) + d - a;
    return b + t * (first + t * (second + t * third)) / 2;
}

static void draw_stroke(double ink[PIXELS], const hand *h, const point *p, int n, dice *d) {
    enum { STEPS = 24 };
    double from = 1 + about(d, h->pressure / 2), to = 1 + about(d, h->pressure / 2);
    for (int i = 0; i < n - 1; i++) {
        const point *a = &p[i > 0 ? i - 1 : i], *e = &p[i + 2 < n ? i + 2 : i + 1];
        for (int k = 0; k <= STEPS; k++) {
            double t = (double)k / STEPS, along = (i + t) / (n - 1);
            point q = {spline(a->x, p[i].x, p[i + 1].x, e->x, t),
                       spline(a->y, p[i].y, p[i + 1].y, e->y, t)};
            double ends = 1 - h->pressure * fmax(0, 4 * fabs(along - 0.5) - 1.5);
            touch(ink, place(h, q), h->radius * ends * (from + (to - from) * along), h->soft);
        }
    }
}

/* Reads a stroke of the form, shaken by the hand; returns what follows its "/", or NULL. */
static const char *read_stroke(const char *form, point p[POINTS], int *n, dice *d) {
    int x, y, used, last_x = -1, last_y = -1;
    point shake = {0, 0};
    for (*n = 0; *n < POINTS && sscanf(form, " %d,%d%n", &x, &y, &used) == 2; form += used) {
        bool corner = x == last_x && y == last_y;
        if (!corner) shake = (point){about(d, 3.2), about(d, 3.2)};
        last_x = x;
        last_y = y;
        p[(*n)++] = (point){x + shake.x, y + shake.y};
    }
    form += strspn(form, " ");
    return *form == '/' ? form + 1 : NULL;
}

static void draw_digit(double ink[PIXELS], const hand *h, int digit, dice *d) {
    int count = 0, n;
    while (count < 4 && forms[digit][count]) count++;
    point p[POINTS];
    const char *form = forms[digit][roll(d) % (unsigned)count];
    while (form) {
        form = read_stroke(form, p, &n, d);
        draw_stroke(ink, h, p, n, d);
    }
}

/* A ruled line of the paper, through the whole picture. */
static void rule(double shade[PIXELS], dice *d) {
    double y = between(d, 2, SIDE - 2), slope = about(d, 0.03), dark = between(d, 0.1, 0.3);
    for (int i = 0; i < PIXELS; i++) {
        double away = fabs(i / SIDE + 0.5 - y - slope * (i % SIDE));
        shade[i] *= 1 - dark * fmax(0, 1 - away);
    }
}

static void draw(uint64_t seed, uint64_t part, uint64_t index, unsigned char out[PIXELS]) {
    dice d = dice_of(seed, part, index);
    double ink[PIXELS] = {0}, paper[PIXELS];
    hand h = hand_of(&d);
    draw_digit(ink, &h, (int)(index % 10), &d);
    double light = between(&d, 0.78, 1), grain = between(&d, 0.005, 0.05);
    point slope = {about(&d, 0.05), about(&d, 0.05)};
    for (int i = 0; i < PIXELS; i++)
        paper[i] = light + slope.x * (i % SIDE - 14) / 14 + slope.y * (i / SIDE - 14) / 14;
    if (between(&d, 0, 1) < 0.2) rule(paper, &d);
    for (int i = 0; i < PIXELS; i++) {
        double cover = h.ink * ink[i] * (1 - h.dry * between(&d, 0, 1));
        double value = 255 * (paper[i] * (1 - cover) + about(&d, grain));
        out[i] = (unsigned char)fmax(0, fmin(255, value + 0.5));
    }
}

/* ---- files ---- */

typedef struct {
    const char *folder;
    uint64_t seed;
    uint64_t count[2]; /* of the training part, of the test part */
    bool png;
} order;

/* FOLDER/train or test/7, for each digit. */
static bool make_folders(const order *o, const char *part) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s", o->folder, part);
    bool ok = make_folder(path);
    for (int digit = 0; ok && digit < 10; digit++) {
        snprintf(path, sizeof path, "%s/%s/%d", o->folder, part, digit);
        ok = make_folder(path);
    }
    return ok;
}

/* Opens FOLDER/PART-images-idx3-ubyte (or labels), whose path it leaves, and writes its header:
 * magic (bytes, number of dims) and the dims, big-endian. */
static FILE *open_idx(const order *o, int part, bool images, char path[PATH_ROOM]) {
    const uint32_t header[] = {images ? 0x803 : 0x801, (uint32_t)o->count[part], SIDE, SIDE};
    snprintf(path, PATH_ROOM, "%s/%s-%s-ubyte", o->folder, part ? "t10k" : "train",
             images ? "images-idx3" : "labels-idx1");
    FILE *f = fopen(path, "wb");
    for (int i = 0; f && i < (images ? 4 : 2); i++) put_u32(f, header[i]);
    return f;
}

static bool write_part(const order *o, int part) {
    char path[PATH_ROOM], labels[PATH_ROOM];
    const char *name = part ? "test" : "train";
    unsigned char pixels[PIXELS];
    FILE *x = o->png ? NULL : open_idx(o, part, true, path);
    FILE *y = o->png ? NULL : open_idx(o, part, false, labels);
    bool ok = o->png ? make_folders(o, name) : x && y;
    for (uint64_t i = 0; ok && i < o->count[part]; i++) {
        int digit = (int)(i % 10);
        draw(o->seed, (uint64_t)part, i, pixels);
        if (o->png) {
            snprintf(path, sizeof path, "%s/%s/%d/%05d.png", o->folder, name, digit, (int)i);
            ok = write_png(path, SIDE, 1, pixels);
        } else {
            fwrite(pixels, 1, PIXELS, x);
            putc(digit, y);
        }
    }
    return o->png ? ok : (finish(x, path) & finish(y, labels));
}

int main(int argc, char **argv) {
    order o = {.count = {6000, 1000}, .seed = 1};
    const flag flags[] = {{"--train", 0, 99999, &o.count[0], NULL},
                          {"--test", 0, 99999, &o.count[1], NULL},
                          {"--seed", 0, UINT64_MAX, &o.seed, NULL},
                          {"--png", 0, 0, NULL, &o.png},
                          {0}};
    if (!read_arguments(argc, argv, flags, &o.folder, 1)) {
        fprintf(stderr, "usage: digits FOLDER [--train N] [--test N] [--seed N] [--png]\n");
        return 2;
    }
    bool ok = make_folder(o.folder);
    for (int part = 0; ok && part < 2; part++)
        if (o.count[part] > 0) ok = write_part(&o, part);
    return ok ? 0 : 1;
}
