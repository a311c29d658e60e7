/* mirror.c -- whether exchanging left and right changes what a picture means: by what its class or
 * its caption is called and, where names say nothing, by the pictures themselves. */
#include "data/image/images.h"

#include "text/classes.h"
#include "text/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- names ---- */

/* In lower case, without marks. Of each language the words that mean little else, in it and in
 * English: not German `links` or Turkish `sol`, whose opposites suffice. */
static const char sides[] =
    " left right leftmost rightmost leftward leftwards rightward rightwards lefthand righthand "
    "leftside rightside leftturn rightturn turnleft turnright leftarrow rightarrow arrowleft "
    "arrowright upleft downleft upperleft upperright lowerleft lowerright topleft topright "
    "bottomleft bottomright clockwise counterclockwise anticlockwise cw ccw "
    "rechts linke rechte linker rechter linkes rechtes linken rechten linksherum gauche droite "
    "izquierda izquierdo derecha derecho esquerda esquerdo direita direito sinistra sinistro "
    "destra destro stanga dreapta esquerra lewo prawo lewa prawa lewy prawy vlevo vpravo doleva "
    "doprava balra jobbra vanster hoger venstre høyre højre vasemmalle oikealle vasemmalla "
    "oikealla oikea kiri kanan влево вправо налево направо слева справа левыи правыи левая правая "
    "левое правое αριστερα δεξια बए दए बई दई ";
/* In texts without spaces, or with other words attached. */
static const char *const attached[] = {"左",  "右",  "ひだり", "みぎ", "왼쪽", "오른쪽",
                                       "ซ้าย", "ขวา", "يسار",   "يمين", "שמאל", NULL};
/* Words that say of which kind a character is: "digit_0", "A upper". */
static const char kinds[] = " digit digits number num letter char character symbol glyph upper "
                            "lower uppercase lowercase upcase capital capitals small big cap caps "
                            "kana hiragana katakana kanji hangul latin greek cyrillic arabic "
                            "hebrew roman ";
static const char numerals[] = " zero one two three four five six seven eight nine ";

enum { WORD = 64 }; /* bytes of a word that are compared */
typedef struct {
    char text[WORD]; /* in lower case, without marks, with a space before and after it */
    size_t begin, n; /* its bytes */
    int letters;
    bool digits, kana; /* all characters are */
} word;

static bool in_list(const char *list, const word *w) { return strstr(list, w->text) != NULL; }

static void add_letter(word *w, int32_t character, size_t *used) {
    int32_t parts[HEED__DECOMPOSED] = {character};
    bool syllable = character >= 0xac00 && character <= 0xd7a3;
    int n = syllable ? 1 : heed__decompose(heed__lower(character), parts);
    for (int i = 0; i < n; i++)
        if (!heed__in_class(HEED__MARK, parts[i]) && *used + 6 < WORD)
            *used += heed__utf8_write(parts[i], w->text + *used);
    w->letters++;
    w->kana = w->kana && character >= 0x3040 && character <= 0x30ff;
}

/* The next run of digits, or of letters and marks up to where lower case ends ("turnLeft"). */
static bool next_word(const char *text, size_t n, size_t *at, word *w) {
    size_t used = 1, step = 0;
    bool lower = false;
    int32_t c;
    *w = (word){.text = " ", .kana = true};
    for (; *at < n; *at += step) {
        step = heed_utf8_read(text + *at, n - *at, &c);
        bool digit = heed__in_class(HEED__DECIMAL, c), letter = heed__in_class(HEED__LETTER, c);
        bool upper = heed__in_class(HEED__UPPER, c);
        if (!digit && !letter && !(w->letters && heed__in_class(HEED__MARK, c))) {
            if (w->n) break;
            continue;
        }
        if (w->n && (digit != w->digits || (upper && lower))) break;
        if (!w->n) w->begin = *at;
        w->digits = digit;
        w->n = *at + step - w->begin;
        lower = heed__in_class(HEED__LOWER_CASE, c);
        if (letter) add_letter(w, c, &used);
    }
    w->text[used] = ' ';
    return w->n > 0;
}

