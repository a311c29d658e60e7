/* heed/image.h -- pictures: decoding, resizing, augmentation, and sets of labelled pictures. */
#ifndef HEED_IMAGE_H
#define HEED_IMAGE_H

#include <heed/data.h>

HEED_EXPORT_BEGIN

/* ---- one picture ---- */

/* Rows from the top: (H,W,C) bytes. Zero-initialise; free with heed_picture_free. */
typedef struct {
    int width, height;
    int channels; /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha */
    unsigned char *pixels;
} heed_picture;

enum { HEED_WHY = 200 }; /* capacity for the reason why a picture is refused */

/* JPEG (baseline and progressive, grey, YCbCr, RGB, CMYK and YCCK as Adobe writes them), PNG, BMP
 * (uncompressed). Pictures are turned upright by EXIF's orientation; 16-bit samples keep their high
 * byte, palettes are expanded. At most 2^26 pixels, checked before anything is decoded. Needs no
 * context and may run in any thread. HEED_DATA, with the reason in why, for a file that is damaged,
 * truncated or of another format; HEED_FAILED if out of memory. */
heed_status heed_picture_decode(const void *bytes, size_t n, heed_picture *out, char why[HEED_WHY]);
heed_status heed_picture_read(const char *path, heed_picture *out, char why[HEED_WHY]);
void heed_picture_free(heed_picture *p);
/* Converts in place to 1 or 3 channels: alpha over white, grey as in ITU-R BT.601. Other channels,
 * or no picture, are HEED_USAGE; HEED_FAILED if out of memory. p is then unchanged. */
heed_status heed_picture_convert(heed_picture *p, int channels);

/* Bilinear with antialiasing: a triangle of radius max(1, scale) pixels of the source, as in
 * PyTorch's interpolate(antialias=True) and Pillow. The box (in pixels of p, fractions allowed) is
 * resized to width x height: out gets (height,width,channels) values from 0 to 255. work:
 * heed_resize_work numbers. */
typedef struct {
    double x, y, width, height;
} heed_box;
size_t heed_resize_work(const heed_picture *p, int width, int height);
void heed_picture_resize(const heed_picture *p, heed_box box, int width, int height, heed_real *out,
                         heed_real *work);

/* ---- augmentation ---- */

/* Strengths; all zeros: no augmentation. The draws depend only on the random stream. */
typedef struct {
    double flip; /* probability of mirroring left and right */
    int pad; /* random crop: shifted by up to `pad` pixels, edges filled with zeros (the mean); He
                et al. 2016, sec. 4.2 */
    double scale;      /* random resized crop: smallest share of the area, in (0, 1); 0: off.
                          Szegedy et al. 2015, sec. 6 */
    double ratio;      /* its aspect ratio is between 1/ratio and ratio, log-uniform; 0: 4/3 */
    double brightness; /* multiplied by a factor in [1-b, 1+b] */
    double contrast;   /* likewise, around the picture's grey mean */
    double saturation; /* likewise, around each pixel's grey; colour pictures only */
} heed_augment;

/* How pixels are interpolated; bicubic: a = -1/2 (Keys 1981), Lanczos: 3 lobes. */
typedef enum { HEED_BILINEAR, HEED_BICUBIC, HEED_LANCZOS, HEED_NEAREST } heed_filter;
/* How a picture becomes an input: (size,size,channels). */
typedef struct {
    int size, channels;
    double mean[3], deviation[3]; /* (x/255 - mean) / deviation */
    /* If one of these is not 0, evaluation is that of Pillow: the whole picture is resized, its
     * levels are whole numbers after each axis, and the centre is cropped at whole pixels. */
    int resize_to; /* pixels of the short side; 0: size; -1: both sides are resized to size */
    heed_filter filter;
} heed_image_transform;
/* Evaluation (a NULL): the short side is resized to size and the centre is cropped. Training: the
 * draws of a, in the order resized crop (else as in evaluation), flip, colours, shift. p must have
 * v's channels. work: heed_image_transform_work numbers. */
size_t heed_image_transform_work(const heed_picture *p, const heed_image_transform *v);
void heed_picture_transform(const heed_picture *p, const heed_image_transform *v,
                            const heed_augment *a, const heed_random *r, heed_real *out,
                            heed_real *work);

/* The patches of row `row` of a batch that a masked auto-encoder hides: `hidden` of 0 .. patches -
 * 1, in ascending order, each choice equally likely. They depend only on the seed and the row's
 * number in the training, or in the evaluation, where they are always the same. out (hidden) */
void heed_masked_patches(heed_ctx *c, heed_batch_at at, int row, int patches, int hidden,
                         int32_t *out);

/* ---- sets of pictures ---- */

#define HEED_UNLABELLED "unlabelled"

typedef enum { HEED_TRAIN_PART, HEED_VAL_PART, HEED_TEST_PART, HEED_PARTS } heed_part;

