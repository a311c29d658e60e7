#ifndef ALLOC_FAILURES_H
#define ALLOC_FAILURES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    const char *name;
    bool (*run)(void *data); /* false: it ended in an error */
    void *data;
} alloc_job;

/* Places in the program that allocate, as the stack tells them. */
enum { KNOWN_PLACES = 1 << 16 };
typedef struct {
    uint64_t place[KNOWN_PLACES];
    long count;
} known_places;

/* Runs the job undisturbed, then again for each allocation that is to fail: some from every place,
 * except for those in known, which gets the new ones; NULL: none is known. They must end in an
 * error, except for a few that are survived rightly: stdio does without its buffers. */
void fail_each(alloc_job job, known_places *known, void (*check)(bool ok, const char *what));

#endif
