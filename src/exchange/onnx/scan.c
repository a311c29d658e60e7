/* scan.c -- Scan nodes: a body that is run for each step of a sequence (B,T,...). */
#include "exchange/onnx/scan.h"

#include <stdio.h>
#include <string.h>

void heed__onnx_scan_begin(heed__onnx_export *e, heed__onnx_scan *s) {
    heed_ctx *c = e->c;
    *s = (heed__onnx_scan){.body = {.outer = e->g, .scope = e->g->scope ? e->g->scope : ""}};
    s->body.nodes.c = s->body.inputs.c = s->body.outputs.c = c;
    e->g = &s->body;
}

static onnx body_input(heed__onnx_export *e, heed__onnx_scan *s, onnx from, const char *what) {
    if (s->ins == HEED__ONNX_SCAN_VALUES || !from) {
        if (from) heed_fail(e->c, HEED_USAGE, "%s has too many states for ONNX", e->r->model->name);
        return NULL;
    }
    onnx name = heed__onnx_name(&s->body, "%s/%s.%d", s->body.scope, what, s->ins);
    s->in[s->ins++] = from;
    heed__onnx_declare(&s->body.inputs, 11, name, true, -1, NULL, NULL);
    return name;
}

onnx heed__onnx_scan_state(heed__onnx_export *e, heed__onnx_scan *s, onnx first) {
    s->states++;
    return body_input(e, s, first, "state");
}

onnx heed__onnx_scan_input(heed__onnx_export *e, heed__onnx_scan *s, onnx x) {
    return body_input(e, s, x, "step");
}

void heed__onnx_scan_output(heed__onnx_export *e, heed__onnx_scan *s, onnx x) {
    onnx y = heed__onnx_node(&s->body, IN(x), "Identity");
    if (y) heed__onnx_declare(&s->body.outputs, 12, y, true, -1, NULL, NULL);
    if (++s->outs > HEED__ONNX_SCAN_VALUES)
        heed_fail(e->c, HEED_USAGE, "%s has too many states for ONNX", e->r->model->name);
}

/* "[1,1,1]" */
static void axes(char *text, size_t size, int count) {
    snprintf(text, size, "[");
    for (int i = 0; i < count; i++) {
        size_t n = strlen(text);
        snprintf(text + n, size - n, i ? ",1" : "1");
    }
    strncat(text, "]", size - strlen(text) - 1);
}

bool heed__onnx_scan_end(heed__onnx_export *e, heed__onnx_scan *s, onnx *out) {
    char text[256], in_axes[64], out_axes[64];
    e->g = s->body.outer;
    bool ok = heed_ctx_status(e->c) == HEED_OK;
    axes(in_axes, sizeof in_axes, s->ins - s->states);
    axes(out_axes, sizeof out_axes, s->outs - s->states);
    snprintf(text, sizeof text, "Scan num_scan_inputs=%d scan_input_axes=%s scan_output_axes=%s",
             s->ins - s->states, in_axes, out_axes);
    if (ok) heed__onnx_nodes(e->g, s->in, s->outs, out, &s->body, text);
    heed__onnx_graph_free(&s->body);
    return ok;
}
