/* heed/inspect.h -- numbers about a model and an input: what it attends to, and whether that
 * matters. */
#ifndef HEED_INSPECT_H
#define HEED_INSPECT_H

#include <heed/fit.h>
#include <heed/record.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- one input of a run ---- */

/* A prediction of the model on an input: row `row` of its logits, which is about a position of an
 * axis. */
typedef struct {
    int axis, query, row; /* query -1: about the whole input */
    char says[32];        /* what is predicted there: "token 5", "the class", "[MASK]" */
} heed_question;

/* One input of a run, ready to be passed through its model, with the axes of its record and the
 * predictions that the model makes on it. A copy of the struct whose ids or x point to other
 * numbers, as many, is another input with the same axes: occlusion passes those. */
enum { HEED_INSPECTION_AXES = 3 };
typedef struct {
    heed_run *run;        /* must outlive it */
    heed_example example; /* what was read */
    char *title;          /* the input in a line; of a pair "source -> target" */
    int axis_count;
    /* "text", "picture" or "input"; of a pair "source", "target" and "target input", which is what
     * the decoder reads. None for a model of pictures without a grid of patches. */
    heed_record_axis axes[HEED_INSPECTION_AXES];
    char **labels; /* of an axis that the example has none for, and which of them are special */
    unsigned char *special;
    int question_count; /* as model->answers says: of HEED_ANSWER_MASKED one for each [MASK] */
    heed_question *questions;
    int count; /* tokens of the text, or of the source */
    int32_t *ids;
    int target_count; /* of a pair: the target, and the same shifted right behind [CLS] */
    int32_t *target, *read;
    heed_real *x; /* pixels (1,size,size,channels), or numbers (1,T) or (1,T,d) */
    int dims, shape[HEED_DIMS];
} heed_inspection;

/* Takes over an example that was read by heed_run_reader, which is left empty; title: the text, or
 * the name of the picture. False: see the context. Freed by heed_inspection_free in any case, as
 * after the functions below. */
HEED_API bool heed_inspection_open(heed_inspection *s, heed_run *r, heed_example *example,
                                   const char *title);
/* A text of n bytes, or a source with its target: a text, or for NULL what the model makes of it,
 * the most probable token each time. */
HEED_API bool heed_inspection_text(heed_inspection *s, heed_run *r, const char *text, size_t n,
                                   const char *target);
/* Tokens of a text that are known already. */
HEED_API bool heed_inspection_tokens(heed_inspection *s, heed_run *r, const int32_t *ids,
                                     int count);
/* A picture, which is brought to the channels of the run if they agree or convert says so. name:
 * to show. */
HEED_API bool heed_inspection_picture(heed_inspection *s, heed_run *r, heed_picture *p,
                                      const char *name, bool convert);
/* Numbers (1,T) or (1,T,d), copied, of a model of HEED_INPUT_DENSE: positions are labelled 1 to T.
 */
HEED_API bool heed_inspection_numbers(heed_inspection *s, heed_run *r, const heed_real *x, int dims,
                                      const int *shape, const char *title);
HEED_API void heed_inspection_free(heed_inspection *s);
/* Passes it through its model on a tape that has begun: logits (rows, classes or tokens), with a
 * row for each question at its `row`. NULL: see the context. */
HEED_API heed_tensor *heed_inspection_logits(const heed_inspection *s, heed_tape *t);
/* The class or token that a question is about: of a pair the target's own token, else the most
 * probable one by the logits y. */
HEED_API int heed_inspection_class(const heed_inspection *s, const heed_question *q,
                                   const heed_tensor *y);
/* The name of an output of the run's model: a token's text, or the name of a class. number: memory
 * for the text of a class without a name. */
HEED_API const char *heed_class_label(const heed_run *r, int class_index, char number[16]);

/* ---- what a model attends to ---- */

/* The attention layers of a run as blocks without arrays, in the model's order; their queries and
 * keys are axes of an example of it. To be freed by free(). A layer of fixed weights (attending's
 * `fixed`) is none. NULL, and HEED_USAGE, for a model without attention. */
HEED_API heed_record_block *heed_attention_layers(const heed_run *r, int *count);

/* What a record keeps. Zeros: everything. Layers and heads are numbered from 0, layers within each
 * stack. */
