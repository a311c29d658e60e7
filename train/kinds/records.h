/* records.h -- records of attention: reading an argument into one, printing it, its page. */
#ifndef HEED_RECORDS_PROGRAM_H
#define HEED_RECORDS_PROGRAM_H

#include "kinds/inputs.h"

/* A map of a record as a heat map. */
heed_heatmap heatmap_of_map(const heed_record *r, const heed_record_map *m, const char *title);
/* Prints a heat map, as wide as the terminal. */
bool print_heatmap(heed_ctx *c, heed_heatmap map);
/* Writes to the files of --png and --svg, of those that are given: heat maps side by side, each
 * with its own scale, or panels. */
bool draw_maps(const program *p, const heed_heatmap *maps, int count);
bool draw_panels(const program *p, const heed_panels *all);
/* Calls `open` for each run of a list, "runs/a,runs/b"; a folder whose name has a comma is one run.
 * False: an error, also for more than `most`. */
bool each_run(program *p, const char *list, int most, bool (*open)(void *user, const char *dir),
              void *user);
/* Prints a record as one JSON object. */
bool print_record(heed_ctx *c, const heed_record *r);
/* Prints a table of a record; and all tables as one JSON object. */
void print_record_table(const heed_record *r, const char *table, bool flush);
json_t *record_tables_json(heed_ctx *c, const heed_record *r);
/* The number of a row of a table; NAN: there is none. table: NULL for the one without a name. */
double table_number(const heed_record *r, const char *table, const char *key, int row);
/* Reads a picture file; "-" is the standard input. */
bool read_picture(heed_ctx *c, const char *path, heed_picture *out);
/* The name of the current picture's outputs, for named_path: "" of the only one; else that of its
 * file without the extension, "cat-1" if the file is cat/1.png below a folder that was given, and
 * "1-2" if an earlier one has the name "1". */
typedef struct {
    heed_text used; /* a line each */
    char name[256];
} picture_names;
bool name_outputs(program *p, picture_names *k, const char *path);
typedef bool (*take_picture)(program *p, void *user, const char *name, heed_picture *picture);
/* Calls `one` for each picture of the arguments from the second on: a file, a folder (all pictures
 * below it), a pattern that the shell did not expand, or "-" for the standard input, as without
 * arguments: a picture's bytes, or a list of paths. name: as it is shown. An error is printed and
 * its status kept, and the next picture follows. (each_picture.c) */
void each_picture(program *p, const heed_run *r, void *user, take_picture one);
/* Says how many of `all` pictures are converted to the channels of the run. */
void note_converted(const heed_run *r, size_t converted, size_t all);
bool has_other_channels(const heed_run *r, const heed_picture *p);
/* Reads an argument: a picture's file if the model reads pictures, else a text. quiet:
 * a picture of other channels is converted without a note. */
bool example_of_argument(const heed_run *r, const char *text, const char *target, bool quiet,
                         heed_example *out);
/* Whether all layers of a stack are recorded, so that the one with the most concentrated head can
 * be shown: --layer is not given, the input is no picture, and the weights take at most 64 MB. */
bool compares_layers(const heed_run *r, const heed_example *e, const heed_config *flags,
                     heed_stack stack);
/* A record of weights alone: of the layer that --layer chooses, or of all that are compared. */
heed_record *capture_layer(const heed_run *r, const heed_example *e, const heed_config *flags,
                           int top);

/* ---- pages ---- */
/* What a page shows when it opens. */
typedef struct {
    const char *view; /* NULL: the page's default */
    heed_stack stack;
    int layer;        /* from 0 */
    const char *head; /* "3", "mean", "max"; NULL: the first */
    int query;        /* from 0; -1: none */
    int record;       /* which one, from 1; 0: the first */
} page_link;
enum { PAGE_LINK_SIZE = 160 };
/* Writes the link's text, for heed_page, to text and returns it. */
const char *page_link_text(const page_link *o, char text[PAGE_LINK_SIZE]);
/* Checks, before other files are written, that the page can be written. False: the error that
 * writing it would give. */
bool page_fits(heed_ctx *c, const heed_page *p, const char *path);
/* Adds the run's curves to the page, if it has any: an imported model has none. k must outlive the
 * page; free k->curves also after an error. */
typedef struct {
    run_curves curves;
    heed_series series[2];
    heed_chart chart;
} page_curves;
bool page_add_curves(heed_ctx *c, heed_page *page, const char *run, page_curves *k);

#endif
