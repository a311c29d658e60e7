/* shell.h -- the table of commands, for man pages and for the completion of command lines. */
#ifndef HEED_SHELL_H
#define HEED_SHELL_H

#include "cli/program.h"

/* The commands in the order of the overview; NULL after the last one. heading: that of the command
 * and of those after it; NULL: as before. */
const command *command_at(int index, const char **heading);
/* The command that the first words name, and how many words do: 1 or 2. NULL: none. */
const command *find_command(int argc, char **argv, int *words);
/* Adds examples of first training runs, each below a heading. */
void add_first_examples(const heed_model *const *models, heed_text *out);

/* Prints the man page of p->command; of the program, if that is NULL. */
bool print_manual(program *p);

#endif
