/* heed/tokenizer.h -- text to tokens and back. */
#ifndef HEED_TOKENIZER_H
#define HEED_TOKENIZER_H

#include <heed/io.h>

HEED_EXPORT_BEGIN

typedef struct heed_tokenizer heed_tokenizer;
typedef struct {
    const char *kind; /* char, byte, word, wordpiece, bpe */
    int vocab;        /* the most tokens, special ones included; 0: 8192 (wordpiece, bpe), no limit
                         (others) */
    bool lower;       /* word and wordpiece: lower-case (wordpiece: and strip accents) */
    bool specials; /* char, byte and bpe: also [PAD] [CLS] [SEP] [MASK], which mlm needs; without it
                      char has only [UNK], bpe <|endoftext|> and byte none. word and wordpiece
                      always have all five */
} heed_tokenizer_args;
typedef struct { /* special ids, -1 where the tokenizer has none */
    int pad, unk, cls, sep, mask, newline;
} heed_specials;
/* A list of tokens. Zero-initialise; free with heed_tokens_free. */
typedef struct {
    int32_t *ids;        /* (count) */
    size_t *begin, *end; /* (count) bytes of the text that the token covers; equal for inserted
                            specials */
    size_t count, capacity;
    heed_ctx *c; /* set by heed_encode */
} heed_tokens;

/* Makes a vocabulary from the first n bytes of text. The context owns the result, and
 * heed_tokenizer_free frees it before. NULL: an unknown kind, or a `vocab` too small for the kind,
 * is HEED_USAGE; an empty text, one with a NUL byte, and for words one of blanks only are
 * HEED_DATA. Bytes that are not UTF-8 are not added to a vocabulary of characters or words. */
heed_tokenizer *heed_tokenizer_train(heed_ctx *c, const char *text, size_t n,
                                     heed_tokenizer_args a);
/* Reads the directory of a run or tokenizer (tokenizer.json, else vocab.json with merges.txt, or
 * vocab.txt), or one of these files. A tokenizer.json of Hugging Face's tokenizers (WordPiece, BPE
 * or WordLevel, with normalizer, pre-tokenizer, decoder and added tokens) gives the same ids as
 * there; if a part is not supported, the error names its place in the file. A vocab.txt is read as
 * wordpiece. It is lower-case if do_lower_case in the tokenizer_config.json beside it says so;
 * without that setting, if no token has a capital letter. Ownership and errors are those of
 * heed_tokenizer_train. */
heed_tokenizer *heed_tokenizer_open(heed_ctx *c, const char *path);
/* Writes into dir what Hugging Face's tokenizers and transformers read: tokenizer.json, which is
 * the same file if the tokenizer was read from one, unless that does what one of the kinds does,
 * and tokenizer_config.json; word and wordpiece also write vocab.txt, one token per line. Files of
 * a tokenizer that was in dir before are replaced or removed. False on error. */
bool heed_tokenizer_save(const heed_tokenizer *k, const char *dir);
void heed_tokenizer_free(heed_tokenizer *k);
const char *heed_tokenizer_kind(const heed_tokenizer *k);
uint64_t
heed_tokenizer_digest(const heed_tokenizer *k); /* equal for equal vocabularies and rules */
int heed_vocab_size(const heed_tokenizer *k);
heed_specials heed_tokenizer_specials(const heed_tokenizer *k);
int heed_token_id(const heed_tokenizer *k, const char *token); /* -1 if absent */
/* "##ing", "[MASK]"; newline unescaped; tokens of bytes as these bytes, " the"; "" if id is out of
 * range */
const char *heed_token_text(const heed_tokenizer *k, int id);
/* Appends the tokens of text. No special tokens are added; those written in the text, such as
 * "[MASK]", are recognised. */
bool heed_encode(const heed_tokenizer *k, const char *text, size_t n, heed_tokens *out);
/* The same for a text of data: "[MASK]" is text like any other, as in training and evaluation, and
 * with split_special_tokens in transformers. */
bool heed_encode_text(const heed_tokenizer *k, const char *text, size_t n, heed_tokens *out);
/* Appends the text of tokens to out: for char, byte and bpe exactly (bytes that are not valid UTF-8
 * become U+FFFD), for a tokenizer.json by its decoder, and for word and wordpiece with spaces
 * between words, except at punctuation. Special tokens are written by name. */
bool heed_decode(const heed_tokenizer *k, const int32_t *ids, size_t n, heed_text *out);
void heed_tokens_free(heed_tokens *t);

/* ---- text files ---- */
/* The complete file as valid UTF-8 without BOM and with LF line ends. Wrong encodings, NULs and
 * empty files are errors that give the file, the byte offset and a command that fixes it. Free with
 * free(). */
char *heed_text_read(heed_ctx *c, const char *path, size_t *n);

HEED_EXPORT_END

#endif
