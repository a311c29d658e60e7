/* init.c -- heed init: the settings of a training run, as a file. */
#include "cli/program.h"

static void init(program *p) {
    heed_text text = {.c = p->c};
    heed_config *f = task_config(p);
    const char *data = reads_data(p->model) ? " DATA" : "";
    heed_config_by_data(f, p->model->choices);
    printf("# Settings of %s train %s, heed %s. Use: %s train %s%s -c THIS_FILE -o RUN\n\n",
           program_name(), p->model->name, HEED_VERSION, program_name(), p->model->name, data);
    if (heed_config_write(f, &text, true)) print_text(&text);
    heed_text_free(&text);
}

const command cmd_init = {
    .name = "init",
    .usage = "TASK",
    .help = "print a commented settings file with every default",
    .about = "Prints a settings file for `heed train TASK DATA -c FILE -o RUN`. It contains the\n"
             "settings that are given here, and the defaults of all others.",
    .examples = "  heed init gpt > gpt.conf\n"
                "  heed init mlm --preset tiny --lr 5e-4 > mlm.conf\n",
    .task_example = "> settings.conf",
    .task_options = true,
    .run = init,
};
