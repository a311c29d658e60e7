/* heed/program.h -- the program heed for any list of models: train, resume, eval, attend, heads,
 * ablate, gradcheck, bench and all other commands. */
#ifndef HEED_PROGRAM_API_H
#define HEED_PROGRAM_API_H

#include <heed/model.h>

HEED_EXPORT_BEGIN

/* Runs the command that argv names (argv[0] is the program's own name, argv[1] the command) with
 * the models, whose list ends with NULL, and returns the exit status: 0 ok, 1 failed, 2 wrong
 * usage, 3 bad data, 4 diverged, 130 interrupted. It prints results on the standard output and
 * everything else on the standard error. Call it once, from main: it catches SIGINT and SIGTERM.
 * Help and messages call the program by the last part of argv[0]. A custom program is one line:
 * int main(int argc, char **argv) { return heed_program(argc, argv, my_models); } */
int heed_program(int argc, char **argv, const heed_model *const *models);

HEED_EXPORT_END
#endif
