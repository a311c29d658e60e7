/* opening.c -- how a page opens: at what its command was asked for. */
#include "training.h"

#include <stdio.h>

const char *opening_text(const opening *o, char text[OPENING_SIZE]) {
    char query[24] = "";
    if (o->query >= 0) snprintf(query, sizeof query, "&row=%d", o->query + 1);
    snprintf(text, OPENING_SIZE, "%s%s%sstack=%s&layer=%d%s%.24s%s", o->view ? "view=" : "",
             o->view ? o->view : "", o->view ? "&" : "", heed_stack_name(o->stack), o->layer + 1,
             o->head ? "&head=" : "", o->head ? o->head : "", query);
    return text;
}
