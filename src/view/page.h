/* page.h -- the parts of the page: its sources, which the Makefile embeds, and the data inserted
 * into them. */
#ifndef HEED_PAGE_H
#define HEED_PAGE_H

#include <heed/view.h>

/* src/view/page: page.html, the style sheets, and the scripts, each in a separate element. The
 * scripts of the worked examples are separate, since few pages need them. The Makefile compresses
 * all with raw deflate. */
enum { HEED__PAGE_HTML, HEED__PAGE_CSS, HEED__PAGE_JS, HEED__PAGE_STEPS, HEED__PAGE_PARTS };
extern const unsigned char heed__page_packed[];
extern const size_t heed__page_packed_size, heed__page_sizes[HEED__PAGE_PARTS];

/* How the numbers of a layer or a map are written: w in [0,1] as w * 65535, anything else as (w -
 * lo) / (hi - lo) * 65534, with 65535 for values that are not finite. */
typedef struct {
    bool plain; /* all in [0,1] */
    double lo, hi;
    bool triangle; /* Q = K and 0 wherever k > q: the rest is left out */
} heed__page_code;
heed__page_code heed__page_code_of(const heed_real *x, int planes, int rows, int cols, bool causal);

/* Appends to json the records as heed_record_json writes them, how their numbers are stored and the
 * curves, and to numbers the script elements of all numbers and pictures. */
bool heed__page_data(heed_ctx *c, const heed_page *p, heed_text *json, heed_text *numbers);
/* Appends JSON with '<' written as an escape, so that no text can end its element. */
bool heed__page_escape(heed_text *out, const char *json, size_t n);

/* Whether no query of any head may attend to a key, by the scores: padding. */
bool heed__key_masked(const heed_record *r, const heed_record_block *b, int key);
/* Whether q and k of the block go into the page. */
bool heed__page_has_qk(const heed_page *p, const heed_record_block *b);
/* The record whose picture record r shows: the first one with the same pixels; -1: none. */
int heed__page_picture(const heed_page *p, int r);

#endif
