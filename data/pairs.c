/* pairs TASK FOLDER [--train N] [--test N] [--from L] [--to L] [--letters N] [--distance K]
 *                   [--tags] [--spans] [--seed N] -- makes lines of pairs.
 *
 * FOLDER/train.tsv and FOLDER/test.tsv, source TAB target. TASK:
 *   dates    a date as people write it, in one of ten ways, and as 1999-03-05; from 1930 to 2029,
 *            so that two digits are enough for a year. --spans: a third column says where year,
 *            month and day stand in the source, as "9-13 0-5 6-7" (bytes, the end not counted)
 *   reverse  L letters, --from 5 --to 20, out of --letters 26, and the same backwards
 *   sort     the same and in order
 *   recall   the letter --distance K steps before the last one TAB the letters: K + 1 of them
 *            unless --from and --to say otherwise, out of --letters 8. --tags: the letters, parted
 *            by spaces, TAB for each the one K steps before it, "-" where there is none
 *
 * Line i of a part is a function of (seed, part, i) alone. Unseen lines: whether a date, or a text
 * of letters, may stand in the test or in the training part is drawn from itself alone, so no test
 * line has a source of any training file, whatever the seeds; a date is in no way of writing it. */
#define MAKER "pairs"
#include "maker.h"

enum { MOST_LETTERS = 1000, TEST_SHARE = 8, TRIES = 10000 };
typedef enum { DATES, REVERSE, SORT, RECALL, TASKS } task;
static const char *const task_names[TASKS] = {"dates", "reverse", "sort", "recall"};

typedef struct {
    int task;
    const char *folder;
    uint64_t count[2], from, to, letters, distance, seed;
    bool tags, spans;
} order;

/* ---- chance ---- */

/* Uniform in 0 .. bound - 1, except for 2^-40. */
static uint64_t below(dice *state, uint64_t bound) { return (roll(state) >> 8) % bound; }

/* Which part a source belongs to: 1, the test, for every eighth. */
static int part_of(const void *source, size_t n) {
    const unsigned char *p = source;
    uint64_t hash = 14695981039346656037u; /* FNV-1a */
    for (size_t i = 0; i < n; i++) hash = (hash ^ p[i]) * 1099511628211u;
    return roll(&hash) % TEST_SHARE == 0;
}

/* ---- dates ---- */

/* %Y 1999, %y 99; %B March, %b Mar, %m 03, %n 3; %d 05, %e 5, %o 5th, %O fifth; %A Friday, %a Fri
 */
static const char *const ways[] = {
    "%B %e, %Y",       "%e %B %Y",         "%A, %B %e, %Y", "%a %e %b %Y", "%B %o, %Y",
    "the %o of %B %Y", "the %O of %B, %Y", "%n/%e/%y",      "%d.%m.%Y",    "%e-%b-%y",
};
enum { WAYS = sizeof ways / sizeof *ways, FIRST_YEAR = 1930, DAYS = 36525 };
typedef enum { YEAR, MONTH, DAY, FIELDS } field;

static const char *const months[] = {"January",   "February", "March",    "April",
                                     "May",       "June",     "July",     "August",
                                     "September", "October",  "November", "December"};
static const char *const weekdays[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                       "Friday", "Saturday", "Sunday"};
static const char *const ordinals[] = {
    "",           "first",     "second",    "third",       "fourth",     "fifth",      "sixth",
    "seventh",    "eighth",    "ninth",     "tenth",       "eleventh",   "twelfth",    "thirteenth",
    "fourteenth", "fifteenth", "sixteenth", "seventeenth", "eighteenth", "nineteenth", "twentieth"};

typedef struct {
    int year, month, day, weekday; /* month 1 to 12; weekday 0: Monday */
} date;

static int days_in(int year, int month) {
    static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    return days[month - 1] + (month == 2 && year % 4 == 0);
}

/* Day number n from 1930-01-01, a Wednesday, on. No century among these years breaks the rule of
 * four. */
static date date_of(int n) {
    date d = {FIRST_YEAR, 1, n, (n + 2) % 7};
    while (d.day >= days_in(d.year, d.month)) {
        d.day -= days_in(d.year, d.month++);
        if (d.month > 12) d.month = 1, d.year++;
    }
    d.day++;
    return d;
}

/* "th" "st" "nd" "rd" behind a day, and the day in words. */
static const char *suffix(int day) {
    static const char *const ends[] = {"th", "st", "nd", "rd"};
    return ends[day % 10 <= 3 && day / 10 != 1 ? day % 10 : 0];
}

static void put_ordinal(FILE *f, int day) {
    if (day == 30)
        fputs("thirtieth", f);
    else if (day <= 20)
        fputs(ordinals[day], f);
    else
        fprintf(f, "%s-%s", day < 30 ? "twenty" : "thirty", ordinals[day % 10]);
}

/* Writes what the letter stands for; which field it is, FIELDS for a weekday. */
static field put_part(FILE *f, char letter, const date *d) {
    bool whole = letter >= 'A' && letter <= 'Z';
    if (letter == 'A' || letter == 'a') {
        fprintf(f, "%.*s", whole ? 9 : 3, weekdays[d->weekday]);
        return FIELDS;
    }
    if (letter == 'Y' || letter == 'y') {
        fprintf(f, "%02d", whole ? d->year : d->year % 100);
        return YEAR;
    }
    if (letter == 'B' || letter == 'b')
        fprintf(f, "%.*s", whole ? 9 : 3, months[d->month - 1]);
    else if (letter == 'm' || letter == 'n')
        fprintf(f, "%0*d", letter == 'm' ? 2 : 1, d->month);
    else if (letter == 'O')
        put_ordinal(f, d->day);
    else
        fprintf(f, "%0*d%s", letter == 'd' ? 2 : 1, d->day, letter == 'o' ? suffix(d->day) : "");
    return strchr("Bbmn", letter) ? MONTH : DAY;
}

