/* sets.h -- the data sets behind the kinds of data: texts, pairs of texts, pictures, and pictures
 * with captions; entities and BLEU, by which their answers are scored. */
#ifndef HEED_DATA_SETS_H
#define HEED_DATA_SETS_H

#include "tokenizer/reading.h"

#include <heed/kind.h>

/* ---- text files ---- */
typedef struct { /* of the text as heed_text_read returns it */
    size_t bytes, characters;
    size_t lines, empty, longest; /* lines, those of no bytes, bytes of the longest */
    size_t
        continued; /* lines that begin in lower case, as those of prose that is broken at a width */
    size_t returns; /* carriage returns in the file: they are line ends, or part of one */
} heed__text_facts;
/* Reads a text file of any size; false, with an error, as heed_text_read. */
bool heed__text_survey(heed_ctx *c, const char *path, heed__text_facts *out);

/* ---- corpora ---- */
typedef struct heed__corpus heed__corpus;
typedef enum { HEED_BLOCKS, HEED_LINES } heed__packing;
typedef struct {
    heed__packing packing; /* blocks: windows of a stream; lines: one line per row, padded; a line
                             longer than block is cut, a line without a token is skipped */
    bool bracket;          /* put [CLS] .. [SEP] around each line or block, for masked batches */
    int block; /* T, specials included; with lines, the longest line rounded up to a multiple of 8
                  if that is less */
    double val_split; /* share kept for validation; 0: none, evaluation uses the training text */
    /* validation = the end of the file; else a random, seeded choice among 100 contiguous pieces
     * (fewer if the text is short); with lines, pieces are complete lines */
    bool tail;
    const char *val_path; /* a separate validation file instead, or NULL */
    bool eval;   /* for evaluation only, over the entire text, which may be shorter than a row */
    bool census; /* also count lines and overlap, for which the files are read again */
    const char *cache; /* a run's folder, whose kept tokens are used if they are of this text, by
                          checksum, and of this tokenizer, by digest; or NULL */
    bool keep;         /* heed__corpus_keep may write to a run */
} heed__corpus_args;
/* Reads the text file at path as tokens of k, which must outlive the corpus. watch: the progress
 * that it is a part of, or NULL. Owned by c; heed__corpus_close frees it before. NULL on error:
 * HEED_USAGE for args out of range and for a tokenizer without the special tokens that they need;
 * HEED_DATA as for heed_text_read, and for a text that is too short. */
heed__corpus *heed__corpus_open(heed_ctx *c, const char *path, const heed_tokenizer *k,
                                heed__corpus_args a, heed__watch *watch);
void heed__corpus_close(heed__corpus *k);

typedef struct { /* training part; val_: validation part, 0 if there is none */
    size_t tokens, val_tokens, bytes, val_bytes;
    size_t unknown, val_unknown; /* tokens that are [UNK] */
    size_t cut_lines;            /* longer than the block (packing in lines) */
    uint64_t checksum;           /* of all text */
    size_t lines, val_lines;     /* with census: lines that are not blank */
    uint64_t kept;               /* bytes of the file that keeps the tokens in a run; 0: none */
    size_t overlap;       /* with census: validation lines that are also in the training part */
    size_t special_lines; /* with census: lines of both parts with the text of a special token,
                             "[SEP]", which is read as text */
} heed__corpus_info;
/* What the corpus holds; zeros for NULL. */
heed__corpus_info heed__corpus_about(const heed__corpus *k);

/* With `keep`, writes the tokens of a text of `least` bytes or more to tokens.bin in a run's
 * folder. The disk must have as much space left afterwards. Returns true if the run has them. A
 * failure is a warning, not an error. */
bool heed__corpus_keep(heed__corpus *k, const char *run, size_t least);

/* Causal: labels are the next tokens. Each epoch shuffles adjacent windows that begin at a random
 * offset, drawn per epoch: every start is equally likely, and an epoch reads every token once
 * (except at the ends of pieces). With lines, the lines are shuffled. Evaluation predicts every
 * token of the validation part once, except the first of each piece or line. A line is followed by
 * [SEP], or by a newline if the tokenizer has no [SEP]. */
