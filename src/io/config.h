/* config.h -- shared by the files of the option table. */
#ifndef HEED_CONFIG_H
#define HEED_CONFIG_H

#include "core/core.h"
#include "io/io.h"

/* A value longer than this is refused, so that its escaped line stays readable. */
enum { HEED__VALUE_LIMIT = 16384, HEED__LINE_LIMIT = 4 * HEED__VALUE_LIMIT };

typedef struct {
    const heed_option *o;
    heed_option *own; /* o, where no table has it; else NULL */
    const char *group;
    char *initial; /* the default if heed_config_set_list gave one; else NULL */
    char *text;    /* canonical: true or false, whole numbers without an exponent */
    double real;
    int64_t whole;
    bool on;
    bool by_data; /* chosen from the data of a training run, where it is at its default */
    heed_rank rank;
} heed__setting;

struct heed_config {
    heed__owned owned;
    heed_ctx *c;
    heed__setting *settings; /* in the order of the tables */
    size_t capacity, count;
    size_t key_width; /* bytes of the longest key */
};

heed__setting *heed__setting_find(const heed_config *f, const char *key, size_t n);
/* Checks text and stores it with its canonical form; where: see heed_config_set. */
bool heed__setting_put(heed_config *f, heed__setting *s, const char *text, const char *where,
                       heed_rank rank);
/* Adds a setting that no table has, as a text. */
heed__setting *heed__setting_add(heed_config *f, const char *key, size_t n);
/* Fails with "unknown setting" and the nearest key. */
bool heed__setting_unknown(const heed_config *f, const char *key, size_t n, const char *where,
                           heed_rank rank);
/* The letter after a backslash for c in quotes, or (back) what the letter c means; 0: none. */
char heed__escape(char c, bool back);
/* The default as text; NULL or "": none. */
const char *heed__setting_initial(const heed__setting *s);
/* "a whole number from 1 to 96": describes the values that o accepts. */
bool heed__option_expects(const heed_option *o, heed_text *out);
/* Iterates over settings group by group, groups in order of their first setting: returns the one
 * after `after` (NULL: the first), NULL at the end. */
const heed__setting *heed__setting_next(const heed_config *f, const heed__setting *after);

#endif
