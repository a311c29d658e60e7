/* attend.h -- prints what of a record is shown. */
#ifndef HEED_ATTEND_H
#define HEED_ATTEND_H

#include "cli/choice.h"
#include "kinds/records.h"

typedef struct {
    program *p;
    heed_record_view v;
    int top;              /* how many tokens or predictions are listed */
    const char *unmasked; /* what to say if nothing is predicted; NULL: something always is */
    bool saturated;       /* occlusion says little, as the record's note says */
} attend_view;

/* Prints the record: its matrix, rows or picture, its maps and its predictions. */
bool attend_print(const attend_view *a);
/* Prints one row of a record of one layer as a heat map of the heads and their mean; or returns it
 * as {layer, position, mean: [..], heads: [[..]]}. made: the token that this row predicted, or
 * NULL. */
bool attend_print_row(program *p, const heed_record_view *v, const char *made);
json_t *attend_row_json(program *p, const heed_record_view *v);

#endif
