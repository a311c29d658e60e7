/* images.h -- internals of a set of pictures: sources, classes, parts, batches prepared ahead. */
#ifndef HEED_DATA_IMAGES_H
#define HEED_DATA_IMAGES_H

#include "core/os.h"
#include "io/io.h"
#include "tokenizer/tokenizer.h"

#include "data/sets.h"

typedef struct {
    char *path;           /* NULL: from a file of records */
    heed_picture picture; /* of 1 or 3 channels; pixels NULL: decoded again when needed */
    bool lies_in_block;   /* pixels belong to a block, not to the item */
    bool colour;          /* as stored */
    uint64_t hash;        /* of the stored picture */
    uint32_t label;
    heed_part part;
    char *why; /* reason why it cannot be decoded; NULL: it can */
} heed__item;

/* A row of a set in which a picture may have several. */
typedef struct {
    uint32_t item, label;
} heed__use;

typedef struct {
    size_t count[HEED_PARTS]; /* pictures found */
    uint32_t label;           /* its index among the labels */
} heed__picture_class;

/* Sums over the training pictures' bytes per channel, for pictures of one and of three channels. */
typedef struct {
    uint64_t sum[2][3], square[2][3], pixels[2];
} heed__sums;

enum { HEED__AHEAD = 2, HEED__SLOTS = HEED__AHEAD + 1, HEED__MOST_SIZE = 4096 };

/* A batch that is requested, or will be: its rows are handed out in order and finished in any
 * order. The batch is ready when all rows are finished, and idle when none is being worked on. */
typedef struct {
    heed_batch_at at;
    heed_part part;
    uint64_t turn;        /* lower ones are prepared first */
    int rows, next, done; /* all rows, handed out, finished; rows 0: empty */
    heed_real *x;
    int32_t *labels;
    size_t capacity, label_capacity;
    heed_status status; /* of the first row that failed */
    int bad_row;
    uint32_t bad_item;
    char why[HEED_WHY];
} heed__slot;

typedef struct {
    heed__monitor *monitor; /* guards stop and the slots, not their rows; NULL: not started */
    heed__thread **threads;
    int workers, running; /* threads requested, and started */
    bool stop;
    heed__slot slots[HEED__SLOTS], *held; /* held: the caller's current one, idle */
    uint64_t turn;
    heed_batch_at train; /* the last training batch requested; rows 0: none */
    heed_real **work;    /* the caller's, then each thread's */
    double waited;
} heed__ring;

struct heed_images {
    heed__owned owned;
    heed_ctx *c;
    heed__images_args a;
    char **labels; /* the run's; then the same as info's */
    size_t label_count;
    heed__names names;            /* of the classes, in the order of first occurrence */
    heed__picture_class *classes; /* parallel to names */
    size_t class_capacity;
    bool ordered; /* classes are ordered as in the source, not by name */
    heed__item *items;
    size_t count, capacity;
    unsigned char **blocks; /* files of records that contain items' pixels */
    size_t block_count, block_capacity;
    bool own_val;    /* the data has a validation part */
    heed__use *uses; /* rows; NULL: each item is one, with its label */
    size_t use_count;
    uint32_t *part[HEED_PARTS]; /* rows of each part, in order */
    uint32_t *bad;
    size_t *counts;     /* (classes, parts) */
    heed_real *weights; /* (classes): of balanced training batches; NULL: not balanced */
    heed__sums sums;
    size_t cached, work; /* bytes of cached pictures; numbers that a view needs */
    heed_images_info info;
    char *other;               /* the same as info's */
    heed__duplicate duplicate; /* set if info.overlap is not 0 */
    heed_part eval_part;       /* of batches with `val` */
    heed__ring ring;
    char name[32];
};

/* ---- sources: each adds items with classes (as numbers of heed__images_class) and parts; IDX and
 * CIFAR set info.kind only if the folder has files of theirs ---- */

bool heed__images_folder(heed_images *k, const char *path);
bool heed__images_idx(heed_images *k, const char *path);
bool heed__images_cifar(heed_images *k, const char *path);
bool heed__images_list(heed_images *k, const char *path);

/* The number of the class with that name, added if new; -1 on error, which names `where`. */
int64_t heed__images_class(heed_images *k, const char *name, const char *where);
/* Adds a picture in a file (path is owned from now on, also on failure) or in a block. */
bool heed__images_add(heed_images *k, int64_t class, heed_part part, char *path,
                      heed_picture picture);
/* Takes ownership of bytes (heed__free), also on failure. */
bool heed__images_keep(heed_images *k, unsigned char *bytes);
/* The part that the first n bytes of a name mean, in any case; -1: none. */
int heed__images_part(const char *name, size_t n);
extern const char *const heed__part_words[HEED_PARTS]; /* "training", .. */
/* "folder/name", to be freed; "name" alone if it is absolute. */
char *heed__images_path(heed_ctx *c, const char *folder, const char *name);

/* A set from a list instead of a source: pictures without classes, of which a row (a caption) shows
 * one; the label of the row is the number that the list gives. The data has the parts of its
 * pictures. name: of the list, for errors. Takes ownership of the paths and the uses (heed__free),
 * also on failure. */
typedef struct {
    struct heed__listed {
        char *path;
        heed_part part;
    } * pictures;
    size_t count, capacity;
    heed__use *uses;
    size_t use_count;
} heed__image_list;
heed_images *heed__images_open_list(heed_ctx *c, const char *name, const heed__images_args *a,
                                    const heed__image_list *list);

/* The row of a part: its picture and label. */
static inline heed__use heed__images_use(const heed_images *k, heed_part part, uint64_t index) {
    uint32_t row = k->part[part][index];
    return k->uses ? k->uses[row] : (heed__use){row, k->items[row].label};
}
/* A copy of a picture for the caller, who frees it. */
bool heed__images_copy(const heed_images *k, const heed__item *item, heed_picture *out);

/* A picture ready for the view: borrowed from the cache, or read into *own. */
heed_status heed__images_pixels(const heed_images *k, const heed__item *item, heed_picture *own,
                                const heed_picture **out, char why[HEED_WHY]);

/* ---- left and right: mirror.c ---- */

/* Whether a class or a caption has a word for left or right, in one of many languages, and its
 * bytes. */
bool heed__names_side(const char *text, size_t n, size_t *begin, size_t *length);
/* Sets info.sided by the names of the classes and, where they say nothing and `measure` is set, by
 * the pictures: whether those of one class, mirrored, look like those of another (an exact sign
 * test, p < 0.001 for all classes together). False: out of memory. */
bool heed__images_judge_sides(heed_images *k, bool measure);

#endif
