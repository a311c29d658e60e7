/* table.c -- which columns of a table, or keys of its objects, are read: as the caller names or
 * numbers them, or by their usual names. What is not certain is asked for, never guessed. */
#include "data/table.h"

#include "data/image/images.h"
#include "text/text.h"
#include "tokenizer/tokenizer.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SOURCES                                                                                    \
    " src source input from text sentence document question prompt tokens words review comment "   \
    "tweet message content "
#define TARGETS                                                                                    \
    " tgt target output to translation answer response label labels class category tag tags "      \
    "sentiment intent emotion topic "
#define FILES                                                                                      \
    " picture name image_id image_name image_path img img_path filename filepath filepaths "       \
    "file_path "
static const char languages[] =
    " eng fra deu spa ita por rus cmn jpn kor en fr de es it pt ru zh ja ko english french german "
    "spanish italian portuguese russian chinese japanese korean ";
static const char numbers[] = " id index idx no nr number ";
static const char part_names[] = " split part set subset partition data_set dataset ";

const heed__schema heed__pair_schemas[] = {
    {.form = "source TAB target",
     .what = {"source", "target"},
     .usual = {" src source ", " tgt target "},
     .others = {SOURCES, TARGETS},
     .languages = true,
     .order = {0, 1},
     .unit = "pair"},
    {.form = "label TAB text",
     .labels = true,
     .what = {"text", "label"},
     .usual = {" text sentence ", " label class "},
     .others = {SOURCES, TARGETS},
     .order = {1, 0},
     .unit = "text"},
    {.form = "words TAB labels",
     .labels = true,
     .words = true,
     .what = {"tokens", "tags"},
     .usual = {" tokens words ", " tags labels "},
     .others = {SOURCES, TARGETS},
     .order = {0, 1},
     .unit = "text"},
    {.form = "file TAB caption",
     .what = {"image", "caption"},
     .usual = {" image file file_name path filename ", " caption text "},
     .others = {FILES, " captions description sentence comment "},
     .files = true,
     .parts = true,
     .order = {0, 1},
     .unit = "caption"},
};
const heed__schema heed__picture_schema = {
    .form = "path,label",
    .labels = true,
    .what = {"path", "label"},
    .usual = {" path file file_name filename image ", " label class "},
    .others = {FILES, " category target labels classes class_name label_name species breed "},
    .files = true,
    .parts = true,
    .order = {0, 1},
    .unit = "picture"};

/* ---- texts of fields ---- */

static bool is_white(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

bool heed__next_word(heed__cut *rest, heed__cut *word) {
    while (rest->n && is_white(*rest->s)) rest->s++, rest->n--;
    *word = (heed__cut){rest->s, 0};
    while (word->n < rest->n && !is_white(word->s[word->n])) word->n++;
    rest->s += word->n;
    rest->n -= word->n;
    return word->n > 0;
}

heed__cut heed__trimmed(heed__cut t) {
    while (t.n && is_white(*t.s)) t.s++, t.n--;
    while (t.n && is_white(t.s[t.n - 1])) t.n--;
    return t;
}

bool heed__is_picture_name(heed__cut name) {
    static const char *const ends[] = {".jpg", ".jpeg", ".png",  ".bmp", ".webp", ".gif",
                                       ".tif", ".tiff", ".avif", ".jxl", ".heic", ".heif",
                                       ".jp2", ".pbm",  ".pgm",  ".ppm", ".pcx"};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        size_t n = strlen(ends[i]);
        if (name.n > n && strncasecmp(name.s + name.n - n, ends[i], n) == 0) return true;
    }
    return false;
}

heed__cut heed__without_number(heed__cut file) {
    size_t n = file.n;
    while (n && isdigit((unsigned char)file.s[n - 1])) n--;
    return n > 1 && n < file.n && file.s[n - 1] == '#' ? (heed__cut){file.s, n - 1} : file;
}

/* Whether a field is a number. */
static bool read_number(heed__cut t, double *value) {
    char text[64] = "";
    if (t.n < sizeof text) memcpy(text, t.s, t.n);
    return *text && heed__number(text, value);
}

static heed__cut cut_of(const char *s) { return heed__trimmed((heed__cut){s, strlen(s)}); }

