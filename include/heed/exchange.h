/* heed/exchange.h -- models in the folders of Hugging Face's transformers: config.json,
 * model.safetensors, the tokenizer, preprocessor_config.json. Tables in a heed_model describe its
 * published form; the functions below know no model by name. */
#ifndef HEED_EXCHANGE_H
#define HEED_EXCHANGE_H

#include <heed/fit.h>

HEED_EXPORT_BEGIN

/* ---- the published form of a model ---- */

/* A key of config.json. */
typedef struct {
    const char *key;      /* "hidden_size"; in an object: "rope_parameters.rope_theta" */
    const char *settings; /* settings that get its value: "width", "key-width value-width". NULL:
                             none, and the value must be `value` */
    const char *value;    /* the value if config.json does not have the key, as JSON: "768",
                             "\"gelu\"", or "null", which is 0 in a setting. NULL: another row sets
                             the setting, and an export does not write the key */
    const char *values;   /* pairs of the key's text and the setting's: "gelu=gelu
                             gelu_new=gelu-tanh"; an export writes the first that fits. NULL: both
                             have the same text */
    const char *rows;     /* a parameter whose number of rows is the value; an export writes it */
    int dim;              /* or its size in this dimension */
    bool repeats;         /* an earlier row gives the setting: the key is written, but not read */
} heed_hf_key;

/* How a tensor's values are stored. */
typedef enum {
    HEED_HF_SAME,
    HEED_HF_TRANSPOSED, /* (in,out) */
    HEED_HF_LEADING,    /* (1,rows,columns) */
    HEED_HF_PAIRED,     /* of queries and keys, the two columns of a head that rotary positions
                                  turn together are neighbours; here they are halves apart */
    HEED_HF_COPY        /* a copy of a tied tensor: an export does not store it, and an import
                              requires it to be equal. If the model has a parameter for one of
                              these copies, nothing is tied, and the other tensors are used */
} heed_hf_form;
typedef struct {
    const char *name;      /* the parameter: "encoder.#.attn.qkv.weight", where # is any number */
    const char *published; /* its tensor: "encoder.layer.#.output.dense.weight". Several, with
                          spaces between, are the named ranges of the parameter's rows */
    heed_hf_form form;
} heed_hf_tensor;

/* A published architecture, which a model is with certain settings. A list ends with {0}. */
typedef struct heed_hf_map {
    const char *type;           /* model_type of config.json: "bert" */
    const char *architectures;  /* classes, with spaces between; an export names the first */
    const char *settings;       /* required settings: "norm=post embed-norm=true" */
    const char *prefix;         /* "bert.": the names of tensors in a file may have it or not */
    const char *const *renames; /* pairs, ended by NULL: parts of names that a file may have, and
                                   those of the tables; or NULL */
    const char *ignored;  /* patterns of tensors that do not change the result (see heed_match) */
    const char *dropped;  /* of tensors that the model does not have: an import warns about them */
    const char *harmless; /* patterns of keys that do not change the result */
    const char *present;  /* "pooler=pooler.dense.weight": a setting that becomes true if a file has
                         the tensor; or NULL */
    bool vectors; /* modules.json of sentence-transformers gives `pool`, `unit`, `embed-tokens` */
    const char *angles; /* a tensor of the sines and cosines of rotary positions, which an export
                           computes; or NULL */
    const char *more;   /* keys that an export adds, as JSON; or NULL */
    const heed_hf_key *keys;       /* ended by {0} */
    const heed_hf_tensor *tensors; /* ended by {0} */
} heed_hf_map;

/* ---- import and export ---- */

/* Reads the folder of a published model as a run in memory, which heed_run_save writes: settings
 * and classes from config.json, weights from model.safetensors or the shards that
 * model.safetensors.index.json lists, in F32, F64, F16 or BF16, and, if they are there, the
 * tokenizer and preprocessor_config.json. A run of texts without a tokenizer reads ids. models
 * (ended by NULL): those whose tables are searched. HEED_DATA if a file is damaged; or if
 * config.json, a tensor or the preprocessor needs what the model does not have, which the error
 * names. */
heed_run *heed_import(heed_ctx *c, const char *dir, const heed_model *const *models);

/* Writes a run to a new or empty folder dir, or with `force` over the files of such a folder, which
 * transformers opens with the class that it names. HEED_USAGE if no published architecture has the
 * run's settings: the error names the first one that differs. */
bool heed_export(const heed_run *r, const char *dir, bool force);

/* Writes the forward pass of a run's model as an ONNX file of opset 17. The sizes of the batch and
 * of texts are open. Inputs are ids and mask (text), picture, source, mask and target (pairs), or
 * picture and target (captions), and hidden, the patches that a masked auto-encoder does not see.
 * Outputs are logits and, by path, the weights of each attention layer
 * ("encoder.0.attn.weights"). The parameters keep their names. cache: computes the next tokens of a
 * causal model, with the keys and values of the tokens before ("decoder.0.attn.k.past") as inputs
 * and those of all tokens ("decoder.0.attn.k") as outputs. HEED_USAGE if an op has no form in ONNX.
 */
bool heed_export_onnx(const heed_run *r, const char *path, bool cache);

/* True if the run was imported from an architecture without a head, which makes vectors only, and
 * has not been trained since: its head is then untrained. */
bool heed_import_is_headless(const heed_run *r);

/* Returns the vector of a text, model->code, as (1,k) on the run's tape, valid until its next
 * begin. A text that is too long is cut. NULL on error: HEED_USAGE for a model without a code of
 * texts, HEED_DATA for a text without tokens, unless the model adds [CLS]. */
const heed_tensor *heed_text_vector(heed_run *r, const char *text, size_t n);

HEED_EXPORT_END
#endif
