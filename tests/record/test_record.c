/* Records: made from a tape, cut, written; matrices in a terminal and as SVG. */
#include "core/core.h"
#include "io/io.h"
#include "test.h"
#include <heed/view.h>

enum { HEADS = 2, E = 3, D = 2, LEN = 4, WIDTH = 6 };

static const heed_record_axis words = {.name = "text",
                                       .count = LEN,
                                       .labels = (const char *const[]){"[CLS]", "a", "b", "\xE2,"},
                                       .special = (const unsigned char[]){1, 0, 0, 0}};

typedef struct {
    heed_ctx *c;
    heed_params *s;
    heed_tape *t;
    heed_mha mha;
} bench;

static bench open_bench(heed_mha_args a) {
    bench b = {.c = heed_open(&(heed_options){.seed = 3})};
    b.s = heed_params_new(b.c);
    b.t = heed_tape_new(b.c);
    heed_mha_init(&b.mha, b.s, "encoder.0.attn", a);
    return b;
}

static heed_tensor *input(heed_tape *t, int rows) {
    heed_tensor *x = heed_input(t, NULL, 3, (int[]){rows, LEN, WIDTH});
    for (size_t i = 0; i < x->size; i++) x->x[i] = (heed_real)sin(1.7 * (double)i);
    return x;
}

/* ---- from a tape ---- */

/* softmax(beta q k') of the parts that the record holds, with the mask. */
static void check_block(const heed_record_block *b, int len) {
    for (int at = 0; at < b->heads * len; at++) {
        double sum = 0, raw[LEN];
        for (int k = 0; k < len; k++) {
            raw[k] = 0;
            for (int i = 0; i < b->key; i++)
                raw[k] +=
                    (double)b->q[at * b->key + i] * (double)b->k[(at / len * len + k) * b->key + i];
            CHECK_CLOSE(b->raw[at * len + k], raw[k], 1e-6);
            bool seen = !b->causal || k <= at % len;
            CHECK(seen == isfinite((double)b->scores[at * len + k]));
            if (seen) CHECK_CLOSE(b->scores[at * len + k], b->beta * raw[k], 1e-6);
            sum += seen ? exp(b->beta * raw[k]) : 0;
        }
        for (int k = 0; k < len; k++) {
            bool seen = !b->causal || k <= at % len;
            CHECK_CLOSE(b->weights[at * len + k], seen ? exp(b->beta * raw[k]) / sum : 0, 1e-6);
        }
    }
}

static heed_record *taken(bench *b, const heed_record_block *like, int item, const int32_t *pad) {
    heed_record *r = heed_record_new(b->c);
    heed_record_add_axis(r, &words);
    CHECK(heed_record_take(r, b->t, like, item, pad) == 0);
    return r;
}

static void take_and_check(heed_mha_args a, bool plain) {
    a.explicit_path = plain;
    bench b = open_bench(a);
    heed_record_probe(b.t, "encoder.*.attn", false);
    heed_tape_begin(b.t, HEED_EVAL, 0);
    CHECK(heed_mha_apply(&b.mha, b.t, input(b.t, 2), NULL) != NULL);
    heed_record_block like = {
        .path = "encoder.0.attn", .beta = 1 / sqrt(E), .causal = a.causal, .hard = a.hard};
    heed_record *r = taken(&b, &like, 1, NULL);
    CHECK(r->blocks[0].heads == HEADS && r->blocks[0].key == E && r->blocks[0].value == D);
    check_block(&r->blocks[0], LEN);
    CHECK_TEXT(r->axes[0].labels[3], "\\xE2,");
    CLOSE(b.c);
}

TEST(record_equals_the_formula_from_its_own_parts) {
    heed_mha_args a = {.width = WIDTH, .heads = HEADS, .key = E, .value = D};
    for (int i = 0; i < 4; i++) {
        a.causal = i & 1;
        take_and_check(a, i & 2);
    }
}

