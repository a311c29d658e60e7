/* The test runner: TEST(name) { ... CHECK(...); }. One binary; `heed-test PREFIX` runs the tests
 * whose name starts so, `heed-test -PREFIX` the others. */
#ifndef HEED_TEST_H
#define HEED_TEST_H

#include <heed/heed.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct test_case {
    const char *name;
    void (*run)(void);
    struct test_case *next;
} test_case;

void test_register(test_case *t);
void test_fail(const char *file, int line, const char *format, ...) HEED_PRINTF(3, 4);
/* A folder of the running test's own, empty, removed when it ends. */
const char *test_folder(void);
/* Closes c after reporting an error that it still holds. */
void test_close(heed_ctx *c, const char *file, int line);

#define TEST(id)                                                                                   \
    static void test_##id(void);                                                                   \
    __attribute__((constructor)) static void register_##id(void) {                                 \
        static test_case t = {#id, test_##id, NULL};                                               \
        test_register(&t);                                                                         \
    }                                                                                              \
    static void test_##id(void)

/* A test in a context that is opened before it, and closed after it. */
#define TEST_IN(id, opened)                                                                        \
    static void test_in_##id(heed_ctx *c);                                                         \
    TEST(id) {                                                                                     \
        heed_ctx *c = opened;                                                                      \
        test_in_##id(c);                                                                           \
        CLOSE(c);                                                                                  \
    }                                                                                              \
    static void test_in_##id(heed_ctx *c)

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) test_fail(__FILE__, __LINE__, "%s", #condition);                         \
    } while (0)
#define CHECK_CLOSE(a, b, tolerance)                                                               \
    do {                                                                                           \
        double a_ = (double)(a), b_ = (double)(b);                                                 \
        if (!(fabs(a_ - b_) <= (double)(tolerance)))                                               \
            test_fail(__FILE__, __LINE__, "%s = %.9g, expected %.9g", #a, a_, b_);                 \
    } while (0)
#define CHECK_TEXT(a, b)                                                                           \
    do {                                                                                           \
        const char *a_ = (a), *b_ = (b);                                                           \
        if (!a_ || strcmp(a_, b_) != 0)                                                            \
            test_fail(__FILE__, __LINE__, "%s = \"%s\", expected \"%s\"", #a, a_ ? a_ : "(null)",  \
                      b_);                                                                         \
    } while (0)
/* The text contains the part. */
#define CHECK_HAS(text, part)                                                                      \
    do {                                                                                           \
        const char *a_ = (text), *b_ = (part);                                                     \
        if (!a_ || !strstr(a_, b_))                                                                \
            test_fail(__FILE__, __LINE__, "%s = \"%s\" lacks \"%s\"", #text, a_ ? a_ : "(null)",   \
                      b_);                                                                         \
    } while (0)
#define CLOSE(c) test_close(c, __FILE__, __LINE__)

#endif