bool heed__gpt_batch(heed__corpus *k, heed_batch_at at, heed_batch *out);
/* Masked: `share` (0.15) of the non-special positions of each row, at least one; of these 80 %
 * become [MASK], 10 % a random token, 10 % are kept; only they carry the loss. Devlin et al. 2019,
 * sec. 3.1. Training masks are drawn by the row's number within the step, so the result does not
 * depend on how micro-batches divide the step. Evaluation rows cover the validation part once;
 * their masks depend on the seed and the row. */
bool heed__mlm_batch(heed__corpus *k, heed_batch_at at, double share, heed_batch *out);
/* The number of evaluation batches of `rows`: of the validation part, or of all without one. */
uint64_t heed__corpus_eval_batches(const heed__corpus *k, int rows);
/* The number of training batches of `rows` in one epoch, at least 1. */
uint64_t heed__corpus_epoch_batches(const heed__corpus *k, int rows);

/* ---- pairs: lines of two texts ---- */

/* The rows of a file, read but not yet tokenized. Lines end with LF or CR LF. Every row has as many
 * fields as the first one. Rows of which one side is empty are left out and counted, and so are
 * empty lines; # does not start a comment; spaces around a field are removed, line ends and tabs
 * within one become spaces.
 * TSV and CSV (heed_csv; CSV by the extension .csv, and where the first line names known columns):
 * the columns are those of `columns`, or of the names in the first line, in any case: src source,
 * tgt target; text sentence, label class; tokens words, tags labels; image file file_name path
 * filename, caption text; or, if no other column has one of them, a name of a source (input from
 * document question prompt review comment tweet message content ...) and one of a target (output to
 * translation answer response category sentiment intent emotion topic ...), or two names of
 * languages (eng fra, en fr, English French). Without names, a TSV has source TAB target; a first
 * line that is unlike the others is an error that asks for `columns` or `header`. A number after
 * the file of a caption, as in dog.jpg#2, is removed. Beside captions, a column of parts (split
 * part set subset partition dataset) has train, val or test; the test part is left out, unless
 * `test` is set. JSONL (by the extension .jsonl or .json):
 * objects, whose keys are the names; tokens and tags are texts or lists of words; a label may also
 * be a whole number.
 * Tags are also read from CoNLL files, a line for each word and an empty line after a sentence, of
 * two or more columns between tabs or spaces: the word is the first, the label the last one; and
 * from CoNLL-U (.conllu, or ten columns that begin with an id): form and UPOS. `columns` chooses
 * others, by number or, in CoNLL-U, by name: "form,xpos". A file is CoNLL by its ending .conll, or
 * if each line has one word in its first column and empty lines are between sentences.
 * Errors name file and line. Owned by c. */
typedef struct heed__pairs heed__pairs;
typedef struct {
    heed_target_kind kind;
    double val_split;     /* a seeded choice of lines; lines with the same source stay together */
    const char *val_path; /* a separate validation file, or NULL */
    int block; /* the most tokens in a source, and in a target, [SEP] included; longer translations
                  and captions are left out of training and cut in evaluation, longer texts of
                  classes and tags are cut in both; all are counted. 0, for classes and tags: that
                  of the longest text, from 64 to 512 */
    const char *
        truncate; /* of classes and tags, what a text that is cut keeps: "head", "tail" or
                     "head+tail", half the block each; NULL: head. Valid until heed__pairs_encode */
    const char *const *labels; /* a run's, or NULL: from the data, in the order of their
                                  values if all are decimal numbers, otherwise bytewise */
    int label_count;
    const char *columns; /* "source,target" or "text,label": names of columns or keys, or numbers of
                            columns from 1; NULL or "": recognized by their names */
    const char *val_columns; /* those of val_path; NULL or "": the same */
    const char *header;      /* "yes": the first line names the columns; "no": it is data; "auto",
                                NULL: found out */
    bool test;               /* captions: evaluation reads the test part, if there is one */
    bool bracket;            /* labelled texts and tagged words: [CLS] before the source */
} heed__pairs_args;
heed__pairs *heed__pairs_open(heed_ctx *c, const char *path, const heed__pairs_args *a);
void heed__pairs_close(heed__pairs *k);

