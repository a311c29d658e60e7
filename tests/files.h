/* Files in the running test's folder, and checks of errors. */
#ifndef HEED_TEST_FILES_H
#define HEED_TEST_FILES_H

#include "test.h"

#include <dirent.h>

/* The path of a file in the test's folder; good for the next three calls. */
static inline const char *in_folder(const char *name) {
    static char path[4][256];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", test_folder(), name);
    return path[turn];
}

static inline void put_file(const char *path, const void *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    CHECK(f && fwrite(bytes, 1, n, f) == n);
    if (f) fclose(f);
}

static inline const char *text_file(const char *name, const char *text) {
    const char *path = in_folder(name);
    put_file(path, text, strlen(text));
    return path;
}

static inline int files_in_folder(void) {
    DIR *d = opendir(test_folder());
    int count = 0;
    while (d && readdir(d)) count++;
    if (d) closedir(d);
    return count - 2; /* . and .. */
}

/* The context holds an error whose message has the part; forgets it. */
#define CHECK_FAILS(c, call, expected_status, part)                                                \
    do {                                                                                           \
        CHECK(!(call));                                                                            \
        CHECK(heed_ctx_status(c) == (expected_status));                                            \
        CHECK_HAS(heed_ctx_error(c), part);                                                        \
        heed_clear(c);                                                                             \
    } while (0)

#endif
