/* page_link.c -- how a page opens, and whether it can be written. */
#include "kinds/training.h"

#include <stdio.h>

const char *page_link_text(const page_link *o, char text[PAGE_LINK_SIZE]) {
    char query[24] = "";
    if (o->query >= 0) snprintf(query, sizeof query, "&row=%d", o->query + 1);
    snprintf(text, PAGE_LINK_SIZE, "%s%s%sstack=%s&layer=%d%s%.24s%s", o->view ? "view=" : "",
             o->view ? o->view : "", o->view ? "&" : "", heed_stack_name(o->stack), o->layer + 1,
             o->head ? "&head=" : "", o->head ? o->head : "", query);
    return text;
}

bool page_fits(heed_ctx *c, const heed_page *p, const char *path) {
    return p->force || heed_page_size(p) <= HEED_PAGE_LIMIT || heed_page_write(c, p, path);
}
