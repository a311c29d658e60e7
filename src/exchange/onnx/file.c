/* file.c -- the ONNX file of a graph: its declarations, properties and parameters. */
#include "core/os.h"
#include "exchange/onnx/onnx.h"

void heed__onnx_declare(heed_text *out, int field, onnx name, bool reals, int dims,
                        const int *shape, const char *const *names) {
    heed_text size = {.c = out->c}, sizes = {.c = out->c}, array = {.c = out->c};
    heed_text type = {.c = out->c}, value = {.c = out->c};
    for (int d = 0; d < dims; d++) {
        size.n = 0;
        if (names[d])
            heed__proto_text(&size, 2, names[d]);
        else
            heed__proto_int(&size, 1, shape[d]);
        heed__proto_bytes(&sizes, 1, size.s, size.n);
    }
    heed__proto_int(&array, 1, reals ? HEED__ONNX_FLOAT : HEED__ONNX_INT64);
    if (dims >= 0) heed__proto_bytes(&array, 2, sizes.s, sizes.n);
    heed__proto_bytes(&type, 1, array.s, array.n);
    if (name) heed__proto_text(&value, 1, name);
    heed__proto_bytes(&value, 2, type.s, type.n);
    heed__proto_bytes(out, field, value.s, value.n);
    heed_text *all[] = {&size, &sizes, &array, &type, &value};
    for (int i = 0; i < 5; i++) heed_text_free(all[i]);
}

static void put_property(heed_text *out, const char *key, const char *value) {
    heed_text pair = {.c = out->c};
    heed__proto_text(&pair, 1, key);
    heed__proto_text(&pair, 2, value);
    heed__proto_bytes(out, 14, pair.s, pair.n);
    heed_text_free(&pair);
}

/* What those need who use the file: the classes, and how pixels are prepared. */
static void put_properties(heed_text *out, const heed_run *r) {
    static const char *const settings[] = {"mean", "std", NULL};
    heed_text labels = {.c = r->c};
    put_property(out, "heed.model", r->model->name);
    for (int i = 0; settings[i]; i++)
        if (heed_config_has(r->config, settings[i]) && *heed_config_text(r->config, settings[i]))
            put_property(out, settings[i], heed_config_text(r->config, settings[i]));
    for (int i = 0; i < r->label_count; i++)
        heed_text_add(&labels, "%s%s", i ? "\n" : "", r->labels[i]);
    if (labels.n) put_property(out, "labels", labels.s);
    heed_text_free(&labels);
}

/* The parameters' values are not copied, except to floats from double precision. */
typedef struct {
    heed_text *header; /* (params) */
    float **values;    /* (params) in double precision */
    heed__piece *piece;
    int pieces;
    size_t bytes;
} weights;

static bool put_parameter(const heed_tensor *x, heed_text *header, float **values,
                          heed__piece *piece) {
    heed_text fields = {.c = header->c};
    size_t bytes = x->size * sizeof(float);
    heed__proto_tensor(&fields, x->name, true, x->dims, x->shape);
    heed__proto_begin(&fields, 9, bytes);
    heed__proto_begin(header, 5, fields.n + bytes);
    heed_text_put(header, fields.s, fields.n);
    heed_text_free(&fields);
    piece[0] = (heed__piece){header->s, header->n};
    piece[1] = (heed__piece){x->x, bytes};
    if (sizeof(heed_real) == sizeof(float)) return true;
    if (!(*values = heed__alloc_array(header->c, x->size + 1, sizeof **values))) return false;
    for (size_t i = 0; i < x->size; i++) (*values)[i] = (float)x->x[i];
    piece[1].data = *values;
    return true;
}

static bool make_weights(const heed__onnx_export *e, weights *w) {
    size_t n = e->params + 1;
    w->header = heed__alloc_array(e->c, n, sizeof *w->header);
    w->values = heed__alloc_array(e->c, n, sizeof *w->values);
    w->piece = heed__alloc_array(e->c, 2 * n + 2, sizeof *w->piece);
    if (!w->header || !w->values || !w->piece) return false;
    for (size_t i = 0; i < e->params; i++) {
        w->header[i].c = e->c;
        if (!put_parameter(e->param[i], &w->header[i], &w->values[i], &w->piece[2 * i + 2]))
            return false;
    }
    w->pieces = 2 * (int)e->params + 2;
    for (int i = 2; i < w->pieces; i++) w->bytes += w->piece[i].n;
    return heed_ctx_status(e->c) == HEED_OK;
}

static void free_weights(const heed__onnx_export *e, weights *w) {
    for (size_t i = 0; w->header && w->values && i < e->params; i++) {
        heed_text_free(&w->header[i]);
        heed__free(w->values[i]);
    }
    heed__free(w->header);
    heed__free(w->values);
    heed__free(w->piece);
}

/* The graph last, and in it the parameters: all before is one piece. */
bool heed__onnx_write(heed__onnx_export *e, const char *path) {
    heed_text model = {.c = e->c}, graph = {.c = e->c}, opset = {.c = e->c};
    const heed_text *parts[] = {&e->graph.nodes, NULL, &e->graph.constants, &e->graph.inputs,
                                &e->graph.outputs};
    weights w = {0};
    bool ok = make_weights(e, &w);
    for (int i = 0; i < 5; i++) {
        if (!parts[i])
            heed__proto_text(&graph, 2, e->r->model->name);
        else
            heed__onnx_append(&graph, parts[i]);
    }
    heed__proto_int(&model, 1, HEED__ONNX_IR);
    heed__proto_text(&model, 2, "heed");
    heed__proto_text(&model, 3, HEED_VERSION);
    heed__proto_int(&opset, 2, HEED__ONNX_OPSET);
    heed__proto_bytes(&model, 8, opset.s, opset.n);
    put_properties(&model, e->r);
    heed__proto_begin(&model, 7, graph.n + w.bytes);
    if (ok && model.n + graph.n + w.bytes > INT32_MAX)
        ok = heed_fail(e->c, HEED_USAGE,
                       "%s is too large for ONNX: expected less than 2 GB, found %zu bytes",
                       e->r->model->name, graph.n + w.bytes);
    if (ok) w.piece[0] = (heed__piece){model.s, model.n};
    if (ok) w.piece[1] = (heed__piece){graph.s, graph.n};
    ok = ok && heed_ctx_status(e->c) == HEED_OK && heed__os_write(e->c, path, w.piece, w.pieces);
    free_weights(e, &w);
    heed_text_free(&model);
    heed_text_free(&graph);
    heed_text_free(&opset);
    return ok;
}