bool heed__table_reject(const heed__table *t, const char *expected, const char *found) {
    return heed_reject(
        t->c, HEED_DATA,
        (heed_problem){"line is wrong", t->path, t->rows.line, expected, .found = found});
}

/* ---- usual names ---- */

/* Where the list of names between spaces has this one, ignoring case, with _ for a space in it;
 * NULL: nowhere. */
static const char *place_in(const char *list, heed__cut name) {
    while (name.n && (list = strchr(list, ' ')) && *++list) {
        size_t i = 0;
        while (
            i < name.n && list[i] != ' ' && list[i] &&
            (tolower((unsigned char)name.s[i]) == list[i] || (name.s[i] == ' ' && list[i] == '_')))
            i++;
        if (i == name.n && list[i] == ' ') return list;
    }
    return NULL;
}

/* Whether a name, or with `words` one of its words, means that side. */
static bool means(const heed__schema *k, int side, heed__cut name, bool words) {
    for (size_t i = 0, n = 0; i < name.n && words; i += n + 1) {
        for (n = 0; i + n < name.n && isalnum((unsigned char)name.s[i + n]);) n++;
        if (n && n < name.n && means(k, side, (heed__cut){name.s + i, n}, false)) return true;
    }
    return place_in(k->usual[side], name) || place_in(k->others[side], name);
}

/* The column whose name comes first in the list; HEED__ABSENT: none is there. */
static size_t first_of(const char *list, const heed__cut *names, size_t count) {
    const char *best = NULL;
    size_t found = HEED__ABSENT;
    for (size_t i = 0; i < count; i++) {
        const char *at = place_in(list, names[i]);
        if (at && (!best || at < best)) {
            best = at;
            found = i;
        }
    }
    return found;
}

/* The column of that side by its name: the one whose usual name comes first, or the only one with
 * another name. HEED__ABSENT: there is none, or several may be meant. */
static size_t known(const heed__schema *k, int side, const heed__cut *names, size_t count) {
    size_t found = first_of(k->usual[side], names, count), others = 0;
    if (found != HEED__ABSENT) return found;
    for (size_t i = 0; i < count; i++)
        if (place_in(k->others[side], names[i]) && others++ == 0) found = i;
    return others == 1 ? found : HEED__ABSENT;
}

/* Whether the names say which columns are meant. */
static bool recognize(heed__table *t, const heed__cut *names, size_t count) {
    const heed__schema *k = t->schema;
    size_t *to = t->column, languages_found = 0;
    for (int side = 0; side < HEED__SIDES; side++) to[side] = known(k, side, names, count);
    bool source = to[HEED__SOURCE] != HEED__ABSENT, target = to[HEED__TARGET] != HEED__ABSENT;
    if (k->parts) to[HEED__PART] = first_of(part_names, names, count);
    if (source && (target || t->alone)) return true;
    for (size_t i = 0; i < count && k->languages; i++)
        if (place_in(languages, names[i]) && languages_found++ < HEED__SIDES)
            to[languages_found - 1] = i;
    return languages_found == HEED__SIDES && !source && !target;
}

/* ---- names and numbers of the caller ---- */

/* The column that a number from 1 names; HEED__ABSENT: it is no number. */
static size_t number_of(heed__cut name) {
    size_t n = 0;
    for (size_t i = 0; i < name.n; i++) {
        if (!isdigit((unsigned char)name.s[i]) || n > HEED_CSV_FIELDS) return HEED__ABSENT;
        n = 10 * n + (size_t)(name.s[i] - '0');
    }
    return n ? n - 1 : HEED__ABSENT;
}

/* The first column from `at` of that name; count: there is none. */
static size_t next_named(const heed__cut *names, size_t at, size_t count, heed__cut wanted) {
    while (at < count && !heed__same_name(names[at].s, names[at].n, wanted.s, wanted.n)) at++;
    return at;
}

