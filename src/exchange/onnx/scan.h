/* scan.h -- Scan nodes under construction. Between begin and end, nodes are added to the body:
 * first the states and inputs are named, then, in this order, the next states and the outputs. */
#ifndef HEED_ONNX_SCAN_H
#define HEED_ONNX_SCAN_H

#include "exchange/onnx/onnx.h"

enum { HEED__ONNX_SCAN_VALUES = 16 };
typedef struct {
    heed__onnx_graph body;
    onnx in[HEED__ONNX_SCAN_VALUES + 1];
    int ins, states, outs;
} heed__onnx_scan;

void heed__onnx_scan_begin(heed__onnx_export *e, heed__onnx_scan *s);
/* The state before a step; first: before the first. */
onnx heed__onnx_scan_state(heed__onnx_export *e, heed__onnx_scan *s, onnx first);
/* (B,...) of x (B,T,...) */
onnx heed__onnx_scan_input(heed__onnx_export *e, heed__onnx_scan *s, onnx x);
/* x is the next state; or, once all states are, (B,...) of an output (B,T,...). */
void heed__onnx_scan_output(heed__onnx_export *e, heed__onnx_scan *s, onnx x);
/* out (HEED__ONNX_SCAN_VALUES): the last states, then the outputs. */
bool heed__onnx_scan_end(heed__onnx_export *e, heed__onnx_scan *s, onnx *out);

/* ---- loop.c: the body of the steps of a decoder, from e->step[step] on ---- */

/* False: its steps are not alike, or an error. */
bool heed__onnx_loop_begin(heed__onnx_export *e, heed__onnx_scan *scan, int step);
/* step: the first after the body */
bool heed__onnx_loop_end(heed__onnx_export *e, heed__onnx_scan *scan, int step);

#endif
