/* tokenizer.c -- tokenizers: kinds, special tokens, and training except the merges of wordpiece. */
#include "tokenizer/pipeline.h"

#include "io/io.h"
#include "text/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const heed__kind_names[] = {"char", "byte", "word", "wordpiece", "bpe", NULL};
const char *const heed__special_names[HEED__SPECIALS] = {"[PAD]", "[UNK]", "[CLS]", "[SEP]",
                                                         "[MASK]"};
const char heed__end_of_text[] = "<|endoftext|>";
enum { PAD, UNK, CLS, SEP, MASK };

int heed__kind_find(const char *name) {
    for (int i = 0; heed__kind_names[i]; i++)
        if (strcmp(heed__kind_names[i], name) == 0) return i;
    return -1;
}

int heed__kind_of(heed_ctx *c, const char *name) {
    int kind = heed__kind_find(name);
    char quoted[HEED_QUOTE];
    if (kind < 0)
        heed_fail(
            c, HEED_USAGE,
            "unknown kind of tokenizer: expected char, byte, word, wordpiece or bpe, found %s",
            heed_quote(quoted, name, strlen(name)));
    return kind;
}

static void tokenizer_free(heed__owned *object) {
    heed_tokenizer *k = (heed_tokenizer *)object;
    heed__names_free(&k->names);
    heed__pipeline_free(k->pipeline);
    heed__free(k);
}

void heed_tokenizer_free(heed_tokenizer *k) {
    if (k) heed__release(k->c, &k->owned);
}

heed_tokenizer *heed__tokenizer_new(heed_ctx *c, heed__kind kind, bool lower) {
    heed_tokenizer *k = heed__stopped(c) ? NULL : heed__alloc(c, sizeof *k);
    if (!k) return NULL;
    k->c = k->names.c = c;
    k->kind = kind;
    k->lower = lower && (kind == HEED__WORD || kind == HEED__WORDPIECE);
    k->special = (heed_specials){-1, -1, -1, -1, -1, -1};
    heed__own(c, &k->owned, tokenizer_free);
    return k;
}

bool heed__tokenizer_add(heed_tokenizer *k, const char *token, size_t n) {
    size_t before = k->names.count;
    int32_t id = heed__names_add(&k->names, token, n);
    if (id < 0) return false;
    char quoted[HEED_QUOTE];
    if ((size_t)id < before)
        return heed_fail(k->c, HEED_DATA, "token occurs twice in the vocabulary: %s as %d and %zu",
                         heed_quote(quoted, token, n), (int)id, before);
    if (k->names.count > HEED__VOCAB_MAX)
        return heed_fail(k->c, HEED_DATA, "vocabulary is too large: expected at most %d tokens",
                         HEED__VOCAB_MAX);
    if (n > k->longest) k->longest = n;
    return true;
}

static bool add_specials(heed_tokenizer *k, unsigned which) {
    for (int i = 0; i < HEED__SPECIALS; i++) {
        const char *name = heed__special_names[i];
        if ((which >> i & 1) && heed_token_id(k, name) < 0 &&
            !heed__tokenizer_add(k, name, strlen(name)))
            return false;
    }
    return true;
}

/* The id of the first of the names that is a token. */
static int find_special(const heed_tokenizer *k, const char *const *names) {
    int32_t id = -1;
    for (; id < 0 && *names; names++) id = heed__names_look(&k->names, *names, strlen(*names));
    return id;
}

