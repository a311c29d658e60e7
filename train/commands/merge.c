/* merge.c -- heed merge: a run with adapters as a plain run. */
#include "cli/program.h"

static const heed_option options[] = {
    WORDS("adapter",
          "an adapter.safetensors: RUN is the one that its training started from, with --from",
          "Run"),
    WORDS("out", "folder of the run to make; -o for short", "Run"),
    SWITCH("force", "replace an existing run", "Run"),
    SWITCH("json", "print the result as one JSON object", "Output"),
    {0}};

static void conclude(program *p, const heed_run *r, const char *out) {
    char n[32];
    size_t count = heed_params_numel(r->store);
    if (flag_on(p, "json"))
        print_json(p,
                   json_pack("{s:o, s:s, s:i, s:I}", "run", json_text(out), "task", r->model->name,
                             "adapters", r->adapters, "params", (json_int_t)count));
    else
        print_fact(0, "", "%s: %s of %s parameters, with %d adapter%s merged into its weights", out,
                   r->model->name, heed_format_count(n, count), r->adapters,
                   r->adapters == 1 ? "" : "s");
}

/* OUT is another folder than RUN and that of the adapters. */
static bool check_out(program *p, const char *dir, const char *out) {
    const char *file = flag_text(p, "adapter");
    char config[1024];
    snprintf(config, sizeof config, "%s/config.conf", dir);
    if (!*out)
        return heed_fail(p->c, HEED_USAGE,
                         "missing -o: expected a folder for the run; hint: `merge %s -o "
                         "%s-merged`",
                         dir, dir);
    if (heed_run_path_is_inside(p->c, out, config))
        return heed_fail(p->c, HEED_USAGE,
                         "-o is the run itself: %s: expected another folder; hint: `merge %s -o "
                         "%s-merged`",
                         out, dir, dir);
    if (*file && heed_run_path_is_inside(p->c, out, file))
        return heed_fail(p->c, HEED_USAGE,
                         "-o is the run of the adapters: %s holds %s: expected another folder; "
                         "hint: `merge %s --adapter %s -o %s-merged`",
                         out, file, dir, file, out);
    return heed_run_path_is_free(p->c, out, flag_on(p, "force"));
}

static void merge(program *p) {
    const char *dir = p->argv[0], *out = flag_text(p, "out"), *file = flag_text(p, "adapter");
    heed_run *base = check_out(p, dir, out) ? open_run(p, dir) : NULL;
    heed_run *r = *file ? heed_run_adapt(base, file, p->models) : base;
    if (r && r->adapters == 0)
        heed_fail(p->c, HEED_USAGE,
                  "nothing to merge: %s: expected a run with adapters, found none; hint: `train` "
                  "with `lora = 4` makes one",
                  dir);
    else if (r && heed_run_save(r, out, flag_on(p, "force")))
        conclude(p, r, out);
    if (r != base) close_run(p, r);
    close_run(p, base);
}

const command cmd_merge = {
    .name = "merge",
    .usage = "RUN -o OUT",
    .help = "write a run that was trained with LoRA as a plain run",
    .about =
        "Adds the adapters of a run that was trained with --lora to its weights, and writes a run\n"
        "without adapters that gives the same output. With --adapter FILE, RUN is the run that\n"
        "the training started from, and FILE the adapter.safetensors that it made.",
    .examples = "  heed merge runs/lora -o runs/merged\n"
                "  heed merge runs/base --adapter film.safetensors -o runs/film\n",
    .options = options,
    .computes = true,
    .opens_run = true,
    .args = {1, 1},
    .run = merge,
};
