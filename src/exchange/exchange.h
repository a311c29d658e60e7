/* exchange.h -- shared by the files of this folder: keys and tensors of a published model. */
#ifndef HEED_EXCHANGE_INTERNAL_H
#define HEED_EXCHANGE_INTERNAL_H

#include "io/io.h"

#include <heed/exchange.h>

/* ---- keys.c: config.json and settings ---- */

/* A word of a list with spaces between; false at the end. */
enum { HEED__WORD_SIZE = 200 };
bool heed__list_word(const char **list, char word[HEED__WORD_SIZE]);
/* Whether one of the patterns of such a list matches. */
bool heed__matches_any(const char *patterns, const char *text);
/* A value quoted for a message; "nothing" if v is NULL. Returns out. */
const char *heed__json_quote(char out[HEED_QUOTE], const json_t *v);
/* Whether config.json has null by default, which is 0 in the setting. */
bool heed__key_null(const heed_published_key *k);
/* Sets what config.json gives of p's keys in f, and checks all others. path: of config.json. */
bool heed__keys_read(heed_ctx *c, const heed_published *p, const json_t *config, const char *path,
                     heed_config *f);
/* The settings and keys of a run as config.json. NULL: p cannot have them, see the error. */
json_t *heed__keys_write(const heed_run *r, const heed_published *p);
/* The run as hints name it. */
static inline const char *heed__export_source(const heed_run *r) {
    return *r->dir ? r->dir : "RUN";
}
/* Whether f has all settings that p requires. Unless `expected` is NULL, appends those that differ
 * to it, as p requires them, and to `found`, as they are: " `norm = post` `bracket = true`"; and to
 * `flags`, as p requires them: " --norm post --bracket". */
bool heed__keys_fit(const heed_config *f, const heed_published *p, heed_text *expected,
                    heed_text *found, heed_text *flags);

/* Refuses a file of the folder that is there, but is a pipe or a device: reading it might never
 * end. */
bool heed__plain_file(heed_ctx *c, const char *path);
/* heed__json_read of a plain file. */
json_t *heed__plain_json(heed_ctx *c, const char *path);

/* ---- tensors.c: names and shapes ---- */

/* The weights of a folder. heed__weights_check checks the numbers that f took from config.json
 * against the shapes, before memory is allocated by them; heed__weights_read fills s, which must
 * need all and only them. */
typedef struct heed__weights heed__weights;
heed__weights *heed__weights_open(heed_ctx *c, const heed_published *p, const char *dir);
void heed__weights_close(heed__weights *w);
bool heed__weights_check(const heed__weights *w, const heed_config *f, const char *path);
/* Sets what p->present says. */
bool heed__weights_present(const heed__weights *w, heed_config *f);
bool heed__weights_read(heed__weights *w, const heed_config *f, heed_store *s);
/* Adds the tensor p->angles, if there is one, to those of an export. */
bool heed__angles_write(heed_store *out, const heed_run *r, const heed_published *p);
bool heed__weights_write(const heed_run *r, const heed_published *p, const char *path);

/* ---- labels and pictures ---- */

/* The names of id2label, or as many as num_labels says. */
typedef struct {
    const char **names;
    char *own; /* memory of names that config.json lacks */
    int count;
} heed__class_names;
bool heed__classes_read(heed_ctx *c, const json_t *config, const char *path,
                        heed__class_names *out);
void heed__classes_free(heed__class_names *k);

/* Reads preprocessor_config.json into the settings of pictures, if the folder has it; else the
 * processor's usual values. */
bool heed__pictures_read(heed_ctx *c, const char *dir, heed_config *f);
bool heed__pictures_write(heed_ctx *c, const char *dir, const heed_config *f);

/* ---- modules.c: how sentence-transformers makes vectors of texts ---- */

/* Sets `pool` and `unit` as modules.json says, if the folder has it. */
bool heed__modules_read(heed_ctx *c, const char *dir, heed_config *f);
bool heed__modules_write(heed_ctx *c, const char *dir, const heed_config *f, int width);

#endif
