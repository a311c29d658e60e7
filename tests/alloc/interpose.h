#ifndef INTERPOSE_H
#define INTERPOSE_H

extern long alloc_calls;   /* so far */
extern long alloc_fail_at; /* the call that gets NULL; 0: none */

#endif
