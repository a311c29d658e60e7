/* overlay.c -- the patches that a model attends to, drawn over a classified picture. */
#include "commands/overlay.h"

#include "commands/attend.h"

#include <stdlib.h>

bool overlay_write(const overlay *o, heed_picture *p) {
    heed_run *r = o->run;
    int layers, index;
    if (!layer_index(r, o->layer, &index)) return false;
    free(heed_attention_layers(r, &layers)); /* only their number is needed */
    heed_inspection s;
    heed_capture_args wish = {.layer_count = 1, .layers = &index, .lean = true};
    heed_record *record =
        heed_inspection_picture(&s, r, p, o->path, true) ? heed_capture(&s, &wish) : NULL;
    bool ok = record != NULL;
    if (ok) {
        attend_view v = {.p = o->p,
                         .record = record,
                         .block = record->blocks,
                         .layers = layers,
                         .head = MEAN_HEAD,
                         .query = s.axes[0].first ? 0 : -1};
        ok = attend_draw_picture(&v, o->cells, false, o->path);
    }
    heed_record_free(record);
    heed_inspection_free(&s);
    return ok;
}