/* All sources, or all targets, of the training part, one per line: to train a tokenizer on. side: 0
 * source, 1 target, 2 both. The caller frees out with heed_text_free. */
bool heed__pairs_text(const heed__pairs *k, int side, heed_text *out);
/* Turns lines into tokens; call it before the first batch. target is equal to source for a shared
 * vocabulary, NULL for labels. The source of a caption is a file: source is NULL. */
bool heed__pairs_encode(heed__pairs *k, const heed_tokenizer *source, const heed_tokenizer *target);

/* Texts that are longer than the block; of all words of tags, or all tokens of other texts (units),
 * those that are not read. units and unread are 0 for translations and captions. */
typedef struct {
    size_t texts, unread, units;
} heed__pairs_cut;
typedef struct {
    size_t pairs, val_pairs;    /* read by training; by evaluation: all if none are kept for it */
    size_t val_rows, test_rows; /* of val_path, and those that a column of parts says */
    size_t blank, empty, left_out; /* empty: rows of which a side has no text */
    heed__pairs_cut cut, val_cut;  /* of all pairs, and of those that evaluation reads */
    size_t special_lines; /* with the text of a special token, "[SEP]", which is read as text */
    size_t extra_columns; /* lines with further columns, or keys */
    bool header, json;    /* a first line of column names was skipped; a file of JSON objects */
    const char *columns;  /* "text, label": the names in that line of the columns that are read */
    size_t overlap;       /* validation sources that are also in the training part */
    size_t unknown, tokens, target_unknown, target_tokens; /* of the training part */
    size_t val_target_unknown, val_target_tokens;          /* of the pairs not trained on */
    int longest, target_longest; /* most tokens in any source and target, uncut, [SEP] included: the
                                    block that leaves nothing out; 0 for targets that are labels */
    size_t untaught; /* validation texts, or words, whose label no text of the training part has */
    const char *untaught_label; /* the first such label */
    size_t conll;               /* columns of a CoNLL file of tags; 0: another file */
    int column[2];              /* of its words and of its labels, from 1 */
    int block;                  /* the argument, or what was chosen */
    bool per_word;              /* the labels are of words */
    int classes;
    const char *const *labels;
    uint64_t checksum;
} heed__pairs_info;
/* What the pairs hold. Owned by k; NULL for NULL. */
const heed__pairs_info *heed__pairs_about(const heed__pairs *k);
/* The number of labels of a class in the training part, once encoded; label -1: of all classes. */
size_t heed__pairs_count(const heed__pairs *k, int label);
/* As heed__images_balance: labels / (classes with a label x labels of the class). */
const heed_real *heed__pairs_balance(heed__pairs *k);
/* val: from the validation part. */
bool heed__pairs_get(const heed__pairs *k, bool val, size_t index, heed_pair *out);
/* Two pairs of one source with different targets, and their files. */
typedef struct {
    heed_pair pair[2];
    const char *path[2];
} heed__pairs_conflict;
/* Counts the sources, of both parts, that have different targets; fills the first `most` of out. 0
 * on error. */
size_t heed__pairs_conflicts(const heed__pairs *k, heed__pairs_conflict *out, size_t most);

/* How many targets of a part, once encoded, their tokens do not give back as they are written, as
 * where a tokenizer keeps no spaces or marks: no output equals these. 0 for labels. If there are
 * any, appends a sentence that says so to out, unless it is NULL. */
size_t heed__pairs_altered(const heed__pairs *k, bool val, heed_text *out);

/* A batch: src (B,S) and its padding, and for translation ids (B,T) = [CLS] target and their
 * padding, labels (B,T) = target [SEP], -100 at padding; for classes labels (B); for tags labels
 * (B,S), each at the first token of its word, else -100. Sources end with [SEP]. items counts the
 * labels that are not -100. Pairs of similar length are batched together: each epoch shuffles the
 * pairs, sorts each group of 64 batches (fewer if an epoch has fewer) by length and shuffles the
 * batches; S and T are the longest of the batch. The micro-batches of a step divide one batch of
 * the step, which is sorted as one up to 131072 rows. Evaluation reads the pairs in order. */