typedef struct {
    int layer_count, head_count;
    const int *layers, *heads;
    const heed_stack *stack; /* this stack alone */
    bool lean;               /* the weights alone: no q, k, v, raw, scores */
    int top;                 /* guesses of each prediction; 0: 5, at most 1000 */
    double most;             /* bytes that the record may take; 0: 256 MB, negative: any number */
} heed_capture_args;
/* Passes s through its model in eval mode, on the run's tape, and records what it attended to and
 * answered. args NULL: everything. To be freed by heed_record_free; NULL: see the context. */
HEED_API heed_record *heed_capture(const heed_inspection *s, const heed_capture_args *args);
/* The same in parts, for a pass on a tape of the caller's own: heed_capture_probe before the tape
 * begins, heed_capture_read after y = heed_inspection_logits on it. */
HEED_API void heed_capture_probe(const heed_inspection *s, const heed_capture_args *args,
                                 heed_tape *t);
HEED_API heed_record *heed_capture_read(const heed_inspection *s, const heed_capture_args *args,
                                        const heed_tape *t, const heed_tensor *y);

/* ---- what attention adds up to ---- */

/* Attention of several layers, followed back to the input. */
typedef struct {
    int layers, heads, tokens;
    const heed_real *const *weights; /* (layers) of (heads,T,T), the first layer first */
    bool max;       /* heads are fused by their largest weight, and rows brought back to a sum of 1;
                       else by their mean */
    double discard; /* share of each row's weights that is dropped, the weakest first, before the
                       rest is brought back to a sum of 1; in [0, 1) */
} heed_rollout_args;
/* Attention rollout: R = A'_L ... A'_1 (T,T) into out, where A'_l = (A_l + I) / 2 and A_l is layer
 * l's attention with its heads fused. Row t tells how much of token t after the last layer comes
 * from each token of the input, as if a token were a mixture of the tokens that it attends to and,
 * by the residual connection, of itself: what values and feed-forward networks do is not seen.
 * Rows sum to 1; a row that attends to nothing is itself. For a picture without [CLS] take the mean
 * of the rows. In a causal model products of triangles leave ever more to token 0, whatever it
 * means. In double; HEED_USAGE for sizes that are none. Abnar & Zuidema 2020, sec. 4. */
HEED_API bool heed_rollout(heed_ctx *c, const heed_rollout_args *a, heed_real *out);

/* ---- maps beside the attention: does it matter? ---- */

/* Is told of progress; false stops the analysis with HEED_INTERRUPTED. */
typedef bool (*heed_progress)(void *user, uint64_t done, uint64_t all);

typedef struct {
    bool max;       /* heads are fused by their largest weight; else by their mean */
    double discard; /* share of each row's weakest weights that is dropped, in [0, 1) */
} heed_rollout_add_args;
/* Adds the map "rollout" to the record of s: heed_rollout of all layers of self-attention over the
 * first axis, of all heads, whatever the record holds; of a pair that of its encoder. args NULL:
 * zeros. HEED_USAGE where there is no such attention. */
HEED_API bool heed_rollout_add(const heed_inspection *s, const heed_rollout_add_args *args,
                               heed_record *record);

typedef struct {
    int window; /* pictures: side, in patches, of the square that is hidden at a time; 0: 1 */
    heed_progress progress; /* or NULL */
    void *user;
} heed_occlusion_args;
/* Adds the map "occlusion": the probability of what the model says at each of its questions, minus
 * the same where a token of the input is [MASK] (a model of masks), else [UNK], or a patch has the
 * mean colour, or a position's numbers are 0; and "occlusion, log-odds", the same of ln p / (1 -
 * p); both of the value itself where the model has one output. What is positive speaks for the
 * prediction. What is said of the whole input is in all rows. Of a pair the rows are the target's
 * tokens. args NULL: zeros. Zeiler & Fergus 2014, sec. 4.2. */
HEED_API bool heed_occlusion_add(const heed_inspection *s, const heed_occlusion_args *args,
                                 heed_record *record);
/* Patches of a picture, numbered row by row, become 0 in x, a copy of s->x: the mean colour. */
HEED_API void heed_hide_patches(const heed_inspection *s, heed_real *x, const int *patches,
                                int count);

typedef struct {
    int question; /* whose maps of single layers are added, too; negative: the last */
    bool only;    /* that question's row alone: one backward pass instead of one a question */
    bool by_head; /* these maps are of each head; else summed over a layer's heads */
    heed_progress progress; /* or NULL */
    void *user;
} heed_gradient_args;
/* Adds the map "gradient": attention times the gradient of the logit y of a question's class,
 * G_l = sum over heads of (A_l x dy/dA_l)+ by layer. Over all layers, R = (I + G_L) .. (I + G_1)
 * minus the I that is the token itself: row q of the question at q. Chefer et al. 2021, "Generic
 * attention-model explainability", eqs. 5 and 6. Of a pair the same over source and target as one
 * sequence, in which the encoder's layers mix the source, the decoder's own the target, and the
 * cross layers bring one to the other: "gradient" is its part over the source, "gradient, target"
 * that over what the decoder read. Gradients of some parameters change: not for use between
 * heed_backward and heed_step of a training. */
