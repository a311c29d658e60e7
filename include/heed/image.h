/* heed/image.h -- pictures: decoding, resizing, augmentation, and sets of labelled pictures. */
#ifndef HEED_IMAGE_H
#define HEED_IMAGE_H

#include <heed/data.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one picture ---- */

/* Rows from the top, channels interleaved: (H,W,C) bytes. Zero-initialise; free with
 * heed_picture_free. */
typedef struct {
    int width, height;
    int channels; /* 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha */
    unsigned char *pixels;
} heed_picture;

enum { HEED_WHY = 200 }; /* room for the reason why a picture is refused */

/* JPEG (baseline and progressive, grey, YCbCr, RGB, CMYK and YCCK as Adobe writes them), PNG, BMP
 * (uncompressed), TGA (by the name's extension: its magic is weak), turned upright by EXIF's
 * orientation; 16 bit keep their high byte, palettes are expanded. At most 2^26 pixels, checked
 * before anything is decoded. No context: may run in any thread. HEED_DATA, with the reason in why,
 * for a file that is damaged, cut short, or of another format; FAILED without memory. name: of the
 * file, for its extension, or NULL. */
HEED_API heed_status heed_picture_decode(const void *bytes, size_t n, const char *name,
                                         heed_picture *out, char why[HEED_WHY]);
HEED_API heed_status heed_picture_read(const char *path, heed_picture *out, char why[HEED_WHY]);
HEED_API void heed_picture_free(heed_picture *p);
/* To 1 or 3 channels: alpha over white, grey = 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601). In
 * place. */
HEED_API heed_status heed_picture_convert(heed_picture *p, int channels);

/* Bilinear with antialiasing: a triangle of radius max(1, scale) pixels of the source, as PyTorch's
 * interpolate(antialias=True) and Pillow. The box (in pixels of p, fractions allowed) is brought to
 * width x height: (height,width,channels) values of 0 to 255 in out. work: heed_resize_work
 * numbers. */
typedef struct {
    double x, y, width, height;
} heed_box;
HEED_API size_t heed_resize_work(const heed_picture *p, int width, int height);
HEED_API void heed_picture_resize(const heed_picture *p, heed_box box, int width, int height,
                                  heed_real *out, heed_real *work);

/* ---- augmentation ---- */

/* Strengths; zeros: none. Each draw is a function of the stream given. */
typedef struct {
    double flip;       /* probability of left and right exchanged */
    int pad;           /* random crop: shifted by up to so many pixels, edges filled with zeros
                          (the mean); He et al. 2016, sec. 4.2 */
    double scale;      /* random resized crop: smallest share of the area, in (0, 1); 0: off.
                          Szegedy et al. 2015, sec. 6 */
    double ratio;      /* its width to height is between 1/ratio and ratio, log-uniform; 0: 4/3 */
    double brightness; /* times a factor in [1-b, 1+b] */
    double contrast;   /* the same, around the picture's grey mean */
    double saturation; /* the same, around each pixel's grey; of colour pictures */
} heed_augment;

/* How a picture becomes an input: (size,size,channels). */
typedef struct {
    int size, channels;
    double mean[3], deviation[3]; /* (x/255 - mean) / deviation */
} heed_image_transform;
/* Eval (a NULL): the short side to size, the centre cut out. Training: the draws of a, in the order
 * resized crop (else as in eval), flip, colours, shift. p has the view's channels. work: as many
 * numbers as heed_view_work says. */
HEED_API size_t heed_view_work(const heed_picture *p, const heed_image_transform *v);
HEED_API void heed_picture_view(const heed_picture *p, const heed_image_transform *v,
                                const heed_augment *a, const heed_random *r, heed_real *out,
                                heed_real *work);

/* ---- sets of labelled pictures ---- */

typedef enum { HEED_TRAIN_PART, HEED_VAL_PART, HEED_TEST_PART, HEED_PARTS } heed_part;

