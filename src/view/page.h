/* page.h -- the parts of the page: its sources, which the Makefile embeds, and the data between
 * them. */
#ifndef HEED_PAGE_H
#define HEED_PAGE_H

#include <heed/view.h>

/* src/view/page: page.html with the style sheets up to the data, the scripts, each in a separate
 * element, those of the worked examples, which few pages need, and the rest of page.html. The
 * Makefile compresses all with raw deflate. */
enum { HEED__PAGE_BEGIN, HEED__PAGE_JS, HEED__PAGE_STEPS, HEED__PAGE_END, HEED__PAGE_PARTS };
extern const unsigned char heed__page_packed[];
extern const size_t heed__page_packed_size, heed__page_sizes[HEED__PAGE_PARTS];

/* Appends to data the script elements of JSON: the records as heed_record_json writes them, how
 * their numbers are stored, the curves and the worked example; and to numbers those of all numbers
 * and pictures. */
bool heed__page_data(heed_ctx *c, const heed_page *p, heed_text *data, heed_text *numbers);

/* Whether no query of any head may attend to a key, by the scores: padding. */
bool heed__key_masked(const heed_record *r, const heed_record_block *b, int key);

#endif