bool heed__pair_batch(heed__pairs *k, heed_batch_at at, heed_batch *out);
uint64_t heed__pairs_eval_batches(const heed__pairs *k, int rows);
uint64_t heed__pairs_epoch_batches(const heed__pairs *k, int rows);

/* ---- sets of pictures ---- */

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
    const char *header;  /* as in heed__pairs_args */
    bool strict;         /* a picture that cannot be decoded is an error, not skipped */
    int resize_to;       /* as in heed_image_transform */
    heed_filter filter;
    double mean[3]; /* deviation[0] 0: both are computed from the training part, over all bytes of
                       its stored pictures, in the view's channels */
    double deviation[3];
    heed_augment augment; /* for the training part */
    int workers;  /* threads that decode and augment ahead; 0: none. The results are the same */
    size_t cache; /* bytes of decoded pictures kept in memory; 0: 1 GB. Others are decoded again */
} heed__images_args;

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
heed_images *heed__images_open(heed_ctx *c, const char *path, const heed__images_args *a);
void heed__images_close(heed_images *k);

/* The first picture of the validation or test part that is also in the training part, and where;
 * false if there is none (overlap counts them all). */
typedef struct {
    heed_part part;
    size_t index, trained; /* in `part`, and in the training part */
} heed__duplicate;
bool heed__images_duplicate(const heed_images *k, heed__duplicate *out);
/* Two pictures with the same pixels in different classes. */
typedef struct {
    heed_part part[2];
    size_t index[2]; /* in its part */
} heed__images_conflict;
/* Counts the pictures, each once, that are in several classes, in any parts; fills the first `most`
 * of out. 0 on error. */
size_t heed__images_conflicts(const heed_images *k, heed__images_conflict *out, size_t most);
/* The number of pictures of a class in a part; label -1: of all classes. */
size_t heed__images_count(const heed_images *k, heed_part part, int label);
/* From now on, training batches have class weights by the inverse of the classes' frequency:
 * pictures / (classes with a picture x pictures of the class), in the training part, whose mean
 * over its pictures is 1. Returns them (classes), which k owns; 0 for a class without a picture.
 * NULL on error. */
const heed_real *heed__images_balance(heed_images *k);
/* A batch: x (B, size size channels), labels (B); see heed_batch. Training pictures are reshuffled
 * each epoch and augmented by (seed, epoch, index of the picture). Evaluation reads the part set by
 * heed_images_set_eval_part (by default validation, else training, never test) without
 * augmentation: in order, or in a seeded order for a sample. */
bool heed__image_batch(heed_images *k, heed_batch_at at, heed_batch *out);
/* Replaces the augmentation of heed__images_args, for example by one that depends on the data
 * found; call it before the first batch. */
void heed__images_augment(heed_images *k, const heed_augment *a);
uint64_t heed__images_eval_batches(const heed_images *k, int rows);
uint64_t heed__images_epoch_batches(const heed_images *k, int rows);

/* ---- pictures with captions ---- */

/* Joins lines of captions (opened as HEED_TARGET_CAPTIONS, and encoded) with their pictures, whose
 * paths are relative to the folder of the file that names them. A picture may have any number of
 * captions, which are all in one part. Of a, labels, no_test and val_split do not apply. Pictures
 * that cannot be read are skipped with their captions, and counted; a part without any other is an
 * error. Mirroring (augment.flip) is refused where captions name a side, as left or right (sided of
 * heed_images_about). Owned by c; takes
 * ownership of pairs, also on failure. */
typedef struct heed__captions heed__captions;
heed__captions *heed__captions_open(heed_ctx *c, heed__pairs *pairs, const heed__images_args *a);
void heed__captions_close(heed__captions *k);