HEED_API bool heed_gradient_add(const heed_inspection *s, const heed_gradient_args *args,
                                heed_record *record);

/* ---- influence: how far each place of the output moves with each place of the input ---- */

typedef struct {
    int draws;              /* random directions of y_t; 0: exact where that takes at most
                               HEED_INFLUENCE_EXACT directions, else HEED_INFLUENCE_DRAWS */
    bool exact;             /* exact, however long it takes */
    heed_progress progress; /* or NULL */
    void *user;
} heed_influence_args;
enum { HEED_INFLUENCE_EXACT = 4096, HEED_INFLUENCE_DRAWS = 16 };
/* A record with the map "influence": the Frobenius norm of d y_t / d x_s, a row for each place t of
 * the output and a column for each place s of the input. y_t is what the output layer reads at t
 * (before the mean, or the choice of [CLS], that makes one vector of it); x_s the embedding of
 * token or patch s, as model->embedding names it; without one the input itself, of a picture the
 * pixels that lie under a cell of its last feature map. An estimate's squares are unbiased: E |u'
 * J|^2 = |J|_F^2 for u of independent signs. Hutchinson 1990. The map's help says which it is. To
 * be freed by heed_record_free; NULL: see the context. */
HEED_API heed_record *heed_influence(const heed_inspection *s, const heed_influence_args *args);

/* ---- many inputs: evaluation data, batch by batch ---- */

/* What heads and ablation are measured on. Zeros and NULL: absent. */
typedef struct {
    heed_run *run;
    void *data;       /* for model->batch: a heed_corpus, heed_images, heed_pairs, or the model's */
    int rows;         /* items of a batch */
    uint64_t batches; /* that are read, from the first on: heed_model_eval_batches gives all */
    bool sample;      /* in a seeded order, so that the first batches are a fair sample of all */
    const char *what; /* names the data in errors */
    /* Instead of data: passes the caller's batch `index` through the model in eval mode, on the
     * run's tape, and adds to score; b is what it was made of, until the next. */
    bool (*batch)(void *user, uint64_t index, heed_batch *b, heed_score *score);
    void *user;
    heed_progress progress; /* of an analysis that reads the data; or NULL */
    void *progress_user;
} heed_evaluation;
/* Passes a batch through the model in eval mode, on the run's tape, and adds loss and metrics to
 * score. b: what it was made of, until the next. False: see the context. */
HEED_API bool heed_evaluation_batch(const heed_evaluation *e, uint64_t index, heed_batch *b,
                                    heed_score *score);

/* Several numbers: their mean, and its 95 % interval by Student's t, mean +- half. */
typedef struct {
    int count;         /* of finite numbers: others are left out */
    double mean, half; /* NAN: of none; of one number there is no interval */
} heed_estimate;
HEED_API heed_estimate heed_estimate_mean(const double *x, int n);

/* ---- what attention heads do ---- */

/* Clark et al. 2019, sec. 3; Dosovitskiy et al. 2021, fig. 7; Olsson et al. 2022. */
typedef enum {
    HEED_HEAD_ENTROPY,   /* -sum w ln w of a row of weights, in nats */
    HEED_HEAD_DISTANCE,  /* sum w |query - key|; pictures: between the middles of patches */
    HEED_HEAD_FIRST,     /* shares of a row: on the first position, */
    HEED_HEAD_SELF,      /* on the query's own, */
    HEED_HEAD_PREVIOUS,  /* the one before it, */
    HEED_HEAD_NEXT,      /* the one after it, */
    HEED_HEAD_SAME,      /* on other positions with the query's token, */
    HEED_HEAD_SPECIAL,   /* on [CLS] and [SEP] */
    HEED_HEAD_DIAGONAL,  /* cross attention: |peak - query (keys - 1) / (queries - 1)|, in tokens */
    HEED_HEAD_INDUCTION, /* models of next tokens: on the token after an earlier place of the
                            query's, where random tokens repeat: "prefix matching" */
    HEED_HEAD_MEASURES
} heed_head_measure;
HEED_API const char *heed_head_measure_name(heed_head_measure m); /* "entropy" */
HEED_API const char *heed_head_measure_help(heed_head_measure m); /* a line */

