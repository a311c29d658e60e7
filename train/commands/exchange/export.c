/* export.c -- heed export: a run as a folder that Hugging Face's transformers opens. */
#include "cli/program.h"

#include <heed/exchange.h>

static const heed_option options[] = {
    WORDS("out", "folder to write; -o for short", "Export"),
    SWITCH("force", "replace a model that was exported there", "Export"),
    {0}};

static void export_run(program *p) {
    const char *dir = p->argv[0], *out = flag_text(p, "out");
    if (!*out) {
        heed_fail(p->c, HEED_USAGE,
                  "missing -o: expected a folder to write; hint: `export %s -o exported`", dir);
        return;
    }
    heed_run *r = open_run(p, dir);
    char n[32];
    if (r && heed_export(r, out, flag_on(p, "force")))
        print_fact(0, "", "%s: %s of %s parameters, for transformers", out, r->model->name,
                   heed_format_count(n, heed_store_params(r->store)));
    heed_run_close(r);
}

const command cmd_export = {
    .name = "export",
    .usage = "RUN -o DIR",
    .help = "write a run in the format of Hugging Face's transformers",
    .about =
        "Writes config.json, model.safetensors, the tokenizer and, for pictures,\n"
        "preprocessor_config.json. A run whose settings no published architecture has is refused,\n"
        "and the setting named.",
    .examples = "  heed export runs/book -o book-bert\n",
    .options = options,
    .computes = true,
    .opens_run = true,
    .args = {1, 1},
    .run = export_run,
};