TEST(record_takes_chosen_heads_and_masks_padding) {
    bench b = open_bench((heed_mha_args){.width = WIDTH, .heads = HEADS, .key = E, .value = D});
    heed_record_probe(b.t, "encoder.0.attn", false);
    heed_tape_begin(b.t, HEED_EVAL, 0);
    const int32_t pad[] = {1, 1, 1, 0};
    heed_mha_apply(&b.mha, b.t, input(b.t, 1),
                   &(heed_mha_inputs){.pad = heed_ids(b.t, pad, 1, LEN)});
    heed_record_block like = {.path = "encoder.0.attn", .heads = 1, .head = (const int[]){1}};
    heed_record *r = taken(&b, &like, 0, pad);
    CHECK(r->blocks[0].heads == 1 && r->blocks[0].head[0] == 1);
    CHECK(r->blocks[0].scores[3] == -INFINITY && r->blocks[0].weights[3] == 0);
    CHECK_CLOSE(r->blocks[0].weights[0] + r->blocks[0].weights[1] + r->blocks[0].weights[2], 1,
                1e-6);
    like.head = (const int[]){2};
    CHECK(heed_record_take(r, b.t, &like, 0, NULL) == -1);
    CHECK_HAS(heed_ctx_error(b.c), "no such head");
    heed_clear(b.c);
    like.path = "encoder.9.attn";
    CHECK(heed_record_take(r, b.t, &like, 0, NULL) == -1);
    CLOSE(b.c);
}

/* Gradients of a training step with probes, bit for bit those without. */
TEST(record_probes_change_no_gradient) {
    heed_mha_args a = {
        .width = WIDTH, .heads = HEADS, .key = E, .value = D, .dropout = (heed_real)0.3};
    bench b = open_bench(a);
    heed_real *first = NULL;
    for (int pass = 0; pass < 2; pass++) {
        if (pass) heed_record_probe(b.t, "*", false);
        heed_zero_grads(b.s);
        heed_tape_begin(b.t, HEED_TRAIN, 5);
        heed_tensor *y = heed_mha_apply(&b.mha, b.t, input(b.t, 2), NULL);
        heed_backward(b.t, heed_mean(b.t, heed_mul(b.t, y, y)));
        const heed_tensor *w = b.mha.qkv.w;
        if (!pass) {
            first = malloc(w->size * sizeof *first);
            memcpy(first, w->g, w->size * sizeof *first);
        } else {
            CHECK(heed_probe_count(b.t) > 4);
            CHECK(memcmp(first, w->g, w->size * sizeof *first) == 0);
            heed_record_block like = {.path = "encoder.0.attn", .beta = 1 / sqrt(E)};
            check_block(&taken(&b, &like, 0, NULL)->blocks[0], LEN);
        }
    }
    free(first);
    CLOSE(b.c);
}

/* ---- less of one ---- */

static heed_record *filled(heed_ctx *c) {
    static heed_real numbers[HEADS * LEN * LEN];
    for (int i = 0; i < HEADS * LEN * LEN; i++) numbers[i] = (heed_real)i / 64;
    heed_record *r = heed_record_new(c);
    heed_record_describe(r, (heed_record_texts){.title = "a \"b\"", .model = "m", .task = "mlm"});
    heed_record_add_axis(r, &words);
    for (int layer = 0; layer < 3; layer++)
        heed_record_add_block(
            r, &(heed_record_block){.path = layer ? "encoder.1.attn" : "encoder.0.attn",
                                    .layer = layer,
                                    .heads = HEADS,
                                    .beta = 0.5,
                                    .weights = numbers,
                                    .scores = numbers});
    heed_record_add_map(
        r, &(heed_record_map){.name = "rollout", .layer = -1, .head = -1, .values = numbers});
    heed_record_add_guess(r, &(heed_record_guess){.query = 2,
                                                  .says = "[MASK]",
                                                  .count = 1,
                                                  .labels = (const char *const[]){"x"},
                                                  .p = (const heed_real[]){(heed_real)0.25}});
    return r;
}

TEST(record_subset_keeps_numbers_and_says_so) {
    heed_ctx *c = heed_open(NULL);
    heed_record *r = filled(c);
    CHECK_CLOSE(heed_record_bytes(r), (3 * 2 * HEADS + 1) * LEN * LEN * (double)sizeof(heed_real),
                0);
    heed_record *s = heed_record_subset(c, r,
                                        &(heed_record_cut){.layer_count = 1,
                                                           .layers = (const int[]){2},
                                                           .head_count = 1,
                                                           .heads = (const int[]){1},
                                                           .tokens = 2,
                                                           .no_qk = true});
    CHECK(s && s->block_count == 1 && s->blocks[0].layer == 2 && s->blocks[0].head[0] == 1);
    CHECK(s->axes[0].count == 2 && !s->blocks[0].scores && s->guess_count == 0);
    CHECK_CLOSE(s->blocks[0].weights[3], r->blocks[2].weights[LEN * LEN + LEN + 1], 0);
    CHECK_TEXT(s->note, "layer 3 alone; head 2 alone; the first 2 of 4 tokens (text)");
    CHECK(!heed_record_subset(c, r,
                              &(heed_record_cut){.layer_count = 1, .layers = (const int[]){7}}));
    CHECK_HAS(heed_ctx_error(c), "nothing is left");
    heed_clear(c);
    CLOSE(c);
}

