/* The page of attention: what is written, how large it becomes, and that no text leaves its place.
 */
#include "core/core.h"
#include "core/os.h"
#include "test.h"
#include <heed/view.h>

static const char *const TOKENS[] = {"the", "</script><b>", "\xff\"", "\xd7\xa9\xd7\x9c\xd7\x95"};
static const heed_real WEIGHTS[2 * 16] = {1, 0,    0,    0,    0.5f, 0.5f, 0, 0, 0.25f, 0.25f, 0.5f,
                                          0, 0.1f, 0.2f, 0.3f, 0.4f, 1,    0, 0, 0,     0,     1,
                                          0, 0,    0,    0,    1,    0,    0, 0, 0,     1};

typedef struct {
    heed_record_axis axis;
    heed_record_block block;
    heed_record record;
} sample;

static void make_sample(sample *s) {
    static const heed_real qk[2 * 4 * 2];
    *s = (sample){
        .axis = {.name = "text", .count = 4, .labels = TOKENS},
        .block = {.path = "encoder.0.attn",
                  .heads = 2,
                  .weights = WEIGHTS,
                  .causal = true,
                  .q = qk,
                  .k = qk,
                  .key = 2,
                  .beta = 0.5},
    };
    s->record = (heed_record){.title = "<!--<script>",
                              .step = -1,
                              .axis_count = 1,
                              .axes = &s->axis,
                              .block_count = 1,
                              .blocks = &s->block};
}

/* The written page, or NULL; heed__free. */
static char *written(heed_ctx *c, const heed_page *p, size_t *n) {
    char path[160];
    snprintf(path, sizeof path, "%s/page.html", test_folder());
    return heed_page_write(c, p, path) ? (char *)heed__os_read(c, path, 0, n) : NULL;
}

static int count_of(const char *text, const char *part) {
    int n = 0;
    for (; (text = strstr(text, part)); text++) n++;
    return n;
}

TEST_IN(page_size_counts_escapes, heed_open(NULL)) {
    sample s;
    make_sample(&s);
    size_t n = 0, size = 1 << 20;
    for (int i = 0; i < 4; i++) {
        char *label = heed__alloc(c, size + 1);
        memset(label, "<\x01\"\xFF"[i], size);
        const char *labels[] = {label, "b", "c", "d"};
        s.axis.labels = labels;
        heed_page page = {.count = 1, .records = &s.record};
        char *html = written(c, &page, &n);
        CHECK(html && (double)n <= heed_page_size(&page) * 1.01);
        heed__free(html);
        heed__free(label);
    }
}

TEST_IN(page_marks_only_points_of_the_curve, heed_open(NULL)) {
    sample s;
    make_sample(&s);
    const double x[] = {1, 2, 3};
    const heed_series curve = {"validation", 3, x, x};
    heed_chart chart = {.series_count = 1, .series = &curve, .mark = "best evaluation"};
    heed_page page = {.count = 1, .records = &s.record, .curves = &chart};
    for (chart.mark_point = -1; chart.mark_point <= 3; chart.mark_point++) {
        size_t n = 0;
        char *html = written(c, &page, &n), text[32];
        bool inside = chart.mark_point >= 0 && chart.mark_point < 3;
        snprintf(text, sizeof text, "\"marked\":%d", chart.mark_point);
        CHECK(html && !strstr(html, text) == !inside);
        CHECK(html && !strstr(html, "best evaluation") == !inside);
        heed__free(html);
    }
}

TEST_IN(page_holds_records_and_no_text_ends_its_element, heed_open(NULL)) {
    sample s;
    make_sample(&s);
    size_t n = 0;
    heed_page page = {.count = 1, .records = &s.record, .steps = "{\"x\":\"</script>\"}"};
    char *html = written(c, &page, &n);
    CHECK(html && strstr(html, "\\u003c/script>\\u003cb>"));
    CHECK(html && strstr(html, "{\"x\":\"\\u003c/script>\"}"));
    CHECK(html && strstr(html, "\\u003c!--\\u003cscript>"));
    CHECK(html && strstr(html, "\\\\xFF\\\""));
    CHECK(html && count_of(html, "<script") == count_of(html, "</script>"));
    /* The triangle: 65535, 0.5 twice as 32768, then 0.25, ... */
    CHECK(html && strstr(html, "id=\"w0.0.0\">//8AgACA"));
    CHECK(html && strstr(html, "id=\"w0.0.k.1\">AAAAAAAAAAAAAAAAAAAAAA==</script>"));
    CHECK(html && (double)n <= heed_page_size(&page) * 1.05);
    heed__free(html);
    html = written(c, &(heed_page){.count = 1, .records = &s.record, .no_qk = true}, &n);
    CHECK(html && !strstr(html, "id=\"w0.0.k") && !strstr(html, "id=\"w0.0.q"));
    heed__free(html);
}