/* The special tokens of a tokenizer.json: by its post-processor, else by their usual names. */
static void find_specials(heed_tokenizer *k) {
    static const char *const pad[] = {"[PAD]", "<pad>", "<|pad|>", NULL};
    static const char *const unk[] = {"[UNK]", "<unk>", NULL};
    static const char *const cls[] = {"[CLS]", "<s>", "<bos>", "<|begin_of_text|>", NULL};
    static const char *const sep[] = {"[SEP]",           "</s>", "<eos>", "<|end_of_text|>",
                                      heed__end_of_text, NULL};
    static const char *const mask[] = {"[MASK]", "<mask>", NULL};
    const heed__pipeline *p = k->pipeline;
    k->special = (heed_specials){.pad = find_special(k, pad),
                                 .unk = p->unk >= 0 ? p->unk : find_special(k, unk),
                                 .cls = p->before ? p->frame[0] : find_special(k, cls),
                                 .sep = p->after ? p->frame[p->before] : find_special(k, sep),
                                 .mask = find_special(k, mask),
                                 .newline = heed_token_id(k, "\n")};
    const int32_t ids[] = {k->special.pad, k->special.unk, k->special.cls, k->special.sep,
                           k->special.mask};
    memcpy(k->special_ids, ids, sizeof ids);
}

bool heed__tokenizer_finish(heed_tokenizer *k, const char *from) {
    if (k->pipeline) {
        find_specials(k);
        return true;
    }
    static const unsigned needed[] = {1u << UNK, 0, 31, 31, 0}; /* by kind */
    int32_t *ids = k->special_ids;
    for (int i = 0; i < HEED__SPECIALS; i++) {
        const char *name = heed__special_names[i];
        ids[i] = heed__names_look(&k->names, name, strlen(name));
        if ((needed[k->kind] >> i & 1) && ids[i] < 0)
            return heed_fail(k->c, HEED_DATA,
                             "vocabulary lacks a special token: %s: expected %s among the %zu "
                             "tokens of a %s tokenizer",
                             from ? from : "training", name, k->names.count,
                             heed__kind_names[k->kind]);
    }
    k->special = (heed_specials){.pad = ids[PAD],
                                 .unk = ids[UNK],
                                 .cls = ids[CLS],
                                 .sep = ids[SEP],
                                 .mask = ids[MASK],
                                 .newline = heed__names_look(&k->names, "\n", 1)};
    for (int i = 0; i < 128; i++) k->ascii[i] = heed__names_look(&k->names, &(char){(char)i}, 1);
    return true;
}

/* ---- training ---- */

static bool bound_holds(heed_tokenizer *k, size_t bound, size_t least) {
    if (bound >= least) return true;
    return heed_fail(k->c, HEED_USAGE,
                     "vocabulary is too small: a %s tokenizer needs at least %zu tokens, found "
                     "%zu; hint: `vocab = %zu`",
                     heed__kind_names[k->kind], least, bound, least);
}

/* Adds the first n of r, or as many as fit. */
static bool add_ranked(heed_tokenizer *k, const heed__ranked *r, size_t n, size_t bound) {
    for (size_t i = 0; i < n && k->names.count < bound; i++)
        if (!heed__tokenizer_add(k, r[i].text, strlen(r[i].text))) return false;
    return true;
}

static bool train_words(heed_tokenizer *k, const heed__source *text, size_t bound) {
    heed__counts words = {.names.c = k->c};
    heed__ranked *r = NULL;
    bool pieces = k->kind == HEED__WORDPIECE;
    bool good = bound_holds(k, bound, HEED__SPECIALS + (pieces ? 2 : 1)) && add_specials(k, 31) &&
                heed__count_words(text, k, &words);
    if (good && pieces)
        good = heed__merges_train(k, &words, bound, NULL);
    else if (good)
        good = (r = heed__rank(&words, 1)) && add_ranked(k, r, words.names.count, bound);
    heed__free(r);
    heed__counts_free(&words);
    return good;
}

void heed__byte_name(int byte, char name[8]) {
    bool plain = (byte >= 32 && byte < 127) || byte == '\n';
    snprintf(name, 8, plain ? "%c" : "<0x%02X>", byte);
}

static bool train_bytes(heed_tokenizer *k, size_t bound, unsigned specials) {
    if (!bound_holds(k, bound, 256 + (specials ? 4 : 0))) return false;
    for (int i = 0; i < 256; i++) {
        char name[8];
        heed__byte_name(i, name);
        if (!heed__tokenizer_add(k, name, strlen(name))) return false;
    }
    return add_specials(k, specials & ~(1u << UNK));
}

