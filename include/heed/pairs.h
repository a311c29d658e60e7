/* heed/pairs.h -- lines of two texts: source and target, text and class, tokens and labels, a
 * picture's file and its caption. */
#ifndef HEED_PAIRS_H
#define HEED_PAIRS_H

#include <heed/data.h>

HEED_EXPORT_BEGIN

typedef enum {
    HEED_TARGET_TEXT,    /* source TAB target: sequence to sequence */
    HEED_TARGET_CLASSES, /* label TAB text: one label per text */
    HEED_TARGET_TAGS,    /* words TAB labels, both separated by spaces, equally many: one label per
                            word */
    HEED_TARGET_CAPTIONS /* file TAB caption: a picture's file, which is not read here
                            (heed/captions.h) */
} heed_target_kind;

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
typedef struct heed_pairs heed_pairs;
typedef struct {
    heed_target_kind kind;
    double val_split;     /* a seeded choice of lines; lines with the same source stay together */
    const char *val_path; /* a separate validation file, or NULL */
    int block; /* the most tokens in a source, and in a target, [SEP] included; longer translations
                  and captions are left out of training and cut in evaluation, longer texts of
                  classes and tags are cut in both; all are counted. 0, for classes and tags: that
                  of the longest text, from 64 to 512 */
    const char
        *truncate; /* of classes and tags, what a text that is cut keeps: "head", "tail" or
                      "head+tail", half the block each; NULL: head. Valid until heed_pairs_encode */
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
} heed_pairs_args;
heed_pairs *heed_pairs_open(heed_ctx *c, const char *path, const heed_pairs_args *a);
void heed_pairs_close(heed_pairs *k);

/* All sources, or all targets, of the training part, one per line: to train a tokenizer on. side: 0
 * source, 1 target, 2 both. The caller frees out with heed_text_free. */
bool heed_pairs_text(const heed_pairs *k, int side, heed_text *out);
/* Turns lines into tokens; call it before the first batch. target is equal to source for a shared
 * vocabulary, NULL for labels. The source of a caption is a file: source is NULL. */
bool heed_pairs_encode(heed_pairs *k, const heed_tokenizer *source, const heed_tokenizer *target);

/* Texts that are longer than the block; of all words of tags, or all tokens of other texts (units),
 * those that are not read. units and unread are 0 for translations and captions. */
typedef struct {
    size_t texts, unread, units;
} heed_pairs_cut;
typedef struct {
    size_t pairs, val_pairs;    /* read by training; by evaluation: all if none are kept for it */
    size_t val_rows, test_rows; /* of val_path, and those that a column of parts says */
    size_t blank, empty, left_out; /* empty: rows of which a side has no text */
    heed_pairs_cut cut, val_cut;   /* of all pairs, and of those that evaluation reads */
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
} heed_pairs_info;
/* What the pairs hold. Owned by k; NULL for NULL. */
const heed_pairs_info *heed_pairs_about(const heed_pairs *k);
/* The number of labels of a class in the training part, once encoded; label -1: of all classes. */
size_t heed_pairs_count(const heed_pairs *k, int label);
/* As heed_images_balance: labels / (classes with a label x labels of the class). */
const heed_real *heed_pairs_balance(heed_pairs *k);
/* A pair as text: line number, both sides, and in a TSV the first further column, if any (not
 * zero-terminated). val: from the validation part. */
typedef struct {
    size_t line, source_n, target_n, note_n;
    const char *source, *target, *note;
} heed_pair;
bool heed_pairs_get(const heed_pairs *k, bool val, size_t index, heed_pair *out);
/* Two pairs of one source with different targets, and their files. */
typedef struct {
    heed_pair pair[2];
    const char *path[2];
} heed_pairs_conflict;
/* Counts the sources, of both parts, that have different targets; fills the first `most` of out. 0
 * on error. */
size_t heed_pairs_conflicts(const heed_pairs *k, heed_pairs_conflict *out, size_t most);

/* How many targets of a part, once encoded, their tokens do not give back as they are written, as
 * where a tokenizer keeps no spaces or marks: no output equals these. 0 for labels. If there are
 * any, appends a sentence that says so to out, unless it is NULL. */
size_t heed_pairs_altered(const heed_pairs *k, bool val, heed_text *out);

