/* gather.h -- inputs of a training run or evaluation that are not one file: the standard input,
 * several texts, folders and patterns of texts, two parallel texts. They are joined to one file. */
#ifndef HEED_GATHER_H
#define HEED_GATHER_H

#include "cli/program.h"

typedef struct {
    char path[1100]; /* the joined file; "": the only input is read where it is */
    char name[20];   /* its name in a run: "heed-data.txt" */
    size_t bytes;
} gathered;

/* Joins the inputs of model m. A new training run gives the folder that its run will have, and the
 * file is then on the same disk; otherwise run is NULL. Each text is checked, and an error names
 * it; files of folders and patterns that are no text are left out with a warning. False: see p->c.
 * Call gather_end also then. */
bool gather(program *p, const heed_model *m, const char *run, int count, char *const *inputs,
            gathered *g);
/* Removes the joined file, unless it has become part of a run. */
void gather_end(const gathered *g);
/* How data at a path is called: "3 texts" if it was joined, else the path. */
const char *data_name(const program *p, const char *path);
/* Whether a folder holds files besides pictures. */
bool holds_texts(heed_ctx *c, const char *folder);

/* The first task that reads such data, by its name. (fitting.c) */
const char *likely_task(const program *p, const char *data);
/* False, with an error that names a task for it, if data is of another kind than what the command's
 * task reads. (fitting.c) */
bool data_fits(program *p, const char *data);

#endif