bool heed__names_side(const char *text, size_t n, size_t *begin, size_t *length) {
    word w;
    for (size_t at = 0; next_word(text, n, &at, &w);) {
        *begin = w.begin;
        *length = w.n;
        if (!w.digits && in_list(sides, &w)) return true;
    }
    for (const char *const *s = attached; *s; s++) {
        *length = strlen(*s);
        for (*begin = 0; *begin + *length <= n; ++*begin)
            if (memcmp(text + *begin, *s, *length) == 0) return true;
    }
    return false;
}

/* A single character, a number or the name of a digit, maybe with words that say which kind. */
static bool is_character(const char *name) {
    enum { DIGRAPH = 2 }; /* kana, of which the second may be a small one */
    word w;
    int words = 0, characters = 0;
    for (size_t at = 0; next_word(name, strlen(name), &at, &w);) {
        bool character =
            w.digits || w.letters == 1 || (w.kana && w.letters == DIGRAPH) || in_list(numerals, &w);
        if (!character && in_list(kinds, &w)) continue;
        words++;
        characters += character;
    }
    return words ? words == 1 && characters == 1 : heed__label_glyphs(name) == 1;
}

/* ---- pictures ---- */

/* Each of these pictures is classified by the nearest of the others, as it is and mirrored. Where
 * sides mean nothing, as many are taken for another class as they are than when mirrored. */
enum { SIDE = 24, MOST = 1000, SEEN = SIDE * SIDE / 4 * 3 };
static const double LEVEL = 0.001, PIXELS = 2e8; /* of the test; decoded at most, about */

typedef struct {
    heed_images *k;
    size_t count;
    int channels;
    heed_real *x;                    /* (count, SIDE, SIDE, channels) */
    uint32_t *label;                 /* (count) */
    unsigned char *as_is, *mirrored; /* (count, SEEN): what a look sees */
    uint32_t *taken[2];              /* (count): the class as it is, and mirrored */
} study;

static const heed_real *pixel(const heed_real *x, int channels, int row, int column) {
    row = row < 0 ? 0 : row >= SIDE ? SIDE - 1 : row;
    column = column < 0 ? 0 : column >= SIDE ? SIDE - 1 : column;
    return x + (row * SIDE + column) * channels;
}

/* How light each part is, whatever the light: in standard deviations. Returns the numbers seen. */
static size_t see_tones(const heed_real *x, int channels, unsigned char *out) {
    enum { CELLS = SIDE / 2 };
    double tone[SEEN], sum = 0, square = 0;
    size_t n = 0;
    for (int i = 0; i < CELLS * CELLS; i++)
        for (int c = 0; c < channels; c++) {
            int row = i / CELLS * 2, column = i % CELLS * 2;
            double t = 0;
            for (int j = 0; j < 4; j++)
                t += (double)pixel(x, channels, row + j / 2, column + j % 2)[c] / 4;
            tone[n++] = t;
            sum += t;
            square += t * t;
        }
    double mean = sum / (double)n, variance = square / (double)n - mean * mean;
    double gain = variance > 1e-3 ? 42 / sqrt(variance) : 0;
    for (size_t i = 0; i < n; i++)
        out[i] = (unsigned char)fmin(fmax(128 + (tone[i] - mean) * gain, 0), 255);
    return n;
}

/* The edges of four directions in each part, whatever the colours. */
static size_t see_edges(const heed_real *x, int channels, unsigned char *out) {
    enum { CELLS = 6, WIDE = SIDE / CELLS, NUMBERS = CELLS * CELLS * 4 };
    double edge[NUMBERS] = {0}, sum = 0;
    for (int i = 0; i < SIDE * SIDE; i++)
        for (int c = 0; c < channels; c++) {
            int row = i / SIDE, column = i % SIDE;
            double dx = (double)(pixel(x, channels, row, column + 1)[c] -
                                 pixel(x, channels, row, column - 1)[c]);
            double dy = (double)(pixel(x, channels, row + 1, column)[c] -
                                 pixel(x, channels, row - 1, column)[c]);
            double *e = edge + (row / WIDE * CELLS + column / WIDE) * 4;
            e[0] += fabs(dx);
            e[1] += fabs(dy);
            e[2] += fabs(dx + dy) * 0.7071;
            e[3] += fabs(dx - dy) * 0.7071;
        }
    for (int i = 0; i < NUMBERS; i++) sum += edge[i] = sqrt(edge[i]);
    for (int i = 0; i < NUMBERS; i++)
        out[i] = (unsigned char)fmin(sum > 0 ? edge[i] / sum * NUMBERS * 32 : 0, 255);
    return NUMBERS;
}

