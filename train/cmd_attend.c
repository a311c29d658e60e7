/* cmd_attend.c -- heed attend: what a run attends to on an input. */
#include "capture.h"
#include "using.h"

#include <stdlib.h>
#include <string.h>

static const heed_option options[] = {
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print the record as a JSON object", "Output"},
    {"npz", HEED_TEXT, "", 0, 0, NULL, "write the record as NumPy's arrays", "Output"},
    {"csv", HEED_TEXT, "", 0, 0, NULL, "write the weights as lines of a table", "Output"},
    {0}};

static bool show_text(program *p, void *user, const char *text, size_t n) {
    subject s;
    heed_text json = {.c = p->c};
    heed_record *r = NULL;
    const char *npz = heed_config_text(p->flags, "npz"), *csv = heed_config_text(p->flags, "csv");
    bool ok = subject_text(&s, user, text, n, NULL) &&
              (r = capture(&s, &(capture_wish){.lean = false})) && heed_record_json(r, true, &json);
    if (ok && *npz) heed_record_npz(p->c, r, npz);
    if (ok && *csv) heed_record_csv(p->c, r, csv);
    if (ok) {
        heed_text_put(&json, "\n", 1);
        print_text(&json);
    }
    heed_text_free(&json);
    heed_record_free(r);
    subject_free(&s);
    return ok;
}

static void attend(program *p) {
    heed_run *r = open_run(p, p->argv[0]);
    if (!r) return;
    each_input(p, r, show_text);
    heed_run_close(r);
}

const command cmd_attend = {
    .name = "attend",
    .usage = "RUN [INPUT]...",
    .help = "show what a run attends to on an input",
    .examples = "  heed attend runs/book \"The king went home .\" --json\n",
    .options = options,
    .computes = true,
    .min = 1,
    .max = -1,
    .run = attend,
};