/* Sums over rows of weights, and how many rows each measure has counted. */
typedef struct {
    double sum[HEED_HEAD_MEASURES], rows[HEED_HEAD_MEASURES];
} heed_head_sums;
HEED_API double heed_head_mean(const heed_head_sums *s, heed_head_measure m); /* NAN: none */

typedef struct {
    int layer_count;
    heed_record_block *layers; /* as of heed_attention_layers */
    int *first;                /* (layer_count) index of each layer's head 0 in heads */
    int head_count;            /* of all layers */
    heed_head_sums *heads;
    heed_head_sums uniform[3]; /* by stack: of a head that weighs all keys alike */
} heed_head_table;
/* Means over the queries of all batches, padding left out. False: see the context. Freed by
 * heed_heads_free in any case. */
HEED_API bool heed_heads(const heed_evaluation *e, heed_head_table *out);
HEED_API void heed_heads_free(heed_head_table *h);
/* Whether any head has the measure. */
HEED_API bool heed_heads_have(const heed_head_table *h, heed_head_measure m);

/* ---- what is lost without a head ---- */

/* A head that is off: its parameters as they were, or the run whose attention is averaged. */
typedef struct {
    struct {
        heed_tensor *tensor;
        size_t from, count; /* elements of it that were set to zero */
        heed_real *saved;
    } part[2];
    int parts;
    const heed_run *averaged;
} heed_head_backup;
/* Switches a head of a layer off. The rows of PATH.qkv, or PATH.kv of cross attention, that are its
 * values become zero, so that it gives zeros to W_h: the mask of Michel et al. 2019, sec. 2.3,
 * without W_h. A model with `average` weighs all keys alike instead. HEED_USAGE for a layer that
 * has neither. heed_head_on in any case. */
HEED_API bool heed_head_off(const heed_run *r, const heed_record_block *layer, int head,
                            heed_head_backup *out);
/* Puts the parameters back, bit by bit. */
HEED_API void heed_head_on(heed_head_backup *b);

typedef struct {
    int layer, head;       /* layer: index in the ablation's */
    double loss, accuracy; /* without the head; NAN: there is no accuracy */
    heed_estimate harm;    /* loss without the head minus loss with it, over batches */
} heed_ablated_head;
typedef struct {
    int layer_count;
    heed_record_block *layers;
    double loss, accuracy; /* of the model as it is */
    int head_count;
    heed_ablated_head *heads; /* the most harm first */
} heed_ablation;
/* Reads the data once as the model is, and once without each head in turn. Michel et al. 2019,
 * sec. 3.2. False: see the context. Freed by heed_ablation_free in any case. */
HEED_API bool heed_ablate(const heed_evaluation *e, heed_ablation *out);
HEED_API void heed_ablation_free(heed_ablation *a);

/* ---- whether patches that a measure puts first matter ---- */

typedef enum {
    HEED_PATCHES_ATTENTION, /* of the last layer, the mean of its heads, and so on: the row of
                               [CLS]; without [CLS] the mean of all rows */
    HEED_PATCHES_ROLLOUT,
    HEED_PATCHES_GRADIENT,
    HEED_PATCHES_OCCLUSION,
    HEED_PATCHES_RANDOM, /* the mean of ten draws */
    HEED_PATCH_MEASURES
} heed_patch_measure;
HEED_API const char *heed_patch_measure_name(heed_patch_measure m); /* "attention" */

typedef struct {
    heed_images *images;
    heed_part part;
    int pictures; /* how many, a seeded choice; 0: 100 */
    double share; /* of the patches that is hidden, in [0, 1]; at least one is */
    heed_progress progress;
    void *user;
} heed_patch_ablation_args;
typedef struct {
    int pictures, patches, hidden; /* patches of a picture, and how many of them are hidden */
    double p, correct; /* of the answers on whole pictures: mean probability, share correct */
    struct {
        heed_estimate fall; /* of the answer's probability */
        heed_estimate more; /* fall minus that of random patches, picture by picture */
        double kept;        /* share of pictures whose answer stays */
    } by[HEED_PATCH_MEASURES];
} heed_patch_ablation;
/* Hides the patches that each measure puts first and asks the model again. HEED_USAGE for a model
 * without a grid of patches. Samek et al. 2017, sec. III. */