typedef size_t look(const heed_real *x, int channels, unsigned char *out);

static uint32_t nearest(const study *s, const unsigned char *seen, size_t own, size_t n) {
    uint32_t least = UINT32_MAX, label = 0;
    for (size_t j = 0; j < s->count; j++) {
        const unsigned char *other = s->as_is + j * SEEN;
        uint32_t distance = 0;
        if (j == own) continue;
        for (size_t i = 0; i < n; i++) distance += (uint32_t)abs(seen[i] - other[i]);
        if (distance >= least) continue;
        least = distance;
        label = s->label[j];
    }
    return label;
}

static void classify(study *s, look *see) {
    size_t n = 0, size = (size_t)(SIDE * SIDE * s->channels);
    heed_real turned[SIDE * SIDE * 3];
    for (size_t i = 0; i < s->count; i++) {
        const heed_real *x = s->x + i * size;
        for (size_t j = 0; j < size; j++) {
            size_t c = (size_t)s->channels, at = j / c;
            turned[j] = x[(at / SIDE * SIDE + SIDE - 1 - at % SIDE) * c + j % c];
        }
        n = see(x, s->channels, s->as_is + i * SEEN);
        see(turned, s->channels, s->mirrored + i * SEEN);
    }
    for (size_t i = 0; i < s->count; i++) {
        s->taken[0][i] = nearest(s, s->as_is + i * SEEN, i, n);
        s->taken[1][i] = nearest(s, s->mirrored + i * SEEN, i, n);
    }
}

/* The probability of at least k heads in n tosses: the exact sign test. */
static double tail(int k, int n) {
    double sum = 0, term = ldexp(1, -n);
    for (int heads = n; heads >= k; heads--) {
        sum += term;
        term *= (double)heads / (n - heads + 1);
    }
    return sum;
}

/* Of the pictures of the class of picture i, those taken for class `other` only when mirrored, and
 * only as they are. */
static double compare(const study *s, size_t i, uint32_t other, int moved[2]) {
    moved[0] = moved[1] = 0;
    for (size_t j = 0; j < s->count; j++) {
        if (s->label[j] != s->label[i]) continue;
        bool as_is = s->taken[0][j] == other, mirrored = s->taken[1][j] == other;
        if (as_is != mirrored) moved[as_is]++;
    }
    return tail(moved[0], moved[0] + moved[1]);
}

/* The test is made once for each two classes and each look. */
static void judge(study *s, heed_images_info *info) {
    static look *const looks[] = {see_tones, see_edges};
    double least = LEVEL / (2.0 * info->classes * (info->classes - 1));
    for (int l = 0; l < 2; l++) {
        classify(s, looks[l]);
        for (size_t i = 0; i < s->count; i++) {
            uint32_t own = s->label[i], other = s->taken[1][i];
            int moved[2];
            if (other == own) continue;
            double p = compare(s, i, other, moved);
            if (p >= least) continue;
            least = p;
            heed_text from = {.c = s->k->c}, to = {.c = s->k->c};
            heed_label_text(info->labels[own], 24, &from);
            heed_label_text(info->labels[other], 24, &to);
            snprintf(info->sided, sizeof info->sided,
                     "mirrored pictures of \"%s\" look like \"%s\" (%d only mirrored, %d only as "
                     "they are: p = %.1g)",
                     from.s ? from.s : "", to.s ? to.s : "", moved[0], moved[1], p);
            heed_text_free(&from);
            heed_text_free(&to);
        }
    }
}

/* Reads evenly spaced pictures of the training part; one that cannot be read any more is left to
 * the training, which reports it. */