static bool train_chars(heed_tokenizer *k, const heed__source *text, size_t bound,
                        unsigned specials) {
    size_t others = specials ? HEED__SPECIALS : 1;
    if (!bound_holds(k, bound, others + 1)) return false;
    heed__counts letters = {.names.c = k->c};
    heed__ranked *r = heed__count_text(text, &letters) ? heed__rank(&letters, 1) : NULL;
    size_t count = letters.names.count < bound - others ? letters.names.count : bound - others;
    if (r) heed__rank_by_text(r, count);
    bool good = r && add_ranked(k, r, count, bound);
    heed__free(r);
    heed__counts_free(&letters);
    return good && add_specials(k, specials | 1u << UNK);
}

/* Trains merges of bytes, and reads what tokenizer.json says of them. */
static heed_tokenizer *train_merges(heed_tokenizer *k, const heed__source *text, size_t bound,
                                    unsigned specials) {
    heed__counts words = {.names.c = k->c};
    heed_text file = {.c = k->c};
    heed_tokenizer *made = NULL;
    if (bound_holds(k, bound, 256 + (specials ? 4 : 1)) &&
        (specials ? add_specials(k, specials & ~(1u << UNK))
                  : heed__tokenizer_add(k, heed__end_of_text, strlen(heed__end_of_text))) &&
        heed__count_words(text, k, &words)) {
        heed__names merges = {.c = k->c};
        if (heed__merges_train(k, &words, bound, &merges) &&
            heed__put_hugging_face(k, &merges, &file))
            made = heed__parse_hugging_face(k->c, "training", &file);
        heed__names_free(&merges);
    }
    heed__counts_free(&words);
    heed_text_free(&file);
    heed_tokenizer_free(k);
    return made;
}

heed_tokenizer *heed__tokenizer_train(heed_ctx *c, const heed__source *text,
                                      heed_tokenizer_args a) {
    int kind = heed__kind_of(c, a.kind ? a.kind : "");
    heed_tokenizer *k = kind < 0 ? NULL : heed__tokenizer_new(c, (heed__kind)kind, a.lower);
    if (!k) return NULL;
    size_t most = kind >= HEED__WORDPIECE ? 8192 : HEED__VOCAB_MAX;
    size_t bound = a.vocab <= 0 ? most : (size_t)a.vocab;
    if (bound > HEED__VOCAB_MAX) bound = HEED__VOCAB_MAX;
    unsigned specials = a.specials ? 31 : 0;
    bool good = text->path || (text->n > 0 && !memchr(text->text, 0, text->n)) ||
                heed_fail(c, HEED_DATA, "text is %s: expected something to train a tokenizer on",
                          text->n ? "binary, as it has a NUL byte" : "empty");
    if (good && kind == HEED__CHAR) good = train_chars(k, text, bound, specials);
    if (good && kind == HEED__BYTE) good = train_bytes(k, bound, specials);
    if (good && kind == HEED__BPE && !(k = train_merges(k, text, bound, specials))) return NULL;
    if (good && kind >= HEED__WORD && kind != HEED__BPE) good = train_words(k, text, bound);
    if (good && heed__tokenizer_finish(k, NULL)) return k;
    heed_tokenizer_free(k);
    return NULL;
}

heed_tokenizer *heed_tokenizer_train(heed_ctx *c, const char *text, size_t n,
                                     heed_tokenizer_args a) {
    if (heed__stopped(c) || !text) return NULL;
    return heed__tokenizer_train(c, &(heed__source){.text = text, .n = n}, a);
}

