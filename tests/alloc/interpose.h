#ifndef INTERPOSE_H
#define INTERPOSE_H

#include <stdint.h>

extern long alloc_calls;   /* so far */
extern long alloc_fail_at; /* the call that gets NULL; 0: none */

/* Where calls 1 to alloc_room come from, a hash of the stack each; NULL: nobody asks. */
extern uint64_t *alloc_places;
extern long alloc_capacity;

#endif
