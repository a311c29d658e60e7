/* heed/image.h -- pictures: decoding, resizing, augmentation, and those of a data set. */
#ifndef HEED_IMAGE_H
#define HEED_IMAGE_H

#include <heed/tensor.h>

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

/* ---- sets of pictures ---- */

#define HEED_UNLABELLED "unlabelled"

typedef enum { HEED_TRAIN_PART, HEED_VAL_PART, HEED_TEST_PART, HEED_PARTS } heed_part;

/* The pictures of an open data set, which owns them (see images of heed_data_kind). */
typedef struct heed_images heed_images;
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
/* A picture of a part as stored (but with the view's channels), its label, and a name to show: its
 * path, or "train 17". The caller frees the picture. */
bool heed_images_get(heed_images *k, heed_part part, size_t index, heed_picture *out, int *label,
                     const char **name);

/* Evaluation reads this part from now on; by default validation, else training. */
void heed_images_set_eval_part(heed_images *k, heed_part part);
/* Total seconds that batches waited for pictures. */
double heed_images_waited(const heed_images *k);

HEED_EXPORT_END
#endif