TEST_IN(page_sources_are_embedded_and_refer_to_nothing_outside, heed_open(NULL)) {
    sample s;
    make_sample(&s);
    size_t n = 0;
    char *html = written(c, &(heed_page){.count = 1, .records = &s.record}, &n);
    CHECK(html && strstr(html, "Content-Security-Policy"));
    CHECK(html && strstr(html, "default-src 'none'"));
    CHECK(html && strstr(html, "color-scheme: light"));
    CHECK(html && strstr(html, "DOMContentLoaded"));
    CHECK(html && count_of(html, "http://") == count_of(html, "http://www.w3.org/"));
    CHECK(html && !strstr(html, "https://") && !strstr(html, "src=\"") &&
          !strstr(html, "<!--style-->"));
    heed__free(html);
}

TEST_IN(page_keeps_what_leaves_0_to_1, heed_open(NULL)) {
    const heed_real odd[2 * 16] = {-2, 1, 4, (heed_real)NAN};
    const struct {
        const heed_real *weights;
        bool causal;
        const char *stored;
    } cases[] = {{odd, true, "\"id\":\"w0.0\",\"scale\":[-4,4],\"triangle\":false"},
                 {WEIGHTS, true, "\"id\":\"w0.0\",\"triangle\":true"},
                 {WEIGHTS, false, "\"id\":\"w0.0\",\"triangle\":false"}};
    for (int i = 0; i < 3; i++) {
        sample s;
        size_t n;
        make_sample(&s);
        s.block.weights = cases[i].weights, s.block.causal = cases[i].causal;
        char *html = written(c, &(heed_page){.count = 1, .records = &s.record}, &n);
        CHECK_HAS(html, cases[i].stored);
        heed__free(html);
    }
}

TEST_IN(page_too_large_is_refused_before_anything_is_written, heed_open(NULL)) {
    sample s;
    make_sample(&s);
    static const char *labels[1024];
    for (int i = 0; i < 1024; i++) labels[i] = "token";
    s.axis.count = 1024, s.axis.labels = labels;
    s.block.heads = 144, s.block.causal = false, s.block.q = NULL;
    heed_page p = {.count = 1, .records = &s.record};
    CHECK_CLOSE(heed_page_size(&p) / 1e6, 144 * 1024.0 * 1024 * 8 / 3 / 1e6, 1);
    char path[160];
    snprintf(path, sizeof path, "%s/page.html", test_folder());
    CHECK(!heed_page_write(c, &p, path)); /* the weights are never read: there are 32 of them */
    CHECK_HAS(heed_ctx_error(c), "about 403 MB (144 heads of 1024 x 1024 weights in 1 record)");
    CHECK_HAS(heed_ctx_error(c), "22 heads in all, or the first 404 tokens");
    CHECK(!heed__os_exists(path));
    heed_clear(c);
}

TEST_IN(page_of_a_record_that_lacks_something_is_refused, heed_open(NULL)) {
    sample s;
    size_t n;
    make_sample(&s);
    s.block.keys = 1;
    CHECK(!written(c, &(heed_page){.count = 1, .records = &s.record}, &n));
    CHECK_HAS(heed_ctx_error(c), "record 1: a layer without axes: encoder.0.attn");
    heed_clear(c);
    make_sample(&s);
    s.block.weights = NULL;
    CHECK(!written(c, &(heed_page){.count = 1, .records = &s.record}, &n));
    CHECK_HAS(heed_ctx_error(c), "without weights");
    heed_clear(c);
}
