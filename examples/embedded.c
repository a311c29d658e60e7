/* Uses a run of `heed train gpt` inside a program: embedded RUN "prompt".
 *     cc embedded.c $(pkg-config --cflags --libs heed) -o embedded */
#include <heed/heed.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc != 3) return fprintf(stderr, "usage: embedded RUN PROMPT\n"), 2;
    const heed_model *const models[] = {&heed_model_gpt, NULL};
    int32_t made[12];
    heed_ctx *c = heed_open(NULL);
    heed_run *r = heed_run_open(c, argv[1], models, "best");
    heed_tokens prompt = {.c = c};
    heed_text text = {.c = c};
    if (r) heed_encode(r->tokenizer, argv[2], strlen(argv[2]), &prompt);
    heed_generation how = {
        .prompt = prompt.ids, .prompt_count = prompt.count, .count = 12, .has_end = true};
    heed_generated about = {0};
    if (r) how.end = heed_text_end(r->config, r->tokenizer);
    if (r && heed_generate(r->model, r->self, r->tape, &how, made, &about))
        heed_decode(r->tokenizer, made, (size_t)about.count, &text);
    if (text.s) printf("%s >> %s\n", argv[2], text.s);
    bool bad = heed_ctx_status(c) != HEED_OK;
    if (bad) fprintf(stderr, "embedded: %s\n", heed_ctx_error(c));
    heed_text_free(&text);
    heed_tokens_free(&prompt);
    heed_close(c);
    return bad;
}
