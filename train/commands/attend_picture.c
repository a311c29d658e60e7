/* attend_picture.c -- attention among patches, over the picture: in the terminal and as PNG. */
#include "cli/os_files.h"
#include "commands/attend.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PANEL_NAME = 32 };

typedef struct {
    int count, rows, cols;
    int weights;             /* the first so many panels show weights, the others maps */
    heed_real *own, *values; /* (count,rows,cols): the values, and the values as drawn */
    const heed_real **at;
    char (*names)[PANEL_NAME];
    const char **captions, **units; /* units: of the others */
    double *least;                  /* of the others: where their scales end at least */
    bool *shares;                   /* of the others: of attention, as rollout's are */
} panels;

static void close_panels(panels *p) {
    free(p->own);
    free(p->values);
    free((void *)p->at);
    free(p->names);
    free((void *)p->captions);
    free((void *)p->units);
    free(p->least);
    free(p->shares);
}

/* Whether the queries are words of a caption, not patches. */
static bool has_words(const attend_view *v) { return v->block->queries != v->block->keys; }

/* Adds the weights of a head (or of all, fused) on the patches: the mean over the rows of the
 * queries from `from` to before `end`. Returns the panel's name, to be written. */
static char *add_weights(const attend_view *v, panels *p, int head, int from, int end) {
    const heed_record_block *b = v->block;
    const heed_record_axis *a = &v->record->axes[b->keys];
    size_t n = (size_t)a->count, patches = (size_t)p->rows * (size_t)p->cols;
    size_t square = n * (size_t)v->record->axes[b->queries].count;
    heed_real *to = p->own + (size_t)p->count * patches;
    for (int h = 0; h < b->heads; h++)
        for (int q = from; q < end && (head < 0 || h == head); q++) {
            const heed_real *x = b->weights + (size_t)h * square + (size_t)q * n + a->first;
            double share = 1.0 / (end - from) / (head == MEAN_HEAD ? b->heads : 1);
            for (size_t i = 0; i < patches; i++)
                to[i] = head == MAX_HEAD ? (heed_real)fmax((double)to[i], (double)x[i])
                                         : to[i] + (heed_real)(share * (double)x[i]);
        }
    return p->names[p->count++];
}

/* Adds a panel of a head: the query's row, or the mean over all rows. */
static void add_head(const attend_view *v, panels *p, int head) {
    const heed_record_block *b = v->block;
    int from = v->query >= 0 ? v->query : 0;
    int end = v->query >= 0 ? v->query + 1 : v->record->axes[b->queries].count;
    char *name = add_weights(v, p, head, from, end);
    if (head >= 0)
        snprintf(name, PANEL_NAME, "head %d", (b->head ? b->head[head] : head) + 1);
    else
        snprintf(name, PANEL_NAME, head == MAX_HEAD ? "largest" : "mean of heads");
}

/* Adds a panel for each word. */
static void add_words(const attend_view *v, panels *p) {
    const heed_record_axis *words = &v->record->axes[v->block->queries];
    for (int q = 0; q < words->count; q++) {
        char *name = add_weights(v, p, v->head, q, q + 1);
        if (v->hide && words->special && words->special[q])
            p->count--;
        else
            heed_format_token(name, PANEL_NAME, words->labels[q]);
    }
}

/* Adds a map of the record as a separate panel: the query's row, or the mean of all rows. */
static void add_map(const attend_view *v, panels *p, const heed_record_map *m) {
    const heed_record_axis *a = &v->record->axes[m->keys];
    size_t patches = (size_t)p->rows * (size_t)p->cols;
    heed_real *to = p->own + (size_t)p->count * patches;
    int rows = v->record->axes[m->queries].count;
    int from = v->query >= 0 && v->query < rows ? v->query : 0;
    int end = rows == 1 || v->query >= 0 ? from + 1 : rows;
    for (int q = from; q < end; q++)
        for (size_t i = 0; i < patches; i++)
            to[i] += m->values[(size_t)q * (size_t)a->count + (size_t)a->first + i] /
                     (heed_real)(end - from);
    int own = p->count - p->weights;
    p->units[own] = map_unit(m->name);
    p->least[own] = heed_map_least(m->name);
    p->shares[own] = !p->units[own];
    snprintf(p->names[p->count++], PANEL_NAME, "%s", m->name);
}

static void add_maps(const attend_view *v, panels *p) {
    const heed_record *r = v->record;
    for (int i = 0; i < r->map_count; i++)
        if (r->maps[i].keys == v->block->keys && map_is_main(&r->maps[i]))
            add_map(v, p, &r->maps[i]);
}

static int by_size(const void *a, const void *b) {
    heed_real x = *(const heed_real *)a, y = *(const heed_real *)b;
    return (x < y) - (x > y);
}

