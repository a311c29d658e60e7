/* onnx.c -- a run as an ONNX file: op by op, then what the graph reads and gives. */
#include "exchange/onnx/scan.h"

#include <ctype.h>
#include <string.h>

/* ---- inputs and outputs ---- */

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

onnx heed__onnx_op(heed__onnx_export *e, const char *text, onnx a, onnx b, onnx c) {
    onnx out;
    heed__onnx_nodes(e->g, IN(a, b, c), 1, &out, NULL, text);
    return out;
}

onnx heed__onnx_one(heed__onnx_export *e, int x) { return INTS(e->g, x); }

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
    static const heed__onnx_row *const tables[] = {heed__onnx_plain, heed__onnx_layers,
                                                   heed__onnx_attention, heed__onnx_recurrent};
    bool own = false; /* not a custom op that has such a name */
    for (const heed_op *const *list = heed_op_table(); *list; list++)
        for (const heed_op *o = *list; o->name; o++) own = own || o == op;
    for (int t = 0; own && t < 4; t++)
        for (const heed__onnx_row *f = tables[t]; f->op; f++)
            if (strcmp(f->op, op->name) == 0) return f->form;
    return NULL;
}

/* "decoder.0.attn" -> "decoder.0", "embed.token" -> "embed": the layer that an op without a name
 * belongs to, after one with that name. */
static const char *layer_of(heed__onnx_export *e, const char *name) {
    const char *dot = strrchr(name, '.');
    size_t n = strlen(name), to = dot ? (size_t)(dot - name) : 0;
    for (size_t i = 0; i < n; i++)
        if (isdigit((unsigned char)name[i]) && (i + 1 == n || name[i + 1] == '.')) to = i + 1;
    return heed__onnx_name(&e->graph, "%.*s", (int)to, name);
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
    if (e->g != &e->graph) heed__onnx_graph_free(&scan.body); /* after an error */
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

static bool check(const heed_run *r, bool cache) {
    const heed_model *m = r->model;
    if (!heed_model_data(m)->open)
        return heed_fail(r->c, HEED_USAGE, "%s cannot be exported to ONNX: it reads dense numbers",
                         m->name);
    return !cache || heed_model_data(m)->ahead ||
           heed_fail(r->c, HEED_USAGE,
                     "%s has no cache: expected a model that predicts the next token, such as gpt",
                     m->name);
}

bool heed_export_onnx(const heed_run *r, const char *path, bool cache) {
    if (!r || !path || heed__stopped(r->c) || !check(r, cache)) return false;
    heed__onnx_export e = {.r = r, .c = r->c, .cache = cache, .g = &e.graph};
    if (heed_config_has(r->config, "block")) e.longest = (int)heed_config_int(r->config, "block");
    e.graph.nodes.c = e.graph.inputs.c = e.graph.outputs.c = e.graph.constants.c = r->c;
    bool ok = heed__onnx_record(&e) && translate(&e) && outputs(&e);
    if (ok) inputs(&e);
    ok = ok && heed__onnx_write(&e, path);
    heed__onnx_record_free(&e);
    heed__onnx_graph_free(&e.graph);
    heed__free(e.param);
    return ok;
}
