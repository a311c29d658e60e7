/* attention.c -- multi-head attention with its projections. Vaswani et al. 2017, sec. 3.2.2. */
#include "core/params.h"
#include "nn/nn.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Query heads share the heads of keys and values equally; rotary positions turn pairs of numbers.
 */
static bool check_variants(heed_ctx *c, const char *name, const heed_mha_args *a) {
    if (a->kv_heads < 1 || a->heads % a->kv_heads)
        return heed_fail(c, HEED_USAGE,
                         "heads do not share keys and values equally: %s: expected kv-heads that "
                         "divide heads, found heads %d, kv-heads %d; hint: `kv-heads = 1`, or "
                         "another divisor",
                         name, a->heads, a->kv_heads);
    if (a->rotary < 0 || (a->rotary > 0 && (a->cross || a->key % 2)))
        return heed_fail(c, HEED_USAGE,
                         "rotary positions do not fit: %s: expected self-attention, an even "
                         "key-width and rope-theta above 0, found %sattention, key-width %d, "
                         "rope-theta %g; hint: `key-width`, `rope-theta`, or other `positions`",
                         name, a->cross ? "cross " : "self-", a->key, (double)a->rotary);
    return true;
}

/* Checks the sizes and fills in the usual ones. */
static bool complete(heed_ctx *c, const char *name, heed_mha_args *a) {
    if (a->width < 1 || a->heads < 1 || a->key < 0 || a->value < 0)
        return heed_fail(
            c, HEED_USAGE,
            "size of attention is wrong: %s: expected positive numbers, found width %d, "
            "heads %d, key width %d, value width %d; hint: `heads`, `width`",
            name, a->width, a->heads, a->key, a->value);
    if ((!a->key || !a->value) && a->width % a->heads)
        return heed_fail(c, HEED_USAGE,
                         "width does not split into heads: %s: expected a width that is a multiple "
                         "of heads, found width %d with %d heads; hint: another `heads`, or widths "
                         "set by `key-width` and `value-width`",
                         name, a->width, a->heads);
    if (!a->key) a->key = a->width / a->heads;
    if (!a->value) a->value = a->width / a->heads;
    if (!a->memory_width) a->memory_width = a->width;
    if (!a->kv_heads) a->kv_heads = a->heads;
    if (!check_variants(c, name, a)) return false;
    return 2 * (int64_t)a->key + a->value <= INT_MAX / a->heads ||
           heed_fail(c, HEED_USAGE,
                     "attention is too large: %s: expected heads (2 key + value) below 2^31, found "
                     "%d (2 x %d + %d); hint: smaller `heads`, `key-width`, `value-width`",
                     name, a->heads, a->key, a->value);
}

heed_rows heed_mha_rows(const heed_mha_args *a, heed_projected part, int head) {
    if (!a || a->heads < 1 || head >= a->heads) return (heed_rows){0};
    int shared = a->kv_heads ? a->kv_heads : a->heads;
    int heads = part == HEED_QUERIES ? a->heads : shared;
    int width = part == HEED_VALUES ? a->value : a->key;
    int queries = a->cross ? 0 : a->heads * a->key;
    int from = part == HEED_QUERIES ? 0 : part == HEED_KEYS ? queries : queries + shared * a->key;
    if (head < 0) return (heed_rows){from, heads * width};
    return (heed_rows){from + (int)((int64_t)head * heads / a->heads) * width, width};
}

/* The parts of the projections, for adapters of a part. */
static void name_parts(const heed_mha *l, heed_params *s) {
    static const char *const names[] = {"q", "k", "v"};
    for (heed_projected part = HEED_QUERIES; part <= HEED_VALUES; part++) {
        heed_rows rows = heed_mha_rows(&l->args, part, -1);
        const heed_linear *stacked = part == HEED_QUERIES ? &l->q : &l->kv;
        heed__name_rows(s, l->args.cross ? stacked->w : l->qkv.w, names[part], rows.from,
                        rows.count);
    }
}

static void projections(heed_mha *l, heed_params *s) {
    const heed_mha_args *a = &l->args;
    heed_rows v = heed_mha_rows(a, HEED_VALUES, -1);
    heed_linear_args in = {.in = a->width, .no_bias = a->no_bias, .init = a->init};
    if (a->cross) {
        in.out = a->heads * a->key;
        heed_linear_init(&l->q, s, "q", in);
        in.in = a->memory_width;
    }
    in.out = v.from + v.count;
    heed_linear_init(a->cross ? &l->kv : &l->qkv, s, a->cross ? "kv" : "qkv", in);
    name_parts(l, s);
    if (!a->no_out)
        heed_linear_init(&l->out, s, "out",
                         (heed_linear_args){.in = a->heads * a->value,
                                            .out = a->width,
                                            .no_bias = a->no_bias,
                                            .init = a->out_init});
}

