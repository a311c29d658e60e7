/* What the tests of exchange share: exchange_model.h. */
#include "exchange_model.h"
#include "io/io.h"

#include "files.h"
#include "golden.h"

#include <sys/stat.h>

double exchange_apart(const heed_array *a, const heed_tensor *x, double *largest) {
    double most = 0;
    *largest = 0;
    CHECK(a && x);
    if (!a || !x) return INFINITY;
    for (size_t i = 0; i < x->size; i++) {
        double y = golden_number(a, i);
        most = fmax(most, fabs((double)x->x[i] - y));
        *largest = fmax(*largest, fabs(y));
    }
    return most;
}

static heed_tensor *ids_of(heed_tape *t, const heed_safetensors *f, const char *name) {
    const heed_array *a = heed__safetensors_find(f, name);
    int32_t ids[64];
    if (!a) return NULL;
    for (size_t i = 0; i < a->bytes / 4 && i < 64; i++) ids[i] = (int32_t)golden_number(a, i);
    return heed_ids(t, ids, (int)a->shape[0], (int)a->shape[1]);
}

static heed_tensor *pixels_of(heed_tape *t, const heed_safetensors *f) {
    const heed_array *a = heed__safetensors_find(f, "pixels");
    if (!a) return NULL;
    heed_tensor *x =
        heed_input(t, NULL, 4,
                   (int[]){(int)a->shape[0], (int)a->shape[1], (int)a->shape[2], (int)a->shape[3]});
    for (size_t i = 0; x && i < x->size; i++) x->x[i] = (heed_real)golden_number(a, i);
    return x;
}

/* The errors of a run against the outputs that transformers gave, relative to the largest logit,
 * and of the attention. Padding is compared, too: its queries see the same keys. */
static void compare(heed_run *r, const char *name, double *logits, double *attention) {
    char path[128], probe[64];
    double largest;
    heed_attention_info at;
    snprintf(path, sizeof path, EXCHANGE_GOLDEN "%s/expected.safetensors", name);
    heed_safetensors *f = heed_safetensors_open(r->c, path);
    heed_tape *t = r->tape;
    heed_probe(t, "*.weights", false);
    heed_tape_begin(t, HEED_EVAL, 0);
    heed_model_input in = {.x = heed__safetensors_find(f, "pixels") ? pixels_of(t, f)
                                                                    : ids_of(t, f, "ids"),
                           .pad = ids_of(t, f, "pad"),
                           .types = ids_of(t, f, "types")};
    const heed_tensor *y = r->model->logits(r->self, t, &in);
    *logits = exchange_apart(heed__safetensors_find(f, "logits"), y, &largest) / largest;
    *attention = 0;
    for (int i = 0; r->model->attending(r->self, i, &at); i++) {
        snprintf(path, sizeof path, "%s.weights", at.path);
        snprintf(probe, sizeof probe, "weights.%d", i);
        *attention = fmax(*attention, exchange_apart(heed__safetensors_find(f, probe),
                                                     heed_probe_find(t, path), &largest));
    }
    heed_safetensors_close(f);
}

bool exchange_agrees(heed_run *r, const char *name) {
    double logits = INFINITY, attention = INFINITY;
    if (r) compare(r, name, &logits, &attention);
    return logits <= 1e-5 && attention <= 1e-6;
}

size_t exchange_golden(const char *name, const char *file, char *text, size_t size) {
    char path[512];
    snprintf(path, sizeof path, EXCHANGE_GOLDEN "%s/%s", name, file);
    FILE *f = fopen(path, "rb");
    size_t n = f ? fread(text, 1, size, f) : 0;
    if (f) fclose(f);
    CHECK(n > 0 && n < size);
    return n;
}

const char *exchange_edited(const char *name, const char *from, const char *to) {
    static char dir[256], weights[1 << 16];
    char path[512], text[4096] = {0};
    snprintf(dir, sizeof dir, "%s", in_folder("edited"));
    mkdir(dir, 0700);
    exchange_golden(name, "config.json", text, sizeof text);
    char *at = strstr(text, from);
    CHECK(at);
    snprintf(path, sizeof path, "%s/config.json", dir);
    FILE *f = fopen(path, "wb");
    if (f && at) fprintf(f, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    if (f) fclose(f);
    snprintf(path, sizeof path, "%s/model.safetensors", dir);
    put_file(path, weights, exchange_golden(name, "model.safetensors", weights, sizeof weights));
    return dir;
}

void exchange_hear(void *user, heed_level level, const char *message) {
    exchange_heard *h = user;
    if (level != HEED_WARN) return;
    snprintf(h->last, sizeof h->last, "%s", message);
    h->count++;
}
