/* hugging_face.c -- reads a tokenizer.json of Hugging Face's tokenizers: its model, added tokens
 * and post-processor. What is not supported is refused by its place in the file. */
#include "tokenizer/hugging_face.h"

#include <stdio.h>
#include <string.h>

/* Copies a text of the model; NULL if it is empty or absent. */
static bool read_text(heed__hf *r, const json_t *o, const char *key, const char *otherwise,
                      char **out) {
    const char *text;
    if (!heed__hf_text(r, o, "model", key, otherwise, &text)) return false;
    *out = text && *text ? heed__copy_text(r->c, text) : NULL;
    return *out || !text || !*text;
}

/* ---- the vocabulary ---- */

/* Sets the text of an id, which must be free. */
static bool place(const heed__hf *r, const char **by_id, size_t count, const char *text,
                  const json_t *id, const char *where) {
    json_int_t i = json_integer_value(id);
    if (!json_is_integer(id) || i < 0 || i >= (json_int_t)count)
        return heed__hf_refuse(r, where, "ids from 0 to the number of tokens less 1", id);
    if (by_id[i] && strcmp(by_id[i], text) != 0)
        return heed__hf_refuse(r, where, "another id for each token", id);
    if (!*text || strlen(text) >= HEED__TOKEN_BYTES)
        return heed__hf_refuse(r, where, "tokens of 1 to 1023 bytes", id);
    by_id[i] = text;
    return true;
}

static bool add_all(const heed__hf *r, const char **by_id, size_t count) {
    for (size_t i = 0; i < count; i++) {
        char where[HEED__PLACE];
        snprintf(where, sizeof where, "model.vocab: id %zu", i);
        if (!by_id[i]) return heed__hf_refuse(r, where, "a token", NULL);
        if (!heed__tokenizer_add(r->k, by_id[i], strlen(by_id[i]))) return false;
    }
    return true;
}

/* Adds the tokens of the vocabulary and those that were added to it, by their ids. */
static bool read_tokens(const heed__hf *r, const json_t *vocab, const json_t *added) {
    if (!json_is_object(vocab)) return heed__hf_refuse(r, "model.vocab", "an object", vocab);
    size_t count = json_object_size(vocab), more = 0;
    for (size_t i = 0; i < json_array_size(added); i++) {
        const char *text = json_string_value(json_object_get(json_array_get(added, i), "content"));
        more += text && !json_object_get(vocab, text);
    }
    const char **by_id = heed__alloc_array(r->c, count + more, sizeof *by_id);
    if (!by_id) return false;
    bool good = true;
    const char *text;
    json_t *id;
    json_object_foreach((json_t *)(uintptr_t)vocab, text, id) {
        char where[HEED__PLACE];
        if (!good) break;
        snprintf(where, sizeof where, "model.vocab.%.60s", text);
        good = place(r, by_id, count + more, text, id, where);
        if (good && r->p->own <= json_integer_value(id))
            r->p->own = (int32_t)json_integer_value(id) + 1;
    }
    for (size_t i = 0; good && i < json_array_size(added); i++) {
        char where[HEED__PLACE];
        const json_t *o = json_array_get(added, i);
        snprintf(where, sizeof where, "added_tokens[%zu]", i);
        text = json_string_value(json_object_get(o, "content"));
        good = text ? place(r, by_id, count + more, text, json_object_get(o, "id"), where)
                    : heed__hf_refuse(r, where, "a content", o);
    }
    good = good && add_all(r, by_id, count + more);
    heed__free(by_id);
    return good;
}

/* ---- added tokens ---- */

static bool normalized_text(heed__hf *r, heed__added *a, const char *text) {
    heed__spelling s = {.c = r->c, .s = text, .n = strlen(text)};
    bool good = !a->normalized || heed__respell(&r->p->normalizers, true, &s, &r->spare);
    a->n = s.n;
    a->text = good ? heed__alloc(r->c, s.n + 1) : NULL;
    if (a->text && s.n) memcpy(a->text, s.s, s.n);
    heed__spelling_free(&s);
    return a->text != NULL;
}