/* Words of two tokens, one and two, over keys of one word of three: every weight is the mean over
 * the rows of the sums over the columns, whose rows keep their sum. */
TEST(record_words_add_up_the_pieces) {
    enum { Q = 5, K = 4, W = 3, V = 2 };
    static const int row[Q] = {0, 0, 1, 2, 2}, col[K] = {0, 0, 0, 1};
    static const double pieces[W] = {2, 1, 2};
    heed_ctx *c = heed_open(NULL);
    heed_record *r = heed_record_new(c);
    heed_record_axis queries = {.name = "target",
                                .count = Q,
                                .labels = (const char *const[]){"un", "til", "a", "ki", "ng"},
                                .special = (const unsigned char[]){0, 0, 1, 0, 0},
                                .words = (const char *const[]){"until", "", "a", "king", ""}};
    heed_record_axis keys = queries;
    keys.name = "source";
    keys.count = K;
    keys.words = (const char *const[]){"untila", "", "", "x"};
    heed_record_add_axis(r, &queries);
    heed_record_add_axis(r, &keys);
    heed_real x[HEADS * Q * K], map[Q * K];
    for (int i = 0; i < HEADS * Q * K; i++) x[i] = (heed_real)(1 + i * 7 % 11);
    for (int i = 0; i < HEADS * Q; i++) {
        double sum = 0;
        for (int k = 0; k < K; k++) sum += (double)x[i * K + k];
        for (int k = 0; k < K; k++) x[i * K + k] /= (heed_real)sum;
    }
    for (int i = 0; i < Q * K; i++) map[i] = i / K == 2 || i / K == 3 ? (heed_real)NAN : x[i];
    heed_record_add_block(
        r, &(heed_record_block){.path = "a", .heads = HEADS, .keys = 1, .weights = x, .raw = x});
    heed_record_add_map(r, &(heed_record_map){.name = "m", .layer = -1, .keys = 1, .values = map});
    for (int q = -1; q < Q; q++)
        heed_record_add_guess(r, &(heed_record_guess){.query = q, .says = "x"});
    heed_record_describe(r, (heed_record_texts){.title = "t", .note = "n."});
    heed_record *w = heed_record_words(c, r);
    CHECK(w && w->axes[0].count == W && w->axes[1].count == V && !w->axes[0].words);
    CHECK_TEXT(w->axes[0].labels[2], "king");
    CHECK(w->axes[0].special[1] == 1 && w->axes[0].special[2] == 0);
    CHECK_TEXT(w->axes[1].labels[0], "untila");
    CHECK(!w->blocks[0].raw && w->guesses[0].query == -1);
    for (int q = 0; q < Q; q++) CHECK(w->guesses[q + 1].query == row[q]);
    CHECK_HAS(w->note, "n. Pieces of a word");
    double sums[HEADS * W * V] = {0};
    for (int h = 0; h < HEADS; h++)
        for (int q = 0; q < Q; q++)
            for (int k = 0; k < K; k++)
                sums[(h * W + row[q]) * V + col[k]] +=
                    (double)x[(h * Q + q) * K + k] / pieces[row[q]];
    for (int i = 0; i < HEADS * W * V; i++) CHECK_CLOSE(w->blocks[0].weights[i], sums[i], 1e-6);
    for (int i = 0; i < HEADS * W; i++)
        CHECK_CLOSE(w->blocks[0].weights[i * V] + w->blocks[0].weights[i * V + 1], 1, 1e-6);
    CHECK_CLOSE(w->maps[0].values[0], sums[0], 1e-6);
    CHECK(isnan((double)w->maps[0].values[V])); /* nothing is known of the word */
    CHECK_CLOSE(w->maps[0].values[2 * V + 1], x[4 * K + 3], 1e-6);
    CLOSE(c);
}