void heed_mha_init(heed_mha *l, heed_params *s, const char *name, heed_mha_args a) {
    if (!heed__layer_begins(l, sizeof *l, s, name)) return;
    *l = (heed_mha){.name = heed_scope_push(s, "%s", name)};
    if (l->name && complete(heed_params_ctx(s), l->name, &a)) {
        l->args = a;
        projections(l, s);
        l->rotary = heed_scope_push(s, "rotary");
        heed_scope_pop(s);
    }
    heed_scope_pop(s);
}

static heed_attention_args op_args(const heed_mha_args *a) {
    return (heed_attention_args){.heads = a->heads,
                                 .kv_heads = a->kv_heads,
                                 .key = a->key,
                                 .value = a->value,
                                 .beta = a->beta,
                                 .has_beta = a->has_beta,
                                 .causal = a->causal,
                                 .hard = a->hard,
                                 .explicit_path = a->explicit_path,
                                 .dropout = a->dropout};
}

/* The queries, keys or values of all heads in the output x of a stacked projection. */
static heed_tensor *columns(const heed_mha *l, heed_tape *t, heed_tensor *x, heed_projected part) {
    heed_rows r = heed_mha_rows(&l->args, part, -1);
    return x ? heed_slice(t, x, x->dims - 1, r.from, r.count) : NULL;
}

static bool cache_fits(heed_ctx *c, const heed_mha *l, const heed_cache *cache,
                       const heed_tensor *k, int rows) {
    if (k->shape[0] != (cache->stride ? rows : 1))
        return heed_fail(c, HEED_USAGE,
                         "cached attention at %s: expected %s, found %d for %d sequences", l->name,
                         cache->stride ? "keys of each" : "keys of one, or a stride", k->shape[0],
                         rows);
    if (k->size == 0)
        return heed_fail(c, HEED_USAGE,
                         "cached attention at %s: expected at least one token, found %d x %d",
                         l->name, k->shape[0], k->shape[1]);
    if (!cache->k || !cache->v || cache->len < 0)
        return heed_fail(c, HEED_USAGE,
                         "cache at %s is wrong: expected two arrays and their length, found %s",
                         l->name, cache->len < 0 ? "a negative length" : "NULL");
    if (k->shape[1] > cache->capacity - cache->len)
        return heed_fail(c, HEED_USAGE,
                         "cache at %s is full: expected at most %d tokens, found %d + %d", l->name,
                         cache->capacity, cache->len, k->shape[1]);
    return true;
}

/* Appends the rows of x (B,T,width) to those that the array holds of each sequence. */
static void append(const heed_cache *cache, heed_real *array, const heed_tensor *x) {
    size_t each = x->size / (size_t)x->shape[0], width = (size_t)x->shape[2];
    for (int b = 0; b < x->shape[0]; b++)
        memcpy(array + (size_t)b * cache->stride + (size_t)cache->len * width,
               x->x + (size_t)b * each, each * sizeof *array);
}

/* The rows held of a sequence, without copying. */
static heed_tensor *held(heed_tape *t, const heed_cache *cache, heed_real *array, int sequence,
                         int width) {
    heed_real *from = array + (size_t)sequence * cache->stride;
    return heed_wrap(t, from, 3, (int[]){1, cache->len, width});
}

/* Adds the keys and values in the output of a stacked projection: those of as many sequences as
 * have queries, or of the one memory that these share. */
static bool remember(const heed_mha *l, heed_tape *t, heed_cache *cache, heed_tensor *stack,
                     int rows) {
    const heed_tensor *k = columns(l, t, stack, HEED_KEYS), *v = columns(l, t, stack, HEED_VALUES);
    if (!k || !v || !cache_fits(heed_tape_ctx(t), l, cache, k, rows)) return false;
    append(cache, cache->k, k);
    append(cache, cache->v, v);
    cache->len += k->shape[1];
    return true;
}

/* The op itself. */
static heed_tensor *attend_to(const heed_mha *l, heed_tape *t, heed_tensor *q, heed_tensor *k,
                              heed_tensor *v, heed_tensor *bias, heed_tensor *pad) {
    heed_attention_args a = op_args(&l->args);
    return heed_attention(heed_name_scope(t, l->name), q, k, v, bias, pad, &a);
}

