/* pictures.c -- preprocessor_config.json as the settings of pictures, and back. The processor is
 * ViTImageProcessor: resize, crop, rescale, normalise. */
#include "core/core.h"
#include "core/os.h"
#include "exchange/exchange.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Pillow's numbers of the filters. */
static const struct {
    const char *name;
    int code;
} filters[] = {{"nearest", 0}, {"lanczos", 1}, {"bilinear", 2}, {"bicubic", 3}};
enum { FILTERS = sizeof filters / sizeof *filters };

/* v: what the key has; NULL: nothing. */
static bool refuse(heed_ctx *c, const char *path, const char *key, const char *expected,
                   const json_t *v) {
    char found[HEED_QUOTE];
    return heed_fail(c, HEED_DATA,
                     "pictures cannot be prepared in the same way: %s: %s: expected %s, found %s",
                     path, key, expected, heed__json_quote(found, v));
}

/* ---- reading ---- */

static bool check_switches(heed_ctx *c, const json_t *config, const char *path) {
    static const char *const keys[] = {"do_pad", "do_resize", "do_center_crop", "do_rescale",
                                       "do_normalize"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const json_t *v = json_object_get(config, keys[i]);
        if (v && !json_is_boolean(v) && !json_is_null(v))
            return refuse(c, path, keys[i], "true or false", v);
    }
    return true;
}

/* A switch of the processor; absent or null: `usual`. */
static bool is_on(const json_t *config, const char *key, bool usual) {
    const json_t *v = json_object_get(config, key);
    return json_is_boolean(v) ? json_is_true(v) : usual;
}

static bool set_number(heed_config *f, const char *key, double value, const char *path) {
    char text[HEED__NUMBER];
    return heed_config_set(f, key, heed__number_text(text, value, 0), path, HEED_FROM_FILE);
}

/* The side of {"height": N, "width": N} or of a plain N, or, with edge, of {"shortest_edge": N}; 0:
 * there is none. */
static int side_of(const json_t *size, bool edge) {
    const json_t *one = json_is_integer(size) ? size : json_object_get(size, "height");
    const json_t *two = json_is_integer(size) ? size : json_object_get(size, "width");
    if (edge) one = two = json_object_get(size, "shortest_edge");
    json_int_t side = json_integer_value(one);
    return side == json_integer_value(two) && side > 0 && side <= 1 << 16 ? (int)side : 0;
}

/* Both sides become the model's, or the short one another number and the centre is cropped. */
static bool read_size(heed_ctx *c, const json_t *config, const char *path, heed_config *f) {
    const json_t *size = json_object_get(config, "size");
    int model = (int)heed_config_int(f, "image-size"), edge = side_of(size, true);
    bool crops = is_on(config, "do_center_crop", false);
    int square = crops  ? side_of(json_object_get(config, "crop_size"), false)
                 : size ? side_of(size, false)
                        : 224;
    char expected[80];
    snprintf(expected, sizeof expected, "height and width %d, those of the model", model);
    const char *key = crops ? "crop_size" : "size";
    if (square != model) return refuse(c, path, key, expected, json_object_get(config, key));
    if (crops && (!edge || edge < model))
        return refuse(c, path, "size", "a shortest_edge of at least crop_size", size);
    return set_number(f, "resize-to", crops ? edge : -1, path);
}

static bool read_filter(heed_ctx *c, const json_t *config, const char *path, heed_config *f) {
    const json_t *code = json_object_get(config, "resample");
    for (int i = 0; i < FILTERS; i++)
        if (json_is_integer(code) ? json_integer_value(code) == filters[i].code
                                  : !code && filters[i].code == 2)
            return heed_config_set(f, "resample", filters[i].name, path, HEED_FROM_FILE);
    return refuse(c, path, "resample", "0 (nearest), 1 (lanczos), 2 (bilinear) or 3 (bicubic)",
                  code);
}

/* Sets mean or std to a list of one or three numbers, each divided by `by`. */
static bool read_list(heed_ctx *c, const json_t *v, double usual, double by, const char *key,
                      const char *path, heed_config *f) {
    char number[HEED__NUMBER];
    heed_text text = {.c = c};
    size_t count = json_is_array(v) ? json_array_size(v) : 1;
    bool ok = count == 1 || count == 3, mean = strcmp(key, "mean") == 0;
    for (size_t i = 0; ok && i < count; i++) {
        const json_t *x = json_is_array(v) ? json_array_get(v, i) : v;
        double value = (x ? json_number_value(x) : usual) / by;
        ok = (!x || json_is_number(x)) && (value > 0 || mean);
        heed__number_text(number, value, 0);
        ok = ok && heed_text_add(&text, "%s%s", i ? "," : "", number);
    }
    ok = ok ? heed_config_set(f, key, text.s, path, HEED_FROM_FILE)
            : refuse(c, path, mean ? "image_mean" : "image_std",
                     mean ? "one number, or three" : "one number, or three, above 0", v);
    heed_text_free(&text);
    return ok;
}