/* Numbers 1, 2, ... in memory of their own, and whether such numbers are there. */
static heed_real *count_up(size_t n) {
    heed_real *x = malloc(n * sizeof *x);
    for (size_t i = 0; x && i < n; i++) x[i] = (heed_real)(i + 1);
    return x;
}
static bool counts_up(const heed_real *x, size_t n) {
    bool good = x != NULL;
    for (size_t i = 0; good && i < n; i++) good = x[i] == (heed_real)(i + 1);
    return good;
}

/* All that is handed in is copied whole: the callers' arrays are gone before the record is read.
 * No two sizes are equal. */
TEST(record_copies_every_array_whole) {
    enum { Q = 3, KEYS = 5, HELD = 2, KEY = 7, VALUE = 11, ROWS = 13, COLS = 17 };
    heed_ctx *c = heed_open(NULL);
    heed_record *r = heed_record_new(c);
    unsigned char *special = malloc(KEYS);
    for (int i = 0; i < KEYS; i++) special[i] = (unsigned char)(i + 1);
    heed_record_add_axis(r, &(heed_record_axis){.name = "queries", .count = Q});
    heed_record_add_axis(r, &(heed_record_axis){.name = "keys", .count = KEYS, .special = special});
    const size_t square = HELD * Q * KEYS, sizes[] = {square,
                                                      square,
                                                      square,
                                                      (size_t)HELD * Q * KEY,
                                                      (size_t)HELD * KEYS * KEY,
                                                      (size_t)HELD * KEYS * VALUE,
                                                      (size_t)HELD * KEY,
                                                      (size_t)Q * KEYS,
                                                      19};
    enum { ARRAYS = sizeof sizes / sizeof *sizes };
    heed_real *x[ARRAYS];
    for (int i = 0; i < ARRAYS; i++) x[i] = count_up(sizes[i]);
    int *head = malloc(HELD * sizeof *head);
    for (int i = 0; i < HELD; i++) head[i] = 4 + i;
    heed_record_block block = {.path = "a", .queries = 0, .keys = 1, .heads = HELD, .head = head};
    block.key = KEY, block.value = VALUE;
    block.weights = x[0], block.raw = x[1], block.scores = x[2];
    block.q = x[3], block.k = x[4], block.v = x[5], block.align = x[6];
    heed_record_add_block(r, &block);
    heed_record_add_map(r, &(heed_record_map){.name = "m", .keys = 1, .values = x[7]});
    const char *names[19];
    for (int i = 0; i < 19; i++) names[i] = i % 2 ? "odd" : "even";
    heed_record_add_guess(r, &(heed_record_guess){.count = 19, .labels = names, .p = x[8]});
    for (int i = 0; i < ARRAYS; i++) free(x[i]);
    for (int i = 0; i < 19; i++) names[i] = "gone";
    free(head);
    free(special);
    CHECK(r->block_count == 1 && r->map_count == 1 && r->guess_count == 1);
    const heed_record_block *b = &r->blocks[0];
    const heed_real *held[ARRAYS] = {b->weights, b->raw,   b->scores,         b->q,           b->k,
                                     b->v,       b->align, r->maps[0].values, r->guesses[0].p};
    for (int i = 0; i < ARRAYS; i++) CHECK(counts_up(held[i], sizes[i]));
    for (int i = 0; i < HELD; i++) CHECK(b->head[i] == 4 + i);
    for (int i = 0; i < KEYS; i++) CHECK(r->axes[1].special[i] == i + 1);
    for (int i = 0; i < 19; i++) CHECK_TEXT(r->guesses[0].labels[i], i % 2 ? "odd" : "even");
    for (int channels = 1; channels <= 4; channels++) {
        size_t n = (size_t)ROWS * COLS * (size_t)channels;
        unsigned char *pixels = malloc(n);
        for (size_t i = 0; i < n; i++) pixels[i] = (unsigned char)(i % 251 + 1);
        CHECK(heed_record_picture(r, pixels, COLS, ROWS, channels));
        free(pixels);
        CHECK(r->width == COLS && r->height == ROWS && r->channels == channels);
        for (size_t i = 0; i < n; i++) CHECK(r->pixels[i] == i % 251 + 1);
    }
    heed_record *cut = heed_record_subset(c, r, &(heed_record_cut){.tokens = 1000});
    CHECK(cut && memcmp(cut->pixels, r->pixels, (size_t)ROWS * COLS * 4) == 0);
    CHECK(cut && counts_up(cut->blocks[0].v, sizes[5]) && counts_up(cut->maps[0].values, 15));
    CHECK_CLOSE(heed_record_bytes(r),
                (double)((3 * square + sizes[3] + sizes[4] + sizes[5] + sizes[6] + sizes[7]) *
                             sizeof(heed_real) +
                         ROWS * COLS * 4),
                0);
    CLOSE(c);
}