/* Divides the setting `columns`; the number of its names, 0 on error. */
static size_t wanted_of(const heed__table *t, heed__cut wanted[HEED__ROLES]) {
    size_t count = 0, most = t->schema->parts ? HEED__ROLES : HEED__SIDES;
    bool ok = true;
    for (const char *s = t->columns; s && ok; count++) {
        const char *comma = strchr(s, ',');
        heed__cut one = heed__trimmed((heed__cut){s, comma ? (size_t)(comma - s) : strlen(s)});
        ok = one.n && count < most && next_named(wanted, 0, count, one) == count;
        if (ok) wanted[count] = one;
        s = comma ? comma + 1 : NULL;
    }
    if (ok && (count >= HEED__SIDES || t->alone)) return count;
    heed_fail(t->c, HEED_USAGE,
              "`%scolumns` is wrong: expected two names or numbers with a comma, as %s,%s, found "
              "%s",
              t->prefix, t->schema->what[0], t->schema->what[1], t->columns);
    return 0;
}

static bool says(const char *setting, const char *value) {
    return setting && strcmp(setting, value) == 0;
}

static bool given(const heed__table *t) { return t->columns && *t->columns; }

/* Of two columns of one name, one would be ignored. */
static bool are_unique(const heed__table *t, const heed__cut *names, size_t count) {
    for (int side = 0; side < HEED__SIDES; side++) {
        size_t own = t->column[side], other;
        if (own >= count || (other = next_named(names, own + 1, count, names[own])) == count)
            continue;
        if (!t->rows.at) /* an object of a JSON file */
            return heed_fail(t->c, HEED_DATA,
                             "two keys are one but for their case: %s:%zu: expected one of them, "
                             "found %.*s and %.*s; hint: rename one",
                             t->path, t->rows.line, (int)names[own].n, names[own].s,
                             (int)names[other].n, names[other].s);
        return heed_fail(t->c, HEED_DATA,
                         "two columns have one name: %s:%zu: columns %zu and %zu are named %.*s; "
                         "hint: `%scolumns` accepts numbers, too, `%scolumns = %zu,%zu`",
                         t->path, t->rows.line, own + 1, other + 1, (int)names[own].n, names[own].s,
                         t->prefix, t->prefix, t->column[0] + 1, t->column[1] + 1);
    }
    return true;
}

/* ---- what the first rows say ---- */

static size_t count_words(heed__cut text) {
    size_t count = 0;
    for (heed__cut word; heed__next_word(&text, &word);) count++;
    return count;
}

/* Whether a field may be the name of a column. */
static bool may_name(const heed__schema *k, heed__cut field) {
    bool any = place_in(numbers, field) || place_in(languages, field);
    for (int side = 0; side < HEED__SIDES; side++) any = any || means(k, side, field, true);
    return any && count_words(field) <= 2;
}

/* A column in the rows after the first one. */
typedef struct {
    size_t bytes, different, same; /* same: rows with the first row's text */
    bool numbers, pictures;        /* all are numbers; names of pictures */
    bool counts, rises;            /* each number is that of the row before + 1; is larger */
    size_t single;                 /* texts that occur once */
    bool hints;                    /* one may name a column, as the first row's may */
} look;

enum { LOOKED = 200, LOOKED_BYTES = 1 << 20, MANY = 8 };

static void look_at_field(const heed__schema *k, look *of, heed__names *seen, size_t *times,
                          size_t row, double *last, heed__cut first, const char *text) {
    double value;
    heed__cut cut = cut_of(text);
    bool number = heed__number(text, &value);
    of->bytes += cut.n;
    of->same += cut.n == first.n && memcmp(cut.s, first.s, cut.n) == 0;
    of->numbers = of->numbers && number;
    bool begins = row == 0 && isnan(*last);
    of->counts = of->counts && number && (begins || value == *last + 1);
    of->rises = of->rises && number && (begins || value > *last);
    of->pictures = of->pictures && heed__is_picture_name(heed__without_number(cut));
    of->hints = of->hints || may_name(k, cut);
    *last = number ? value : (double)NAN;
    int32_t at = heed__names_add(seen, cut.s, cut.n);
    if (at >= 0) times[at]++;
}

/* Looks at a copy of the rows after the first one, as reading modifies them; their number. A row
 * that is wrong ends the look. */
