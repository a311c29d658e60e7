/* init.c -- heed init: every setting of a task with its default, as a file to edit. */
#include "cli/program.h"

#include <string.h>

static void init(program *p) {
    heed_text text = {.c = p->c};
    heed_config *f = task_config(p);
    printf("# Settings of %s train %s, heed %s. Use: %s train -c THIS_FILE -o RUN\n\n",
           program_name(), p->model->name, HEED_VERSION, program_name());
    if (heed_config_write(f, &text, true)) print_text(&text);
    heed_text_free(&text);
}

const command cmd_init = {
    .name = "init",
    .usage = "TASK",
    .help = "print a commented settings file with every default",
    .about = "Prints a settings file for `heed train -c FILE`. Settings given here stand in it.",
    .examples = "  heed init gpt > gpt.conf\n"
                "  heed init mlm --preset tiny --lr 5e-4 > mlm.conf\n",
    .task_example = "> settings.conf",
    .task_options = true,
    .run = init,
};
