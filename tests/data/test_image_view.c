/* Resizing, and how a picture becomes an input. */
#include "golden.h"
#include "test.h"

static heed_picture pattern(int width, int height, int channels) {
    heed_picture p = {width, height, channels, malloc((size_t)(width * height * channels))};
    for (int i = 0; i < width * height * channels; i++) {
        int x = i / channels % width, y = i / channels / width, c = i % channels;
        p.pixels[i] = (unsigned char)(x * 23 + y * 31 + c * 70);
    }
    return p;
}

static heed_real *resized(const heed_picture *p, heed_box box, int width, int height) {
    size_t n = (size_t)(width * height * p->channels);
    heed_real *out = malloc(n * sizeof *out);
    heed_real *work = malloc(heed_resize_work(p, width, height) * sizeof *work);
    heed_picture_resize(p, box, width, height, out, work);
    free(work);
    return out;
}

static void check_golden(int width, int height) {
    char name[32];
    snprintf(name, sizeof name, "resized_%dx%d", width, height);
    const double *expected =
        golden_numbers("pictures/expected.safetensors", name, (size_t)(width * height * 3));
    heed_picture p = pattern(7, 5, 3);
    heed_real *out = resized(&p, (heed_box){0, 0, 7, 5}, width, height);
    for (int i = 0; i < width * height * 3; i++) CHECK_CLOSE(out[i], expected[i], 1e-3);
    free(out);
    heed_picture_free(&p);
}

TEST(image_resize_as_pytorch) {
    check_golden(4, 3);
    check_golden(11, 9);
    check_golden(1, 1);
    check_golden(7, 2);
}

/* A box of whole pixels at their own size is copied; half a pixel to the right is the mean of two.
 */
TEST(image_resize_of_boxes) {
    heed_picture p = pattern(9, 6, 3);
    heed_real *out = resized(&p, (heed_box){2, 1, 5, 4}, 5, 4);
    heed_real *half = resized(&p, (heed_box){2.5, 1, 5, 4}, 5, 4);
    for (int i = 0; i < 5 * 4 * 3; i++) {
        const unsigned char *from = p.pixels + ((1 + i / 15) * 9 + 2) * 3 + i % 15;
        CHECK(out[i] == from[0]);
        CHECK_CLOSE(half[i], (from[0] + from[3]) / 2.0, 1e-4);
    }
    free(out);
    free(half);
    heed_picture_free(&p);
}

TEST(image_resize_hostile_boxes) {
    heed_picture p = pattern(5, 4, 1);
    const double odd[] = {NAN, INFINITY, -INFINITY, -1e300, 1e300, -3, 0, 0.5, 4, 100, 1e-300};
    enum { ODD = sizeof odd / sizeof *odd };
    for (int i = 0; i < ODD * ODD * ODD; i++) {
        heed_box box = {odd[i % ODD], odd[i / ODD % ODD], odd[i / ODD / ODD], odd[(i * 7) % ODD]};
        heed_real *out = resized(&p, box, 3, 2);
        for (int k = 0; k < 6; k++) CHECK(out[k] >= 0 && out[k] <= (heed_real)255.001);
        free(out);
    }
    heed_picture_resize(NULL, (heed_box){0}, 1, 1, NULL, NULL);
    CHECK(heed_resize_work(NULL, 3, 3) == 0 && heed_resize_work(&p, 0, 3) == 0);
    heed_picture_free(&p);
}

/* ---- views ---- */

typedef struct {
    heed_picture p;
    heed_image_transform v;
    heed_real *out, *work;
} viewer;

static viewer viewer_of(heed_picture p, int size) {
    viewer w = {p, {.size = size, .channels = p.channels, .deviation = {1, 1, 1}}, NULL, NULL};
    w.out = malloc(sizeof(heed_real) * (size_t)(size * size * p.channels));
    w.work = malloc(sizeof(heed_real) * heed_image_transform_work(&p, &w.v));
    return w;
}

