/* export.c -- a run as the folder of a published model. */
#include "core/core.h"
#include "core/os.h"
#include "exchange/exchange.h"
#include "tokenizer/tokenizer.h"

#include <math.h>
#include <string.h>

/* The architecture with the run's settings; if none has, the error lists what the first expects. */
static const heed_published *choose(const heed_run *r) {
    char class[HEED__WORD_SIZE];
    const heed_published *p = r->model->published;
    if (!p) {
        heed_fail(r->c, HEED_USAGE,
                  "run cannot be exported: no published architecture is like the model %s; hint: "
                  "`export %s --onnx model.onnx` writes any run",
                  r->model->name, heed__export_source(r));
        return NULL;
    }
    for (; p->type; p++)
        if (heed__keys_fit(r->config, p, NULL, NULL, NULL)) return p;
    heed_text expected = {.c = r->c}, found = {.c = r->c}, flags = {.c = r->c};
    heed__keys_fit(r->config, p = r->model->published, &expected, &found, &flags);
    const char *list = p->architectures;
    heed__list_word(&list, class);
    heed_fail(r->c, HEED_USAGE,
              "run cannot be exported as %s: expected%s, found%s; hint: `train %s -c "
              "%s/config.conf%s -o %s-exportable` makes one that can be; `export %s --onnx "
              "model.onnx` writes any run",
              class, expected.s ? expected.s : "", found.s ? found.s : "", r->model->name,
              heed__export_source(r), flags.s ? flags.s : "", heed__export_source(r),
              heed__export_source(r));
    heed_text_free(&expected);
    heed_text_free(&found);
    heed_text_free(&flags);
    return NULL;
}

bool heed_import_is_headless(const heed_run *r) {
    if (!r || r->step >= 0 || *heed_config_text(r->config, "data")) return false;
    const heed_published *p = r->model->published;
    while (p && p->type && !heed__keys_fit(r->config, p, NULL, NULL, NULL)) p++;
    return p && p->type && p->vectors;
}

/* The files of a model, of heed or transformers; a replaced one leaves none of them behind. */
static const char model_files[] =
    "config.json model.safetensors model.safetensors.index.json model-*-of-*.safetensors "
    "tokenizer.json tokenizer_config.json heed-tokenizer.json vocab.txt vocab.json merges.txt "
    "special_tokens_map.json added_tokens.json preprocessor_config.json modules.json 1_Pooling "
    "2_Normalize sentence_bert_config.json";

/* The folder beside dir in which a model is written, before it is moved to dir. */
static bool add_unfinished(heed_text *out, const char *dir) {
    size_t n = strlen(dir);
    while (n > 1 && dir[n - 1] == '/') n--;
    return heed_text_add(out, "%.*s.heed-export", (int)n, dir);
}

/* The folder is new or empty, or, with force, has a config.json that is replaced, or had one until
 * a replacement was interrupted. */
static bool check_folder(const heed_run *r, const char *dir, bool force) {
    heed__listing l = {0};
    if (!heed__os_exists(dir)) return true;
    if (!heed__os_is_dir(dir))
        return heed_fail(r->c, HEED_USAGE, "folder is a file: %s: expected a folder", dir);
    heed_text unfinished = {.c = r->c};
    bool ok = heed__os_list(r->c, dir, &l) && add_unfinished(&unfinished, dir), run = false;
    bool config = ok && heed__os_exists(unfinished.s);
    heed_text_free(&unfinished);
    for (size_t i = 0; ok && i < l.count; i++) {
        config |= strcmp(l.entries[i].name, "config.json") == 0;
        run |= strcmp(l.entries[i].name, "config.conf") == 0;
    }
    bool empty = l.count == 0;
    heed__os_list_free(&l);
    if (!ok || empty || (force && config && !run)) return ok;
    return heed_fail(r->c, HEED_USAGE, "folder is not empty: %s: expected a new one%s", dir,
                     config && !run ? "; hint: `force` replaces the model in it" : "");
}

static bool write_config(const heed_run *r, const heed_published *p, const char *dir) {
    heed_text path = {.c = r->c};
    json_t *config = heed__keys_write(r, p);
    bool ok = config && heed_text_add(&path, "%s/config.json", dir) &&
              heed__json_write(r->c, path.s, config);
    json_decref(config);
    heed_text_free(&path);
    return ok;
}

/* Row p: sin(p theta^(-2i / e)) of a head's e / 2 pairs of columns, and after them the cosines, as
 * floats also where heed_real is double. */
bool heed__angles_write(heed_store *out, const heed_run *r, const heed_published *p) {
    if (!p->angles) return true;
    int head = (int)(heed_config_int(r->config, "width") / heed_config_int(r->config, "heads"));
    int rows = (int)heed_config_int(r->config, "block"), half = head / 2;
    double theta = heed_config_real(r->config, "rope-theta");
    heed_tensor *t = heed_state_new(out, p->angles, "zero", 2, (int[]){rows, head});
    for (int i = 0; t && i < rows * half; i++) {
        heed_real *x = t->x + i / half * head + i % half;
        double angle = i / half / pow(theta, 2.0 * (i % half) / head);
        x[0] = (heed_real)(float)sin(angle);
        x[half] = (heed_real)(float)cos(angle);
    }
    return t != NULL;
}

