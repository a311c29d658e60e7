/* A job that runs again and again, another of its allocations failing each time. */
#include "failures.h"

#include "interpose.h"

#include <execinfo.h>
#include <stdio.h>

enum { ROOM = KNOWN_PLACES, FIRST = 2 };

/* Places of all allocations of an undisturbed run; how many there were, -1 if it was an error. */
static long find_places(alloc_job job, uint64_t places[ROOM]) {
    void *here;
    backtrace(&here, 1); /* its first call allocates */
    alloc_places = places;
    alloc_capacity = ROOM;
    alloc_calls = 0;
    bool ok = job.run(job.data);
    alloc_places = NULL;
    return ok && alloc_calls <= ROOM ? alloc_calls : -1;
}

static bool holds(const uint64_t *places, long from, long to, uint64_t place) {
    while (from < to && places[from] != place) from++;
    return from < to;
}

/* Thousands of allocations come from hundreds of places: of each, the first ones and the last. */
static bool is_chosen(const uint64_t *places, long n, long calls, const known_places *known) {
    int before = 0;
    if (known && holds(known->place, 0, known->count, places[n])) return false;
    for (long i = 0; i < n && before < FIRST; i++) before += places[i] == places[n];
    return before < FIRST || !holds(places, n + 1, calls, places[n]);
}

static void learn(known_places *known, const uint64_t *places, long calls) {
    for (long n = 0; n < calls && known->count < ROOM; n++)
        if (!holds(known->place, 0, known->count, places[n]))
            known->place[known->count++] = places[n];
}

void fail_each(alloc_job job, known_places *known, void (*check)(bool ok, const char *what)) {
    static uint64_t places[ROOM];
    char what[128];
    long calls = find_places(job, places), tried = 0, errors = 0;
    for (long n = 0; n < calls; n++) {
        if (!is_chosen(places, n, calls, known)) continue;
        alloc_calls = 0;
        alloc_fail_at = n + 1;
        errors += !job.run(job.data);
        alloc_fail_at = 0;
        tried++;
    }
    if (known) learn(known, places, calls);
    snprintf(what, sizeof what, "%s: %ld of %ld failed allocations ended in an error (of %ld)",
             job.name, errors, tried, calls);
    printf("%s\n", what);
    /* Asking where a thread's stack lies, a context goes on without an answer: eight allocations.
     */
    check(tried > 5 && tried - errors <= tried / 10 + 8, what);
}