/* Keeps the strongest patches that together have this share of the total; the others become NAN. */
static bool keep_mass(heed_ctx *c, heed_real *x, size_t n, double mass) {
    heed_real *sorted = allocate(c, n, sizeof *sorted, "patches");
    double all = 0, held = 0;
    size_t k = 0;
    if (!sorted) return false;
    memcpy(sorted, x, n * sizeof *x);
    qsort(sorted, n, sizeof *sorted, by_size);
    for (size_t i = 0; i < n; i++) all += fmax((double)x[i], 0);
    while (k < n && held < mass * all) held += (double)sorted[k++];
    heed_real least = k ? sorted[k - 1] : 0;
    for (size_t i = 0; i < n; i++)
        if (x[i] < least) x[i] = (heed_real)NAN;
    free(sorted);
    return true;
}

/* Call close_panels also after a failure. */
static bool open_panels(const attend_view *v, panels *p) {
    heed_ctx *c = v->p->c;
    const heed_record *r = v->record;
    const heed_record_axis *a = &r->axes[v->block->keys];
    int heads = v->block->heads;
    bool words = has_words(v) && v->query < 0;
    int weights = words ? r->axes[v->block->queries].count : heads + 1;
    size_t most = (size_t)(weights + r->map_count), n = (size_t)a->rows * (size_t)a->cols;
    *p = (panels){.rows = a->rows, .cols = a->cols};
    p->own = allocate(c, most * n, sizeof *p->own, "patches");
    p->values = allocate(c, most * n, sizeof *p->values, "patches");
    p->at = allocate(c, most, sizeof *p->at, "pictures");
    p->names = allocate(c, most, sizeof *p->names, "pictures");
    p->captions = allocate(c, most, sizeof *p->captions, "pictures");
    p->units = allocate(c, most, sizeof *p->units, "pictures");
    p->least = allocate(c, most, sizeof *p->least, "pictures");
    p->shares = allocate(c, most, sizeof *p->shares, "pictures");
    if (heed_ctx_status(c) != HEED_OK) return false;
    if (words)
        add_words(v, p);
    else if (v->chosen)
        add_head(v, p, v->head);
    else
        for (int h = heads > 1 ? -1 : 0; h < heads; h++) add_head(v, p, h);
    p->weights = p->count;
    add_maps(v, p);
    memcpy(p->values, p->own, (size_t)p->count * n * sizeof *p->own);
    for (int i = 0; i < p->count; i++) {
        heed_real *drawn = p->values + (size_t)i * n;
        p->at[i] = drawn;
        p->captions[i] = p->names[i];
        if (v->mass > 0 && !keep_mass(c, drawn, n, v->mass)) return false;
    }
    return true;
}

/* The largest weight on the patches that any head has: at the query that is shown, or at any word.
 * 0: the rows of all patches are shown as their mean. */
static heed_real largest_of_heads(const attend_view *v) {
    const heed_record_block *b = v->block;
    const heed_record_axis *a = &v->record->axes[b->keys];
    int rows = v->record->axes[b->queries].count;
    heed_real most = 0;
    if (v->query < 0 && !has_words(v)) return 0;
    for (int i = 0; i < b->heads * rows; i++)
        for (int k = a->first; k < a->first + a->rows * a->cols; k++) {
            heed_real w = b->weights[(size_t)i * (size_t)a->count + (size_t)k];
            if ((has_words(v) || i % rows == v->query) && w > most) most = w;
        }
    return most;
}

/* All heads have one scale, also if only one is shown, as on the page. */
heed_real attend_picture_end(const attend_view *v) {
    panels p;
    double least = fmin(2 * heed_record_uniform(v->record, v->block, v->query), 1);
    heed_real most = (heed_real)fmax(least, (double)largest_of_heads(v));
    int all = open_panels(v, &p) ? p.weights * p.rows * p.cols : 0;
    for (int i = 0; i < all; i++)
        if (p.own[i] > most) most = p.own[i];
    close_panels(&p);
    return most;
}

static heed_overlay overlay_of(const attend_view *v, const panels *p, bool cells, const char *title,
                               const char *subtitle) {
    const heed_record *r = v->record;
    bool heads = !has_words(v) || v->query >= 0; /* shown, or their mean */
    return (heed_overlay){
        .title = title,
        .subtitle = subtitle,
        .units = p->units,
        .least = p->least,
        .shares = p->shares,
        .pixels = r->pixels,
        .width = r->width,
        .height = r->height,
        .channels = r->channels,
        .rows = p->rows,
        .cols = p->cols,
        .count = p->count,
        .maps = p->at,
        .measures = p->count - p->weights,
        .fused = heads && !v->chosen && v->block->heads > 1,
        .captions = p->captions,
        .cells = cells || v->mass > 0,
        .uniform = heed_record_uniform(r, v->block, v->query),
        .hi = heads && v->chosen && v->head < 0 ? 0 : (double)scale_end(v, SCALE_PICTURE)};
}

