/* os_files.h -- folders, file name patterns and comparison of paths. */
#ifndef HEED_OS_FILES_H
#define HEED_OS_FILES_H

#include "cli/program.h"

typedef struct {
    char **at;
    size_t count;
} paths;
bool same_file(const char *a, const char *b);    /* both name the same existing file */
bool same_content(const char *a, const char *b); /* both name files with the same bytes */
bool same_place(const char *a, const char *b); /* the same, also for files that do not exist yet */
/* Whether a shell that is given the name alone starts the program at `path`, by PATH. */
bool is_found_by_name(const char *name, const char *path);
bool lies_below(const char *path, const char *folder);
bool is_pattern(const char *path);      /* contains *, ? or [ */
bool is_picture_name(const char *name); /* by its extension */
/* All pictures below a folder, sorted by name, without hidden ones; for a pattern, the files that
 * match and the pictures below folders that match. Pipes are left out. */
bool paths_of_folder(heed_ctx *c, const char *folder, paths *out);
bool paths_of_pattern(heed_ctx *c, const char *pattern, paths *out);
/* All files below a folder, or those that match a pattern, in the same way. */
bool files_of(heed_ctx *c, const char *path, paths *out);
void paths_free(paths *list);
/* Whether the path names something, or is a pattern. False, with an error, if not. */
bool path_exists(heed_ctx *c, const char *path);
/* Writes to out a path in the same folder whose name is close to that of the path: "" for none.
 * run: only of a run. */
const char *near_path(const char *path, bool run, char *out, size_t size);
/* Makes a file with a name of its own, hidden, in the folder that holds or will hold `beside`, or
 * (NULL) in that of temporary files, from which those of killed processes are removed. NULL: see
 * errno; path names what could not be made. */
FILE *temporary_file(const char *beside, char *path, size_t size);
/* Renames the file to one with an extension, ".txt". */
bool extend_name(heed_ctx *c, char *path, size_t size, const char *extension);
const char *file_name(const char *path); /* its last part */
/* "a-NAME.png" for the path "a.png"; without a name, the path itself */
void named_path(char *out, size_t size, const char *path, const char *name);
/* The names of the outputs of several texts: "" of the first (done = 0), "2" of the second .. */
const char *number_name(char text[16], int done);
/* Whether the standard input ended without an error or an interruption. */
bool stdin_ended(heed_ctx *c);
/* Appends all of the standard input. */
bool read_stdin(heed_ctx *c, heed_text *out);
/* Reads the next line of standard input, without the line break. False: at its end or an error. */
bool read_stdin_line(heed_ctx *c, heed_text *line);

/* outputs.c: false, with an error, if a setting of f that names a file has no value or two. */
bool files_are_named(heed_ctx *c, const command *k, const heed_config *f, int argc, char **argv);
/* Checks the files that a command will write. None may be an input (a positional
 * argument or a setting of f), a file of a run or another output; the folder of each must exist;
 * none may have an empty name or, for a picture, the wrong extension. named: several inputs
 * write FILE-NAME. */
bool outputs_are_apart(heed_ctx *c, const heed_model *const *models, const heed_config *f,
                       bool named, int argc, char **argv);

#endif