TEST(record_refuses_parts_without_axes) {
    heed_ctx *c = heed_open(NULL);
    heed_record *r = heed_record_new(c);
    CHECK(heed_record_add_block(r, &(heed_record_block){.heads = 1}) == -1);
    CHECK_HAS(heed_ctx_error(c), "lacks an axis");
    heed_clear(c);
    heed_record_free(r);
    CLOSE(c);
}

/* ---- files ---- */

static char *contents(const char *path, size_t *n) {
    static char text[1 << 16];
    FILE *f = fopen(path, "rb");
    *n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    text[*n] = 0;
    if (f) fclose(f);
    return text;
}

TEST(record_json_is_one_object_that_reads_back) {
    heed_ctx *c = heed_open(NULL);
    heed_record *r = filled(c);
    heed_text out = {.c = c};
    CHECK(heed_record_json(r, true, &out));
    json_t *o = heed__json_parse(c, "record", out.s, out.n);
    CHECK(o != NULL);
    json_t *block = json_array_get(json_object_get(o, "blocks"), 2);
    CHECK(json_integer_value(json_object_get(block, "layer")) == 3);
    json_t *row = json_array_get(json_array_get(json_object_get(block, "weights"), 1), 2);
    CHECK_CLOSE(json_number_value(json_array_get(row, 1)), 25.0 / 64, 1e-9);
    CHECK_TEXT(json_string_value(json_object_get(o, "title")), "a \"b\"");
    const json_t *map = json_array_get(json_object_get(o, "maps"), 0);
    CHECK(json_is_null(json_object_get(map, "layer"))); /* of the whole model */
    const json_t *guess = json_array_get(json_object_get(o, "guesses"), 0);
    CHECK(json_integer_value(json_object_get(guess, "position")) == 3);
    json_decref(o);
    heed_text_free(&out);
    CHECK(heed_record_json(r, false, &out) && !strstr(out.s, "\"weights\""));
    heed_text_free(&out);
    CLOSE(c);
}

TEST(record_files_hold_every_weight) {
    heed_ctx *c = heed_open(NULL);
    heed_record *r = filled(c);
    char path[160];
    size_t n;
    snprintf(path, sizeof path, "%s/r.csv", test_folder());
    CHECK(heed_record_csv(c, r, path));
    const char *csv = contents(path, &n);
    int lines = 0;
    for (const char *s = csv; *s; s++) lines += *s == '\n';
    CHECK(lines == 1 + 3 * HEADS * LEN * LEN + LEN * LEN);
    CHECK_HAS(csv, "encoder.0.attn,encoder,1,2,4,2,\"\\xE2,\",\"a\",0.453125\n");
    snprintf(path, sizeof path, "%s/r.npz", test_folder());
    r->blocks = NULL;
    r->block_count = 0;
    CHECK(heed_record_npz(c, r, path));
    const char *npz = contents(path, &n);
    CHECK(n > 200 && !memcmp(npz, "PK\3\4", 4));
    CHECK_HAS(npz + 30, "maps.0.npy");
    CLOSE(c);
}

/* ---- drawn ---- */

static heed_text drawn(heed_ctx *c, heed_heatmap m) {
    heed_text out = {.c = c};
    CHECK(heed_heatmap_text(&m, &out));
    return out;
}

/* No line is wider than the terminal or ends with a blank. */
static void check_lines(const char *text, int width) {
    int used = 0;
    for (const char *s = text; *s; s++) {
        if (*s == '\n') {
            CHECK(used <= width);
            CHECK(s == text || s[-1] != ' ');
            used = 0;
        } else
            used += ((unsigned char)*s & 0xC0) != 0x80;
    }
}

