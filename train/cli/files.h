/* files.h -- folders and patterns of files. */
#ifndef HEED_FILES_H
#define HEED_FILES_H

#include "cli/program.h"

typedef struct {
    char **at;
    size_t count;
} paths;
bool same_file(const char *a, const char *b);  /* one place on the disk */
bool same_place(const char *a, const char *b); /* or would be, once both are written */
bool lies_below(const char *path, const char *folder);
bool is_pattern(const char *path);      /* has one of * ? [ */
bool is_picture_name(const char *name); /* by its extension */
/* What stands in a folder, in order of the names, hidden files left out. */
bool paths_in_folder(heed_ctx *c, const char *folder, paths *out);
/* All pictures below a folder, in order of their names, hidden ones left out; of a pattern, what
 * matches, and the pictures below folders that match. No pipes. */
bool paths_of_folder(heed_ctx *c, const char *folder, paths *out);
bool paths_of_pattern(heed_ctx *c, const char *pattern, paths *out);
void paths_free(paths *list);
bool make_folder(heed_ctx *c, const char *path); /* one that stands already is fine */
/* "a.png" for index 1, "a-2.png" for 2 */
void numbered_path(char *out, size_t size, const char *path, int index);
/* Appends all of the standard input. */
bool read_stdin(heed_ctx *c, heed_text *out);
/* Its next line, without its end; false: there is none, or an error. */
bool read_stdin_line(heed_ctx *c, heed_text *line);

/* outputs.c: no file to write is an input (of a positional argument, or a setting of f), a run's
 * own file or another file to write, each has a folder, and none that was asked for has an empty
 * name, or a picture's that is not of its kind. numbered: several inputs write FILE-2 and so on. */
bool outputs_are_apart(heed_ctx *c, const heed_model *const *models, const heed_config *f,
                       bool numbered, int argc, char **argv);

#endif