static void viewer_free(viewer *w) {
    free(w->out);
    free(w->work);
    heed_picture_free(&w->p);
}

static const heed_real *look(viewer *w, const heed_augment *a, uint64_t draw) {
    heed_random r = heed_random_at(5, "test", draw, 0);
    heed_picture_transform(&w->p, &w->v, a, a ? &r : NULL, w->out, w->work);
    return w->out;
}

TEST(image_view_normalises_without_resampling) {
    viewer w = viewer_of(pattern(8, 8, 3), 8);
    w.v.mean[1] = 0.5;
    w.v.deviation[2] = 0.25;
    look(&w, NULL, 0);
    for (int i = 0; i < 8 * 8 * 3; i++) {
        int c = i % 3;
        double x = (w.p.pixels[i] / 255.0 - w.v.mean[c]) / w.v.deviation[c];
        CHECK_CLOSE(w.out[i], x, 1e-6);
    }
    viewer_free(&w);
}

TEST(image_view_cuts_out_the_centre) {
    viewer w = viewer_of(pattern(13, 6, 1), 3);
    heed_real *expected = resized(&w.p, (heed_box){3.5, 0, 6, 6}, 3, 3);
    look(&w, NULL, 0);
    for (int i = 0; i < 9; i++) CHECK_CLOSE(w.out[i] * 255, expected[i], 1e-4);
    free(expected);
    viewer_free(&w);
}

TEST(image_view_flips) {
    viewer w = viewer_of(pattern(6, 6, 3), 6);
    int flipped = 0;
    for (uint64_t draw = 0; draw < 400; draw++)
        flipped += look(&w, &(heed_augment){.flip = 0.25}, draw)[0] * 255 > 100; /* 5 * 23 */
    CHECK(flipped > 60 && flipped < 140);
    look(&w, &(heed_augment){.flip = 1}, 0);
    for (int i = 0; i < 108; i++) {
        int from = i / 18 * 18 + (5 - i / 3 % 6) * 3 + i % 3;
        CHECK_CLOSE(w.out[i] * 255, w.p.pixels[from], 1e-4);
    }
    viewer_free(&w);
}

/* Each shift by up to 2 occurs; what comes in is zero, which is the mean. */
TEST(image_view_shifts) {
    viewer w = viewer_of(pattern(5, 5, 1), 5);
    w.p.pixels[0] = 255; /* no other is */
    w.v.mean[0] = 2;
    bool seen[5][5] = {{false}};
    for (uint64_t draw = 0; draw < 300; draw++) {
        look(&w, &(heed_augment){.pad = 2}, draw);
        int right = 9, down = 9;
        for (int dy = -2; dy <= 2; dy++)
            for (int dx = -2; dx <= 2; dx++) {
                bool same = true;
                for (int i = 0; i < 25; i++) {
                    int x = i % 5 - dx, y = i / 5 - dy;
                    bool inside = x >= 0 && x < 5 && y >= 0 && y < 5;
                    double expected = inside ? w.p.pixels[y * 5 + x] / 255.0 - 2 : 0;
                    same = same && fabs((double)w.out[i] - expected) < 1e-6;
                }
                if (same) right = dx, down = dy;
            }
        CHECK(right != 9);
        if (right != 9) seen[down + 2][right + 2] = true;
    }
    for (int i = 0; i < 25; i++) CHECK(seen[i / 5][i % 5]);
    look(&w, &(heed_augment){.pad = INT32_MAX}, 1);
    viewer_free(&w);
}

