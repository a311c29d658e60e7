/* reconstruct.c -- heed reconstruct: pictures as an auto-encoder returns them. */
#include "kinds/answers.h"
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
    if (w->sheet.count == 1) print_fact(9, "error", "mean squared, of pixels from 0 to 1");
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
    close_run(p, w.run);
}

const command cmd_reconstruct = {
    .name = "reconstruct",
    .usage = "RUN [INPUT]...",
    .help = "pass pictures through an auto-encoder, and show how far off the results are",
    .about =
        "Passes pictures through a run of autoencoder and prints the mean squared error of each,\n"
        "for pixels from 0 to 1. A run of kind masked hides patches, which differ between\n"
        "pictures but are the same in every call; its error is that of the hidden patches.\n"
        "\n"
        "--png draws a sheet: the picture, its visible patches if others are hidden, the\n"
        "reconstruction, and the difference, which is black where there is none. Visible patches\n"
        "of the reconstruction are those of the picture. INPUT is a file, a folder (all pictures\n"
        "below it), a quoted pattern, or - for the standard input: the bytes of a picture, or a\n"
        "list of paths, one per line. Without INPUT, the standard input is read, which must not\n"
        "be empty. A picture that cannot be decoded is reported, the others are still\n"
        "reconstructed, and the exit status is 3.",
    .examples = "  heed reconstruct runs/digits seven.png --png sheet.png\n"
                "  heed reconstruct runs/digits pictures --json > errors.jsonl\n",
    .options = options,
    .computes = true,
    .opens_run = true,
    .args = {1, -1},
    .run = run_reconstruct,
};
