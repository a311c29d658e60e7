/* Weights from files: what this program wrote comes back; anybody's arrays are read, odd ones
 * named. */
#include "core/core.h"
#include "core/os.h"
#include "io/io.h"
#include "record/weights.h"
#include "test.h"
#include <heed/record.h>

static heed_record *parse(heed_ctx *c, const char *json) {
    size_t n = strlen(json);
    unsigned char *bytes = heed__alloc(c, n + 1);
    if (bytes) memcpy(bytes, json, n);
    return heed__record_parse(c, "w.json", 0, bytes, n);
}

static void refused(const char *json, const char *why) {
    heed_ctx *c = heed_open(NULL);
    CHECK(!parse(c, json));
    CHECK(heed_ctx_status(c) == HEED_DATA);
    CHECK_HAS(heed_ctx_error(c), why);
    heed_clear(c);
    CLOSE(c);
}

TEST(weights_of_json_are_layers_of_heads_with_labels) {
    heed_ctx *c = heed_open(NULL);
    heed_record *r = parse(c, "{\"tokens\":[\"[CLS]\",\"a\"],\"attention\":[[[[1,0],[0.5,0.5]]],"
                              "[[[1,0],[0.25,0.75]]]],\"cross_attention\":[[0.25,0.25,0.5]],"
                              "\"keys\":[\"x\",\"y\",\"z\"],\"ids\":[1,2]}");
    CHECK(!r && heed_ctx_status(c) == HEED_DATA);
    CHECK_HAS(heed_ctx_error(c), "keys has 3 labels, but array \"attention\" has 2 keys");
    heed_clear(c);
    r = parse(c, "{\"target\":[\"[CLS]\",\"a\"],\"source\":[\"x\",\"y\",\"z\"],"
                 "\"dec\":[[[[1,0],[0.5,0.5]]],[[[1,0],[0.25,0.75]]]],\"cross\":[[0.25,0.25,0.5],"
                 "[0,0,1]]}");
    CHECK(r && r->block_count == 3);
    if (r && r->block_count == 3) {
        CHECK(r->blocks[1].stack == HEED_DECODER && r->blocks[1].layer == 1);
        CHECK(r->blocks[2].stack == HEED_CROSS && r->blocks[2].layer == 0);
        CHECK(r->blocks[0].queries == r->blocks[2].queries);
        CHECK_TEXT(r->axes[r->blocks[2].keys].labels[2], "z");
        CHECK(r->axes[0].special && r->axes[0].special[0] && !r->axes[0].special[1]);
        CHECK(r->blocks[0].causal && !r->blocks[2].causal);
        CHECK_CLOSE(r->blocks[1].weights[3], 0.75, 0);
        CHECK(!r->note || !*r->note);
    }
    CLOSE(c);
}

TEST(weights_that_are_no_shares_are_kept_and_noted) {
    heed_ctx *c = heed_open(NULL);
    heed_record *r = parse(c, "[[1.5, 0.1], [0.5, 0.5]]");
    CHECK(r != NULL);
    if (r) {
        CHECK_HAS(r->note, "1 of 4 values are not in [0, 1]");
        CHECK_HAS(r->note, "1 of 2 rows do not sum to 1 (1.6 to 1.6)");
        CHECK_CLOSE(r->blocks[0].weights[0], 1.5, 0);
    }
    CLOSE(c);
}

TEST(weights_that_are_none_are_refused) {
    refused("[[1, 0], [1]]", "all of one length");
    refused("{\"tokens\":[\"a\"]}", "no weights");
    refused("{\"tokens\":[\"a\",\"b\",\"c\"],\"w\":[[1,0],[0,1]]}",
            "tokens has 3 labels, but array \"w\" has 2 queries");
    refused("{\"tokens\":[{}, 2],\"w\":[[1,0],[0,1]]}", "expected texts");
    refused("{\"heed\":\"attention 2\",\"axes\":[{\"count\":2}],\"blocks\":[{\"heads\":[1],"
            "\"queries\":0,\"keys\":1}]}",
            "keys: expected 0 to 0, found 1");
    refused("{\"heed\":\"attention 2\",\"axes\":[{\"count\":2}],\"blocks\":[{\"heads\":[1],"
            "\"queries\":0,\"keys\":0,\"weights\":[[[1,0]]]}]}",
            "expected the sizes 1, 2 and 2 of its axes, found (1, 1, 2)");
    refused("{\"heed\":\"attention 2\",\"axes\":[{\"count\":4,\"grid\":{\"rows\":2,\"cols\":2,"
            "\"first\":1}}]}",
            "more patches");
    refused("{\"w\":[[1,0],[0,1]],\"picture\":[[0,0.5]]}",
            "whole numbers from 0 to 255, found (1, 2)");
    refused("{\"w\":[[1,0],[0,1]],\"picture\":[[[0,0]]]}", "found (1, 1, 2)");
    refused("{\"w\":[[1,0],[0,1]],\"picture\":[[0]],\"grid\":[2,0]}", "grid is wrong");
    refused("{\"w\":[[1,0],[0,1]],\"picture\":[[0]],\"grid\":[2,2]}",
            "array \"w\" has 2 tokens, which do not form 2 x 2 patches");
    refused("{\"picture\":[[0]]}", "no weights");
}

