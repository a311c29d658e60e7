/* export.c -- heed export: a run as a folder that Hugging Face's transformers opens, or as an ONNX
 * file. */
#include "cli/os_files.h"
#include "cli/program.h"

#include <heed/exchange.h>
#include <string.h>
#include <strings.h>

static const heed_option options[] = {
    WORDS("out", "folder to write, for transformers; -o for short", "Export"),
    WORDS("onnx", "file to write: the pass of the model as an ONNX graph", "Export"),
    SWITCH("cache", "with --onnx, of gpt: keys and values of earlier tokens are inputs", "Export"),
    SWITCH("force", "replace a model that was exported there", "Export"),
    SWITCH("json", "print a JSON object", "Export"),
    {0}};

static bool check(program *p) {
    const char *out = flag_text(p, "out"), *onnx = flag_text(p, "onnx");
    if (!*out == !*onnx)
        return heed_fail(p->c, HEED_USAGE,
                         "%s: expected -o FOLDER or --onnx FILE; hint: `export %s -o exported`",
                         *out ? "two outputs" : "missing output", p->argv[0]);
    const char *dot = strrchr(out, '.');
    if (dot && strcasecmp(dot, ".onnx") == 0 && !is_directory(out))
        return heed_fail(
            p->c, HEED_USAGE,
            "-o %s: expected a folder, found the name of an ONNX file; hint: --onnx %s", out, out);
    if (flag_on(p, "cache") && !*onnx)
        return heed_fail(p->c, HEED_USAGE, "--cache is of an ONNX file; hint: --onnx FILE");
    if (!*onnx || flag_on(p, "force") || !is_file(onnx)) return true;
    return heed_fail(p->c, HEED_USAGE, "file exists: %s: expected a new one; hint: --force", onnx);
}

static void conclude(program *p, const heed_run *r, const char *path, const char *format) {
    char n[32];
    size_t count = heed_params_numel(r->store);
    if (flag_on(p, "json"))
        print_json(p, json_pack("{s:s, s:s, s:s, s:I}", "path", path, "format", format, "model",
                                r->model->name, "parameters", (json_int_t)count));
    else
        print_fact(0, "", "%s: %s of %s parameters, for %s", path, r->model->name,
                   heed_format_count(n, count), format);
}

static void export_run(program *p) {
    const char *out = flag_text(p, "out"), *onnx = flag_text(p, "onnx");
    if (!check(p)) return;
    heed_run *r = open_run(p, p->argv[0]);
    if (r && *onnx && heed_export_onnx(r, onnx, flag_on(p, "cache"))) conclude(p, r, onnx, "ONNX");
    if (r && *out && heed_export(r, out, flag_on(p, "force"))) conclude(p, r, out, "transformers");
    close_run(p, r);
}

const command cmd_export = {
    .name = "export",
    .usage = "RUN -o DIR | --onnx FILE",
    .help = "write a run in the format of Hugging Face's transformers, or as ONNX",
    .about =
        "With -o, writes config.json, model.safetensors, the tokenizer and, for pictures,\n"
        "preprocessor_config.json. A run whose settings do not fit a published architecture is\n"
        "refused with the setting that differs. With --onnx, writes the forward pass of the model\n"
        "as an ONNX graph of opset 17 for any batch and length; the attention weights of every\n"
        "layer are named outputs.",
    .examples = "  heed export runs/book -o book-bert\n"
                "  heed export runs/book --onnx book.onnx\n",
    .options = options,
    .computes = true,
    .opens_run = true,
    .args = {1, 1},
    .run = export_run,
};
