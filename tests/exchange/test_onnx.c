/* ONNX files: what is written, read back field by field (their values are compared in
 * tests/parity/onnx_check.py), and what is refused. */
#include "files.h"
#include "test.h"

#include <heed/exchange.h>
#include <heed/models.h>

/* ---- reading protocol buffers ---- */

typedef struct {
    const unsigned char *at, *end;
} bytes;

static uint64_t varint(bytes *b) {
    uint64_t x = 0;
    for (int shift = 0; b->at < b->end; shift += 7) {
        unsigned char c = *b->at++;
        x |= (uint64_t)(c & 127) << shift;
        if (c < 128) break;
    }
    return x;
}

/* The next field; number: its value, of a field with one; body: else its bytes. */
static bool field(bytes *b, int *id, uint64_t *number, bytes *body) {
    if (b->at >= b->end) return false;
    uint64_t tag = varint(b), n;
    *id = (int)(tag >> 3);
    *number = 0;
    *body = (bytes){b->at, b->at};
    if ((tag & 7) == 0) {
        *number = varint(b);
        return true;
    }
    n = (tag & 7) == 5 ? 4 : varint(b);
    if ((tag & 7) != 2 && (tag & 7) != 5) return false;
    if (n > (uint64_t)(b->end - b->at)) return false;
    *body = (bytes){b->at, b->at + n};
    b->at += n;
    return true;
}

/* The n-th field with this number in b; empty if there is none. */
static bytes nth(bytes b, int id, int n) {
    int is;
    uint64_t number;
    bytes body;
    while (field(&b, &is, &number, &body))
        if (is == id && n-- == 0) return body;
    return (bytes){b.end, b.end};
}

static uint64_t number_of(bytes b, int id) {
    int is;
    uint64_t number;
    bytes body;
    while (field(&b, &is, &number, &body))
        if (is == id) return number;
    return 0;
}

static bool is_text(bytes b, const char *text) {
    return (size_t)(b.end - b.at) == strlen(text) && memcmp(b.at, text, strlen(text)) == 0;
}

/* The field of b with this number whose field `name` is text. */
static bytes named(bytes b, int id, int name, const char *text) {
    bytes x = nth(b, id, 0);
    for (int i = 1; x.at < x.end && !is_text(nth(x, name, 0), text); i++) x = nth(b, id, i);
    return x;
}

static bool has(bytes b) { return b.at < b.end; }

/* Size `dim` of an input or output: its name, or its number as text. */
static bool has_size(bytes value, int dim, const char *text) {
    char number[24];
    bytes size = nth(nth(nth(nth(value, 2, 0), 1, 0), 2, 0), 1, dim);
    snprintf(number, sizeof number, "%d", (int)number_of(size, 1));
    return is_text(nth(size, 2, 0), text) || strcmp(number, text) == 0;
}

/* ---- models ---- */

static const heed_model *find(const char *name) {
    for (const heed_model *const *m = heed_models; *m; m++)
        if (strcmp((*m)->name, name) == 0) return *m;
    return NULL;
}

static void set_all(heed_config *f, const char *settings) {
    char text[512];
    snprintf(text, sizeof text, "%s", settings);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        char *value = strchr(word, '=');
        *value++ = 0;
        CHECK(heed_config_set(f, word, value, word, HEED_FROM_FLAG));
    }
}

static heed_run open_model(heed_ctx *c, const heed_model *m, const char *settings) {
    heed_run r = {.c = c, .model = m, .store = heed_params_new(c)};
    r.config = heed_model_config(c, m, NULL);
    set_all(r.config, settings);
    r.self = calloc(1, m->size);
    CHECK(heed_model_init(m, r.self, r.store, r.config));
    return r;
}

/* A file's bytes and their graph. */
typedef struct {
    unsigned char *own;
    bytes model, graph;
} parsed;

static unsigned char *whole_file(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    unsigned char *own = malloc(1 << 20);
    *n = f && own ? fread(own, 1, 1 << 20, f) : 0;
    if (f) fclose(f);
    return own;
}

static parsed parse(const char *path) {
    size_t n;
    parsed p = {.own = whole_file(path, &n)};
    p.model = (bytes){p.own, p.own + n};
    p.graph = nth(p.model, 7, 0);
    return p;
}

#define TEXT "vocab=13 block=12 width=8 heads=2 layers=2 ff=16 "

/* ---- tests ---- */

TEST(onnx_has_names_sizes_and_weights) {
    heed_ctx *c = heed_open(NULL);
    heed_run r = open_model(c, find("mlm"), TEXT);
    const char *path = in_folder("mlm.onnx");
    CHECK(heed_export_onnx(&r, path, false));
    parsed p = parse(path);
    CHECK(number_of(p.model, 1) == 8);
    CHECK(number_of(nth(p.model, 8, 0), 2) == 17);
    CHECK(is_text(nth(p.model, 2, 0), "heed"));
    CHECK(is_text(nth(p.graph, 2, 0), "mlm"));
    bytes ids = named(p.graph, 11, 1, "ids"), logits = named(p.graph, 12, 1, "logits");
    CHECK(has(ids) && has_size(ids, 0, "batch") && has_size(ids, 1, "length"));
    CHECK(has(named(p.graph, 11, 1, "mask")) && has(named(p.graph, 11, 1, "types")));
    CHECK(has(logits) && has_size(logits, 1, "length") && has_size(logits, 2, "13"));
    bytes attention = named(p.graph, 12, 1, "encoder.1.attn.weights");
    CHECK(has(attention) && has_size(attention, 1, "2") && has_size(attention, 3, "length"));
    for (int i = 0; i < heed_params_count(r.store); i++) {
        const heed_param *e = heed_params_at(r.store, i);
        bytes w = named(p.graph, 5, 8, e->name), values = nth(w, 9, 0);
        CHECK(has(w) && number_of(w, 1) == (uint64_t)e->tensor->shape[0]);
        CHECK((size_t)(values.end - values.at) == e->tensor->size * sizeof(float));
        for (size_t k = 0; has(w) && k < e->tensor->size; k++) {
            float x;
            memcpy(&x, values.at + k * sizeof x, sizeof x);
            if (x != (float)e->tensor->x[k]) CHECK(false);
        }
    }
    free(p.own);
    free(r.self);
    heed_close(c);
}