/* A batch: src (B,S) and its padding, and for translation ids (B,T) = [CLS] target and their
 * padding, labels (B,T) = target [SEP], -100 at padding; for classes labels (B); for tags labels
 * (B,S), each at the first token of its word, else -100. Sources end with [SEP]. items counts the
 * labels that are not -100. Pairs of similar length are batched together: each epoch shuffles the
 * pairs, sorts each group of 64 batches (fewer if an epoch has fewer) by length and shuffles the
 * batches; S and T are the longest of the batch. The micro-batches of a step divide one batch of
 * the step, which is sorted as one up to 131072 rows. Evaluation reads the pairs in order. */
bool heed_pair_batch(heed_pairs *k, heed_batch_at at, heed_batch *out);
uint64_t heed_pairs_eval_batches(const heed_pairs *k, int rows);
uint64_t heed_pairs_epoch_batches(const heed_pairs *k, int rows);

/* ---- entities in the labels of words ---- */

/* Counts the entities of labels such as B-PER, I-PER and O, those predicted, and those of them that
 * are correct: same type, same first and last word. By default as seqeval's default mode and
 * conlleval do, which repair sequences that no scheme allows; strict: as seqeval's mode "strict",
 * by the scheme IOB2, or, if there are labels E- and S-, IOBES, or with L- and U-, BILOU. NULL if
 * the labels are not all O or of such names, or strict and of no scheme; on error, too: see c. */
typedef struct heed_entities heed_entities;
heed_entities *heed_entities_new(heed_ctx *c, const char *const *labels, int count, bool strict);
void heed_entities_free(heed_entities *e);
const char *heed_entities_scheme(const heed_entities *e); /* "IOB2"; NULL: not strict */
/* Adds the next word of a sentence, by the numbers of its labels; ends the sentence. */
void heed_entities_word(heed_entities *e, int gold, int predicted);
void heed_entities_end(heed_entities *e);
typedef struct {
    const char *type; /* "PER"; "_" of labels without one */
    size_t gold, predicted, correct;
} heed_entity_score;
/* The types that occur, sorted bytewise; valid until the next call. Precision is correct /
 * predicted, recall correct / gold, F1 their harmonic mean. */
const heed_entity_score *heed_entities_scores(heed_entities *e, size_t *count);

/* ---- how good translations are ---- */

/* How BLEU divides texts, as `--tokenize` of sacreBLEU 2.6 names it: words and marks (13a); the
 * same with every Chinese character and sign a token (zh); every character a token (char). */
typedef enum { HEED_BLEU_13A, HEED_BLEU_ZH, HEED_BLEU_CHAR } heed_bleu_tokens;

/* Corpus BLEU of Papineni et al. 2002 as sacreBLEU counts it: n-grams up to 4, exponential
 * smoothing of zero counts only, brevity penalty. Counts are summed over sentences. Zero-initialise
 * it, which means HEED_BLEU_13A. */
typedef struct {
    heed_bleu_tokens tokens;
    size_t match[4], total[4], length, reference;
    size_t longest; /* tokens of the longest sentence on either side: under 4, BLEU is always 0 */
    size_t spaced, chinese, unspaced; /* letters that heed_bleu_read has counted */
} heed_bleu;
/* Counts the letters of a reference, and sets b->tokens to what suits those counted so far: if over
 * a third are of scripts without spaces between words, zh for Chinese and char for the others
 * (Japanese, Thai), otherwise 13a. For all references, before the first translation is added. */
void heed_bleu_read(heed_bleu *b, const char *reference, size_t n);
/* Adds the counts of a sentence; texts are UTF-8. False on error. */
bool heed_bleu_add(heed_ctx *c, heed_bleu *b, const char *hypothesis, const char *reference);
/* With several references (count): an n-gram counts as often as in the reference that has it most
 * often, and the reference closest in length counts for the brevity penalty (sec. 2.1.1 and 2.2.2).
 */
bool heed_bleu_add_best(heed_ctx *c, heed_bleu *b, const char *hypothesis,
                        const char *const *references, size_t count);
double heed_bleu_of(const heed_bleu *b); /* 0 to 100; 0 if nothing was added */

HEED_EXPORT_END
#endif
