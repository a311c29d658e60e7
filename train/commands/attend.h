/* attend.h -- how `heed attend` shows a record. */
#ifndef HEED_ATTEND_H
#define HEED_ATTEND_H

#include "cli/choice.h"
#include "kinds/records.h"

/* Where the scales end that the inputs of a command share (attend_view.c). */
typedef enum { SCALE_LAYER, SCALE_MAPS, SCALE_PICTURE } scale_of; /* what is drawn */
typedef struct {
    scale_of of;
    heed_stack stack;
    int layer;
    heed_real end;
} scale;
typedef struct {
    scale *list;
    int count;
} scales;

/* The part of a record that is shown. */
typedef struct {
    program *p;
    const heed_record *record;
    const heed_record_block *block; /* whose weights are shown */
    int layers;                     /* number of layers in its stack */
    int head; /* index into the block's heads; or MEAN_HEAD or MAX_HEAD: one matrix of all */
    heed_focus focus; /* the most concentrated head; count 0: the heads were not compared */
    int inputs;       /* in how many inputs they were compared */
    bool models;      /* in several runs */
    bool chosen;      /* the user chose a head; otherwise files have all heads */
    int query, key;   /* the row, or the column, that is shown, the first of several; -1: all */
    int several[MOST_CHOSEN], count; /* those rows or columns */
    int top;
    const char *unmasked; /* what to say if nothing is predicted; NULL: something always is */
    bool numbers, hide;   /* hide: special tokens are left out */
    const scales *scales; /* of all inputs; NULL: each has its own */
    double mass; /* pictures: show the strongest patches that together have this share of the
                    weight; 0: all */
} attend_view;

/* ---- choosing (attend_view.c) ---- */
/* Reads the flags --stack, --layer, --head and --query, and their like. False: an error. */
bool view_open(attend_view *v, program *p, const heed_run *r, const heed_record *record);
/* Shows the same head of all inputs, the most concentrated one over all, unless the user chose one,
 * so that they can be compared. False: out of memory. */
bool views_focus(attend_view *const *list, int count);
enum { FOCUS_SIZE = 160, NAME_SIZE = 256 };
/* "encoder, layer 2 of 2"; and the same with "mean of 4 heads" or "head 3 (most concentrated of
 * 4 heads)". */
const char *view_layer(const attend_view *v, char text[160]);
const char *view_name(const attend_view *v, int head, char text[NAME_SIZE]);
/* Why that head is shown first: "most concentrated of 8 heads in 2 layers over both inputs". */
const char *focus_words(const attend_view *v, char text[FOCUS_SIZE]);

/* Extends the scales, so that what is shown of this input fits. */
void scales_add(scales *k, const attend_view *v);
/* The end of the scale of the layer's weights, or of what else is drawn of it; 0: the largest
 * value. */
heed_real scale_end(const attend_view *v, scale_of of);

/* A matrix as it is shown, without hidden tokens. */
typedef struct {
    heed_heatmap map; /* of the arrays below; without a title */
    heed_real *values;
    const char **row_labels, **col_labels;
    int *row, *col; /* the rows' and columns' indices in the record; row: NULL if rows are heads */
    char (*name)[24]; /* texts of row_labels, if the rows are heads */
} shown;
bool shown_matrix(const attend_view *v, int head, shown *out);
/* "token 2, Paris"; "patch 2,3 (row, column)" */
enum { QUERY_SIZE = 240 };
const char *place_words(heed_ctx *c, const heed_record_axis *a, int at, char text[QUERY_SIZE]);
const char *query_words(const attend_view *v, int query, char text[QUERY_SIZE]);
const char *chosen_words(const attend_view *v, char text[QUERY_SIZE]); /* of --query or --key */
/* A row for the mean (with more than one head), and one for each head: what the query looks at (the
 * mean of several), or which tokens look at the key (the sum of several). For a causal layer, those
 * that cannot are left out. */
bool shown_token(const attend_view *v, shown *out);
void shown_free(shown *m);

/* ---- output ---- */
bool attend_print(const attend_view *v); /* attend_text.c: on stdout */
bool attend_draw(const attend_view *v, bool svg, const char *path);
/* What is shown of one input in several runs: on stdout (print) the weights of each less those of
 * the first, and as a picture (NULL: none) all of them beside their differences. */
bool attend_compare(const attend_view *const *v, int count, bool print, const char *png,
                    const char *svg);
/* Draws heat maps under two lines: the input; the layer, the head if one was chosen, the query (-1:
 * none) and the answer there. */
bool draw_panels(const attend_view *v, int query, const heed_heatmap *maps, int count, bool svg,
                 const char *path);
/* For other commands: one row of a record of one layer, as a heat map of the heads and their mean,
 * or as {layer, position, mean: [..], heads: [[..]]}. made: the token that this row predicted, or
 * NULL. */
attend_view row_view(program *p, const heed_record *r, int query);
bool attend_print_row(const attend_view *v, const char *made);
json_t *attend_row_json(const attend_view *v);
/* Attention of patches over a picture (attend_picture.c). */
bool attend_print_picture(const attend_view *v);
bool attend_draw_picture(const attend_view *v, bool cells, bool svg, const char *path);
heed_real attend_picture_end(const attend_view *v); /* end of its scale of attention */

/* ---- maps: whether attention matters (attend_maps.c) ---- */
/* Adds the maps that the flags ask for to the record of v. whole: for all questions and by layer,
 * for files; otherwise only for the question that is shown. */
bool maps_add(const attend_view *v, const heed_inspection *s, heed_record *record, bool whole);
/* Prints them: bars beside the tokens for one prediction, else matrices. */
bool maps_print(const attend_view *v);
/* Whether maps of one prediction are shown beside the weights. maps_draw then draws a row for each
 * head, their mean and each map. */
bool maps_drawable(const attend_view *v);
/* Whether they would be if a single prediction were asked for. */
bool maps_need_query(const attend_view *v);
/* Appends the maps that are not drawn because they are of other tokens than the block: "rollout
 * (source over source)". */
void maps_omitted(const attend_view *v, heed_text *out);
bool maps_draw(const attend_view *v, bool svg, const char *path);
heed_real maps_end(const attend_view *v); /* the largest share of attention that it draws */
/* Whether a map is one of those shown: of the entire model, in probabilities. */
bool map_is_main(const heed_record_map *m);
/* What the values of a map measure, in a few words; NULL: shares of attention, as rollout's. */
const char *map_unit(const char *name);

#endif
