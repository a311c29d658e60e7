/* images.h -- inside of a set of labelled pictures: where they come from, their classes and parts,
 * and the batches that threads make ahead. */
#ifndef HEED_DATA_IMAGES_H
#define HEED_DATA_IMAGES_H

#include "core/core.h"
#include "core/os.h"
#include "io/io.h"

#include <heed/image.h>

typedef struct {
    char *path; /* NULL: of a file of records */
    heed_picture
        picture;        /* pixels NULL: not kept, to be decoded again; else with 1 or 3 channels */
    bool lies_in_block; /* pixels are not the item's own */
    uint64_t hash;      /* of the picture as it is stored */
    uint32_t label;
    heed_part part;
    char *why; /* not decodable; NULL: good */
} heed__item;

typedef struct {
    char *name;
    size_t count[HEED_PARTS]; /* pictures that were listed */
    uint32_t label;           /* its place among the names */
} heed__class;

/* Of the training pictures' bytes, for each channel, those of one and of three channels apart. */
typedef struct {
    uint64_t sum[2][3], square[2][3], pixels[2];
} heed__sums;

enum { HEED__AHEAD = 2, HEED__SLOTS = HEED__AHEAD + 1, HEED__MOST_SIZE = 4096 };

/* A batch that is asked for, or will be: rows are handed out in turn, and come back in any order.
 * The batch is ready when all are back, and at rest when none is out. */
typedef struct {
    heed_batch_at at;
    heed_part part;
    uint64_t turn;        /* earlier ones are made first */
    int rows, next, done; /* of all, handed out, back; rows 0: empty */
    heed_real *x;
    int32_t *labels;
    size_t capacity, label_capacity;
    heed_status status; /* of the first row that failed */
    int bad_row;
    uint32_t bad_item;
    char why[HEED_WHY];
} heed__slot;

typedef struct {
    heed__monitor *monitor; /* guards the slots but for their rows, and stop; NULL: not started */
    heed__thread **threads;
    int workers, running; /* threads asked for, and begun */
    bool stop;
    heed__slot slots[HEED__SLOTS], *held; /* held: by the caller, at rest */
    uint64_t turn;
    heed_batch_at train; /* the last training batch that was asked for; rows 0: none was */
    heed_real **work;    /* the caller's, then each thread's */
    double waited;
} heed__ring;

struct heed_images {
    heed__owned owned;
    heed_ctx *c;
    heed_images_args a;
    char **labels; /* of the run; then the same as info's */
    size_t label_count;
    heed__class *classes; /* in the order they were met */
    size_t class_count, class_capacity;
    uint32_t *sorted; /* classes in the order of their names */
    size_t sorted_capacity;
    bool ordered; /* the order of classes is the source's, not their names' */
    heed__item *items;
    size_t count, capacity;
    unsigned char **blocks; /* files of records; items' pictures lie in them */
    size_t block_count, block_capacity;
    bool own_val;               /* the data has a validation part */
    uint32_t *part[HEED_PARTS]; /* items of each part, in their order */
    uint32_t *bad;
    size_t *counts; /* (classes, parts) */
    heed__sums sums;
    size_t cached, work; /* bytes of pictures kept; numbers that a view needs */
    heed_images_info info;
    heed_duplicate twin; /* where info.overlap is not 0 */
    heed_part judged;
    heed__ring ring;
    char name[32];
};

/* ---- sources: each adds items with classes (as numbers of heed__images_class) and parts ---- */

bool heed__images_folder(heed_images *k, const char *path);
bool heed__images_idx(heed_images *k, const char *path);
bool heed__images_is_idx(heed_ctx *c, const char *path);
bool heed__images_cifar(heed_images *k, const char *path);
bool heed__images_is_cifar(heed_ctx *c, const char *path);
bool heed__images_csv(heed_images *k, const char *path);

/* The number of the class of that name, new if need be; -1 after an error. where: stands in it. */
int64_t heed__images_class(heed_images *k, const char *name, const char *where);
/* A picture in a file (path: taken, also on failure), or one whose pixels lie in a block. */
bool heed__images_add(heed_images *k, int64_t class, heed_part part, char *path,
                      heed_picture picture);
/* Takes bytes (heed__free), also on failure. */
bool heed__images_keep(heed_images *k, unsigned char *bytes);
bool heed__images_is_picture(const char *name); /* by its extension */
/* "folder/name", to be freed; "name" alone if it is absolute. */
char *heed__images_path(heed_ctx *c, const char *folder, const char *name);

/* A file in the IDX format, plain or by gzip, whole: dims, and elements as bytes. */
typedef struct {
    int type, dims;
    size_t dim[4];
    size_t count;         /* product of the dims */
    unsigned char *bytes; /* the file; elements follow the header */
    size_t header, width; /* bytes of the header and of an element */
} heed__idx;
/* Takes bytes (heed__free), also on failure. */
bool heed__idx_parse(heed_ctx *c, const char *path, unsigned char *bytes, size_t n, heed__idx *out);

/* ---- steps of opening ---- */

bool heed__images_label(heed_images *k, const char *path); /* classes to labels */
bool heed__images_split(heed_images *k);   /* validation out of training, if there is none */
bool heed__images_measure(heed_images *k); /* decodes all; fills hashes, sums, the cache */
bool heed__images_finalize(heed_images *k, const char *path); /* the view, the parts, the counts */

/* A picture ready for the view: lent from the cache, or read into *own. */
heed_status heed__images_lend(const heed_images *k, const heed__item *item, heed_picture *own,
                              const heed_picture **out, char why[HEED_WHY]);

/* Brings what is kept to 1 or 3 channels; pixels that lie in a block are copied first. */
heed_status heed__images_convert(heed__item *item, int channels);

/* ---- batches ---- */

/* Makes one row: x (size size channels), and its label. Any thread may. */
heed_status heed__images_row(const heed_images *k, heed_part part, heed_batch_at at, int row,
                             heed_real *x, int32_t *label, heed_real *work, uint32_t *item,
                             char why[HEED_WHY]);
/* Rows of the batch at; 0: there is none. */
int heed__images_rows(const heed_images *k, heed_part part, heed_batch_at at);
/* The slot that holds the batch, ready; NULL after an error. More are made ahead. */
const heed__slot *heed__ring_ask(heed_images *k, heed_part part, heed_batch_at at);
void heed__ring_free(heed__ring *r);

#endif
