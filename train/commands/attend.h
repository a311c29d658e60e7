/* attend.h -- what `heed attend` shows of a record. */
#ifndef HEED_ATTEND_H
#define HEED_ATTEND_H

#include "cli/choice.h"
#include "kinds/inspect.h"

/* What is chosen of a record. */
typedef struct {
    program *p;
    const heed_record *record;
    const heed_record_block *block; /* whose weights are shown */
    int layers;                     /* of its stack */
    int head;    /* of the block's heads; or one of these two: one matrix of all */
    bool chosen; /* by the user: else files have all heads */
    int query;   /* a row alone; -1: all */
    int top;
    bool masks;         /* the model guesses what is [MASK], and nothing else */
    bool numbers, hide; /* hide: special tokens are left out */
    double mass;        /* pictures: the strongest patches that hold this much; 0: all */
} attend_view;

/* The line that stands under every picture of attention; the advice, where it is not yet taken. */
const char *attend_note(const heed_record *r);

/* ---- choosing (attend_view.c) ---- */
/* Reads the flags that choose. False: an error. */
bool view_open(attend_view *v, program *p, const heed_run *r, const heed_record *record);
/* "encoder, layer 2 of 2", and with "mean of 4 heads". */
const char *view_layer(const attend_view *v, char text[160]);
const char *view_name(const attend_view *v, int head, char text[160]);

/* A matrix as it is shown, without what is hidden. */
typedef struct {
    int rows, cols;
    heed_real *values;
    const char **row_labels, **col_labels;
    int *col; /* their places in the record */
} shown;
bool shown_matrix(const attend_view *v, int head, shown *out);
/* "token 2, Paris" */
enum { QUERY_SIZE = 240 };
const char *query_words(const attend_view *v, int query, char text[QUERY_SIZE]);
/* A row for the mean (with more than one head), and one for each head; of a causal layer without
 * the tokens after the query, which it cannot see. */
bool shown_query(const attend_view *v, shown *out, char (**names)[24]);
void shown_free(shown *m);

/* ---- output ---- */
bool print_map(const attend_view *v, heed_heatmap map);
bool attend_print(const attend_view *v); /* attend_text.c: on stdout */
bool attend_draw(const attend_view *v, bool svg, const char *path);
enum { TITLE_SIZE = 640 };
/* Over a drawing: the input, the layer, the query (-1: none) and the one head that was chosen. */
const char *drawn_title(const attend_view *v, int query, char text[TITLE_SIZE]);
bool draw_panels(const attend_view *v, const char *title, const heed_heatmap *maps, int count,
                 bool svg, const char *path);
/* For commands whose question is another: one row of a record of one layer, as a heat map of the
 * heads and their mean, or as {layer, position, mean: [..], heads: [[..]]}. */
attend_view row_view(program *p, const heed_record *r, int query);
bool attend_print_row(const attend_view *v);
json_t *attend_row_json(const attend_view *v);
/* Patches over a picture (attend_picture.c). */
bool attend_print_picture(const attend_view *v);
bool attend_draw_picture(const attend_view *v, bool cells, bool svg, const char *path);

/* ---- does it matter? (attend_maps.c) ---- */
#define MATTERS_OPTIONS                                                                            \
    {"rollout",                                                                                    \
     HEED_BOOL,                                                                                    \
     "false",                                                                                      \
     0,                                                                                            \
     0,                                                                                            \
     NULL,                                                                                         \
     "attention of all layers, followed back to the input",                                        \
     "Does it matter?"},                                                                           \
        {"occlude",                                                                                \
         HEED_BOOL,                                                                                \
         "false",                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "by how much the prediction falls when a token, or a patch, is hidden",                   \
         "Does it matter?"},                                                                       \
        {"gradient",                                                                               \
         HEED_BOOL,                                                                                \
         "false",                                                                                  \
         0,                                                                                        \
         0,                                                                                        \
         NULL,                                                                                     \
         "attention times the gradient of the prediction",                                         \
         "Does it matter?"},                                                                       \
        {"fuse",                                                                                   \
         HEED_CHOICE,                                                                              \
         "mean",                                                                                   \
         0,                                                                                        \
         0,                                                                                        \
         "mean|max",                                                                               \
         "--rollout: how the heads of a layer become one",                                         \
         "Does it matter?"},                                                                       \
        {"discard",                                                                                \
         HEED_REAL,                                                                                \
         "0",                                                                                      \
         0,                                                                                        \
         0.99,                                                                                     \
         NULL,                                                                                     \
         "--rollout: share of each row's weakest weights that is dropped first",                   \
         "Does it matter?"},                                                                       \
    {                                                                                              \
        "window", HEED_INT, "1", 1, 4096, NULL,                                                    \
            "--occlude: side, in patches, of the square of a picture that is hidden at a time",    \
            "Does it matter?"                                                                      \
    }
/* Adds the maps that the flags ask for to the record of v. whole: of all questions and by layer,
 * for files; else of the one that is shown. */
bool maps_add(const attend_view *v, const heed_inspection *s, heed_record *record, bool whole);
/* Prints them: bars beside the tokens for one prediction, else matrices. */
bool maps_print(const attend_view *v);
/* Whether maps of one prediction stand beside the weights, so that maps_draw has its picture: a row
 * for each head, their mean and each map, as shares of 1. */
bool maps_drawable(const attend_view *v);
/* Whether they would, were it one prediction that is asked for. */
bool maps_need_query(const attend_view *v);
bool maps_draw(const attend_view *v, bool svg, const char *path);
/* One of those that are shown: of the whole model, in probabilities. */
bool map_is_main(const heed_record_map *m);

#endif