TEST(record_heatmaps_fit_any_terminal) {
    heed_ctx *c = heed_open(NULL);
    static heed_real values[300 * 300];
    static const char *labels[300];
    for (int i = 0; i < 300; i++) labels[i] = i % 2 ? "token" : "a long label of it";
    for (int i = 0; i < 300 * 300; i++) values[i] = (heed_real)(i % 97) / 97;
    const int widths[] = {20, 40, 80, 200}, sizes[] = {1, 5, 9, 30, 60, 300};
    for (int w = 0; w < 4; w++)
        for (int n = 0; n < 6; n++)
            for (int numbers = 0; numbers < 2; numbers++) {
                heed_text out =
                    drawn(c, (heed_heatmap){.title = "a title that is long enough to be cut",
                                            .rows = sizes[n],
                                            .cols = sizes[n],
                                            .values = values,
                                            .row_labels = labels,
                                            .col_labels = labels,
                                            .numbers = numbers,
                                            .width = widths[w]});
                check_lines(out.s, widths[w]);
                heed_text_free(&out);
            }
    CLOSE(c);
}

TEST(record_heatmaps_use_what_the_terminal_can) {
    heed_ctx *c = heed_open(NULL);
    static heed_real values[40 * 40];
    heed_heatmap m = {.rows = 40, .cols = 40, .values = values, .width = 60};
    heed_text out = drawn(c, m);
    CHECK(!strchr(out.s, '\033'));
    heed_text_free(&out);
    m.terminal = HEED_TRUECOLOR;
    out = drawn(c, m);
    CHECK_HAS(out.s, "\033[38;2;");
    CHECK_HAS(out.s, "▀");
    heed_text_free(&out);
    m.terminal = HEED_COLOR256;
    out = drawn(c, m);
    CHECK_HAS(out.s, "\033[38;5;");
    CHECK(!strstr(out.s, ";2;"));
    heed_text_free(&out);
    CLOSE(c);
}

TEST(record_labels_show_what_would_not_be_seen) {
    heed_ctx *c = heed_open(NULL);
    heed_text out = {.c = c};
    CHECK(heed_label_text("\033[31m\n\t \xE2\x80\xAE\x07", 40, &out) == 10);
    CHECK_TEXT(out.s, "␛[31m⏎⇥ ↔␇");
    heed_text_free(&out);
    CHECK(heed_label_text("日本語日本語", 7, &out) == 7);
    CHECK_TEXT(out.s, "日本語…");
    heed_text_free(&out);
    CHECK(heed_label_text("e\xCC\x81t\xC3\xA9", 3, &out) == 3);
    CHECK_TEXT(out.s, "e\xCC\x81t\xC3\xA9");
    heed_text_free(&out);
    CLOSE(c);
}

/* Letters stand upright beside words on their side; the picture has room for its legend. */
TEST(record_svg_turns_words_alone_and_has_room_for_its_legend) {
    heed_ctx *c = heed_open(NULL);
    char path[160];
    int width = 0, height = 0;
    size_t n;
    const char *labels[] = {"q", "[CLS]", "tokenizer"};
    heed_heatmap map = {.rows = 1,
                        .cols = 3,
                        .values = (heed_real[]){0, 1, (heed_real)0.5},
                        .col_labels = labels,
                        .unit = "of what is positive in a row"};
    snprintf(path, sizeof path, "%s/m.svg", test_folder());
    CHECK(heed_panels_save(c, &(heed_panels){.count = 1, .maps = &map}, HEED_SVG, path));
    const char *svg = contents(path, &n), *wide = strstr(svg, " width=\"");
    int turned = 0;
    for (const char *at = svg; (at = strstr(at, "rotate(-90)")); at++) turned++;
    CHECK(turned == 2);
    CHECK(wide && sscanf(wide, " width=\"%d\" height=\"%d", &width, &height) == 2);
    CHECK(width > 200 + 8 * (int)strlen(map.unit));
    CHECK(strstr(svg, "font-family=\"DejaVu Sans, Verdana, sans-serif\""));
    CHECK(heed_panels_save(c, &(heed_panels){.count = 1, .maps = &map}, HEED_PNG, path));
    const unsigned char *png = (const unsigned char *)contents(path, &n);
    CHECK(n > 24 && png[18] * 256 + png[19] == width && png[22] * 256 + png[23] == height);
    CLOSE(c);
}