HEED_API bool heed_ablate_patches(heed_run *r, const heed_patch_ablation_args *args,
                                  heed_patch_ablation *out);

/* ---- what a classifier takes for what ---- */

/* What is predicted of one thing whose label is known. */
typedef struct {
    int label, predicted;
    int rank; /* classes besides the label that are at least as probable as it: 0 is correct */
    double p, loss; /* of what was predicted; -log p of the label */
} heed_prediction;
/* From a row of logits (classes); the lowest index wins a tie. 0 <= label < classes. */
HEED_API heed_prediction heed_prediction_of(const heed_real *logits, int classes, int label);
/* How often each class was predicted for each: counts (classes,classes), rows by label, columns by
 * prediction. The caller's to free(). NULL: no memory. */
HEED_API size_t *heed_confusion(heed_ctx *c, const heed_prediction *list, size_t count,
                                int classes);
/* A class of such a table. */
typedef struct {
    size_t count, predicted, correct; /* things of it; times it was predicted, and correctly */
    double recall, precision;         /* correct / count, correct / predicted; NAN: of nothing */
} heed_class_score;
HEED_API heed_class_score heed_confusion_class(const size_t *confusion, int classes, int label);

/* ---- snapshots: attention on fixed inputs while a model learns ---- */

enum { HEED_SNAPSHOT_ITEMS = 8 };
typedef struct {
    const char *run;   /* the training's folder, which gets snapshots/ITEM-STEP.npz */
    int64_t count;     /* snapshots, spread evenly from the first step to the last; at least 1 */
    int items;         /* inputs: the first of the validation part; 0: 1 */
    const char *input; /* instead a text, "SOURCE <tab> TARGET" or a picture's path; or NULL */
} heed_snapshots_args;
typedef struct heed_snapshots heed_snapshots;
/* Reads the inputs of a training that is to come, of model m on d by the settings f, before
 * anything of its run is written. Each snapshot is a pass in eval mode on a tape of its own, so
 * that the training has the same bits with and without. m, d and f must outlive it. NULL: see d's
 * context. */
HEED_API heed_snapshots *heed_snapshots_open(const heed_model *m, const heed_data *d,
                                             heed_config *f, const heed_snapshots_args *a);
HEED_API void heed_snapshots_close(heed_snapshots *s);
/* To be called with every report of heed_fit. A file that cannot be written is a warning. NULL:
 * nothing. */
HEED_API void heed_snapshots_report(heed_snapshots *s, const heed_report *r);
/* Calls each with the files of an item from 1, or of all (0), of a run in order of their names,
 * until it gives false. None is no error. */
typedef bool (*heed_snapshot_file)(void *user, const char *path, int64_t step);
HEED_API bool heed_snapshots_list(heed_ctx *c, const char *run, int item, heed_snapshot_file each,
                                  void *user);

/* ---- where the attention of a target to its source peaks ---- */

/* Layer number `layer`, from 0, of those that attend from the target to the source; the weights of
 * one fixed context for all are such a layer, too. False: the run has no such layer. */
HEED_API bool heed_cross_layer(const heed_run *r, int layer, heed_attending *out);

/* The tokens of the source at which a token of the target should look. */
typedef struct {
    int first, last; /* last < first: none is right; first -1: the token is not counted */
} heed_peak_range;
/* Token t of the target at token t of the source, [SEP] left out, or reversed at the t-th from its
 * end, and at `within` tokens on either side. out (target_count); its last is for the [SEP]. */
HEED_API void heed_peaks_diagonal(const heed_inspection *s, int within, bool reversed,
                                  heed_peak_range *out);
/* Fields of the target, its runs of letters and digits, at the places of the source that the third
 * column of the pair gives in their order: "9-13 0-5", bytes, the end not counted. HEED_DATA where
 * it has none. */
HEED_API bool heed_peaks_fields(const heed_inspection *s, const heed_pair *pair,
                                heed_peak_range *out);

typedef struct {
    int layers, heads; /* that attend to the source, and heads of each */
    size_t count;      /* tokens of targets that were counted */
    size_t *correct;   /* (layers, heads): of these, whose largest weight is in its range */
} heed_peaks;
HEED_API bool heed_peaks_open(heed_run *r, heed_peaks *out);
HEED_API void heed_peaks_free(heed_peaks *p);
/* Adds a pair. right: (target_count) a range for each token of the target. */
HEED_API bool heed_peaks_add(heed_peaks *p, const heed_inspection *s, const heed_peak_range *right);

#ifdef __cplusplus
}
#endif
#endif