/* Patches are the last keys, of encoders and of what looks at them; words have no patches. */
TEST(weights_have_the_picture_that_patches_are_of) {
    heed_ctx *c = heed_open(NULL);
    heed_record *r = parse(c, "{\"vit\":[[1,0,0,0,0],[1,0,0,0,0],[1,0,0,0,0],[1,0,0,0,0],"
                              "[0,0,0,0,1]],\"cross\":[[0,0,0,0,0,0,1]],\"decoder\":[[1]],"
                              "\"target\":[\"a\"],\"picture\":[[0,128],[1,255]]}");
    CHECK(!r &&
          heed_ctx_status(c) == HEED_DATA); /* 7 keys are no square and [CLS], but 2 x 3 are */
    heed_clear(c);
    r = parse(c, "{\"vit\":[[1,0,0,0,0],[1,0,0,0,0],[1,0,0,0,0],[1,0,0,0,0],[0,0,0,0,1]],"
                 "\"cross\":[[0,0,0,0,1]],\"decoder\":[[1]],\"target\":[\"a\"],"
                 "\"picture\":[[0,128],[1,255]]}");
    CHECK(r && r->block_count == 3 && r->pixels && r->width == 2 && r->channels == 1);
    if (r && r->block_count == 3) {
        const heed_record_axis *a = &r->axes[r->blocks[0].keys];
        CHECK(r->pixels[1] == 128 && r->pixels[3] == 255);
        CHECK(a->rows == 2 && a->cols == 2 && a->first == 1 && a->special[0] && !a->special[1]);
        CHECK_TEXT(a->labels[0], "[CLS]");
        CHECK_TEXT(a->labels[4], "2,2");
        CHECK(r->blocks[0].queries == r->blocks[0].keys && r->blocks[1].keys == r->blocks[0].keys);
        CHECK(r->axes[r->blocks[1].queries].rows == 0 && r->axes[r->blocks[2].keys].rows == 0);
        CHECK_TEXT(r->axes[r->blocks[1].queries].labels[0], "a");
    }
    r = parse(c, "{\"w\":[[1,0],[0,1]],\"grid\":[1,2],\"picture\":[[[1,2,3],[4,5,6]]]}");
    CHECK(r && r->width == 2 && r->height == 1 && r->channels == 3 && r->axes[0].cols == 2);
    CLOSE(c);
}

TEST(weights_of_numpy_have_their_picture_in_bytes) {
    heed_ctx *c = heed_open(NULL);
    char path[160];
    static const unsigned char pixels[2 * 3] = {0, 9, 8, 7, 6, 255};
    static const heed_real weights[2 * 4] = {1, 0, 0, 0, 0, 0, 0, 1};
    const heed__npz_array arrays[] = {
        {.name = "cross", .kind = HEED__NPZ_REAL, .dims = 2, .shape = {2, 4}, .data = weights},
        {.name = "picture", .kind = HEED__NPZ_BYTE, .dims = 2, .shape = {2, 3}, .data = pixels}};
    snprintf(path, sizeof path, "%s/picture.npz", test_folder());
    CHECK(heed__npz_write(c, path, 2, arrays));
    heed_record *r = heed_record_read(c, path);
    CHECK(r && r->width == 3 && r->height == 2 && r->pixels[5] == 255);
    CHECK(r && r->axes[r->blocks[0].keys].rows == 2 && r->axes[r->blocks[0].keys].first == 0);
    CLOSE(c);
}