TEST(record_svg_escapes_labels_and_refers_to_nothing) {
    heed_ctx *c = heed_open(NULL);
    char path[160];
    size_t n;
    const char *labels[] = {"</script><script>alert(1)</script>", "\"'&<>"};
    const heed_real values[] = {0, 1, (heed_real)0.5, (heed_real)NAN};
    heed_heatmap maps[2];
    for (int i = 0; i < 2; i++)
        maps[i] = (heed_heatmap){.title = "head",
                                 .rows = 2,
                                 .cols = 2,
                                 .values = values,
                                 .row_labels = labels,
                                 .col_labels = labels};
    snprintf(path, sizeof path, "%s/m.svg", test_folder());
    CHECK(heed_panels_save(
        c, &(heed_panels){.title = "t\xEF\xBF\xBF\xC3\xA9", .count = 2, .maps = maps}, HEED_SVG,
        path));
    const char *svg = contents(path, &n);
    CHECK_HAS(svg, "&lt;/script&gt;");
    CHECK_HAS(svg, "&quot;&#39;&amp;&lt;&gt;");
    CHECK_HAS(svg, ">t?\xC3\xA9<"); /* XML excludes U+FFFF */
    CHECK_HAS(svg, "fill=\"#440154\"");
    CHECK(!strstr(svg, "<script") && !strstr(svg, "href") && !strstr(svg, "url("));
    CHECK(strlen(svg) == n && !strcmp(svg + n - 7, "</svg>\n"));
    CLOSE(c);
}

/* A table of three rows and another one whose row is shown above it: as text, JSON and CSV, sorted.
 */
TEST(record_tables_are_sorted_shown_and_written) {
    heed_ctx *c = heed_open(NULL);
    char path[160];
    const char *const names[] = {"a", "b", "c"}, *all = "all";
    const double seven = 7, loss = 2, x[] = {-0.001953125, (double)NAN, 0.5}, none[] = {1, 2, 3};
    heed_text text = {.c = c}, json = {.c = c};
    heed_record *r = heed_record_new(c);
    CHECK(heed_record_add_table(r, NULL, NULL, 1));
    heed_record_add_column(r, (heed_record_column){.head = "head", .texts = &all});
    heed_record_add_column(r, (heed_record_column){.key = "n", .values = &seven});
    heed_record_add_column(
        r, (heed_record_column){.key = "loss", .head = "loss", .format = "%.1f", .values = &loss});
    CHECK(heed_record_add_table(r, "heads", NULL, 3));
    heed_record_add_column(r, (heed_record_column){.key = "of", .head = "head", .texts = names});
    heed_record_add_column(
        r, (heed_record_column){.key = "x", .head = "x", .format = "%+.2f", .values = x});
    double *zeros = heed_record_add_column(
        r, (heed_record_column){.key = "loss", .head = "loss", .format = "%.1f", .times = 10});
    CHECK(zeros && zeros[0] == 0 && zeros[2] == 0);
    if (zeros) zeros[2] = 0.25;
    heed_record_add_column(r, (heed_record_column){.key = "row", .values = none});
    CHECK(heed_record_sort(r, "heads", "x") && !heed_record_sort(r, "heads", "y") &&
          !heed_record_sort(r, "none", "x"));
    CHECK(heed_record_find(r, "heads", "row")->values[0] == 3 && !heed_record_find(r, NULL, "x"));
    CHECK(heed_record_table_text(r, "heads", true, 80, &text));
    CHECK_TEXT(text.s, "\nhead      x  loss\nall           2.0\nc     +0.50   2.5\n"
                       "a      0.00   0.0\nb         -   0.0\n");
    CHECK(heed_record_table_json(r, NULL, &json));
    CHECK_TEXT(json.s, "{\"n\":7,\"loss\":2.0,\"heads\":[{\"of\":\"c\",\"x\":0.5,\"loss\":0.25,"
                       "\"row\":3},{\"of\":\"a\",\"x\":-0.001953125,\"loss\":0.0,\"row\":1},"
                       "{\"of\":\"b\",\"x\":null,\"loss\":0.0,\"row\":2}]}");
    snprintf(path, sizeof path, "%s/t.csv", test_folder());
    CHECK(heed_record_csv(c, r, path));
    size_t n;
    char *csv = heed_text_read(c, path, &n);
    CHECK_TEXT(csv, "of,row,x,loss\n\"c\",3,0.5,0.25\n\"a\",1,-0.001953125,0\n\"b\",2,,0\n");
    free(csv);
    heed_text_free(&text);
    heed_text_free(&json);
    heed_record_free(r);
    CLOSE(c);
}
