/* heed/captions.h -- pictures with captions: a batch holds pixels, and for each a caption. */
#ifndef HEED_CAPTIONS_H
#define HEED_CAPTIONS_H

#include <heed/image.h>
#include <heed/pairs.h>

HEED_EXPORT_BEGIN

/* Joins lines of captions (opened as HEED_TARGET_CAPTIONS, and encoded) with their pictures, whose
 * paths are relative to the folder of the file that names them. A picture may have any number of
 * captions, which are all in one part. Of a, labels, no_test and val_split do not apply. Pictures
 * that cannot be read are skipped with their captions, and counted; a part without any other is an
 * error. Mirroring (augment.flip) is refused where captions name a side, as left or right (sided of
 * heed_images_about). Owned by c; takes
 * ownership of pairs, also on failure. */
typedef struct heed_captions heed_captions;
heed_captions *heed_captions_open(heed_ctx *c, heed_pairs *pairs, const heed_images_args *a);
void heed_captions_close(heed_captions *k);

/* Evaluation reads the validation part; all pictures if none are kept for it. */
typedef struct {
    size_t pictures, captions, val_pictures, val_captions; /* read by training, and by evaluation */
    size_t fewest, most; /* captions of a picture that can be read */
    uint64_t checksum;   /* of pictures and captions */
} heed_captions_info;
const heed_captions_info *heed_captions_about(const heed_captions *k);
/* The pictures: sizes, channels, mean and deviation, those skipped, duplicates across the parts (a
 * picture of n captions counts n times). Their items are captions, their labels numbers of pairs.
 * Not to be closed. */
heed_images *heed_captions_images(const heed_captions *k);
/* The lines: counts of tokens and of captions that are too long. Not to be closed. */
const heed_pairs *heed_captions_pairs(const heed_captions *k);

/* The index-th picture of the validation (val) or training part, and how many captions it has. If
 * picture is not NULL, it gets a copy of the pixels as stored, which the caller frees. */
typedef struct {
    const char *path;
    size_t captions;
} heed_captioned;
bool heed_captions_get(heed_captions *k, bool val, size_t index, heed_captioned *out,
                       heed_picture *picture);
/* Its i-th caption, n bytes, not zero-terminated; NULL if there is none. */
const char *heed_captions_text(const heed_captions *k, bool val, size_t index, size_t i, size_t *n);

/* A batch: x (B, size size channels), ids (B,T) = [CLS] caption and their padding, labels (B,T) =
 * caption [SEP], -100 at padding; T is the longest of the batch; items counts the labels that are
 * not -100. Training reshuffles the captions each epoch and augments their pictures as
 * heed_image_batch does; evaluation reads the captions in order. */
bool heed_caption_batch(heed_captions *k, heed_batch_at at, heed_batch *out);
uint64_t heed_captions_eval_batches(const heed_captions *k, int rows);
uint64_t heed_captions_epoch_batches(const heed_captions *k, int rows);

HEED_EXPORT_END
#endif