static bool read_added(heed__hf *r, const json_t *o, const char *where) {
    heed__pipeline *p = r->p;
    heed__added a = {0};
    const char *text;
    int id;
    if (!heed__hf_keys(r, o, where, "id content single_word lstrip rstrip normalized special") ||
        !heed__hf_int(r, o, where, "id", 0, &id) ||
        !heed__hf_text(r, o, where, "content", NULL, &text) ||
        !heed__hf_bool(r, o, where, "single_word", false, &a.single_word) ||
        !heed__hf_bool(r, o, where, "lstrip", false, &a.lstrip) ||
        !heed__hf_bool(r, o, where, "rstrip", false, &a.rstrip) ||
        !heed__hf_bool(r, o, where, "special", false, &a.special) ||
        !heed__hf_bool(r, o, where, "normalized", !a.special, &a.normalized) ||
        !heed__grow(r->c, &p->added, &p->added_capacity, p->added_count + 1, sizeof *p->added))
        return false;
    a.id = id;
    a.number = p->added_count;
    if (!normalized_text(r, &a, text)) return false;
    p->added[p->added_count++] = a;
    return a.n || heed__hf_refuse(r, where, "a content that the normalizers do not make empty", o);
}

static bool read_all_added(heed__hf *r, const json_t *list) {
    if (list && !json_is_array(list) && !json_is_null(list))
        return heed__hf_refuse(r, "added_tokens", "a list", list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        char where[HEED__PLACE];
        snprintf(where, sizeof where, "added_tokens[%zu]", i);
        if (!read_added(r, json_array_get(list, i), where)) return false;
    }
    return heed__added_index(r->p);
}

/* ---- the model ---- */

/* "a b" or ["a", "b"]. */
static bool read_merge(heed__hf *r, const json_t *merge, const char *where) {
    const char *text = json_string_value(merge), *gap = text ? strchr(text, ' ') : NULL;
    const char *a = json_string_value(json_array_get(merge, 0));
    const char *b = json_string_value(json_array_get(merge, 1));
    char first[HEED__TOKEN_BYTES];
    if (gap && !strchr(gap + 1, ' ') && gap - text < HEED__TOKEN_BYTES) {
        snprintf(first, sizeof first, "%.*s", (int)(gap - text), text);
        a = first;
        b = gap + 1;
    } else if (json_array_size(merge) != 2 || !a || !b) {
        return heed__hf_refuse(r, where, "two tokens", merge);
    }
    int32_t rank = heed__merge_add(r->k, a, b);
    if (rank == HEED__MERGE_ABSENT)
        return heed__hf_refuse(r, where, "two tokens of the vocabulary that make another", merge);
    if (rank == HEED__MERGE_TWICE) return heed__hf_refuse(r, where, "each merge once", merge);
    return rank >= 0;
}

static bool read_merges(heed__hf *r, const json_t *merges) {
    if (!json_is_array(merges)) return heed__hf_refuse(r, "model.merges", "a list", merges);
    for (size_t i = 0; i < json_array_size(merges); i++) {
        char where[HEED__PLACE];
        snprintf(where, sizeof where, "model.merges[%zu]", i);
        if (!read_merge(r, json_array_get(merges, i), where)) return false;
    }
    return true;
}

static bool read_bpe(heed__hf *r, const json_t *o) {
    heed__pipeline *p = r->p;
    const json_t *dropout = json_object_get(o, "dropout");
    return heed__hf_keys(r, o, "model",
                         "type dropout unk_token continuing_subword_prefix end_of_word_suffix "
                         "fuse_unk byte_fallback ignore_merges vocab merges") &&
           (!json_is_number(dropout) || json_number_value(dropout) == 0 ||
            heed__hf_refuse(r, "model.dropout", "null", dropout)) &&
           read_text(r, o, "unk_token", NULL, &p->unk_text) &&
           read_text(r, o, "continuing_subword_prefix", NULL, &p->prefix) &&
           read_text(r, o, "end_of_word_suffix", NULL, &p->suffix) &&
           heed__hf_bool(r, o, "model", "fuse_unk", false, &p->fuse_unk) &&
           heed__hf_bool(r, o, "model", "byte_fallback", false, &p->byte_fallback) &&
           heed__hf_bool(r, o, "model", "ignore_merges", false, &p->ignore_merges) &&
           (!p->byte_fallback || (!p->prefix && !p->suffix) ||
            heed__hf_refuse(r, "model.byte_fallback", "false beside a prefix or suffix",
                            json_object_get(o, "byte_fallback")));
}

static bool read_wordpiece(heed__hf *r, const json_t *o) {
    heed__pipeline *p = r->p;
    int most;
    if (!heed__hf_keys(r, o, "model",
                       "type unk_token continuing_subword_prefix max_input_chars_per_word vocab") ||
        !read_text(r, o, "unk_token", "[UNK]", &p->unk_text) ||
        !read_text(r, o, "continuing_subword_prefix", "##", &p->prefix) ||
        !heed__hf_int(r, o, "model", "max_input_chars_per_word", 100, &most))
        return false;
    p->most_chars = (size_t)most;
    return true;
}