static date draw_date(dice *state, int part) {
    for (;;) {
        int n = (int)below(state, DAYS);
        if (part_of((const unsigned char[]){n & 255, (n >> 8) & 255}, 2) == part) return date_of(n);
    }
}

static void write_date(FILE *f, const order *o, dice *state, int part) {
    long begin[FIELDS + 1], end[FIELDS + 1], start = ftell(f);
    date d = draw_date(state, part);
    for (const char *s = ways[below(state, WAYS)]; *s; s++) {
        long at = ftell(f) - start;
        if (*s != '%') {
            putc(*s, f);
            continue;
        }
        field which = put_part(f, *++s, &d);
        begin[which] = at;
        end[which] = ftell(f) - start;
    }
    fprintf(f, "\t%04d-%02d-%02d", d.year, d.month, d.day);
    for (int i = 0; o->spans && i < FIELDS; i++)
        fprintf(f, "%c%ld-%ld", i ? ' ' : '\t', begin[i], end[i]);
    putc('\n', f);
}

/* ---- letters ---- */

static int alphabetic(const void *a, const void *b) { return *(const char *)a - *(const char *)b; }

static void write_text(FILE *f, const order *o, char *s, size_t n) {
    size_t k = (size_t)o->distance;
    if (o->tags) {
        for (size_t i = 0; i < n; i++) fprintf(f, "%s%c", i ? " " : "", s[i]);
        for (size_t i = 0; i < n; i++) fprintf(f, "%c%c", i ? ' ' : '\t', i < k ? '-' : s[i - k]);
    } else if (o->task == RECALL) {
        fprintf(f, "%c\t%.*s", s[n - 1 - k], (int)n, s);
    } else {
        fprintf(f, "%.*s\t", (int)n, s);
        if (o->task == SORT) qsort(s, n, 1, alphabetic);
        for (size_t i = 0; i < n; i++) putc(s[o->task == SORT ? i : n - 1 - i], f);
    }
    putc('\n', f);
}

/* False if there are too few texts to find one of the part. */
static bool write_letters(FILE *f, const order *o, dice *state, int part) {
    char s[MOST_LETTERS];
    for (int i = 0; i < TRIES; i++) {
        size_t n = (size_t)(o->from + below(state, o->to - o->from + 1));
        for (size_t j = 0; j < n; j++) s[j] = (char)('a' + below(state, o->letters));
        if (part_of(s, n) != part) continue;
        write_text(f, o, s, n);
        return true;
    }
    fprintf(stderr, "pairs: too few different texts: expected longer ones, or more letters\n");
    return false;
}

/* ---- files ---- */

static bool write_part(const order *o, int part) {
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%s/%s.tsv", o->folder, part ? "test" : "train");
    FILE *f = fopen(path, "w");
    bool made = true;
    for (uint64_t i = 0; f && made && i < o->count[part]; i++) {
        dice state = dice_of(o->seed, (uint64_t)part, i);
        if (o->task == DATES)
            write_date(f, o, &state, part);
        else
            made = write_letters(f, o, &state, part);
    }
    return finish(f, path) && made;
}

/* ---- arguments ---- */

static bool settle(order *o) {
    bool recalls = o->task == RECALL;
    if ((o->tags && !recalls) || (o->spans && o->task != DATES)) return false;
    if (!o->letters) o->letters = recalls ? 8 : 26;
    if (!o->distance) o->distance = 10;
    if (!o->from) o->from = recalls ? o->distance + 1 : 5;
    if (!o->to) o->to = recalls ? o->from : o->from > 20 ? o->from : 20;
    return o->from <= o->to && (!recalls || o->from > o->distance);
}

static bool read_order(int argc, char **argv, order *o) {
    const char *words[2];
    const flag flags[] = {{"--train", 0, 10000000, &o->count[0], NULL},
                          {"--test", 0, 10000000, &o->count[1], NULL},
                          {"--from", 1, MOST_LETTERS, &o->from, NULL},
                          {"--to", 1, MOST_LETTERS, &o->to, NULL},
                          {"--letters", 2, 26, &o->letters, NULL},
                          {"--distance", 1, MOST_LETTERS - 1, &o->distance, NULL},
                          {"--seed", 0, UINT64_MAX, &o->seed, NULL},
                          {"--tags", 0, 0, NULL, &o->tags},
                          {"--spans", 0, 0, NULL, &o->spans},
                          {0}};
    if (!read_arguments(argc, argv, flags, words, 2)) return false;
    while (o->task < TASKS && strcmp(words[0], task_names[o->task]) != 0) o->task++;
    o->folder = words[1];
    return o->task < TASKS && settle(o);
}

int main(int argc, char **argv) {
    order o = {.count = {10000, 1000}, .seed = 1};
    if (!read_order(argc, argv, &o)) {
        fprintf(stderr, "usage: pairs dates|reverse|sort|recall FOLDER [--train N] [--test N] "
                        "[--from L] [--to L] [--letters N] [--distance K] [--tags] [--spans] "
                        "[--seed N]\n");
        return 2;
    }
    bool ok = make_folder(o.folder);
    for (int part = 0; ok && part < 2; part++)
        if (o.count[part]) ok = write_part(&o, part);
    return ok ? 0 : 1;
}
