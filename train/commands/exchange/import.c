/* import.c -- heed import: the folder of a published model as a run. */
#include "cli/program.h"

#include <heed/exchange.h>

static const heed_option options[] = {
    WORDS("out", "folder of the run to make; -o for short", "Run"),
    SWITCH("force", "replace an existing run", "Run"),
    SWITCH("json", "print the result as one JSON object", "Output"),
    {0}};

static void conclude(program *p, const heed_run *r, const char *out) {
    char n[32];
    size_t count = heed_params_numel(r->store);
    if (flag_on(p, "json"))
        print_json(p,
                   json_pack("{s:o, s:s, s:I, s:b}", "run", json_text(out), "task", r->model->name,
                             "params", (json_int_t)count, "tokenizer", r->tokenizer != NULL));
    else
        print_fact(0, "", "%s: %s of %s parameters%s", out, r->model->name,
                   heed_format_count(n, count),
                   r->tokenizer || reads_pictures(r->model) ? "" : ", without a tokenizer");
}

static void import(program *p) {
    const char *dir = p->argv[0], *out = flag_text(p, "out");
    if (!*out) {
        heed_fail(p->c, HEED_USAGE,
                  "missing -o: expected a folder for the run; hint: `import %s -o runs/imported`",
                  dir);
        return;
    }
    const heed_model *m = model_of_run(p->c, p->models, dir);
    if (m) {
        heed_fail(p->c, HEED_USAGE,
                  "%s is a run already: expected the folder of a model of transformers; hint: "
                  "`%s %s`",
                  dir, use_of(m), dir);
        return;
    }
    heed_run *r = heed_run_path_is_free(p->c, out, flag_on(p, "force"))
                      ? heed_import(p->c, dir, p->models)
                      : NULL;
    if (r && heed_run_save(r, out, flag_on(p, "force"))) conclude(p, r, out);
    heed_run_close(r);
}

const command cmd_import = {
    .name = "import",
    .usage = "DIR -o RUN",
    .help = "make a run of a model in the format of Hugging Face's transformers",
    .about =
        "Reads a folder that transformers wrote, or one downloaded from a hub: config.json,\n"
        "model.safetensors (or its shards) and, if they exist, the tokenizer and\n"
        "preprocessor_config.json. The model may be BERT, GPT-2, Llama or ViT. A model that heed\n"
        "would not compute in the same way is refused with the key or tensor that differs.",
    .examples = "  heed import bert-base-uncased -o runs/bert\n"
                "  heed fill runs/bert \"Paris is the [MASK] of France.\"\n",
    .options = options,
    .computes = true,
    .args = {1, 1},
    .run = import,
};
