/* reconstruct.c -- heed reconstruct: pictures as an auto-encoder returns them. */
#include "kinds/reconstruction.h"
#include "kinds/records.h"

static const heed_option options[] = {
    WORDS("png", "write a sheet: each picture, what the model sees of it, the reconstruction",
          "Output"),
    CONVERT("Output"),
    SWITCH("json", "print a JSON object for each picture", "Output"),
    {0}};

typedef struct {
    heed_run *run;
    rebuilt sheet;
    bool json;
} work;

static bool reconstruct(program *p, void *user, const char *name, heed_picture *picture) {
    work *w = user;
    if (!rebuilt_add(&w->sheet, w->run, picture, name)) return false;
    const heed_reconstruction *one = &w->sheet.list[w->sheet.count - 1];
    if (w->json) {
        print_json(p, json_pack("{s:o, s:o, s:i}", "input", json_text(name), "error",
                                json_number(one->error), "hidden_patches", one->hidden));
        return true;
    }
    if (w->sheet.count == 1) puts("error    mean squared, of pixels from 0 to 1");
    printf("%.5f  ", one->error);
    print_name(name, 0, 0);
    putchar('\n');
    return true;
}

static void run_reconstruct(program *p) {
    work w = {.run = open_run(p, p->argv[0]), .json = flag_on(p, "json")};
    const char *png = flag_text(p, "png");
    if (w.run && !makes_pictures(w.run->model))
        wrong_run(p, "an auto-encoder of pictures", w.run);
    else if (w.run) {
        each_picture(p, w.run, &w, reconstruct);
        if (*png && w.sheet.count && rebuilt_png(p->c, &w.sheet, png))
            fprintf(w.json ? stderr : stdout, "wrote %s\n", png);
    }
    rebuilt_close(&w.sheet);
    heed_run_close(w.run);
}

const command cmd_reconstruct = {
    .name = "reconstruct",
    .usage = "RUN [INPUT]...",
    .help = "pass pictures through an auto-encoder, and show how far off the results are",
    .about =
        "Passes pictures through a run of autoencoder and prints the mean squared error of each,\n"
        "of pixels from 0 to 1. Of kind masked, patches are hidden from the model, others for "
        "each\n"
        "picture but the same in every call, and the error is that of the hidden ones. --png\n"
        "draws a sheet: the picture, its visible patches if others are hidden, the\n"
        "reconstruction, in which visible patches are those of the picture, and the difference,\n"
        "black where there is none. INPUT is a file, a folder (all pictures below it), a quoted\n"
        "pattern, or - for the standard input, as without INPUT: one picture's bytes, or a list "
        "of\n"
        "paths, a line each. What cannot be decoded is reported, the others still print, and the\n"
        "exit status is 3.",
    .examples = "  heed reconstruct runs/digits seven.png --png sheet.png\n"
                "  heed reconstruct runs/digits pictures --json > errors.jsonl\n",
    .options = options,
    .computes = true,
    .opens_run = true,
    .args = {1, -1},
    .run = run_reconstruct,
};
