#define _DEFAULT_SOURCE /* mkdtemp */
#include "test.h"

#include <stdarg.h>
#include <unistd.h>

static test_case *first, **last = &first;
static int failures; /* of the running test */
static char folder[128];

void test_register(test_case *t) {
    *last = t;
    last = &t->next;
}

void test_fail(const char *file, int line, const char *format, ...) {
    va_list list;
    va_start(list, format);
    fprintf(stderr, "%s:%d: ", file, line);
    vfprintf(stderr, format, list);
    fputc('\n', stderr);
    va_end(list);
    failures++;
}

static void remove_folder(void) {
    if (!folder[0]) return;
    char command[160];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    if (system(command) != 0) fprintf(stderr, "cannot remove %s\n", folder);
    folder[0] = 0;
}

const char *test_folder(void) {
    if (!folder[0]) {
        const char *parent = getenv("TMPDIR");
        snprintf(folder, sizeof folder, "%s/heed-test-XXXXXX", parent ? parent : "/tmp");
        if (!mkdtemp(folder)) {
            perror("mkdtemp");
            exit(1);
        }
    }
    return folder;
}

void test_close(heed_ctx *c, const char *file, int line) {
    if (heed_ctx_status(c) != HEED_OK)
        test_fail(file, line, "context in error: %s", heed_ctx_error(c));
    heed_close(c);
}

/* PREFIX: the tests whose name starts so; -PREFIX: all but those. */
static bool wanted(const test_case *t, int argc, char **argv) {
    bool yes = argc < 2 || argv[1][0] == '-';
    for (int i = 1; i < argc; i++) {
        bool without = argv[i][0] == '-';
        const char *prefix = argv[i] + without;
        if (strncmp(t->name, prefix, strlen(prefix)) == 0) yes = !without;
    }
    return yes;
}

int main(int argc, char **argv) {
    int passed = 0, failed = 0;
    for (const test_case *t = first; t; t = t->next) {
        if (!wanted(t, argc, argv)) continue;
        failures = 0;
        t->run();
        remove_folder();
        if (failures) fprintf(stderr, "FAILED %s\n", t->name);
        if (failures)
            failed++;
        else
            passed++;
    }
    printf("%d passed, %d failed\n", passed, failed);
    return failed || passed == 0;
}