static size_t look_at(const heed__table *t, look of[HEED__FIRST]) {
    heed_ctx *c = heed_open(&(heed_options){.threads = 1});
    heed_csv rows = t->rows;
    heed_text copy = {.c = c};
    size_t left = (size_t)(rows.end - rows.at), n = left < LOOKED_BYTES ? left : LOOKED_BYTES;
    size_t count = 0;
    if (rows.at) heed_text_put(&copy, rows.at, n);
    rows.c = c;
    rows.at = copy.s;
    rows.end = copy.s ? copy.s + copy.n : NULL;
    heed__names seen[HEED__FIRST] = {{0}};
    double last[HEED__FIRST];
    size_t *times = heed__alloc_array(c, HEED__FIRST * LOOKED, sizeof *times);
    for (size_t i = 0; i < t->shown; i++) {
        of[i] = (look){.numbers = true, .pictures = true, .counts = true, .rises = true};
        seen[i].c = c;
        if (!read_number(t->first[i], &last[i])) last[i] = (double)NAN;
    }
    while (times && count < LOOKED && rows.at && heed_csv_next(&rows) && rows.count == t->width &&
           (rows.ended || n == left)) {
        for (size_t i = 0; i < t->shown; i++)
            look_at_field(t->schema, &of[i], &seen[i], times + i * LOOKED, count, &last[i],
                          t->first[i], rows.fields[i]);
        count++;
    }
    for (size_t i = 0; i < t->shown; i++) {
        of[i].different = seen[i].count;
        for (size_t j = 0; times && j < seen[i].count; j++)
            of[i].single += times[i * LOOKED + j] == 1;
        of[i].counts = count > 1 && (of[i].counts || (of[i].rises && count >= MANY));
        heed__names_free(&seen[i]);
    }
    if (!c || heed_ctx_status(c) == HEED_FAILED)
        heed_fail(t->c, HEED_FAILED, "%s", heed_ctx_error(c));
    heed__free(times);
    heed_text_free(&copy);
    heed_close(c);
    return count;
}

/* ---- asking for columns ---- */

/* How well a column would be that side, by its name and its rows; 0: not at all. */
static double merit(const heed__schema *k, int side, heed__cut name, const look *of) {
    double rows = k->labels && side == HEED__TARGET ? 1 / (1 + (double)of->different)
                                                    : 1 - 1 / (1 + (double)of->bytes);
    bool file = k->files && side == HEED__SOURCE;
    if (means(k, side, name, false)) return 4 + rows;
    if (file && of->pictures) return 3 + rows;
    if (k->languages && place_in(languages, name)) return 2;
    if (means(k, side, name, true)) return 2 + rows;
    if (file || !name.n || of->counts || place_in(numbers, name)) return 0;
    return means(k, !side, name, true) ? rows / 2 : 1 + rows;
}

/* The columns that are probably meant. *named becomes false if the first row looks like data. */
static void suggest(const heed__table *t, size_t out[HEED__SIDES], bool *named) {
    look of[HEED__FIRST];
    double best[HEED__SIDES] = {0};
    look_at(t, of);
    for (size_t i = 0; i < t->shown; i++)
        *named = *named && !of[i].same && (t->hints || count_words(t->first[i]) <= 3);
    for (int side = 0; side < HEED__SIDES; side++) {
        out[side] = HEED__ABSENT;
        for (size_t i = 0; i < t->shown; i++) {
            double m = side && i == out[0] ? 0 : merit(t->schema, side, t->first[i], &of[i]);
            if (m <= best[side]) continue;
            best[side] = m;
            out[side] = i;
        }
    }
    if (out[0] == HEED__ABSENT || out[1] == HEED__ABSENT) {
        memcpy(out, t->schema->order, sizeof t->schema->order);
        return;
    }
    bool sure = t->schema->labels || means(t->schema, HEED__SOURCE, t->first[out[0]], false) ||
                means(t->schema, HEED__TARGET, t->first[out[1]], true);
    if (sure || t->schema->files || out[0] < out[1]) return;
    size_t later = out[0]; /* two texts, of which nothing says which comes first */
    out[0] = out[1];
    out[1] = later;
}

/* Appends "; hint: `columns = review,stars`": by names, or by numbers where these are not clear;
 * keys of objects have none. */
