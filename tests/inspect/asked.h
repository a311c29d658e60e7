/* Models with random weights that are asked about a text, as a run would be. */
#ifndef HEED_TEST_ASKED_H
#define HEED_TEST_ASKED_H

#include "lab.h"
#include <heed/inspect.h>
#include <heed/models.h>
#include <heed/record.h>

static const char words[] = "the red cat saw one blue dog and ran";

typedef struct {
    heed_run run;
    heed_example e;
} asked;

static inline void set(heed_config *f, const char *settings) {
    char list[256];
    snprintf(list, sizeof list, "%s", settings);
    for (char *pair = strtok(list, " "); pair; pair = strtok(NULL, " ")) {
        char *value = strchr(pair, '=');
        *value++ = 0;
        heed_config_set(f, pair, value, "test", HEED_FROM_FLAG);
    }
}

static inline asked ask(const heed_model *model, const char *settings) {
    asked a = {.run = {.model = model, .step = -1}};
    heed_run *r = &a.run;
    r->c = heed_open(&(heed_options){.seed = 11, .threads = 1});
    r->tokenizer = heed_tokenizer_train(r->c, words, sizeof words - 1,
                                        (heed_tokenizer_args){.kind = "word", .specials = true});
    r->config = heed_config_new(r->c, (const heed_option *const[]){model->options, NULL});
    char vocab[32];
    snprintf(vocab, sizeof vocab, "%d", heed_vocab_size(r->tokenizer));
    heed_config_set(r->config, "vocab", vocab, "test", HEED_FROM_FLAG);
    set(r->config, settings);
    r->store = heed_params_new(r->c);
    r->tape = heed_tape_new(r->c);
    r->self = calloc(1, model->size);
    CHECK(heed_model_init(model, r->self, r->store, r->config));
    shake(r->store);
    return a;
}

static inline void close_asked(asked *a, heed_record *record) {
    heed_record_free(record);
    heed_example_free(&a->e);
    free(a->run.self);
    CLOSE(a->run.c);
}

#endif