/* Row b of x (1|B,...), reals or indices, or NULL. */
static heed_tensor *row_of(heed_tape *t, heed_tensor *x, int b) {
    if (!x || x->shape[0] == 1) return x;
    if (!x->i) return heed_slice(t, x, 0, b, 1);
    int shape[HEED_DIMS] = {1};
    for (int i = 1; i < x->dims; i++) shape[i] = x->shape[i];
    return heed_input_ids(t, x->i + (size_t)b * heed__extent(x, 1, x->dims), x->dims, shape);
}

/* The queries of each sequence attend to the keys that its cache holds, which are elsewhere for
 * each, or the same for all. */
static heed_tensor *attend_cached(const heed_mha *l, heed_tape *t, heed_tensor *q,
                                  heed_tensor *bias, heed_tensor *pad, const heed_cache *cache) {
    const heed_mha_args *a = &l->args;
    heed_tensor *y = NULL;
    if (pad && pad->shape[0] != 1 && pad->shape[0] != q->shape[0]) {
        heed_fail(heed_tape_ctx(t), HEED_USAGE,
                  "cached attention at %s: expected a padding mask of 1 or %d sequences, found %d",
                  l->name, q->shape[0], pad->shape[0]);
        return NULL;
    }
    for (int b = 0; b < q->shape[0]; b++) {
        heed_tensor *k = held(t, cache, cache->k, b, a->kv_heads * a->key);
        heed_tensor *v = held(t, cache, cache->v, b, a->kv_heads * a->value);
        heed_tensor *one =
            attend_to(l, t, row_of(t, q, b), k, v, row_of(t, bias, b), row_of(t, pad, b));
        if (!one || q->shape[0] == 1) return one;
        if (b == 0) y = heed_input(t, NULL, 3, (int[]){q->shape[0], one->shape[1], one->shape[2]});
        if (!y) return NULL;
        memcpy(y->x + (size_t)b * one->size, one->x, one->size * sizeof *y->x);
    }
    return y;
}

/* Computes q from x, and k and v from memory. Once a cache holds those, memory is not read. Where
 * nothing tells the queries of several sequences apart, they attend to one memory as those of one.
 */
static heed_tensor *attend_across(const heed_mha *l, heed_tape *t, heed_tensor *x,
                                  const heed_mha_inputs *in) {
    heed_tensor *q = heed_linear_apply(&l->q, t, x), *bias = in->score_bias, *pad = in->pad;
    heed_cache *cache = in->cache;
    if (!q) return NULL;
    if (!cache || !cache->len) {
        heed_tensor *kv = heed_linear_apply(&l->kv, t, in->memory);
        if (!kv) return NULL;
        if (!cache) return attend_to(l, t, q, kv, NULL, bias, pad);
        if (!remember(l, t, cache, kv, q->shape[0])) return NULL;
    }
    if (cache->stride || l->args.causal || bias || (pad && pad->shape[0] != 1))
        return attend_cached(l, t, q, bias, pad, cache);
    int rows = x->shape[0], len = x->shape[1];
    q = heed_reshape(t, q, 3, (int[]){1, rows * len, -1});
    heed_tensor *y = attend_cached(l, t, q, NULL, pad, cache);
    return heed_reshape(t, y, 3, (int[]){rows, len, -1});
}

/* The stacked q, k and v of x; q and k, which are adjacent, are rotated by their positions, from
 * that of the first token that the cache does not hold. */
static heed_tensor *self_parts(const heed_mha *l, heed_tape *t, heed_tensor *x,
                               const heed_cache *cache) {
    const heed_mha_args *a = &l->args;
    heed_tensor *qkv = heed_linear_apply(&l->qkv, t, x);
    if (!qkv || a->rotary == 0) return qkv;
    return heed_rotary(heed_name_scope(t, l->rotary), qkv,
                       &(heed_rotary_args){.heads = a->heads + a->kv_heads,
                                           .width = a->key,
                                           .first = cache ? cache->len : 0,
                                           .theta = a->rotary});
}

/* With an empty cache, x is all there is: it attends to itself, as without one. */
static heed_tensor *attend_within(const heed_mha *l, heed_tape *t, heed_tensor *x,
                                  const heed_mha_inputs *in) {
    bool begun = in->cache && in->cache->len;
    heed_tensor *qkv = self_parts(l, t, x, in->cache);
    if (!qkv || (in->cache && !remember(l, t, in->cache, qkv, qkv->shape[0]))) return NULL;
    if (!begun) return attend_to(l, t, qkv, NULL, NULL, in->score_bias, in->pad);
    heed_tensor *q = columns(l, t, qkv, HEED_QUERIES);
    return attend_cached(l, t, q, in->score_bias, in->pad, in->cache);
}