TEST(onnx_is_the_same_file_twice) {
    heed_ctx *c = heed_open(NULL);
    size_t n[2] = {0};
    unsigned char *text[2];
    for (int i = 0; i < 2; i++) {
        heed_run r = open_model(c, find("seq2seq"), TEXT);
        CHECK(heed_export_onnx(&r, in_folder("twice.onnx"), false));
        text[i] = whole_file(in_folder("twice.onnx"), &n[i]);
        free(r.self);
    }
    CHECK(n[0] > 1000 && n[0] == n[1] && memcmp(text[0], text[1], n[0]) == 0);
    free(text[0]);
    free(text[1]);
    heed_close(c);
}

TEST(onnx_cache_has_the_past_of_each_layer) {
    heed_ctx *c = heed_open(NULL);
    heed_run r = open_model(c, find("gpt"), TEXT);
    CHECK(heed_export_onnx(&r, in_folder("gpt.onnx"), true));
    parsed p = parse(in_folder("gpt.onnx"));
    bytes past = named(p.graph, 11, 1, "decoder.1.attn.k.past");
    CHECK(has(past) && has_size(past, 1, "2") && has_size(past, 2, "past"));
    CHECK(has(named(p.graph, 12, 1, "decoder.1.attn.v")));
    CHECK(has_size(named(p.graph, 12, 1, "decoder.0.attn.weights"), 3, "total"));
    free(p.own);
    free(r.self);
    heed_close(c);
}

/* Every model has a form; a decoder recorded step by step is one Scan, a GRU one node. */
TEST(onnx_of_every_model) {
    static const struct {
        const char *model, *settings, *node;
        int count;
    } cases[] = {{"rnn", "width=6 block=5 vocab=9 attention=dot", "Scan", 1},
                 {"rnn", "width=6 block=5 vocab=9", "GRU", 2}};
    for (const heed_model *const *m = heed_models; *m; m++) {
        heed_ctx *c = heed_open(NULL);
        heed_run r = open_model(c, *m, (*m)->cases[0].settings);
        CHECK(heed_export_onnx(&r, in_folder("any.onnx"), false));
        free(r.self);
        heed_close(c);
    }
    for (int i = 0; i < 2; i++) {
        heed_ctx *c = heed_open(NULL);
        heed_run r = open_model(c, find(cases[i].model), cases[i].settings);
        CHECK(heed_export_onnx(&r, in_folder("one.onnx"), false));
        parsed p = parse(in_folder("one.onnx"));
        bytes node;
        int count = 0;
        for (int k = 0; has(node = nth(p.graph, 1, k)); k++)
            count += is_text(nth(node, 4, 0), cases[i].node);
        CHECK(count == cases[i].count);
        free(p.own);
        free(r.self);
        heed_close(c);
    }
}

/* ---- refusals ---- */

static const heed_model *base;
static bool infer(heed_node *n) { return heed_op_output_like(n, 0); }
static void forward(heed_node *n) { memcpy(n->y->x, n->in[0]->x, n->y->size * sizeof *n->y->x); }
static const heed_op relu_of_a_user = {"relu", "r", infer, forward, NULL, NULL, 0};

/* An op of a user's own, even one named as heed's. */
static heed_tensor *with_own_op(const void *self, heed_tape *t, const heed_model_input *in) {
    return heed_push(heed_name_scope(t, "last"), &relu_of_a_user, NULL, base->logits(self, t, in));
}

/* What a user's model computes by hand from the input has no form. */
static heed_tensor *with_own_values(const void *self, heed_tape *t, const heed_model_input *in) {
    heed_tensor *y = base->logits(self, t, in);
    heed_tensor *x = y ? heed_input(t, y->x, y->dims, y->shape) : NULL;
    return heed_add(heed_name_scope(t, "last"), y, x);
}

static void refused(heed_model m, bool cache, const char *part) {
    heed_ctx *c = heed_open(NULL);
    heed_run r = open_model(c, &m, m.cases[0].settings);
    remove(in_folder("none.onnx"));
    CHECK_FAILS(c, heed_export_onnx(&r, in_folder("none.onnx"), cache), HEED_USAGE, part);
    CHECK(files_in_folder() == 0);
    free(r.self);
    heed_close(c);
}

TEST(onnx_refuses_what_has_no_form) {
    base = find("gpt");
    heed_model own = *base;
    own.logits = with_own_op;
    refused(own, false, "relu at last has no form there");
    own.logits = with_own_values;
    refused(own, false, "an array computed outside the ops at last");
    refused(*find("mlm"), true, "mlm has no cache: expected a model that predicts the next token");
    own = *base;
    own.data = &heed_own_numbers;
    refused(own, false, "it reads dense numbers");
    CHECK(!heed_export_onnx(NULL, "x", false));
}