/* (x factor - mean) / deviation is (x/255 - mean/k) / (deviation/k), with k = 255 factor. */
static bool read_scale(heed_ctx *c, const json_t *config, const char *path, heed_config *f) {
    bool rescales = is_on(config, "do_rescale", true), normal = is_on(config, "do_normalize", true);
    const json_t *factor = json_object_get(config, "rescale_factor");
    if (json_is_null(factor)) factor = NULL;
    if (factor && !json_is_number(factor))
        return refuse(c, path, "rescale_factor", "a number above 0", factor);
    double by = !rescales ? 255 : factor ? 255 * json_number_value(factor) : 1;
    if (fabs(by - 1) < 1e-9) by = 1; /* 0.00392156862745098 */
    if (!(by > 0) || !isfinite(by))
        return refuse(c, path, "rescale_factor", "a number above 0", factor);
    const json_t *mean = normal ? json_object_get(config, "image_mean") : NULL;
    const json_t *deviation = normal ? json_object_get(config, "image_std") : NULL;
    return read_list(c, mean, normal ? 0.5 : 0, by, "mean", path, f) &&
           read_list(c, deviation, normal ? 0.5 : 1, by, "std", path, f);
}

/* The names that ViTImageProcessor has had. Others that begin so differ from it. */
static bool check_type(heed_ctx *c, const json_t *config, const char *path) {
    const char *key = "image_processor_type";
    const json_t *type = json_object_get(config, key);
    if (!type || json_is_null(type)) type = json_object_get(config, key = "feature_extractor_type");
    if (!type || json_is_null(type) ||
        (json_is_string(type) && heed__matches_any("ViTImageProcessor ViTImageProcessorFast "
                                                   "ViTImageProcessorPil ViTFeatureExtractor",
                                                   json_string_value(type))))
        return true;
    return refuse(c, path, key, "ViTImageProcessor", type);
}

static bool read_processor(heed_ctx *c, const json_t *config, const char *path, heed_config *f) {
    if (!check_type(c, config, path) || !check_switches(c, config, path)) return false;
    if (is_on(config, "do_pad", false))
        return refuse(c, path, "do_pad", "false", json_object_get(config, "do_pad"));
    if (!is_on(config, "do_resize", true))
        return refuse(c, path, "do_resize", "true", json_object_get(config, "do_resize"));
    return read_size(c, config, path, f) && read_filter(c, config, path, f) &&
           read_scale(c, config, path, f);
}

bool heed__pictures_read(heed_ctx *c, const char *dir, heed_config *f) {
    heed_text path = {.c = c};
    bool ok = heed_text_add(&path, "%s/preprocessor_config.json", dir) &&
              heed_config_set_list(f, "flip=0 convert=true", dir, HEED_FROM_FILE);
    if (ok && heed__os_exists(path.s)) {
        json_t *config = heed__plain_json(c, path.s);
        ok = config && read_processor(c, config, path.s, f);
        json_decref(config);
    } else if (ok)
        ok = heed_config_set_list(f, "mean=0.5 std=0.5 resize-to=-1", dir, HEED_FROM_FILE);
    heed_text_free(&path);
    return ok;
}

/* ---- writing ---- */

/* NULL: out of memory. */
static json_t *list_of(const double *x, int count) {
    json_t *list = json_array();
    bool ok = list != NULL;
    for (int i = 0; ok && i < count; i++) ok = json_array_append_new(list, json_real(x[i])) == 0;
    if (ok) return list;
    json_decref(list);
    return NULL;
}

bool heed__pictures_write(heed_ctx *c, const char *dir, const heed_config *f) {
    heed_image_transform v;
    heed_text path = {.c = c};
    if (!heed_image_transform_of(c, f, &v)) return false;
    int code = 2, to = v.resize_to ? v.resize_to : v.size;
    for (int i = 0; i < FILTERS; i++)
        if (strcmp(filters[i].name, heed_config_text(f, "resample")) == 0) code = filters[i].code;
    json_t *square = json_pack("{s:i, s:i}", "height", v.size, "width", v.size);
    json_t *size = to < 0 ? json_incref(square) : json_pack("{s:i}", "shortest_edge", to);
    json_t *config = json_pack(
        "{s:s, s:b, s:o, s:i, s:b, s:f, s:b, s:o, s:o, s:b}", "image_processor_type",
        "ViTImageProcessor", "do_resize", 1, "size", size, "resample", code, "do_rescale", 1,
        "rescale_factor", 1 / 255.0, "do_normalize", 1, "image_mean", list_of(v.mean, v.channels),
        "image_std", list_of(v.deviation, v.channels), "do_center_crop", (int)(to > 0));
    bool whole = config && (to <= 0 || json_object_set(config, "crop_size", square) == 0);
    json_decref(square);
    bool ok = whole ? heed_text_add(&path, "%s/preprocessor_config.json", dir) &&
                          heed__json_write(c, path.s, config)
                    : heed_fail(c, HEED_FAILED, "cannot export: out of memory");
    json_decref(config);
    heed_text_free(&path);
    return ok;
}