/* Red names the column and green the row: the corners tell the box. */
TEST(image_view_random_boxes) {
    heed_picture p = {100, 60, 3, calloc(100 * 60, 3)};
    for (int i = 0; i < 6000; i++)
        p.pixels[3 * i] = (unsigned char)(i % 100), p.pixels[3 * i + 1] = (unsigned char)(i / 100);
    viewer w = viewer_of(p, 16);
    double least = 1, most = 0, narrow = 9, wide = 0, left = 99, right = 0;
    for (uint64_t draw = 0; draw < 500; draw++) {
        const heed_real *o = look(&w, &(heed_augment){.scale = 0.2, .ratio = 2}, draw);
        const heed_real *e = o + 3 * 255; /* the corners stand 15 of 16 parts of the box apart */
        double width = (double)(e[0] - o[0]) * 255 * 16 / 15;
        double height = (double)(e[1] - o[1]) * 255 * 16 / 15, area = width * height / 6000;
        least = fmin(least, area), most = fmax(most, area);
        narrow = fmin(narrow, width / height), wide = fmax(wide, width / height);
        left = fmin(left, (double)o[0] * 255), right = fmax(right, (double)e[0] * 255);
    }
    CHECK(least > 0.18 && least < 0.25 && most > 0.8 && most < 1.02);
    CHECK(narrow > 0.45 && narrow < 0.6 && wide > 1.8 && wide < 2.1);
    CHECK(left < 3 && right > 96);
    viewer_free(&w);
}

/* Nothing fits into a picture of one row: the largest allowed box in the middle is taken. */
TEST(image_view_random_box_falls_back) {
    viewer w = viewer_of(pattern(90, 1, 1), 1);
    heed_real *expected = resized(&w.p, (heed_box){44.5, 0, 1, 1}, 1, 1);
    look(&w, &(heed_augment){.scale = 0.9}, 3);
    CHECK_CLOSE(w.out[0] * 255, expected[0], 1e-4);
    free(expected);
    viewer_free(&w);
}

/* ---- colours ---- */

static double grey(const heed_real *pixel) {
    return 0.299 * (double)pixel[0] + 0.587 * (double)pixel[1] + 0.114 * (double)pixel[2];
}

/* A picture of middling values: nothing is cut off. */
static viewer middling(void) {
    viewer w = viewer_of(pattern(4, 4, 3), 4);
    for (int i = 0; i < 48; i++) w.p.pixels[i] = (unsigned char)(110 + i * 7 % 30);
    return w;
}

TEST(image_view_brightness) {
    viewer w = middling();
    double low = 9, high = 0;
    for (uint64_t draw = 0; draw < 200; draw++) {
        look(&w, &(heed_augment){.brightness = 0.4}, draw);
        double factor = (double)w.out[0] * 255 / w.p.pixels[0];
        for (int i = 0; i < 48; i++) CHECK_CLOSE(w.out[i] * 255, w.p.pixels[i] * factor, 1e-3);
        low = fmin(low, factor), high = fmax(high, factor);
    }
    CHECK(low > 0.6 && low < 0.65 && high < 1.4 && high > 1.35);
    viewer_free(&w);
}

/* Differences are scaled by one factor, the grey mean stays. */
TEST(image_view_contrast) {
    viewer w = middling();
    heed_real before[48];
    memcpy(before, look(&w, NULL, 0), sizeof before);
    for (uint64_t draw = 0; draw < 50; draw++) {
        look(&w, &(heed_augment){.contrast = 0.5}, draw);
        double factor = (double)(w.out[1] - w.out[0]) / (double)(before[1] - before[0]);
        double mean_before = 0, mean = 0;
        for (int i = 0; i < 48; i += 3) mean_before += grey(before + i), mean += grey(w.out + i);
        CHECK_CLOSE(mean, mean_before, 1e-5);
        CHECK(factor > 0.5 && factor < 1.5);
        for (int i = 1; i < 48; i++)
            CHECK_CLOSE(w.out[i] - w.out[0], (before[i] - before[0]) * factor, 1e-5);
    }
    viewer_free(&w);
}