/* ---- some queries alone ---- */

/* The queries of rows, which differ in number from sequence to sequence, as (B,M), M the most. */
typedef struct {
    heed_tensor *from; /* (B,M): which row is at that place; any, where there is none */
    heed_tensor *back; /* as rows: the place b M + m of each */
    heed_tensor *bias; /* (B,1,M,T): -inf where the key is after the row, if causal; else NULL */
} places;

static bool rows_fit(const heed_mha *l, heed_tape *t, const heed_tensor *x,
                     const heed_mha_inputs *in) {
    heed_ctx *c = heed_tape_ctx(t);
    const heed_tensor *rows = in->rows;
    if (l->args.cross || in->score_bias || in->cache || !x || x->dims != 3 || !rows->i)
        return heed_fail(c, HEED_USAGE,
                         "rows of attention are wrong: %s: expected self-attention without a score "
                         "bias or cache, x (B,T,d) and an index of rows, found %s, %d dims",
                         l->name, l->args.cross ? "cross attention" : "self-attention",
                         x ? x->dims : 0);
    size_t all = heed__extent(x, 0, 2);
    for (size_t r = 0; r < rows->size; r++)
        if (rows->i[r] < 0 || (size_t)rows->i[r] >= all)
            return heed_fail(c, HEED_USAGE,
                             "rows of attention are wrong: %s: expected 0 to %zd, found %d",
                             l->name, (ptrdiff_t)all - 1, (int)rows->i[r]);
    return true;
}

static heed_tensor *hide_later(heed_tape *t, const heed_tensor *x, const heed_tensor *rows,
                               const places *p) {
    int len = x->shape[1];
    heed_tensor *y = heed_input(t, NULL, 4, (int[]){x->shape[0], 1, p->from->shape[1], len});
    for (size_t r = 0; y && r < rows->size; r++)
        for (int key = rows->i[r] % len + 1; key < len; key++)
            y->x[(size_t)p->back->i[r] * (size_t)len + (size_t)key] = -INFINITY;
    return y;
}

static bool find_places(const heed_mha *l, heed_tape *t, const heed_tensor *x,
                        const heed_tensor *rows, places *p) {
    int batch = x->shape[0], len = x->shape[1], most = 0;
    heed_tensor *count = heed_new_ids(t, 1, &batch);
    p->back = heed_new_ids(t, rows->dims, rows->shape);
    if (!count || !p->back) return false;
    for (size_t r = 0; r < rows->size; r++) {
        int place = count->i[rows->i[r] / len]++;
        p->back->i[r] = place;
        if (place >= most) most = place + 1;
    }
    p->from = heed_new_ids(t, 2, (int[]){batch, most});
    for (size_t r = 0; p->from && r < rows->size; r++) {
        p->back->i[r] += rows->i[r] / len * most;
        p->from->i[p->back->i[r]] = (int32_t)r;
    }
    p->bias = p->from && l->args.causal ? hide_later(t, x, rows, p) : NULL;
    return p->from && (p->bias || !l->args.causal);
}

/* Columns [from, from + count) of the stacked projection of x. */
static heed_tensor *projected(const heed_mha *l, heed_tape *t, heed_tensor *x, int from,
                              int count) {
    heed_tensor *w = heed_slice(t, l->qkv.w, 0, from, count);
    heed_tensor *b = l->qkv.b ? heed_slice(t, l->qkv.b, 0, from, count) : NULL;
    return heed_affine(heed_name_scope(t, l->qkv.name), x, w, b);
}

static heed_tensor *attend_rows(const heed_mha *l, heed_tape *t, heed_tensor *x,
                                const heed_mha_inputs *in) {
    places p;
    heed_tensor *q, *kv;
    if (!rows_fit(l, t, x, in) || !find_places(l, t, x, in->rows, &p)) return NULL;
    heed_attention_args a = op_args(&l->args);
    int queries = a.heads * a.key, others = a.kv_heads * (a.key + a.value);
    a.causal = false; /* the bias hides later keys */
    if (l->args.rotary > 0) {
        heed_tensor *qkv = self_parts(l, t, x, NULL);
        q = heed_gather(t, columns(l, t, qkv, HEED_QUERIES), in->rows);
        kv = heed_slice(t, qkv, 2, queries, others);
    } else {
        q = projected(l, t, heed_gather(t, x, in->rows), 0, queries);
        kv = projected(l, t, x, queries, others);
    }
    q = heed_gather(t, q, p.from); /* (B,M,h e) */
    return heed_gather(
        t, heed_attention(heed_name_scope(t, l->name), q, kv, NULL, p.bias, in->pad, &a), p.back);
}

