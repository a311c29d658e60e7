/* onnx.c -- a run as an ONNX file. */
#include "core/os.h"
#include "exchange/onnx/scan.h"

#include <ctype.h>
#include <string.h>

/* ---- inputs and outputs ---- */

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

/* x in both recordings. With a cache, attention has more keys than the input has tokens. */
static void output(heed__onnx_export *e, onnx name, const heed_tensor *const x[2], bool attention) {
    const char *names[HEED_DIMS];
    for (int d = 0; d < x[0]->dims; d++) {
        names[d] = heed__onnx_size_name(e, x[0]->shape[d], x[1]->shape[d]);
        if (attention && e->cache && d == x[0]->dims - 1) names[d] = "total";
    }
    heed__onnx_declare(&e->graph.outputs, 12, name, true, x[0]->dims, x[0]->shape, names);
}

/* ---- nodes ---- */

onnx heed__onnx_refuse(heed__onnx_export *e, const char *what, const heed_node *n) {
    heed_fail(e->c, HEED_USAGE, "%s cannot be exported to ONNX: %s at %s has no form there",
              e->r->model->name, what, n->name);
    return NULL;
}

onnx heed__onnx_weights(heed__onnx_export *e, const heed_node *n) {
    onnx name = heed__onnx_name(&e->graph, "%s.weights", n->name);
    return heed__onnx_find(&e->graph, name) ? NULL : heed__onnx_keep(&e->graph, name, name);
}

static heed__onnx_form *form_of(const heed_op *op) {
    static const heed__onnx_op *const tables[] = {heed__onnx_plain, heed__onnx_layers,
                                                  heed__onnx_attention, heed__onnx_recurrent};
    bool own = false; /* not a custom op that has such a name */
    for (const heed_op *const *list = heed_op_table(); *list; list++)
        for (const heed_op *o = *list; o->name; o++) own = own || o == op;
    for (int t = 0; own && t < 4; t++)
        for (const heed__onnx_op *f = tables[t]; f->op; f++)
            if (strcmp(f->op, op->name) == 0) return f->form;
    return NULL;
}

/* "decoder.0.attn" -> "decoder.0": the layer that an op without a name belongs to, after one with
 * that name. */
static const char *layer_of(heed__onnx_export *e, const char *name) {
    size_t n = strlen(name);
    for (size_t i = n; i-- > 0;)
        if (isdigit((unsigned char)name[i]) && (i + 1 == n || name[i + 1] == '.'))
            return heed__onnx_name(&e->graph, "%.*s", (int)i + 1, name);
    return "";
}

/* An affine op that a recurrent layer reads is part of its node. */
static void skip_gates(heed__onnx_export *e) {
    for (int i = 0; i < e->steps; i++) {
        const heed_node *n = e->step[i].in[0];
        heed__onnx_step *from = NULL;
        if (strcmp(n->op->name, "recurrent") == 0) from = heed__onnx_step_of(e, n->in[0]);
        if (!from || strcmp(from->in[0]->op->name, "affine") != 0 || from->readers != 1) continue;
        from->skipped = *(const heed_act *)from->in[0]->args == HEED_IDENTITY;
    }
}

static bool refuse_loop(const heed__onnx_export *e) {
    return heed_fail(e->c, HEED_USAGE,
                     "%s cannot be exported to ONNX: the steps of its decoder differ",
                     e->r->model->name);
}

static bool translate_step(heed__onnx_export *e, heed__onnx_step *s) {
    heed__onnx_form *form = form_of(s->in[0]->op);
    if (s->skipped || s->value) return true;
    if (!form) heed__onnx_refuse(e, s->in[0]->op->name, s->in[0]);
    s->value = form ? form(e, s) : NULL;
    return s->value && heed_ctx_status(e->c) == HEED_OK;
}

static bool translate(heed__onnx_export *e) {
    const char *layer = "";
    heed__onnx_scan scan = {.ins = 0};
    bool inside = false, ok = true;
    skip_gates(e);
    for (int i = 0; ok && i < e->steps; i++) {
        const heed_node *n = e->step[i].in[0];
        bool body = heed__onnx_in_body(e, &e->step[i]);
        e->graph.scope = e->g->scope = n->named ? n->name : layer;
        if (n->named) layer = layer_of(e, n->name);
        if (body && !inside) ok = heed__onnx_loop_begin(e, &scan, i) || refuse_loop(e);
        if (!body && inside) ok = heed__onnx_loop_end(e, &scan, i) || refuse_loop(e);
        inside = body;
        ok = ok && translate_step(e, &e->step[i]);
    }
    if (inside && e->g != &e->graph) heed__onnx_graph_free(&scan.body);
    return ok && !inside;
}