/* Each pixel's grey stays, its distance from it is scaled. */
TEST(image_view_saturation) {
    viewer w = middling();
    heed_real before[48];
    memcpy(before, look(&w, NULL, 0), sizeof before);
    for (uint64_t draw = 0; draw < 50; draw++) {
        look(&w, &(heed_augment){.saturation = 0.5}, draw);
        double factor = ((double)w.out[0] - grey(before)) / ((double)before[0] - grey(before));
        CHECK(factor > 0.5 && factor < 1.5);
        for (int i = 0; i < 48; i++) {
            double g = grey(before + i / 3 * 3);
            CHECK_CLOSE(w.out[i], g + factor * ((double)before[i] - g), 1e-5);
        }
    }
    viewer_free(&w);
    w = viewer_of(pattern(4, 4, 1), 4);
    look(&w, &(heed_augment){.saturation = 0.5}, 1);
    for (int i = 0; i < 16; i++) CHECK_CLOSE(w.out[i] * 255, w.p.pixels[i], 1e-4);
    viewer_free(&w);
}

TEST(image_view_colours_stay_in_range) {
    viewer w = viewer_of(pattern(6, 6, 3), 6);
    for (uint64_t draw = 0; draw < 100; draw++) {
        look(&w, &(heed_augment){.brightness = 5, .contrast = 5, .saturation = 5}, draw);
        for (int i = 0; i < 108; i++) CHECK(w.out[i] >= 0 && w.out[i] <= (heed_real)1.0001);
    }
    viewer_free(&w);
}

/* ---- draws ---- */

/* One kind of draw does not change another; equal streams give equal bits. */
TEST(image_view_draws_are_fixed_numbers) {
    viewer w = viewer_of(pattern(6, 6, 1), 6);
    heed_real one[36];
    for (uint64_t draw = 0; draw < 20; draw++) {
        memcpy(one, look(&w, &(heed_augment){.pad = 2}, draw), sizeof one);
        look(&w, &(heed_augment){.pad = 2, .flip = 1e-9, .brightness = 1e-9}, draw);
        for (int i = 0; i < 36; i++) CHECK_CLOSE(w.out[i], one[i], 1e-6);
        heed_augment all = {0.5, 2, 0.3, 1.5, 0.4, 0.4, 0.4};
        memcpy(one, look(&w, &all, draw), sizeof one);
        CHECK(memcmp(look(&w, &all, draw), one, sizeof one) == 0);
        CHECK(memcmp(look(&w, &all, draw + 1), one, sizeof one) != 0);
    }
    viewer_free(&w);
}

#ifndef HEED_F64
/* FNV-1a of the bits of 20 augmented views: the same on every machine and with every compiler. */
TEST(image_view_same_bits_everywhere) {
    viewer w = viewer_of(pattern(31, 22, 3), 9);
    uint64_t hash = 0xCBF29CE484222325u;
    for (uint64_t draw = 0; draw < 20; draw++) {
        look(&w, &(heed_augment){0.5, 2, 0.3, 1.5, 0.4, 0.4, 0.4}, draw);
        const unsigned char *bytes = (const unsigned char *)w.out;
        for (size_t i = 0; i < 9 * 9 * 3 * sizeof *w.out; i++)
            hash = (hash ^ bytes[i]) * 0x100000001B3u;
    }
    CHECK(hash == 0x05F68C3DCFC6BBA6u);
    viewer_free(&w);
}
#endif

TEST(image_view_refuses_quietly) {
    heed_real out[1] = {7}, work[64];
    heed_picture p = pattern(2, 2, 2);
    heed_image_transform v = {.size = 1, .channels = 2, .deviation = {1, 1, 1}};
    heed_picture_transform(&p, &v, NULL, NULL, out, work);
    heed_picture_transform(NULL, &v, NULL, NULL, out, work);
    heed_picture_transform(&p, NULL, NULL, NULL, out, work);
    CHECK(out[0] == 7 && heed_image_transform_work(NULL, &v) == 0 &&
          heed_image_transform_work(&p, NULL) == 0);
    heed_picture_free(&p);
}