static bool write_weights(const heed_run *r, const heed_published *p, const char *dir) {
    heed_text path = {.c = r->c};
    bool ok =
        heed_text_add(&path, "%s/model.safetensors", dir) && heed__weights_write(r, p, path.s);
    heed_text_free(&path);
    return ok;
}

/* Whether the run reads [CLS] before a text and [SEP] after it. */
static bool is_bracketed(const heed_run *r) {
    return heed_model_data(r->model)->mask ||
           (heed_config_has(r->config, "bracket") && heed_config_bool(r->config, "bracket"));
}

/* Sets a key of a file in dir, which takes the value. */
static bool set_key(heed_ctx *c, const char *dir, const char *name, const char *key,
                    json_t *value) {
    heed_text path = {.c = c};
    json_t *all = heed_text_add(&path, "%s/%s", dir, name) ? heed__json_read(c, path.s) : NULL;
    bool ok = all && json_object_set_new(all, key, value) == 0;
    if (!ok && !heed__stopped(c)) heed_fail(c, HEED_FAILED, "cannot write %s: out of memory", name);
    ok = ok && heed__json_write(c, path.s, all);
    json_decref(all);
    heed_text_free(&path);
    return ok;
}

/* A model that reads no [CLS] must not get it from the tokenizer, either, nor token types. Of a
 * tokenizer that was imported, the model reads the template. */
static bool write_tokenizer(const heed_run *r, const char *dir) {
    static const char file[] = "tokenizer_config.json";
    heed_ctx *c = r->c;
    if (!heed_tokenizer_save(r->tokenizer, dir)) return false;
    if (is_bracketed(r)) return true;
    return set_key(c, dir, file, "tokenizer_class", json_string("PreTrainedTokenizerFast")) &&
           set_key(c, dir, file, "model_input_names",
                   json_pack("[s, s]", "input_ids", "attention_mask")) &&
           (!r->tokenizer->preset ||
            set_key(c, dir, "tokenizer.json", "post_processor", json_null()));
}

static bool write_model(const heed_run *r, const heed_published *p, const char *dir) {
    return heed__os_make_dir(r->c, dir) && write_weights(r, p, dir) &&
           (!r->tokenizer || write_tokenizer(r, dir)) &&
           (!heed_model_data(r->model)->images || heed__pictures_write(r->c, dir, r->config)) &&
           (!p->vectors ||
            heed__modules_write(r->c, dir, r->config, (int)heed_config_int(r->config, "width"))) &&
           write_config(r, p, dir);
}

/* ---- moving it to its folder ---- */

/* config.json makes a folder a model: it is removed before all others, and moved after them. */
static bool is_config(const char *name) { return strcmp(name, "config.json") == 0; }

/* Removes a file of dir, or moves it to another folder. */
static bool move(heed_ctx *c, const char *dir, const char *name, const char *to) {
    heed_text from = {.c = c}, path = {.c = c};
    bool ok = heed_text_add(&from, "%s/%s", dir, name) &&
              (!to || heed_text_add(&path, "%s/%s", to, name));
    ok = ok && (to ? heed__os_rename(c, from.s, path.s) : heed__os_remove(c, from.s));
    heed_text_free(&from);
    heed_text_free(&path);
    return ok;
}

/* Removes the model in dir, and no other file of it. */
static bool remove_model(heed_ctx *c, const char *dir) {
    heed__listing l = {0};
    bool ok = heed__os_list(c, dir, &l) && move(c, dir, "config.json", NULL);
    for (size_t i = 0; ok && i < l.count; i++)
        if (heed__matches_any(model_files, l.entries[i].name))
            ok = move(c, dir, l.entries[i].name, NULL);
    heed__os_list_free(&l);
    return ok;
}

static bool move_model(heed_ctx *c, const char *from, const char *dir) {
    heed__listing l = {0};
    if (!heed__os_exists(dir)) /* it may be a link to nothing, which no folder replaces */
        return heed__os_rename(c, from, dir) || (heed__os_remove(c, from) && false);
    bool ok = remove_model(c, dir) && heed__os_list(c, from, &l);
    for (size_t i = 0; ok && i < l.count; i++)
        if (!is_config(l.entries[i].name)) ok = move(c, from, l.entries[i].name, dir);
    heed__os_list_free(&l);
    return ok && move(c, from, "config.json", dir) && heed__os_sync_dir(c, dir) &&
           heed__os_remove(c, from);
}

bool heed_export(const heed_run *r, const char *dir, bool force) {
    if (!r || !dir || heed__stopped(r->c)) return false;
    const heed_published *p = choose(r);
    json_t *config = p && check_folder(r, dir, force) ? heed__keys_write(r, p) : NULL;
    bool possible = config != NULL;
    json_decref(config);
    heed_text unfinished = {.c = r->c};
    bool ok = possible && add_unfinished(&unfinished, dir) && heed__os_remove(r->c, unfinished.s);
    if (ok && !write_model(r, p, unfinished.s)) {
        ok = false;
        heed__os_remove(r->c, unfinished.s);
    }
    ok = ok && move_model(r->c, unfinished.s, dir);
    heed_text_free(&unfinished);
    return ok;
}