static bool read_word_level(heed__hf *r, const json_t *o) {
    return heed__hf_keys(r, o, "model", "type unk_token vocab") &&
           read_text(r, o, "unk_token", "<unk>", &r->p->unk_text);
}

/* Settings, then tokens, then merges. Old files have no type of the model. */
static bool read_model(heed__hf *r, const json_t *o, const json_t *added) {
    static const char *const types[] = {"WordLevel", "WordPiece", "BPE", NULL};
    static bool (*const read[])(heed__hf *, const json_t *) = {read_word_level, read_wordpiece,
                                                               read_bpe};
    bool merges = json_is_array(json_object_get(o, "merges"));
    bool pieces = json_object_get(o, "continuing_subword_prefix") != NULL;
    int type;
    if (!json_is_object(o)) return heed__hf_refuse(r, "model", "an object", o);
    if (!heed__hf_choice(r, o, "model", "type", types, merges ? 2 : pieces ? 1 : -1, &type))
        return false;
    if (r->p->bytes && type != 2)
        return heed__hf_refuse(r, "model.type", "BPE after ByteLevel", json_object_get(o, "type"));
    r->k->kind = (heed__kind)(HEED__WORD + type);
    if (!read[type](r, o) || !read_tokens(r, json_object_get(o, "vocab"), added) ||
        (type == 2 && !read_merges(r, json_object_get(o, "merges"))))
        return false;
    if (!r->p->unk_text) return true;
    r->p->unk = heed_token_id(r->k, r->p->unk_text);
    return r->p->unk >= 0 || heed__hf_refuse(r, "model.unk_token", "a token of the vocabulary",
                                             json_object_get(o, "unk_token"));
}

/* ---- the post-processor ---- */

static bool add_frame(heed__hf *r, const json_t *number, bool after, const char *where) {
    heed__pipeline *p = r->p;
    json_int_t id = json_integer_value(number);
    if (!json_is_integer(number) || id < 0 || id >= heed_vocab_size(r->k))
        return heed__hf_refuse(r, where, "ids of the vocabulary", number);
    if (!heed__grow(r->c, &p->frame, &p->frame_capacity, p->before + p->after + 1,
                    sizeof *p->frame))
        return false;
    p->frame[p->before + p->after] = (int32_t)id;
    ++*(after ? &p->after : &p->before);
    return true;
}

/* {"single": [{"SpecialToken": {"id": "[CLS]"}}, {"Sequence": {"id": "A"}}, ...],
 *  "special_tokens": {"[CLS]": {"ids": [101]}}} */
static bool read_template(heed__hf *r, const json_t *o, const char *where) {
    const json_t *single = json_object_get(o, "single");
    const json_t *tokens = json_object_get(o, "special_tokens");
    bool after = false;
    if (!heed__hf_keys(r, o, where, "type single pair special_tokens")) return false;
    for (size_t i = 0; i < json_array_size(single); i++) {
        const json_t *part = json_array_get(single, i);
        const json_t *token = json_object_get(part, "SpecialToken");
        const char *name = json_string_value(json_object_get(token, "id"));
        const json_t *ids = name ? json_object_get(json_object_get(tokens, name), "ids") : NULL;
        bool text = json_object_get(part, "Sequence") != NULL;
        if (text ? after : !ids) return heed__hf_refuse(r, where, "one text in `single`", part);
        after |= text;
        for (size_t j = 0; j < json_array_size(ids); j++)
            if (!add_frame(r, json_array_get(ids, j), after, where)) return false;
    }
    return after || heed__hf_refuse(r, where, "one text in `single`", single);
}

/* {"sep": ["[SEP]", 102], "cls": ["[CLS]", 101]} */
static bool read_pair(heed__hf *r, const json_t *o, const char *where) {
    const json_t *cls = json_array_get(json_object_get(o, "cls"), 1);
    const json_t *sep = json_array_get(json_object_get(o, "sep"), 1);
    return add_frame(r, cls, false, where) && add_frame(r, sep, true, where);
}

static bool read_processor(heed__hf *r, const json_t *o, const char *where) {
    static const char *const types[] = {"Sequence",       "ByteLevel",         "TemplateProcessing",
                                        "BertProcessing", "RobertaProcessing", NULL};
    int type;
    if (!o || json_is_null(o)) return true;
    if (!json_is_object(o)) return heed__hf_refuse(r, where, "an object", o);
    if (!heed__hf_choice(r, o, where, "type", types, -1, &type)) return false;
    if (type == 1) return true; /* it only changes offsets */
    if (type > 0 && r->p->before + r->p->after) return heed__hf_refuse(r, where, "one template", o);
    if (type == 2) return read_template(r, o, where);
    if (type > 2) return read_pair(r, o, where);
    const json_t *list = json_object_get(o, "processors");
    if (!json_is_array(list) || ++r->depth > 4)
        return heed__hf_refuse(r, where, "a list of processors", list);
    for (size_t i = 0; i < json_array_size(list); i++) {
        char place_of[HEED__PLACE];
        snprintf(place_of, sizeof place_of, "%.80s.processors[%zu]", where, i);
        if (!read_processor(r, json_array_get(list, i), place_of)) return false;
    }
    return true;
}

