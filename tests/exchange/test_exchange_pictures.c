/* preprocessor_config.json of transformers' models: pictures are prepared as Pillow prepares them.
 */
#include "exchange_model.h"
#include "files.h"
#include "golden.h"
#include "io/io.h"

/* The golden ViT with preprocessor_config.json. */
static const char *processed(const char *json, size_t n) {
    char path[512];
    const char *dir = exchange_edited("vit", "{", "{");
    snprintf(path, sizeof path, "%s/preprocessor_config.json", dir);
    put_file(path, json, n);
    return dir;
}

/* The largest difference of the pixels from Pillow's, as a share of the range 0 to 1 of a pixel. */
static double shape_apart(heed_ctx *c, const heed_run *r, const char *name, int width, int height) {
    enum { BYTES = 23 * 17 * 3 };
    unsigned char bytes[BYTES];
    heed_picture p = {.width = width, .height = height, .channels = 3, .pixels = bytes};
    heed_image_transform v;
    heed_real out[8 * 8 * 3];
    double most = 0;
    for (int64_t i = 0; i < BYTES; i++) bytes[i] = (unsigned char)((97 * i * i + 31 * i) % 251);
    if (!r || !heed_image_transform_of(c, r->config, &v)) return INFINITY;
    heed_real *work = malloc(heed_image_transform_work(&p, &v) * sizeof *work);
    heed_picture_transform(&p, &v, NULL, NULL, out, work);
    free(work);
    heed_safetensors *f = heed_safetensors_open(c, EXCHANGE_GOLDEN "vit/pictures.safetensors");
    const heed_array *a = heed__safetensors_find(f, name);
    for (size_t i = 0; i < sizeof out / sizeof *out; i++)
        most = fmax(most, fabs((double)out[i] - golden_number(a, i)) * v.deviation[i % 3]);
    heed_safetensors_close(f);
    return most;
}

static double pixels_apart(heed_ctx *c, const heed_run *r, const char *name) {
    return shape_apart(c, r, name, 23, 17);
}

TEST(exchange_prepares_pictures_as_pillow_does) {
    static const char *const processors[] = {"exact",   "bicubic", "crop",
                                             "lanczos", "nearest", "scaled"};
    for (size_t i = 0; i < sizeof processors / sizeof *processors; i++) {
        char json[4096], file[64], flat[64], tall[64];
        heed_ctx *c = heed_open(NULL);
        snprintf(file, sizeof file, "%s.json", processors[i]);
        snprintf(flat, sizeof flat, "flat %s", processors[i]);
        snprintf(tall, sizeof tall, "tall %s", processors[i]);
        size_t n = exchange_golden("vit", file, json, sizeof json);
        heed_run *r = heed_import(c, processed(json, n), heed_models);
        CHECK_CLOSE(pixels_apart(c, r, processors[i]), 0, 1.01 / 255);
        CHECK_CLOSE(shape_apart(c, r, flat, 43, 9), 0, 1.01 / 255);
        CHECK_CLOSE(shape_apart(c, r, tall, 9, 43), 0, 1.01 / 255);
        CHECK(heed_export(r, in_folder(processors[i]), false));
        heed_run *again = heed_import(c, in_folder(processors[i]), heed_models);
        CHECK_CLOSE(pixels_apart(c, again, processors[i]), 0, 1.01 / 255);
        CLOSE(c);
    }
}

/* If import ignored one of these keys, the pixels would still agree. */
TEST_IN(exchange_reads_every_key_of_a_processor, heed_open(NULL)) {
    static const char *const other[] = {
        "{\"size\": 8, \"resample\": 3}",
        "{\"size\": 8, \"rescale_factor\": 0.0078}",
        "{\"size\": 8, \"do_normalize\": false}",
        "{\"size\": 8, \"image_mean\": 0.4}",
        "{\"size\": 8, \"image_std\": [0.5, 0.5, 0.4]}",
        "{\"size\": {\"shortest_edge\": 8}, \"do_center_crop\": true, \"crop_size\": 8}"};
    const char *same = "{\"size\": 8}";
    CHECK_CLOSE(
        pixels_apart(c, heed_import(c, processed(same, strlen(same)), heed_models), "exact"), 0,
        1.01 / 255);
    for (size_t i = 0; i < sizeof other / sizeof *other; i++) {
        heed_run *r = heed_import(c, processed(other[i], strlen(other[i])), heed_models);
        CHECK(pixels_apart(c, r, "exact") > 4.0 / 255);
    }
}

static void refuses_processor(const char *json, const char *part) {
    heed_ctx *c = heed_open(NULL);
    CHECK_FAILS(c, heed_import(c, processed(json, strlen(json)), heed_models), HEED_DATA, part);
    CLOSE(c);
}

TEST(exchange_names_what_a_processor_does_otherwise) {
    refuses_processor("{\"size\": 9}", "size: expected height and width 8");
    refuses_processor("{\"size\": {\"height\": 8, \"width\": 9}}", "size: expected");
    refuses_processor("{\"size\": {\"longest_edge\": 8}}", "size: expected");
    refuses_processor("{\"size\": 8, \"resample\": 4}", "resample: expected 0");
    refuses_processor("{\"size\": 8, \"resample\": \"x\"}", "resample: expected 0");
    refuses_processor("{\"size\": 8, \"do_pad\": true}", "do_pad");
    refuses_processor("{\"size\": 8, \"do_resize\": false}", "do_resize");
    refuses_processor("{\"size\": 8, \"image_mean\": [0.5, 0.5]}",
                      "image_mean: expected one number, or three, found");
    refuses_processor("{\"size\": 8, \"image_std\": [\"a\"]}", "image_std: expected one number");
    refuses_processor("{\"size\": 8, \"image_std\": 0}", "std");
    refuses_processor("{\"size\": 8, \"rescale_factor\": -1}", "rescale_factor");
    refuses_processor("{\"size\": 8, \"rescale_factor\": \"x\"}",
                      "rescale_factor: expected a number above 0, found \"x\"");
    refuses_processor("{\"size\": 8, \"do_rescale\": \"no\"}",
                      "do_rescale: expected true or false, found");
    refuses_processor("{\"image_processor_type\": \"CLIPImageProcessor\"}", "image_processor_type");
    refuses_processor("{\"image_processor_type\": \"ViTHybridImageProcessor\"}",
                      "image_processor_type: expected ViTImageProcessor, found");
    refuses_processor("{\"size\": {\"shortest_edge\": 4}, \"do_center_crop\": true, "
                      "\"crop_size\": 8}",
                      "shortest_edge of at least crop_size");
}