static void add_hint(const heed__table *t, bool named, heed_text *out) {
    size_t likely[HEED__SIDES];
    if (t->width < HEED__SIDES) return;
    suggest(t, likely, &named);
    bool clear = named;
    for (int side = 0; side < HEED__SIDES && clear; side++) {
        heed__cut name = likely[side] < t->shown ? t->first[likely[side]] : (heed__cut){"", 0};
        clear = name.n && !memchr(name.s, ',', name.n) && !memchr(name.s, '`', name.n) &&
                number_of(name) == HEED__ABSENT &&
                next_named(t->first, 0, t->shown, name) == likely[side] &&
                next_named(t->first, likely[side] + 1, t->shown, name) == t->shown;
    }
    if (!clear && !t->rows.separator) return;
    heed_text_add(out, "; hint: `%scolumns = ", t->prefix);
    for (int side = 0; side < HEED__SIDES; side++) {
        if (side) heed_text_put(out, ",", 1);
        if (clear)
            heed_text_put(out, t->first[likely[side]].s, t->first[likely[side]].n);
        else
            heed_text_add(out, "%zu", likely[side] + 1);
    }
    heed_text_add(out, "`%s, the names or numbers of %s and %s",
                  named && !clear ? " and `header = yes`" : "", t->schema->what[0],
                  t->schema->what[1]);
}

static void list_first(const heed__table *t, heed_text *out) {
    enum { SHOWN = 12, LONGEST = 60 };
    for (size_t i = 0; i < t->shown && i < SHOWN; i++) {
        size_t n = t->first[i].n;
        bool cut = n > LONGEST;
        while (cut && (n > LONGEST || ((unsigned char)t->first[i].s[n] & 0xC0) == 0x80)) n--;
        heed_text_add(out, "%s%.*s%s", i ? ", " : "", (int)n, t->first[i].s, cut ? ".." : "");
    }
    if (t->width > SHOWN) heed_text_add(out, ", ..");
}

/* Fails because the first row does not name the columns. named: it is expected to. */
static bool lacks(const heed__table *t, bool named) {
    const char *const *what = t->schema->what;
    const char *row = t->rows.separator ? "a first line that names" : "an object with the keys";
    heed_text list = {.c = t->c}, hint = {.c = t->c};
    list_first(t, &list);
    add_hint(t, named, &hint);
    if (given(t))
        heed_fail(t->c, HEED_DATA, "columns are not known: %s:%zu: expected %s %s, found %s%s",
                  t->path, t->rows.line, row, t->columns, list.s ? list.s : "",
                  hint.s ? hint.s : "");
    else
        heed_fail(t->c, HEED_DATA,
                  "columns are not known: %s:%zu: expected %s %s and %s, found %s%s", t->path,
                  t->rows.line, row, what[0], what[1], list.s ? list.s : "", hint.s ? hint.s : "");
    heed_text_free(&list);
    heed_text_free(&hint);
    return false;
}

/* Fails because the first row, which would be read as data, seems to name the columns. */
static bool ask(const heed__table *t) {
    heed_text list = {.c = t->c}, hint = {.c = t->c};
    list_first(t, &list);
    if (given(t))
        heed_text_add(&hint, "; hint: `header = yes` if it names them");
    else
        add_hint(t, true, &hint);
    heed_fail(t->c, HEED_DATA,
              "the first line may name the columns: %s:%zu: expected one like the others, or known "
              "names, found %s%s; or `header = no` if it is data",
              t->path, t->rows.line, list.s ? list.s : "", hint.s ? hint.s : "");
    heed_text_free(&list);
    heed_text_free(&hint);
    return false;
}

/* Whether the first row alone has its text, and nearly all others repeat theirs. */
static bool is_alone(const look *of, size_t rows) { return !of->same && of->single * 20 <= rows; }

/* Whether the first row may be read as data: it is like the others, and no column that is read
 * numbers the rows. */
