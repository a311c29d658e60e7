/* tokenizer.c -- heed tokenizer train, encode, decode, info. */
#include "cli/gather.h"
#include "cli/os_files.h"
#include "kinds/inputs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TOKENIZER "Tokenizer"
#define JSON      SWITCH("json", "print JSON", "Output")

static const heed_option train_options[] = {
    WORDS("out", "folder to write; -o for short", TOKENIZER),
    CHOICE("kind", "wordpiece", "char|byte|word|wordpiece|bpe", "what a token is", TOKENIZER),
    COUNT("vocab", "0", 0, 1 << 20,
          "tokens in the vocabulary, at most; 0: no limit for char and word, 8192 for wordpiece "
          "and bpe",
          TOKENIZER),
    SWITCH("lower", "word and wordpiece: lower-case the text", TOKENIZER),
    SWITCH("specials", "char and byte: with [PAD] [CLS] [SEP] [MASK], which mlm needs", TOKENIZER),
    SWITCH("force", "replace an existing tokenizer", TOKENIZER),
    JSON,
    {0}};

static const heed_option encode_options[] = {
    SWITCH("tokens", "print the tokens instead of their numbers", "Output"), JSON, {0}};

static const heed_option plain_options[] = {JSON, {0}};

/* ---- train and info ---- */

static json_t *special_json(const heed_specials *s) {
    json_t *o = json_object();
    const struct {
        const char *name;
        int id;
    } all[] = {{"pad", s->pad}, {"unk", s->unk},   {"cls", s->cls},
               {"sep", s->sep}, {"mask", s->mask}, {"newline", s->newline}};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].id >= 0) json_object_set_new(o, all[i].name, json_integer(all[i].id));
    return o;
}

enum { AT = 14 }; /* column at which facts begin, after their labels */

/* Prints the first tokens that are not special, in 60 columns or the terminal's width. */
static void print_first(const heed_tokenizer *k, int special) {
    char shown[128];
    heed_text line = {.c = NULL};
    int capacity = line_width(stdout) - AT < 60 ? line_width(stdout) - AT : 60;
    for (int i = special, used = 0; i < heed_vocab_size(k); i++) {
        used +=
            heed_label_columns(heed_format_token(shown, sizeof shown, heed_token_text(k, i))) + 1;
        if (used > capacity) break;
        heed_text_add(&line, "%s%s", line.n ? " " : "", shown);
    }
    print_fact(AT, "  first", "%s", line.s ? line.s : "");
    heed_text_free(&line);
}

static void print_special(const heed_tokenizer *k, json_t *special) {
    heed_text line = {.c = NULL};
    const char *name;
    json_t *id;
    json_object_foreach(special, name, id) {
        int number = (int)json_integer_value(id);
        char shown[64];
        heed_text_add(&line, "%s%s = %d", line.n ? " " : "",
                      heed_format_token(shown, sizeof shown, heed_token_text(k, number)), number);
    }
    print_fact(AT, "  special", "%s", line.s ? line.s : "none");
    heed_text_free(&line);
}

static void print_tokenizer(program *p, const heed_tokenizer *k, const char *path) {
    char text[32], digest[24];
    heed_specials s = heed_tokenizer_specials(k);
    json_t *special = special_json(&s);
    snprintf(digest, sizeof digest, "%016llx", (unsigned long long)heed_tokenizer_digest(k));
    if (flag_on(p, "json")) {
        print_json(p, json_pack("{s:o, s:s, s:i, s:o, s:s}", "path", json_text(path), "kind",
                                heed_tokenizer_kind(k), "vocab", heed_vocab_size(k), "special",
                                special, "digest", digest));
        return;
    }
    print_fact(0, "", "%s: %s tokenizer, %s tokens", path, heed_tokenizer_kind(k),
               heed_format_count(text, (uint64_t)heed_vocab_size(k)));
    print_special(k, special);
    print_first(k, (int)json_object_size(special));
    print_fact(AT, "  digest", "%s", digest);
    json_decref(special);
}

/* Refuses to replace a run's tokenizer, which belongs to its weights, and any other one without
 * --force. */
static bool check_out(program *p, const char *out) {
    static const char *const names[] = {"config.conf", "tokenizer.json", "vocab.json", "vocab.txt"};
    if (strcmp(p->argv[0], "-") != 0 && !path_exists(p->c, p->argv[0])) return false;
    if (!*out)
        return heed_fail(p->c, HEED_USAGE,
                         "missing -o: expected a folder for the tokenizer; hint: `tokenizer "
                         "train %s -o tokenizer`",
                         p->argv[0]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", out, names[i]);
        if (!is_file(path) || (i > 0 && flag_on(p, "force"))) continue;
        return heed_fail(p->c, HEED_USAGE, "a %s exists already: %s; hint: another -o%s",
                         i ? "tokenizer" : "run", out, i ? ", or --force to replace it" : "");
    }
    return true;
}

static void train(program *p) {
    const char *out = flag_text(p, "out");
    size_t n = 0;
    gathered inputs = {.path = ""};
    const heed_model *m = first_of(p->models, reads_text);
    if (!check_out(p, out)) return;
    char *text = NULL;
    if (!m || gather(p, m, NULL, p->argc, p->argv, &inputs))
        text = heed_text_read(p->c, *inputs.path ? inputs.path : p->argv[0], &n);
    gather_end(&inputs);
    heed_tokenizer *k =
        heed_tokenizer_train(p->c, text, n,
                             (heed_tokenizer_args){.kind = flag_text(p, "kind"),
                                                   .vocab = flag_int(p, "vocab"),
                                                   .lower = flag_on(p, "lower"),
                                                   .specials = flag_on(p, "specials")});
    free(text);
    if (k && heed_tokenizer_save(k, out)) print_tokenizer(p, k, out);
}

