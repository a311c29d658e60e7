/* reading.h -- text files of any size, read in passages of about a megabyte by several threads. */
#ifndef HEED_TOKENIZER_READING_H
#define HEED_TOKENIZER_READING_H

#include "core/core.h"
#include "core/os.h"

#include <heed/tokenizer.h>

/* A part of a text. It ends with a line; in a longer line, between two characters or words. So its
 * tokens are those of the whole text, and it depends on the text alone, never on the threads. */
typedef struct {
    char *text; /* valid UTF-8 without BOM, with LF line ends; any other CR is a character */
    size_t n;
    size_t number;    /* from 0 */
    bool inside;      /* it begins within a line */
    size_t raw;       /* its bytes in the file, */
    size_t raw_at;    /* and the bytes before it there */
    size_t line_ends; /* LFs among its bytes in the file */
    size_t returns;   /* CRs of CR LF in it, which are gone */
    size_t capacity;
} heed__passage;

/* Where a reading reports its progress: units of `all`, of which `before` are done when it begins.
 * progress may be NULL. */
typedef struct {
    heed_progress progress;
    void *user;
    uint64_t before, all;
} heed__watch;

/* Where a passage may end besides line ends, so that its tokens are those of the whole text. */
typedef enum {
    HEED__CUT_CHARACTERS, /* between characters */
    HEED__CUT_WORDS,      /* before white space, or a character that is a word */
    HEED__CUT_SPACES, /* not even at line ends: only between a letter or number and white space */
    HEED__CUT_NOWHERE
} heed__cutting;

/* A reading of a text file. An object embeds it as its first member, and so does each worker, one a
 * thread, with heed__passage. Each function returns false to stop. */
typedef struct heed__reading {
    heed_ctx *c;
    const char *path;
    heed__cutting cut;
    size_t worker_size; /* bytes of a worker, zeroed at the start */
    heed__watch *watch; /* or NULL; its `before` is moved to the end of this reading */
    /* Works on a passage, beside other threads. Or NULL. */
    bool (*work)(struct heed__reading *r, heed__passage *p);
    /* Takes over what was made of a passage, in the order of the text, one at a time. Or NULL. */
    bool (*join)(struct heed__reading *r, heed__passage *p);
    /* Ends each worker, also after a failure: frees its memory. Or NULL. */
    bool (*end)(struct heed__reading *r, heed__passage *p);
} heed__reading;
/* Reads the file once, from its begin to its end. Errors are those of heed_text_read; of several
 * flaws in a text, the first one counts. */
bool heed__read_text(heed__reading *r);

/* What heed_text_read and readings share (text.c). */

/* Refuses an empty text, a wide encoding and binary data by the first bytes, at least 4096 unless
 * the file has fewer. */
bool heed__text_begins(heed_ctx *c, const char *path, const unsigned char *bytes, size_t n);
/* Reports the flaw in the byte that is number `at` of the file, in the line, counted from 1. */
bool heed__text_refuse(heed_ctx *c, const char *path, unsigned char byte, size_t at, size_t line);
/* Refuses a text of blank lines: that of the file or, if path is NULL, n bytes. Returns whether it
 * did. */
bool heed__text_refuse_blank(heed_ctx *c, const char *path, const char *text, size_t n);
/* CR LF becomes LF, and with `bom` a BOM is dropped. Returns the new length; counts the CRs that
 * are gone, unless returns is NULL. */
size_t heed__text_straighten(unsigned char *b, size_t n, bool bom, size_t *returns);

#endif