static bool is_data(const heed__table *t) {
    enum { SOME = 3, SEVERAL = 5 };
    const heed__schema *k = t->schema;
    look of[HEED__FIRST];
    size_t rows = look_at(t, of), source = t->column[HEED__SOURCE],
           target = t->column[HEED__TARGET];
    size_t hints = 0;
    for (size_t i = 0; i < t->shown; i++) hints += !of[i].hints && may_name(k, t->first[i]);
    bool unlike = hints >= 2, alone = false;
    for (int side = 0; side < HEED__SIDES; side++) {
        size_t i = t->column[side];
        double value;
        if (i >= t->shown) continue;
        bool first = read_number(t->first[i], &value);
        if (!given(t) && t->width > HEED__SIDES && rows >= SOME && of[i].counts)
            return first ? lacks(t, false) : ask(t);
        unlike = unlike || (rows >= SOME && of[i].numbers && !first);
        alone = alone || (rows >= SEVERAL && is_alone(&of[i], rows));
    }
    if (k->files && source < t->shown)
        unlike = unlike || (rows && of[source].pictures &&
                            !heed__is_picture_name(heed__without_number(t->first[source])));
    else if (k->labels && target < t->shown && !k->words)
        unlike = !of[target].same && (unlike || alone || (rows >= SOME && hints));
    return !heed__stopped(t->c) && (!unlike || ask(t));
}

/* ---- choosing ---- */

static void keep_first(heed__table *t, const heed__cut *names, size_t count) {
    t->width = count;
    t->hints = 0;
    t->shown = count < HEED__FIRST ? count : HEED__FIRST;
    memcpy(t->first, names, t->shown * sizeof *names);
    for (size_t i = 0; i < t->shown; i++) t->hints += may_name(t->schema, names[i]);
}

/* By what the caller named. A name that is also the number of a column is a name only beside a
 * first line that names the columns. */
static bool choose_given(heed__table *t, const heed__cut *names, size_t count) {
    heed__cut wanted[HEED__ROLES];
    size_t all = wanted_of(t, wanted), named = 0, numbered = 0, at[HEED__ROLES];
    bool keys = !t->rows.separator, no = !keys && says(t->header, "no"),
         known_names = recognize(t, names, count);
    for (int role = 0; role < HEED__ROLES; role++) t->column[role] = HEED__ABSENT;
    for (size_t i = 0; i < all; i++) {
        at[i] = no ? count : next_named(names, 0, count, wanted[i]);
        named += at[i] < count;
        t->column[i] = keys ? HEED__ABSENT : number_of(wanted[i]);
        numbered += t->column[i] < count;
    }
    if (!all) return false;
    if (named == all && numbered == all && !says(t->header, "yes"))
        return heed_fail(t->c, HEED_USAGE,
                         "`%scolumns = %s` are names and numbers: %s:%zu: hint: `header = yes` if "
                         "its first line names the columns, else `header = no`",
                         t->prefix, t->columns, t->path, t->rows.line);
    t->named = named > 0 || says(t->header, "yes") ||
               (!no && numbered == all &&
                (known_names || means(t->schema, HEED__SOURCE, names[t->column[0]], false)));
    for (size_t i = 0; i < all; i++) {
        if (at[i] < count && (named == all || numbered < all)) t->column[i] = at[i];
        if (t->column[i] >= count) return lacks(t, !no);
        for (size_t j = 0; j < i; j++)
            if (t->column[i] == t->column[j])
                return heed_fail(t->c, HEED_USAGE,
                                 "`%scolumns = %s`: expected different columns, found column %zu "
                                 "twice",
                                 t->prefix, t->columns, t->column[i] + 1);
    }
    return named == 0 || are_unique(t, names, count);
}

bool heed__table_choose(heed__table *t, const heed__cut *names, size_t count) {
    const heed__schema *k = t->schema;
    keep_first(t, names, count);
    if (given(t)) return choose_given(t, names, count);
    t->column[HEED__PART] = HEED__ABSENT;
    t->named = (!t->rows.separator || !says(t->header, "no")) && recognize(t, names, count);
    if (t->named) return are_unique(t, names, count);
    /* Without names, columns have a usual order in TSV and in lists of pictures. */
    bool file = k->files && count && heed__is_picture_name(heed__without_number(*names));
    bool usual = t->rows.separator == '\t' || (file && count <= HEED__SIDES) ||
                 (k->parts && k->labels && count <= HEED__SIDES && !t->hints);
    if (says(t->header, "yes") || !usual || (count < HEED__SIDES && !t->alone))
        return lacks(t, !says(t->header, "no"));
    t->column[HEED__PART] = HEED__ABSENT;
    memcpy(t->column, k->order, sizeof k->order);
    if (t->alone && count == 1) t->column[HEED__TARGET] = HEED__ABSENT;
    return true;
}