heed_tensor *heed_mha_apply(const heed_mha *l, heed_tape *t, heed_tensor *x,
                            const heed_mha_inputs *in) {
    static const heed_mha_inputs none = {0};
    if (!heed__layer_given(l, t)) return NULL;
    if (!in) in = &none;
    heed_tensor *y = (in->rows        ? attend_rows
                      : l->args.cross ? attend_across
                                      : attend_within)(l, t, x, in);
    return l->args.no_out ? y : heed_linear_apply(&l->out, t, y);
}

/* ---- check cases ---- */

typedef struct {
    heed_mha mha;
    heed_tensor *memory, *bias; /* (2,4,4), if cross; (1,2,3,3), for scores; or NULL */
    int rows;
} attention_case;

typedef struct {
    heed_mha_args mha;
    bool biased;
    int rows; /* the number of rows of which the output is read; 0: all */
} case_args;

static void case_init(void *self, heed_params *s, const void *args) {
    const case_args *a = args;
    attention_case *l = self;
    heed_mha_init(&l->mha, s, "mha", a->mha);
    l->rows = a->rows;
    if (a->biased)
        l->bias =
            heed_param_new(s, "bias", "normal:0.5", 4, (int[]){1, 2, HEED_CASE_LEN, HEED_CASE_LEN});
    if (a->mha.cross)
        l->memory = heed_param_new(s, "memory", "normal:1", 3, (int[]){HEED_CASE_ROWS, 4, 4});
}
static heed_tensor *case_apply(const void *self, heed_tape *t, heed_tensor *x) {
    static const int32_t rows[] = {5, 1, 3, 3}; /* one of the first sequence, three of the other */
    const attention_case *l = self;
    heed_mha_inputs in = {.memory = l->memory, .score_bias = l->bias};
    if (l->rows) in.rows = heed_input_ids(t, rows, 1, &l->rows);
    return heed_mha_apply(&l->mha, t, x, &in);
}

/* Weights of this size make the scores differ, so that queries and keys get a gradient. */
#define ROWS_CASE(name, has_bias, rows, ...)                                                       \
    {                                                                                              \
        name, sizeof(attention_case), case_init, case_apply, &(const case_args) {                  \
            {.width = HEED_CASE_WIDTH, .init = "normal:0.5", __VA_ARGS__}, has_bias, rows          \
        }                                                                                          \
    }
#define CASE(name, has_bias, ...) ROWS_CASE(name, has_bias, 0, __VA_ARGS__)
const heed_layer_case heed_layers_attention[] = {
    ROWS_CASE("attention of rows", false, 4, .heads = 2, .key = 3, .value = 5),
    ROWS_CASE("attention of rows, causal", false, 4, .heads = 4, .kv_heads = 2, .causal = true,
              .no_bias = true, .dropout = (heed_real)0.2),
    ROWS_CASE("attention of rows, rotary", false, 2, .heads = 2, .rotary = 10, .no_out = true),
    ROWS_CASE("attention of rows, plain", false, 4, .heads = 2, .causal = true,
              .explicit_path = true),
    CASE("attention", false, .heads = 2, .key = 3, .value = 5),
    CASE("attention causal", false, .heads = 2, .causal = true, .no_out = true,
         .dropout = (heed_real)0.2),
    CASE("attention plain", false, .heads = 2, .explicit_path = true, .no_bias = true,
         .dropout = (heed_real)0.3, .has_beta = true, .beta = 2),
    CASE("attention biased", true, .heads = 2, .key = 3, .value = 5),
    CASE("attention cross", false, .memory_width = 4, .heads = 4, .cross = true),
    CASE("attention rotary", false, .heads = 2, .rotary = 10000),
    CASE("attention grouped", false, .heads = 4, .kv_heads = 2, .key = 4, .value = 3, .rotary = 10),
    CASE("attention grouped plain", false, .heads = 4, .kv_heads = 2, .causal = true,
         .explicit_path = true, .no_bias = true, .rotary = 10, .dropout = (heed_real)0.2),
    CASE("attention grouped cross", false, .memory_width = 4, .heads = 4, .kv_heads = 1,
         .cross = true),
    {0}};