typedef struct {
    int size;     /* side of the inputs; 0: that of the pictures, if all are square and of one size,
                     else the median of their short sides, at most 64, as a multiple of 4 */
    int channels; /* 1 or 3; 0: that of the pictures, 3 if they differ. Others are converted: grey
                     to three equal channels, colour to 0.299 R + 0.587 G + 0.114 B */
    bool convert; /* no message says how many are */
    double val_split; /* share of the training part kept for validation, the same share of each
                         class, chosen by the seed; used if the data has no validation part */
    bool no_test;     /* the test part is not read */
    const char *const *labels; /* a run's: classes are matched by name; NULL: from the training
                                  part, in the order of their values if all are decimal numbers,
                                  otherwise bytewise (CIFAR: in the order of its names file); at
                                  least two, each with a picture */
    int label_count;
    bool unlabelled; /* classes are not required: pictures may also lie directly in the folder, or
                        in that of a part, IDX files of labels may be absent, lines of a CSV file
                        may be a path alone. These pictures are of class HEED_UNLABELLED, the others
                        of theirs, and any number of classes is accepted */
    const char *columns; /* of a list: "image,label" or "image,label,split", names of columns or
                            numbers from 1; NULL or "": known by their names */
    const char *header;  /* as in heed_pairs_args */
    bool strict;         /* a picture that cannot be decoded is an error, not skipped */
    int resize_to;       /* as in heed_image_transform */
    heed_filter filter;
    double mean[3]; /* deviation[0] 0: both are computed from the training part, over all bytes of
                       its stored pictures, in the view's channels */
    double deviation[3];
    heed_augment augment; /* for the training part */
    int workers;  /* threads that decode and augment ahead; 0: none. The results are the same */
    size_t cache; /* bytes of decoded pictures kept in memory; 0: 1 GB. Others are decoded again */
} heed_images_args;

typedef struct heed_images heed_images;
/* path is a folder of folders (train/CLASS/..., val/, test/, or CLASS/...: JPEG, PNG, BMP;
 * parts may also be called training, valid, validation, dev, testing, in any case), a folder of
 * {train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz] (IDX; names may begin as EMNIST's do, whose
 * pictures lie on their side and are turned, and have test for t10k), of *.bin (CIFAR-10 and -100),
 * or a CSV or TSV file of path,label lines, whose first may name the columns, as
 * image_id,label,split. All pictures are decoded once, to find the bad ones. Hidden files are
 * skipped; a class without pictures is an error that names it. IDX files may be of any type: values
 * from 0 to 255 are kept, fractions from 0 to 1 are scaled to 0 to 255, and all others are scaled
 * linearly so that the lowest and highest value of training become 0 and 255. Beside them, the
 * lines of labels.txt, all different, may name the classes 0, 1, and so on. Owned by c. */
heed_images *heed_images_open(heed_ctx *c, const char *path, const heed_images_args *a);
void heed_images_close(heed_images *k);

typedef struct {
    const char *kind; /* "folder", "idx", "cifar-10", "cifar-100", "csv" */
    int classes;
    const char *const *labels;
    size_t count[HEED_PARTS];
    heed_image_transform view;
    int low_width, high_width, low_height, high_height; /* of the stored pictures */
    bool sized;        /* view.size is the median of their short sides */
    size_t bad;        /* pictures that are skipped, as they cannot be decoded */
    size_t empty;      /* rows of a list that are left out, without a path or a label */
    size_t others;     /* files, not hidden ones, in folders of classes that are not pictures */
    const char *other; /* the first of them; NULL: none */
    size_t converted;  /* whose own channels are not the view's */
    uint64_t checksum; /* of all pictures and labels of the training and validation parts */
    char sided[200];   /* why mirroring changes what a picture means: "the class \"left\" names a
                          side"; "": nothing says so */
    size_t overlap[HEED_PARTS]; /* validation, test: pictures that are also in the training part */
} heed_images_info;
/* What the set holds. Owned by k; NULL for NULL. */
const heed_images_info *heed_images_about(const heed_images *k);
/* The i-th picture that was skipped, and why. */
bool heed_images_bad(const heed_images *k, size_t i, const char **path, const char **why);
/* The first picture of the validation or test part that is also in the training part, and where;
 * false if there is none (overlap counts them all). */
typedef struct {
    heed_part part;
    size_t index, trained; /* in `part`, and in the training part */
} heed_duplicate;
bool heed_images_duplicate(const heed_images *k, heed_duplicate *out);
/* Two pictures with the same pixels in different classes. */
typedef struct {
    heed_part part[2];
    size_t index[2]; /* in its part */
} heed_images_conflict;
/* Counts the pictures, each once, that are in several classes, in any parts; fills the first `most`
 * of out. 0 on error. */
size_t heed_images_conflicts(const heed_images *k, heed_images_conflict *out, size_t most);
/* The number of pictures of a class in a part; label -1: of all classes. */
size_t heed_images_count(const heed_images *k, heed_part part, int label);
/* From now on, training batches have class weights by the inverse of the classes' frequency:
 * pictures / (classes with a picture x pictures of the class), in the training part, whose mean
 * over its pictures is 1. Returns them (classes), which k owns; 0 for a class without a picture.
 * NULL on error. */
const heed_real *heed_images_balance(heed_images *k);
/* A picture of a part as stored (but with the view's channels), its label, and a name to show: its
 * path, or "train 17". The caller frees the picture. */
bool heed_images_get(heed_images *k, heed_part part, size_t index, heed_picture *out, int *label,
                     const char **name);

/* A batch: x (B, size size channels), labels (B); see heed_batch. Training pictures are reshuffled
 * each epoch and augmented by (seed, epoch, index of the picture). Evaluation reads the part set by
 * heed_images_set_eval_part (by default validation, else training, never test) without
 * augmentation: in order, or in a seeded order for a sample. */
bool heed_image_batch(heed_images *k, heed_batch_at at, heed_batch *out);
void heed_images_set_eval_part(heed_images *k, heed_part part);
/* Replaces the augmentation of heed_images_args, for example by one that depends on the data found;
 * call it before the first batch. */
void heed_images_augment(heed_images *k, const heed_augment *a);
uint64_t heed_images_eval_batches(const heed_images *k, int rows);
uint64_t heed_images_epoch_batches(const heed_images *k, int rows);
/* Total seconds that heed_image_batch waited for pictures. */
double heed_images_waited(const heed_images *k);

HEED_EXPORT_END
#endif