/* ---- outputs ---- */

/* Whether a kept value is the attention of a layer: "decoder.0.attn.weights". */
static bool is_attention(const heed_run *r, const char *path) {
    heed_attending a;
    for (int i = 0; r->model->attending && r->model->attending(r->self, i, &a); i++) {
        size_t n = strlen(a.path);
        if (strncmp(path, a.path, n) == 0 && strcmp(path + n, ".weights") == 0) return true;
    }
    return false;
}

static bool outputs(heed__onnx_export *e) {
    const heed__onnx_step *last = heed__onnx_step_of(e, e->logits[0]);
    const char *path, *other;
    if (!last) return heed_fail(e->c, HEED_USAGE, "model has no ops: %s", e->r->model->name);
    e->graph.scope = "";
    e->graph.result = "logits";
    heed__onnx_node(&e->graph, IN(last->value), "Identity");
    heed_text first = {.c = e->c};
    heed__onnx_append(&first, &e->graph.outputs);
    e->graph.outputs.n = 0;
    output(e, "logits", e->logits, false);
    for (int i = 0; i < heed_probe_count(e->tape[0]); i++) {
        const heed_tensor *x[2] = {heed_probe_at(e->tape[0], i, &path)};
        x[1] = heed_probe_at(e->tape[1], i, &other);
        if (!is_attention(e->r, path)) continue;
        const heed__onnx_step *note = heed__onnx_step_of(e, x[0]);
        onnx name = heed__onnx_name(&e->graph, "%s", path);
        e->graph.result = name;
        if (note) heed__onnx_node(&e->graph, IN(note->value), "Identity");
        e->graph.result = NULL;
        output(e, name, x, true);
    }
    heed__onnx_append(&e->graph.outputs, &first); /* then those of the cache */
    heed_text_free(&first);
    return heed_ctx_status(e->c) == HEED_OK;
}

static void inputs(heed__onnx_export *e) {
    heed_text after = e->graph.inputs; /* those of the cache */
    e->graph.inputs = (heed_text){.c = e->c};
    for (int i = 0; i < e->inputs; i++) {
        const heed__onnx_input *in = &e->input[i];
        if (in->used)
            heed__onnx_declare(&e->graph.inputs, 11, in->name, in->x[0]->x != NULL, in->x[0]->dims,
                               in->x[0]->shape, in->dim);
    }
    heed__onnx_append(&e->graph.inputs, &after);
    heed_text_free(&after);
}

/* ---- the file ---- */

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
static bool write_file(heed__onnx_export *e, const char *path) {
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

static bool check(const heed_run *r, bool cache) {
    const heed_model *m = r->model;
    if (m->kind == HEED_INPUT_DENSE)
        return heed_fail(r->c, HEED_USAGE, "%s cannot be exported to ONNX: it reads dense numbers",
                         m->name);
    return !cache || (m->kind == HEED_INPUT_TOKENS && m->answers == HEED_ANSWER_NEXT) ||
           heed_fail(r->c, HEED_USAGE,
                     "%s has no cache: expected a model that predicts the next token, such as gpt",
                     m->name);
}

bool heed_export_onnx(heed_run *r, const char *path, bool cache) {
    if (!r || !path || heed__stopped(r->c) || !check(r, cache)) return false;
    heed__onnx_export e = {.r = r, .c = r->c, .cache = cache, .g = &e.graph};
    if (heed_config_has(r->config, "block")) e.longest = (int)heed_config_int(r->config, "block");
    e.graph.nodes.c = e.graph.inputs.c = e.graph.outputs.c = e.graph.constants.c = r->c;
    bool ok = heed__onnx_record(&e) && translate(&e) && outputs(&e);
    if (ok) inputs(&e);
    ok = ok && write_file(&e, path);
    heed__onnx_record_free(&e);
    heed__onnx_graph_free(&e.graph);
    heed__free(e.param);
    return ok;
}