enum { TITLE = 640 };

/* "attention of patch 2,5, layer 1 of 2"; the query may also be "[CLS]" or "all patches"; or
 * "attention of each word, layer 1 of 1, mean of 4 heads". */
static void title_of(const attend_view *v, char title[TITLE]) {
    const heed_record_axis *a = &v->record->axes[v->block->queries];
    char query[QUERY_SIZE] = "all patches", mass[64] = "", head[64] = "", of[48];
    bool words = has_words(v);
    if (words && v->query < 0) {
        snprintf(query, sizeof query, "each word");
        if (v->block->heads > 1)
            snprintf(head, sizeof head, ", %.48s", head_words(v->block, v->head, of));
    } else if (words)
        query_words(v, v->query, query);
    else if (v->query >= 0)
        snprintf(query, sizeof query, "%s%.32s", v->query < a->first ? "" : "patch ",
                 a->labels[v->query]);
    if (v->mass > 0)
        snprintf(mass, sizeof mass, "; the strongest patches that hold %g %% of it", 100 * v->mass);
    bool more = v->record->map_count > 0;
    snprintf(title, TITLE, "%sattention of %s, layer %d of %d%s%s%s", v->block->hard ? "hard " : "",
             query, v->block->layer + 1, v->layers, head, mass,
             more ? " (other measures: the whole model)" : "");
}

/* The title without the folder of the file that it begins with. */
static const char *without_folder(const char *title) {
    const char *own = title, *end = strstr(title, " \xe2\x86\x92 ");
    for (const char *s = title; *s && s != end; s++)
        if (*s == '/') own = s + 1;
    return own;
}

bool attend_draw_picture(const attend_view *v, bool cells, bool svg, const char *path) {
    const heed_record *r = v->record;
    const heed_record_guess *g = r->guesses;
    const char *name = r->title ? r->title : "";
    char what[TITLE], title[TITLE], note[480], p0[16];
    panels p;
    title_of(v, what);
    name = without_folder(name);
    if (has_words(v) || !r->guess_count)
        snprintf(title, sizeof title, "%.200s", name);
    else
        snprintf(title, sizeof title, "%.120s: predicted %.60s, probability %s", name, g->labels[0],
                 probability_text(p0, (double)g->p[0], PROBABILITY));
    snprintf(note, sizeof note, "%.360s%s" NO_EXPLANATION ".", r->note ? r->note : "",
             r->note ? " " : "");
    bool ok = open_panels(v, &p);
    heed_overlay o = overlay_of(v, &p, cells, title, what);
    o.note = note;
    ok = ok && (svg ? heed_overlay_svg : heed_overlay_png)(v->p->c, &o, path);
    close_panels(&p);
    return ok;
}

/* The strongest patches: "  mean of heads   2,5 0.12  3,5 0.10". */
static bool print_strongest(const attend_view *v, const panels *p, int index) {
    int n = p->rows * p->cols, used = 18, capacity = terminal_width();
    const heed_real *own = p->own + (size_t)index * (size_t)n;
    bool *taken = allocate(v->p->c, (size_t)n, sizeof *taken, "patches");
    if (!taken) return false;
    printf("  ");
    print_name(p->names[index], 14, 14);
    for (int k = 0; k < v->top && k < n; k++) {
        int best = -1;
        for (int i = 0; i < n; i++)
            if (!taken[i] && isfinite((double)p->at[index][i]) && (best < 0 || own[i] > own[best]))
                best = i;
        if (best < 0) break;
        taken[best] = true;
        char item[48];
        bool share = index < p->weights || p->shares[index - p->weights];
        bool little = share && own[best] > 0 && (double)own[best] < 0.0005;
        int w = snprintf(item, sizeof item, little ? "  %d,%d <0.001" : "  %d,%d %.3f",
                         best / p->cols + 1, best % p->cols + 1, (double)own[best]);
        if (used + w > capacity) used = printf("\n  %-14s", "") + w - 1;
        used += w;
        fputs(item, stdout);
    }
    putchar('\n');
    free(taken);
    return true;
}

bool attend_print_picture(const attend_view *v) {
    char title[TITLE];
    panels p;
    heed_text text = {.c = v->p->c};
    title_of(v, title);
    bool ok = open_panels(v, &p);
    heed_overlay o = overlay_of(v, &p, true, title, NULL);
    ok = ok && heed_overlay_text(&o, terminal_kind(stdout), terminal_width(), &text);
    if (ok) {
        print_text(&text);
        puts("strongest patches, row,column from 1:");
        for (int i = 0; ok && i < p.count; i++) ok = print_strongest(v, &p, i);
    }
    heed_text_free(&text);
    close_panels(&p);
    return ok;
}