TEST(weights_of_a_record_have_numbers_from_1) {
    heed_ctx *c = heed_open(NULL);
    static const char json[] =
        "{\"heed\":\"attention 2\",\"axes\":[{\"count\":2}],\"blocks\":[{\"layer\":2,"
        "\"heads\":[4],\"queries\":0,\"keys\":0,\"weights\":[[[1,0],[0,1]]]}],"
        "\"maps\":[{\"name\":\"m\",\"layer\":null,\"head\":3,\"queries\":0,\"keys\":0,"
        "\"values\":[[1,0],[0,1]]}],\"guesses\":[{\"axis\":0,\"position\":2,\"tokens\":[]}]}";
    heed_record *r = parse(c, json);
    CHECK(r && r->block_count == 1 && r->map_count == 1 && r->guess_count == 1);
    if (r && r->block_count && r->map_count && r->guess_count) {
        CHECK(r->blocks[0].layer == 1 && r->blocks[0].head[0] == 3);
        CHECK(r->maps[0].layer == -1 && r->maps[0].head == 2 && r->guesses[0].query == 1);
    }
    refused("{\"heed\":\"attention 2\",\"axes\":[{\"count\":2}],\"blocks\":[{\"layer\":0,"
            "\"heads\":[1],\"queries\":0,\"keys\":0,\"weights\":[[[1,0],[0,1]]]}]}",
            "layer: expected 1 to");
    CLOSE(c);
}

static void check_text(heed_ctx *c, const heed__npz *z, const char *name, size_t i,
                       const char *expected) {
    heed_text text = {.c = c};
    const heed__npy *a = heed__npz_find(z, name);
    CHECK(a && a->kind == 'U' && a->dims == 1 && i < a->count && heed__npy_text(a, i, &text));
    CHECK_TEXT(text.s, expected);
    heed_text_free(&text);
}