/* Adds the letters that k lacks, in the order of their code points. */
static bool add_letters(heed_tokenizer *k, const heed__source *text, size_t bound) {
    heed__counts letters = {.names.c = k->c};
    heed__ranked *r = heed__count_text(text, &letters) ? heed__rank(&letters, 1) : NULL;
    bool good = r != NULL;
    if (r) heed__rank_by_text(r, letters.names.count);
    for (size_t i = 0; good && i < letters.names.count && k->names.count < bound; i++)
        good = heed_token_id(k, r[i].text) >= 0 ||
               heed__tokenizer_add(k, r[i].text, strlen(r[i].text));
    heed__free(r);
    heed__counts_free(&letters);
    return good;
}

heed_tokenizer *heed__tokenizer_extend(const heed_tokenizer *k, const heed__source *text, int vocab,
                                       bool specials) {
    if (k->pipeline) return heed__parse_hugging_face(k->c, "tokenizer.json", &k->pipeline->file);
    heed_tokenizer *copy = heed__tokenizer_new(k->c, k->kind, k->lower);
    bool good = copy != NULL;
    for (size_t i = 0; good && i < k->names.count; i++)
        good = heed__tokenizer_add(copy, heed__names_text(&k->names, i),
                                   heed__names_length(&k->names, i));
    if (good && k->kind == HEED__CHAR)
        good = add_letters(copy, text, vocab > 0 ? (size_t)vocab : HEED__VOCAB_MAX);
    if (good && k->kind <= HEED__BYTE && specials)
        good = add_specials(copy, k->kind == HEED__BYTE ? 31u & ~(1u << UNK) : 31);
    if (good && heed__tokenizer_finish(copy, NULL)) return copy;
    heed_tokenizer_free(copy);
    return NULL;
}

heed_tokenizer *heed_tokenizer_extend(const heed_tokenizer *k, const char *text, size_t n,
                                      int vocab, bool specials) {
    if (!k || !text) return NULL;
    return heed__tokenizer_extend(k, &(heed__source){.text = text, .n = n}, vocab, specials);
}

/* ---- access ---- */

const char *heed_tokenizer_kind(const heed_tokenizer *k) {
    return k ? heed__kind_names[k->kind] : "";
}

uint64_t heed_tokenizer_digest(const heed_tokenizer *k) {
    if (!k) return 0;
    const char *kind = heed__kind_names[k->kind];
    uint64_t h = heed__hash64(kind, strlen(kind) + 1, 0);
    if (k->pipeline) return heed__hash64(k->pipeline->file.s, k->pipeline->file.n, h);
    h = heed__hash64(k->lower ? "lower" : "cased", 6, h);
    return heed__hash64(k->names.bytes, k->names.used, h);
}

int heed_vocab_size(const heed_tokenizer *k) { return k ? (int)k->names.count : 0; }

heed_specials heed_tokenizer_specials(const heed_tokenizer *k) {
    return k ? k->special : (heed_specials){-1, -1, -1, -1, -1, -1};
}

/* The id of a token of bytes: added ones first, as they are written. */
static int id_of_bytes(const heed_tokenizer *k, const char *token) {
    const heed__pipeline *p = k->pipeline;
    heed_text text = {.c = k->c};
    int id = heed__names_look(&k->names, token, strlen(token));
    if (id >= 0 && p->added_of && p->added_of[id] >= 0) return id;
    id = -1;
    if (heed__put_byte_chars(&text, token, strlen(token)))
        id = heed__names_look(&k->names, text.s ? text.s : "", text.n);
    heed_text_free(&text);
    return id;
}

int heed_token_id(const heed_tokenizer *k, const char *token) {
    if (!k || !token) return -1;
    return k->pipeline && k->pipeline->bytes ? id_of_bytes(k, token)
                                             : heed__names_look(&k->names, token, strlen(token));
}

const char *heed_token_text(const heed_tokenizer *k, int id) {
    if (!k || id < 0 || (size_t)id >= k->names.count) return "";
    size_t n;
    const char *shown = k->pipeline ? heed__shown(k, (size_t)id, &n) : NULL;
    return shown && *shown ? shown : heed__names_text(&k->names, (size_t)id);
}