static bool sample(study *s, size_t trained) {
    heed_images *k = s->k;
    double pixels = 0;
    for (size_t i = 0; i < trained; i++) {
        const heed_picture *p = &k->items[heed__images_use(k, HEED_TRAIN_PART, i).item].picture;
        pixels += (double)p->width * p->height / (double)trained;
    }
    double most = fmin(fmin((double)trained, MOST), PIXELS / fmax(1, pixels));
    size_t n = (size_t)most, size = (size_t)(SIDE * SIDE * s->channels);
    s->x = heed__alloc_array(k->c, n * size, sizeof *s->x);
    s->label = heed__alloc_array(k->c, n, sizeof *s->label);
    s->as_is = heed__alloc_array(k->c, n, SEEN);
    s->mirrored = heed__alloc_array(k->c, n, SEEN);
    for (int i = 0; i < 2; i++) s->taken[i] = heed__alloc_array(k->c, n, sizeof **s->taken);
    for (size_t i = 0; i < n && !heed__stopped(k->c); i++) {
        heed__use use = heed__images_use(k, HEED_TRAIN_PART, i * trained / n);
        heed_picture own;
        const heed_picture *p;
        char why[HEED_WHY];
        if (heed__images_pixels(k, &k->items[use.item], &own, &p, why) != HEED_OK) continue;
        heed_real *work = heed__alloc_array(k->c, heed_resize_work(p, SIDE, SIDE), sizeof *work);
        if (work)
            heed_picture_resize(p, (heed_box){0, 0, p->width, p->height}, SIDE, SIDE,
                                s->x + s->count * size, work);
        heed__free(work);
        heed_picture_free(&own);
        s->label[s->count++] = use.label;
    }
    return !heed__stopped(k->c);
}

/* ---- the judgement ---- */

/* Whether another class has the same name but for the other side: "hand_L" and "hand_R". Alone
 * these words mean much else. */
static bool has_opposite(const heed_images_info *info, const char *name) {
    static const char *const opposites[][2] = {{" l ", "r"},
                                               {" lt ", "rt"},
                                               {" lft ", "rgt"},
                                               {" lhs ", "rhs"},
                                               {" izq ", "der"},
                                               {" izda ", "dcha"},
                                               {" port ", "starboard"},
                                               {" east ", "west"},
                                               {" e ", "w"},
                                               {" ost ", "west"},
                                               {" ne ", "nw"},
                                               {" se ", "sw"},
                                               {" northeast ", "northwest"},
                                               {" southeast ", "southwest"}};
    word w;
    for (size_t at = 0; next_word(name, strlen(name), &at, &w);)
        for (size_t i = 0; i < sizeof opposites / sizeof *opposites; i++) {
            const char *other = opposites[i][1];
            size_t n = strlen(other);
            for (int j = 0; strcmp(w.text, opposites[i][0]) == 0 && j < info->classes; j++) {
                const char *label = info->labels[j];
                if (strncasecmp(label, name, w.begin) == 0 &&
                    strncasecmp(label + w.begin, other, n) == 0 &&
                    strcasecmp(label + w.begin + n, name + w.begin + w.n) == 0)
                    return true;
            }
        }
    return false;
}

static bool judge_names(heed_images_info *info) {
    for (int i = 0; i < info->classes; i++) {
        const char *name = info->labels[i];
        size_t begin, length;
        bool side =
            heed__names_side(name, strlen(name), &begin, &length) || has_opposite(info, name);
        if (!side && !is_character(name)) continue;
        heed_text shown = {.c = NULL};
        heed_label_text(name, 40, &shown);
        snprintf(info->sided, sizeof info->sided, "the class \"%s\" %s", shown.s ? shown.s : "",
                 side ? "names a side" : "is a character or a number");
        heed_text_free(&shown);
        return true;
    }
    return false;
}

bool heed__images_judge_sides(heed_images *k, bool measure) {
    study s = {.k = k, .channels = k->info.view.channels};
    size_t trained = k->info.count[HEED_TRAIN_PART];
    *k->info.sided = 0;
    if (judge_names(&k->info) || !measure || k->info.classes < 2 || trained < 2) return true;
    bool ok = sample(&s, trained);
    if (ok) judge(&s, &k->info);
    void *all[] = {s.x, s.label, s.as_is, s.mirrored, s.taken[0], s.taken[1]};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) heed__free(all[i]);
    return ok;
}
