/* test_alignment.c -- where the attention of a target to its source peaks. */
#include "files.h"
#include "lab.h"
#include <heed/inspect.h>
#include <heed/models.h>

static const char words[] = "red house blue car the of";

typedef struct {
    heed_run run;
    heed_example e;
} bench;

static void open_bench(bench *b, const heed_model *m, const char *settings) {
    char vocab[32];
    *b = (bench){.run = {.model = m, .step = -1}};
    heed_run *r = &b->run;
    r->c = heed_open(&(heed_options){.seed = 11, .threads = 1});
    r->tokenizer = heed_tokenizer_train(r->c, words, sizeof words - 1,
                                        (heed_tokenizer_args){.kind = "word", .specials = true});
    r->config = heed_config_new(r->c, (const heed_option *const[]){m->options, NULL});
    snprintf(vocab, sizeof vocab, "vocab=%d", heed_vocab_size(r->tokenizer));
    heed_config_set_list(r->config, vocab, "test", HEED_FROM_FLAG);
    heed_config_set_list(r->config, settings, "test", HEED_FROM_FLAG);
    r->store = heed_params_new(r->c);
    r->tape = heed_tape_new(r->c);
    r->self = calloc(1, m->size);
    CHECK(heed_model_init(m, r->self, r->store, r->config));
    shake(r->store);
    CHECK(heed_run_text(r, "the red car", 11, "blue house", &b->e));
}

static void close_bench(bench *b) {
    heed_example_free(&b->e);
    free(b->run.self);
    CLOSE(b->run.c);
}

static const char two_layers[] = "layers=2 heads=2 width=8 ff=8 block=8";

/* Every peak is somewhere: ranges of one token each, over all tokens, count each token once, as the
 * weights of a record have it. */
TEST(alignment_counts_peaks_of_every_head) {
    bench b;
    heed_alignment_peaks p;
    size_t sum[4] = {0};
    open_bench(&b, &heed_model_seq2seq, two_layers);
    heed_stack cross = HEED_CROSS;
    heed_record *r =
        heed_capture(&b.run, &b.e, &(heed_capture_args){.stack = &cross, .lean = true});
    CHECK(r && r->block_count == 2 && b.e.target.tokens.count == 3 && b.e.text.tokens.count == 4);
    for (int at = 0; r && at < (int)b.e.text.tokens.count; at++) {
        heed_alignment_range right[3] = {{at, at}, {at, at}, {-1, -1}}; /* not the [SEP] */
        CHECK(heed_alignment_peaks_open(&b.run, &p) && p.layers == 2 && p.heads == 2);
        CHECK(heed_alignment_peaks_add(&p, &b.run, &b.e, right) && p.count == 2);
        for (int i = 0; i < 4; i++) {
            const heed_real *w = r->blocks[i / 2].weights + (i % 2) * 3 * 4;
            size_t expected = 0;
            for (int row = 0; row < 2; row++) {
                int best = 0;
                for (int k = 1; k < 4; k++)
                    if (w[row * 4 + k] > w[row * 4 + best]) best = k;
                expected += best == at;
            }
            CHECK(p.correct[i] == expected);
            sum[i] += p.correct[i];
        }
        heed_alignment_peaks_free(&p);
    }
    for (int i = 0; i < 4; i++) CHECK(sum[i] == 2);
    heed_record_free(r);
    close_bench(&b);
}

static bool is_range(const heed_alignment_range *r, int first, int last) {
    return r->first == first && r->last == last;
}

TEST(alignment_knows_the_right_tokens) {
    bench b;
    heed_alignment_range right[3];
    open_bench(&b, &heed_model_seq2seq, two_layers);
    heed_alignment_diagonal(&b.run, &b.e, 0, false, right);
    CHECK(is_range(&right[0], 0, 0) && is_range(&right[1], 1, 1) && is_range(&right[2], -1, -1));
    heed_alignment_diagonal(&b.run, &b.e, 1, true, right);
    CHECK(is_range(&right[0], 1, 2) && is_range(&right[1], 0, 2));
    heed_pair pair = {.line = 7, .source = "the red car", .source_n = 11, .note = "4-11 0-3"};
    pair.note_n = strlen(pair.note);
    CHECK(heed_alignment_fields(&b.run, &b.e, &pair, right));
    CHECK(is_range(&right[0], 1, 2) && is_range(&right[1], 0, 0) && is_range(&right[2], -1, -1));
    pair.note_n = 4; /* one field: the second is counted, and no place is right */
    CHECK(heed_alignment_fields(&b.run, &b.e, &pair, right) && right[1].first >= 0 &&
          right[1].last < right[1].first);
    pair.note_n = 3; /* "4-1" */
    CHECK_FAILS(b.run.c, heed_alignment_fields(&b.run, &b.e, &pair, right), HEED_DATA,
                "line 7 has no fields");
    close_bench(&b);
}

/* One fixed context for all steps has weights, too; a model of texts has none. */
TEST(alignment_of_a_fixed_context_and_of_no_source) {
    bench b;
    heed_alignment_peaks p;
    heed_attention_info a;
    heed_alignment_range all[3] = {{0, 3}, {0, 3}, {0, 3}};
    open_bench(&b, &heed_model_rnn, "width=8 block=8 attention=none");
    CHECK(heed_cross_layer(&b.run, 0, &a) && a.fixed && !heed_cross_layer(&b.run, 1, &a));
    CHECK(heed_alignment_peaks_open(&b.run, &p) && p.layers == 1 &&
          heed_alignment_peaks_add(&p, &b.run, &b.e, all));
    CHECK(p.count == 3 && p.correct[0] == 3);
    heed_alignment_peaks_free(&p);
    b.run.model = &heed_model_mlp;
    CHECK_FAILS(b.run.c, heed_alignment_peaks_open(&b.run, &p), HEED_USAGE,
                "no attention to a source");
    CHECK(!heed_alignment_peaks_open(NULL, &p) &&
          !heed_alignment_peaks_add(NULL, &b.run, &b.e, all));
    heed_alignment_peaks_free(&p);
    b.run.model = &heed_model_rnn;
    close_bench(&b);
}

TEST(alignment_takes_null) {
    bench b;
    heed_alignment_peaks p;
    heed_attention_info a;
    heed_alignment_range right[3];
    const heed_pair pair = {.line = 1};
    open_bench(&b, &heed_model_seq2seq, two_layers);
    CHECK(!heed_cross_layer(NULL, 0, &a) && !heed_cross_layer(&b.run, 0, NULL));
    CHECK(!heed_alignment(NULL, &b.e, 0) && heed_alignment(&b.run, &b.e, 1));
    CHECK_FAILS(b.run.c, heed_alignment(&b.run, &b.e, 2), HEED_FAILED, "kept no attention weights");
    heed_alignment_diagonal(NULL, &b.e, 0, false, right);
    heed_alignment_diagonal(&b.run, &b.e, 0, false, NULL);
    CHECK(!heed_alignment_fields(NULL, &b.e, &pair, right) &&
          !heed_alignment_fields(&b.run, &b.e, NULL, right));
    CHECK(!heed_alignment_fields(&b.run, &b.e, &pair, NULL));
    CHECK(!heed_alignment_peaks_open(&b.run, NULL) && heed_alignment_peaks_open(&b.run, &p));
    CHECK(!heed_alignment_peaks_add(&p, &b.run, NULL, right) &&
          !heed_alignment_peaks_add(&p, &b.run, &b.e, NULL));
    heed_alignment_peaks_free(&p);
    heed_alignment_peaks_free(NULL);
    close_bench(&b);
}