/* Evaluation reads the validation part; all pictures if none are kept for it. */
typedef struct {
    size_t pictures, captions, val_pictures, val_captions; /* read by training, and by evaluation */
    size_t fewest, most; /* captions of a picture that can be read */
    uint64_t checksum;   /* of pictures and captions */
} heed__captions_info;
const heed__captions_info *heed__captions_about(const heed__captions *k);
/* The pictures: sizes, channels, mean and deviation, those skipped, duplicates across the parts (a
 * picture of n captions counts n times). Their items are captions, their labels numbers of pairs.
 * Not to be closed. */
heed_images *heed__captions_images(const heed__captions *k);
/* The lines: counts of tokens and of captions that are too long. Not to be closed. */
const heed__pairs *heed__captions_pairs(const heed__captions *k);

/* The index-th picture of the validation (val) or training part, and how many captions it has. If
 * picture is not NULL, it gets a copy of the pixels as stored, which the caller frees. */
typedef struct {
    const char *path;
    size_t captions;
} heed__captioned;
bool heed__captions_get(heed__captions *k, bool val, size_t index, heed__captioned *out,
                        heed_picture *picture);
/* Its i-th caption, n bytes, not zero-terminated; NULL if there is none. */
const char *heed__captions_text(const heed__captions *k, bool val, size_t index, size_t i,
                                size_t *n);

/* A batch: x (B, size size channels), ids (B,T) = [CLS] caption and their padding, labels (B,T) =
 * caption [SEP], -100 at padding; T is the longest of the batch; items counts the labels that are
 * not -100. Training reshuffles the captions each epoch and augments their pictures as
 * heed__image_batch does; evaluation reads the captions in order. */
bool heed__caption_batch(heed__captions *k, heed_batch_at at, heed_batch *out);
uint64_t heed__captions_eval_batches(const heed__captions *k, int rows);
uint64_t heed__captions_epoch_batches(const heed__captions *k, int rows);

/* ---- entities in the labels of words ---- */

/* Counts the entities of labels such as B-PER, I-PER and O, those predicted, and those of them that
 * are correct: same type, same first and last word. By default as seqeval's default mode and
 * conlleval do, which repair sequences that no scheme allows; strict: as seqeval's mode "strict",
 * by the scheme IOB2, or, if there are labels E- and S-, IOBES, or with L- and U-, BILOU. NULL if
 * the labels are not all O or of such names, or strict and of no scheme; on error, too: see c. */
typedef struct heed__entities heed__entities;
heed__entities *heed__entities_new(heed_ctx *c, const char *const *labels, int count, bool strict);
void heed__entities_free(heed__entities *e);
const char *heed__entities_scheme(const heed__entities *e); /* "IOB2"; NULL: not strict */
/* Adds the next word of a sentence, by the numbers of its labels; ends the sentence. */
void heed__entities_word(heed__entities *e, int gold, int predicted);
void heed__entities_end(heed__entities *e);
typedef struct {
    const char *type; /* "PER"; "_" of labels without one */
    size_t gold, predicted, correct;
} heed__entity_score;
/* The types that occur, sorted bytewise; valid until the next call. Precision is correct /
 * predicted, recall correct / gold, F1 their harmonic mean. */
const heed__entity_score *heed__entities_scores(heed__entities *e, size_t *count);

/* ---- BLEU ---- */

/* Counts the letters of a reference, and sets b->tokens to what suits those counted so far: if over
 * a third are of scripts without spaces between words, zh for Chinese and char for the others
 * (Japanese, Thai), otherwise 13a. For all references, before the first translation is added. */
void heed__bleu_read(heed_bleu *b, const char *reference, size_t n);
/* Adds the counts of a sentence; texts are UTF-8. False on error. */
bool heed__bleu_add(heed_ctx *c, heed_bleu *b, const char *hypothesis, const char *reference);
/* With several references (count): an n-gram counts as often as in the reference that has it most
 * often, and the reference closest in length counts for the brevity penalty (sec. 2.1.1 and 2.2.2).
 */
bool heed__bleu_add_best(heed_ctx *c, heed_bleu *b, const char *hypothesis,
                         const char *const *references, size_t count);
double heed__bleu_of(const heed_bleu *b); /* 0 to 100; 0 if nothing was added */

#endif