TEST(weights_in_npz_have_their_labels_heads_and_names) {
    heed_ctx *c = heed_open(NULL);
    char path[160], longest[300] = "";
    memset(longest, 'l', sizeof longest - 1);
    const char *const labels[] = {"\xF0\x9D\x84\x9E Gr\xC3\xB6\xC3\x9F"
                                  "e",
                                  "\xE2,", longest};
    const heed_real w[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    heed_record_axis axes[] = {{.name = "text", .count = 2, .labels = labels},
                               {.name = "other", .count = 1, .labels = labels + 2}};
    heed_record_block block = {
        .path = "a", .heads = 1, .head = (int[]){3}, .keys = 1, .weights = w};
    heed_record_map maps[] = {{.name = "rollout", .layer = -1, .head = -1, .values = w},
                              {.name = "other", .layer = -1, .head = -1, .values = w}};
    heed_record from = {.axis_count = 2,
                        .axes = axes,
                        .block_count = 1,
                        .blocks = &block,
                        .map_count = 2,
                        .maps = maps};
    heed__npz z;
    size_t n;
    snprintf(path, sizeof path, "%s/labels.npz", test_folder());
    CHECK(heed_record_npz(c, &from, path));
    unsigned char *bytes = heed__os_read(c, path, 0, &n);
    CHECK(bytes && heed__npz_parse(c, path, bytes, n, &z));
    check_text(c, &z, "a.queries", 0, labels[0]);
    check_text(c, &z, "a.queries", 1, "\xEF\xBF\xBD,");
    const heed__npy *queries = heed__npz_find(&z, "a.queries"); /* NumPy refuses other codes */
    CHECK(queries && heed__little(queries->data + queries->size, 4) == 0xFFFD);
    longest[256] = 0;
    check_text(c, &z, "a.keys", 0, longest);
    check_text(c, &z, "maps.1.keys", 0, labels[0]);
    check_text(c, &z, "maps", 1, "other");
    const heed__npy *heads = heed__npz_find(&z, "a.heads");
    CHECK(heads && heads->kind == 'i' && heads->count == 1 && heed__npy_number(heads, 0) == 3);
    heed__npz_free(&z);
    CLOSE(c);
}

TEST(weights_of_a_record_come_back_from_npz_and_json) {
    heed_ctx *c = heed_open(NULL);
    char path[160];
    const char *const labels[] = {"a", "\"b\n"};
    const heed_real w[8] = {1, 0, 0.5f, 0.5f, 0.25f, 0.75f, 0, 1};
    const int heads[] = {1, 3};
    heed_record_axis axis = {.name = "text", .count = 2, .labels = labels};
    char layer[190] = "", longer[400] = "";
    memset(layer, 'l', sizeof layer - 1);
    memset(longer, 'l', sizeof longer - 1);
    heed_record_block block = {.path = layer,
                               .layer = 1,
                               .heads = 2,
                               .head = heads,
                               .weights = w,
                               .scores = w,
                               .beta = 0.5};
    heed_record from = {.title = "t",
                        .step = 7,
                        .axis_count = 1,
                        .axes = &axis,
                        .block_count = 1,
                        .blocks = &block};
    snprintf(path, sizeof path, "%s/r.npz", test_folder());
    CHECK(heed_record_npz(c, &from, path));
    heed_text json = {.c = c};
    CHECK(heed_record_json(&from, true, &json));
    for (int i = 0; i < 2; i++) {
        heed_record *r = i ? parse(c, json.s) : heed_record_read(c, path);
        CHECK(r && r->block_count == 1 && r->step == 7);
        if (!r || r->block_count != 1) continue;
        CHECK(r->blocks[0].head[1] == 3 && r->blocks[0].layer == 1 && !r->blocks[0].q);
        CHECK_CLOSE(r->blocks[0].weights[5], 0.75, 0);
        CHECK_CLOSE(r->blocks[0].scores[6], 0, 0);
        CHECK_TEXT(r->axes[0].labels[1], "\"b\n");
        CHECK_TEXT(r->blocks[0].path, layer);
    }
    snprintf(path, sizeof path, "%s/r.csv", test_folder());
    block.path = longer;
    CHECK(heed_record_csv(c, &from, path));
    size_t n;
    char *csv = (char *)heed__os_read(c, path, 0, &n);
    CHECK(csv && n > sizeof longer && strstr(csv, "l,encoder,2,4,1,2,"));
    heed__free(csv);
    CHECK(!heed_record_npz(c, &from, path));
    CHECK_HAS(heed_ctx_error(c), "name of a layer is too long");
    heed_clear(c);
    heed_text_free(&json);
    CLOSE(c);
}

/* An NPZ made by NumPy: float16 in Fortran order, deflated, labels of <U. */
TEST(weights_of_numpy_are_read_whatever_their_layout) {
    heed_ctx *c = heed_open(NULL);
    heed_record *r = heed_record_read(c, "tests/golden/weights.npz");
    CHECK(r && r->block_count == 2);
    if (r && r->block_count == 2) {
        const heed_real *w =
            r->blocks[1].weights; /* (layer, head, q, k) is (24 l + 12 h + 3 q + k) / 64 */
        CHECK(r->blocks[1].heads == 2);
        CHECK_CLOSE(w[0], 24 / 64.0, 0);
        CHECK_CLOSE(w[12 + 3 * 2 + 1], 43 / 64.0, 0);
        CHECK_TEXT(r->axes[r->blocks[0].queries].labels[3], "d\xc3\xa9");
        CHECK_TEXT(r->axes[r->blocks[0].keys].labels[0], "a\xe2\x90\x80"
                                                         "b");
    }
    CLOSE(c);
}

#define LESSON                                                                                     \
    "{\"example\":\"lion\",\"X\":[[1,2],[3,4]],\"W_Q\":[[1,0],[0,1]],\"tokens\":[\"a\",\"b\"],"

TEST(weights_of_a_worked_example_are_its_attention) {
    heed_ctx *c = heed_open(NULL);
    heed_record *r = parse(c, LESSON "\"weights\":[[1,0],[0.25,0.75]],\"scores\":[[5,null],[1,2]],"
                                     "\"Q\":[[1],[2]],\"K\":[[3],[4]],\"beta\":0.5,\"causal\":true,"
                                     "\"layer\":\"encoder.1.attn\",\"head\":3,\"title\":\"t\"}");
    CHECK(r && r->block_count == 1);
    if (r && r->block_count == 1) {
        const heed_record_block *b = &r->blocks[0];
        CHECK(b->weights[2] == (heed_real)0.25 && b->scores[1] == -INFINITY);
        CHECK(b->key == 1 && b->q[1] == 2 && b->k[1] == 4 && !b->raw);
        CHECK(b->head && b->head[0] == 2 && b->causal && b->beta == 0.5);
        CHECK_TEXT(b->path, "encoder.1.attn");
        CHECK_TEXT(r->axes[b->queries].labels[1], "b");
        CHECK(b->queries == b->keys && r->axis_count == 1);
    }
    r = parse(c, LESSON "\"weights\":[[1,0],[0,1]],\"K\":[[3],[4]],\"head\":-2147483648}");
    CHECK(r && r->block_count == 1 && !r->blocks[0].k && !r->blocks[0].key &&
          r->blocks[0].head[0] == 0);
    CLOSE(c);
    refused(LESSON "\"output\":[[1,0],[0,1]]}", "expected its attention under `weights`");
    refused(LESSON "\"weights\":[[1,0,0],[0,1,0]]}", "sources is wrong: w.json: expected 3 texts");
    refused(LESSON "\"weights\":[[1,0]]}", "tokens is wrong: w.json: expected 1 texts");
    refused(LESSON "\"weights\":[1,0]}", "expected its attention under `weights`, (queries, keys)");
    refused(LESSON "\"weights\":[[1,0],[1]]}", "array \"weights\" is wrong");
}