/* ---- all ---- */

static bool read_all(heed__hf *r, const json_t *o) {
    const json_t *added = json_object_get(o, "added_tokens");
    return heed__hf_keys(r, o, "tokenizer",
                         "version truncation padding added_tokens normalizer pre_tokenizer "
                         "post_processor decoder model") &&
           heed__hf_normalizer(r, json_object_get(o, "normalizer"), "normalizer") &&
           heed__hf_splitter(r, json_object_get(o, "pre_tokenizer"), "pre_tokenizer") &&
           heed__hf_decoder(r, json_object_get(o, "decoder"), "decoder") &&
           read_model(r, json_object_get(o, "model"), added) && read_all_added(r, added) &&
           read_processor(r, json_object_get(o, "post_processor"), "post_processor") &&
           heed__model_finish(r->k);
}

/* Whether the steps are of these kinds. */
static bool are(const heed__steps *s, const heed__step_kind *kinds, size_t count) {
    bool same = s->count == count;
    for (size_t i = 0; same && i < count; i++) same = s->of[i].kind == kinds[i];
    return same;
}

/* Whether this is what a word or wordpiece tokenizer does without a tokenizer.json; *lower: its
 * setting. */
static bool is_plain(const heed_tokenizer *k, bool *lower) {
    static const heed__step_kind cased[] = {HEED__CLEAN, HEED__CHINESE, HEED__LOWER};
    static const heed__step_kind folded[] = {HEED__CLEAN, HEED__CHINESE, HEED__NFD, HEED__UNACCENT,
                                             HEED__LOWER};
    const heed__pipeline *p = k->pipeline;
    const heed__steps *n = &p->normalizers, *s = &p->splitters;
    bool pieces = k->kind == HEED__WORDPIECE;
    *lower = pieces ? are(n, folded, 5) : are(n, cased, 3);
    if (k->kind == HEED__BPE || (!*lower && !are(n, cased, 2)) || s->count != 2 ||
        s->of[0].class != HEED__SPACE || s->of[1].class != HEED__PUNCTUATION ||
        s->of[0].kind != HEED__BY_CLASS || s->of[1].kind != HEED__BY_CLASS ||
        s->of[0].behavior != HEED__REMOVED || s->of[1].behavior != HEED__ISOLATED)
        return false;
    if (pieces && (p->most_chars != 100 || !p->prefix || strcmp(p->prefix, "##") != 0))
        return false;
    size_t found = 0;
    for (size_t i = 0; i < p->added_count; i++) {
        const heed__added *a = &p->added[i];
        bool own = false;
        for (int j = 0; j < HEED__SPECIALS; j++)
            own |= strcmp(a->text, heed__special_names[j]) == 0;
        if (!own || a->single_word || a->lstrip || a->rstrip || a->normalized) return false;
        found++;
    }
    return found == HEED__SPECIALS && p->unk == heed_token_id(k, "[UNK]");
}

heed_tokenizer *heed__from_hugging_face(heed_ctx *c, const char *path, const json_t *o,
                                        const char *text, size_t n) {
    heed__hf r = {.c = c, .path = path, .spare = heed__spare(n)};
    r.k = heed__tokenizer_new(c, HEED__BPE, false);
    r.p = r.k ? r.k->pipeline = heed__pipeline_new(c) : NULL;
    bool good = r.p && read_all(&r, o) && heed_text_put(&r.p->file, text, n);
    if (good && is_plain(r.k, &r.k->lower)) {
        heed__pipeline_free(r.p);
        r.k->pipeline = NULL;
    }
    if (good && heed__tokenizer_finish(r.k, path)) return r.k;
    heed_tokenizer_free(r.k);
    return NULL;
}

heed_tokenizer *heed__parse_hugging_face(heed_ctx *c, const char *path, const heed_text *file) {
    json_t *o = heed__json_parse(c, path, file->s, file->n);
    heed_tokenizer *k = o ? heed__from_hugging_face(c, path, o, file->s, file->n) : NULL;
    json_decref(o);
    return k;
}