/* ---- rows ---- */

/* The row's fields; line ends in them become spaces. */
static size_t cut_row(heed_csv *r, heed__cut *out) {
    for (size_t i = 0; i < r->count; i++) {
        for (char *at = r->fields[i]; (at = strpbrk(at, "\n\t")) != NULL;) *at = ' ';
        out[i] = cut_of(r->fields[i]);
    }
    return r->count;
}

static bool next_row(heed__table *t) {
    return heed_csv_next(&t->rows) && (t->rows.count <= HEED_CSV_FIELDS ||
                                       heed__table_reject(t, "at most 1024 fields", "more"));
}

/* Without a tab, a file that does not end in .csv has other separators only if its first line names
 * known columns: it may be prose. */
static bool is_table(heed__table *t, const heed__cut *names, size_t count) {
    bool asked = given(t) || says(t->header, "yes") || heed__ends_in(t->path, ".csv");
    if (count == 1 && t->rows.separator == '\t' && !t->alone)
        return heed__table_reject(t, t->schema->form, "no tab in it");
    return t->rows.separator == '\t' || asked || recognize(t, names, count) ||
           heed__table_reject(t, t->schema->form, "no tab in it");
}

bool heed__table_open(heed__table *t, char *text, size_t n) {
    heed__cut *names = NULL;
    if (!heed_csv_open(&t->rows, t->c, "line is wrong", t->path, text, n)) return false;
    t->rows.longest = 1 << 24;
    if (!next_row(t)) return !heed__stopped(t->c);
    names = heed__alloc_array(t->c, t->rows.count, sizeof *names);
    size_t count = names ? cut_row(&t->rows, names) : 0;
    bool ok = names && is_table(t, names, count) && heed__table_choose(t, names, count) &&
              (t->named || says(t->header, "no") || is_data(t));
    t->held = ok && !t->named;
    heed__free(names);
    return ok;
}

bool heed__table_next(heed__table *t) {
    char expected[120], found[24];
    const heed_csv *r = &t->rows;
    if (t->held) {
        t->held = false;
        return true;
    }
    if (!next_row(t)) return false;
    if (r->count == t->width) return true;
    snprintf(expected, sizeof expected, "%zu field%s, as the first line has%s%s%s", t->width,
             t->width == 1 ? "" : "s", r->separator == '\t' ? "" : " (a ",
             r->separator == '\t' ? "" : heed__csv_separator(r),
             r->separator == '\t' ? "" : " inside one needs \"quotes\")");
    snprintf(found, sizeof found, "%zu", r->count);
    return heed__table_reject(t, expected, found);
}

static heed__cut field(const heed__table *t, size_t i) {
    if (i >= t->width) return (heed__cut){"", 0};
    for (char *at = t->rows.fields[i]; (at = strpbrk(at, "\n\t")) != NULL;) *at = ' ';
    return cut_of(t->rows.fields[i]);
}

heed__cut heed__table_field(const heed__table *t, int role) { return field(t, t->column[role]); }

heed__cut heed__table_note(const heed__table *t) {
    size_t i = 0;
    while (i == t->column[HEED__SOURCE] || i == t->column[HEED__TARGET]) i++;
    return field(t, i);
}

int heed__table_part(const heed__table *t, heed__cut name) {
    char quoted[HEED_QUOTE];
    if (t->column[HEED__PART] == HEED__ABSENT) return HEED_TRAIN_PART;
    int part = heed__images_part(name.s, name.n);
    if (part < 0)
        heed_fail(t->c, HEED_DATA,
                  "list of pictures is wrong: %s:%zu: expected train, val or test in the column of "
                  "parts, found %s; hint: `columns` with two names reads no parts",
                  t->path, t->rows.line, heed_quote(quoted, name.s, name.n));
    return part;
}

char *heed__table_names(const heed__table *t) {
    heed_text out = {.c = t->c};
    for (int role = 0; role < HEED__ROLES; role++)
        if (t->column[role] < t->shown)
            heed_text_add(&out, "%s%.*s", role ? ", " : "", (int)t->first[t->column[role]].n,
                          t->first[t->column[role]].s);
    return out.s;
}