typedef struct {
    int size;     /* side of the inputs; 0: of the pictures, if they have one, square, side */
    int channels; /* 1 or 3; 0: of the pictures, if they agree */
    bool convert; /* pictures of other channels are converted; else the first one is an error that
                     says which flag converts */
    double val_split;          /* share of the training part kept for validation, the same of each
                                  class, a seeded choice; used if the data has no validation part */
    bool no_test;              /* the test part is not read: nothing chooses by it */
    const char *const *labels; /* of a run: classes are matched by name; NULL: from the training
                                  part, in bytewise order (IDX: of their values; CIFAR: of its file
                                  of names); at least two, each with a picture */
    int label_count;
    bool strict;    /* a picture that cannot be decoded is an error, not skipped */
    double mean[3]; /* deviation[0] 0: both are computed from the training part, over all bytes of
                       its pictures as they are stored, in the view's channels */
    double deviation[3];
    heed_augment augment; /* of the training part */
    int workers;  /* threads that decode and augment ahead; 0: none. The results are the same */
    size_t cache; /* bytes of decoded pictures kept in memory; 0: 1 GB. Others are decoded again */
} heed_images_args;

typedef struct heed_images heed_images;
/* path is a folder of folders (train/CLASS/..., val/, test/, or CLASS/...: JPEG, PNG, BMP, TGA;
 * parts may be called training, valid, validation, dev, testing, in any case, too), a folder of
 * {train,t10k}-{images-idx3,labels-idx1}-ubyte[.gz] (IDX), of *.bin (CIFAR-10 and -100), or a CSV
 * file of path,label lines. All pictures are decoded once, to find the bad ones. Hidden files are
 * skipped; a class without pictures is an error that names it. IDX files may hold any type: whole
 * numbers of 0 to 255 stay, 0 to 1 are shares of white, all others are brought from their lowest
 * and highest value in the training file to 0 and 255. Owned by c. */
HEED_API heed_images *heed_images_open(heed_ctx *c, const char *path, const heed_images_args *a);
HEED_API void heed_images_close(heed_images *k);

typedef struct {
    const char *kind; /* "folder", "idx", "cifar-10", "cifar-100", "csv" */
    int classes;
    const char *const *labels;
    size_t count[HEED_PARTS];
    heed_image_transform view;
    int low_width, high_width, low_height, high_height; /* of the pictures as they are stored */
    size_t bad;                                         /* skipped */
    uint64_t checksum; /* of all pictures and labels of the training and validation parts */
    size_t overlap[HEED_PARTS]; /* validation, test: pictures that stand in the training part, too,
                                   equal in every byte */
} heed_images_info;
HEED_API const heed_images_info *heed_images_about(const heed_images *k);
/* The i-th picture that was skipped, and why. */
HEED_API bool heed_images_bad(const heed_images *k, size_t i, const char **path, const char **why);
/* The first picture of validation or test that stands in the training part, too, and where: false
 * where there is none (overlap counts them all). */
typedef struct {
    heed_part part;
    size_t index, trained; /* in its part, and in the training part */
} heed_duplicate;
HEED_API bool heed_images_duplicate(const heed_images *k, heed_duplicate *out);
/* Of a part, and a class of it; label -1: of all classes. */
HEED_API size_t heed_images_count(const heed_images *k, heed_part part, int label);
/* A picture of a part as it is stored (channels as the view's), its label, and a name to show:
 * its path, or "train 17". The picture is the caller's to free. */
HEED_API bool heed_images_get(heed_images *k, heed_part part, size_t index, heed_picture *out,
                              int *label, const char **name);

/* A batch: x (B, size size channels), labels (B); see heed_batch. Training pictures are shuffled
 * anew each epoch and augmented by (seed, epoch, index of the picture); evaluation goes through the
 * part that heed_images_set_eval_part chose (at first validation, else training: the test part
 * never chooses by itself), without augmentation: in order, or in a seeded order for a sample. */
HEED_API bool heed_image_batch(heed_images *k, heed_batch_at at, heed_batch *out);
HEED_API void heed_images_set_eval_part(heed_images *k, heed_part part);
/* Another augmentation than that of heed_images_args, which may depend on what was found there;
 * before the first batch. */
HEED_API void heed_images_augment(heed_images *k, const heed_augment *a);
HEED_API uint64_t heed_images_evals(const heed_images *k, int rows);
HEED_API uint64_t heed_images_epoch(const heed_images *k, int rows);
/* Seconds that heed_image_batch made its caller wait for pictures, in all. */
HEED_API double heed_images_waited(const heed_images *k);

#ifdef __cplusplus
}
#endif
#endif