static void info(program *p) {
    heed_tokenizer *k = heed_tokenizer_open(p->c, p->argv[0]);
    if (k) print_tokenizer(p, k, p->argv[0]);
}

/* ---- encode and decode ---- */

static void print_ids(program *p, const heed_tokenizer *k, const heed_tokens *t) {
    char shown[128];
    bool tokens = flag_on(p, "tokens");
    for (size_t i = 0; i < t->count; i++) {
        if (i) putchar(' ');
        if (tokens)
            fputs(heed_format_token(shown, sizeof shown, heed_token_text(k, t->ids[i])), stdout);
        else
            printf("%d", (int)t->ids[i]);
    }
    putchar('\n');
}

static bool encode_one(program *p, void *user, const char *text, size_t n) {
    const heed_tokenizer *k = user;
    heed_tokens t = {.c = p->c};
    bool ok = heed_encode(k, text, n, &t);
    if (ok && flag_on(p, "json")) {
        json_t *ids = json_array(), *tokens = json_array();
        for (size_t i = 0; i < t.count; i++) {
            json_array_append_new(ids, json_integer(t.ids[i]));
            json_array_append_new(tokens, json_text(heed_token_text(k, t.ids[i])));
        }
        print_json(p, json_pack("{s:o, s:o}", "ids", ids, "tokens", tokens));
    } else if (ok) {
        print_ids(p, k, &t);
    }
    heed_tokens_free(&t);
    return ok;
}

/* Reads the numbers of a text into ids, which has n / 2 + 1 elements, and returns their count. -1:
 * not a number. */
static int read_ids(program *p, const heed_tokenizer *k, const char *text, int32_t *ids) {
    int count = 0;
    char *end;
    for (const char *s = text + strspn(text, " \t,"); *s; s = end + strspn(end, " \t,")) {
        errno = 0;
        long id = strtol(s, &end, 10);
        if (end == s || errno || id < 0 || id >= heed_vocab_size(k)) {
            heed_fail(p->c, HEED_DATA, "not a token's number: %.40s: expected 0 to %d", s,
                      heed_vocab_size(k) - 1);
            return -1;
        }
        ids[count++] = (int32_t)id;
    }
    return count;
}

static bool decode_one(program *p, void *user, const char *text, size_t n) {
    const heed_tokenizer *k = user;
    heed_text out = {.c = p->c};
    int32_t *ids = allocate(p->c, n / 2 + 1, sizeof *ids, "numbers");
    if (!ids) return false;
    int count = read_ids(p, k, text, ids);
    bool ok = count >= 0 && heed_decode(k, ids, (size_t)count, &out);
    if (ok && flag_on(p, "json"))
        print_json(p, json_pack("{s:o}", "text", json_bytes(out.s, out.n)));
    else if (ok) {
        print_made(out.s, out.n);
        putchar('\n');
    }
    heed_text_free(&out);
    free(ids);
    return ok;
}

static void each_text(program *p, take_input one) {
    heed_tokenizer *k = heed_tokenizer_open(p->c, p->argv[0]);
    if (k) each_input(p, k, one, 0);
}

static void encode(program *p) { each_text(p, encode_one); }
static void decode(program *p) { each_text(p, decode_one); }

const command cmd_tokenizer_train = {
    .name = "tokenizer train",
    .usage = "FILE... -o FOLDER",
    .help = "make a vocabulary from a text file",
    .about = "Reads a text as `heed train gpt` does: a file, several files, folders and quoted\n"
             "patterns, or - for the standard input.",
    .examples = "  heed tokenizer train book.txt -o tokenizer --vocab 4096\n"
                "  heed train mlm book.txt --tokenizer tokenizer -o runs/book\n",
    .options = train_options,
    .args = {1, -1},
    .run = train,
};

const command cmd_tokenizer_encode = {
    .name = "tokenizer encode",
    .usage = "TOKENIZER [TEXT]...",
    .help = "text to token numbers",
    .about =
        "Prints the numbers of the tokens of each TEXT, or of each line of the standard\n"
        "input, which must not be empty. TOKENIZER is the folder of a tokenizer or a run, or a\n"
        "vocab.txt.",
    .examples = "  heed tokenizer encode runs/book \"The king went home .\" --tokens\n",
    .options = encode_options,
    .args = {1, -1},
    .run = encode,
};

const command cmd_tokenizer_decode = {
    .name = "tokenizer decode",
    .usage = "TOKENIZER [NUMBERS]...",
    .help = "token numbers to text",
    .about =
        "Prints the text of each list of numbers, or of each line of the standard input, which\n"
        "must not be empty.",
    .examples = "  heed tokenizer decode runs/book \"12 5 301\"\n"
                "  heed tokenizer encode runs/book < in.txt | heed tokenizer decode runs/book\n",
    .options = plain_options,
    .args = {1, -1},
    .run = decode,
};

const command cmd_tokenizer_info = {
    .name = "tokenizer info",
    .usage = "TOKENIZER",
    .help = "kind, size and special tokens",
    .examples = "  heed tokenizer info runs/book\n",
    .options = plain_options,
    .args = {1, 1},
    .run = info,
};
