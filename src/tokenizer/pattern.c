/* pattern.c -- regular expressions that split texts into words, matched with backtracking. A
 * repeated set remembers where what follows it does not match, so that texts of one long run take
 * linear time; whatever takes too many steps for the length of the text is refused. */
#include "tokenizer/pattern.h"

#include "text/text.h"

#include <stdlib.h>
#include <string.h>

enum { LONGEST = 1 << 12, DEEPEST = 16, ANY_COUNT = INT32_MAX };

typedef enum { SET, FORK, AHEAD, BEHIND, JOIN, END } node_kind;

/* Characters low to high, or of a class. */
typedef struct {
    int32_t low, high;
    heed__class class;
    bool classed, negated;
} member;

/* SET: min to max characters of a set; FORK: the way `sub`, else `other`; AHEAD: `sub` matches
 * here, or does not (absent); BEHIND: the character before is in a set, or is not; then each goes
 * on with `next`. */
typedef struct {
    node_kind kind;
    bool negated; /* the set */
    bool possessive, lazy, absent;
    int32_t min, max;
    uint32_t loop; /* its number among those without a max */
    int32_t next, sub, other;
    uint32_t first, count; /* members */
    uint64_t ascii[2];     /* which ASCII characters are in the set */
} node;

struct heed__pattern {
    node *nodes;
    size_t count, capacity;
    member *members;
    size_t member_count, member_capacity;
    int32_t start;
    uint32_t loops;
};

void heed__pattern_free(heed__pattern *p) {
    if (!p) return;
    heed__free(p->nodes);
    heed__free(p->members);
    heed__free(p);
}

/* ---- reading ---- */

typedef struct {
    heed_ctx *c;
    heed__pattern *p;
    const char *s;
    const char *refused; /* the first thing that is not supported */
    bool fold;           /* ignoring case */
    int depth;
} reader;

typedef struct {
    int32_t first, last; /* -1: an error */
} way;
static const way no_way = {-1, -1};

static way refuse(reader *r, const char *why) {
    if (!r->refused) r->refused = why;
    return no_way;
}

static int32_t add_node(reader *r, node n) {
    heed__pattern *p = r->p;
    if (!heed__grow(r->c, &p->nodes, &p->capacity, p->count + 1, sizeof *p->nodes)) return -1;
    n.next = -1;
    p->nodes[p->count] = n;
    return (int32_t)p->count++;
}

static bool add_member(reader *r, member m) {
    heed__pattern *p = r->p;
    if (!heed__grow(r->c, &p->members, &p->member_capacity, p->member_count + 1,
                    sizeof *p->members))
        return false;
    p->members[p->member_count++] = m;
    return true;
}

static bool add_range(reader *r, int32_t low, int32_t high) {
    return add_member(r, (member){.low = low, .high = high});
}

/* A character, and with `fold` what it equals ignoring case. */
static bool add_char(reader *r, int32_t c) {
    bool letter = c < 128 && ((c | 32) >= 'a' && (c | 32) <= 'z');
    if (!r->fold || c >= 128 || !letter) {
        if (r->fold && c >= 128) refuse(r, "a letter beyond ASCII that ignores case");
        return add_range(r, c, c);
    }
    return add_range(r, c | 32, c | 32) && add_range(r, c & ~32, c & ~32) &&
           ((c | 32) != 's' || add_range(r, 0x17F, 0x17F)) &&
           ((c | 32) != 'k' || add_range(r, 0x212A, 0x212A));
}

static const struct {
    const char *name;
    heed__class class;
} properties[] = {{"L", HEED__LETTER},      {"N", HEED__NUMERAL},     {"P", HEED__POINT},
                  {"S", HEED__SYMBOL},      {"M", HEED__MARK},        {"Lu", HEED__UPPER},
                  {"Lt", HEED__TITLE},      {"Ll", HEED__LOWER_CASE}, {"Lm", HEED__MODIFIER},
                  {"Lo", HEED__OTHER},      {"Nd", HEED__DECIMAL},    {"Letter", HEED__LETTER},
                  {"Number", HEED__NUMERAL}};

/* After \p or \P. */
static bool read_property(reader *r, bool negated) {
    size_t n = r->s[0] == '{' ? strcspn(r->s, "}") : 0;
    for (size_t i = 0; n && i < sizeof properties / sizeof *properties; i++) {
        const char *name = properties[i].name;
        if (strlen(name) != n - 1 || memcmp(name, r->s + 1, n - 1) != 0 || !r->s[n]) continue;
        r->s += n + 1;
        return add_member(
            r, (member){.classed = true, .class = properties[i].class, .negated = negated});
    }
    refuse(r, "a property of characters");
    return false;
}

/* After a backslash, in a set (word: HEED__SET_WORD) or outside. Sets *single to the character, -1
 * if it is a class. */
static bool read_escape(reader *r, heed__class word, int32_t *single) {
    static const char classes[] = "sdw", controls[] = "rntfv", codes[] = "\r\n\t\f\v";
    const heed__class of[] = {HEED__SPACE, HEED__DECIMAL, word};
    char c = *r->s++;
    const char *class = c ? strchr(classes, c | 32) : NULL,
               *control = c ? strchr(controls, c) : NULL;
    *single = -1;
    if (c == 'p' || c == 'P') return read_property(r, c == 'P');
    if (class)
        return add_member(
            r, (member){.classed = true, .class = of[class - classes], .negated = !(c & 32)});
    if (control)
        *single = codes[control - controls];
    else if (c > 32 && !strchr("0123456789abcdefghijklmnopqrstuvwxyz", c | 32) && c < 127)
        *single = c;
    else
        refuse(r, "an escape");
    return *single >= 0;
}

/* A character or class of a set, from which a range may go on. */
static bool read_member(reader *r) {
    int32_t low, high;
    if (*r->s == '[' || strncmp(r->s, "&&", 2) == 0 || !*r->s)
        return refuse(r, "a set in a set"), false;
    if (*r->s == '\\') {
        r->s++;
        if (!read_escape(r, HEED__SET_WORD, &low)) return false;
        if (low < 0) return true;
    } else {
        r->s += heed_utf8_read(r->s, SIZE_MAX, &low);
    }
    if (r->s[0] != '-' || r->s[1] == ']') return add_char(r, low);
    r->s++;
    if (*r->s == '\\') {
        r->s++;
        if (!read_escape(r, HEED__SET_WORD, &high)) return false;
    } else {
        r->s += heed_utf8_read(r->s, SIZE_MAX, &high);
    }
    if (high < low || r->fold) return refuse(r, "a range"), false;
    return add_range(r, low, high);
}

/* After [. */
static bool read_set(reader *r, node *n) {
    if (*r->s == '^') n->negated = true, r->s++;
    if (*r->s == ']') return refuse(r, "an empty set"), false;
    while (*r->s && *r->s != ']')
        if (!read_member(r)) return false;
    if (!*r->s) return refuse(r, "an unclosed set"), false;
    r->s++;
    return true;
}

static bool read_count(reader *r, int32_t *out) {
    char *end;
    long value = strtol(r->s, &end, 10);
    if (end == r->s || value < 0 || value > 1000) return refuse(r, "a count"), false;
    r->s = end;
    *out = (int32_t)value;
    return true;
}

/* ? * + {m,} {m,n} with ? for lazy; ? * + with another + for possessive, {m} {m,} {m,n} for a
 * repetition of that. */
static bool read_quantifier(reader *r, node *n) {
    static const char marks[] = "?*+";
    const char *mark = *r->s ? strchr(marks, *r->s) : NULL;
    bool exact = false;
    n->min = n->max = 1;
    if (mark) {
        r->s++;
        n->min = *mark == '+';
        n->max = *mark == '?' ? 1 : ANY_COUNT;
    } else if (*r->s == '{') {
        r->s++;
        if (!read_count(r, &n->min)) return false;
        n->max = n->min;
        exact = *r->s != ',';
        if (!exact) {
            r->s++;
            n->max = ANY_COUNT;
            if (*r->s != '}' && !read_count(r, &n->max)) return false;
        }
        if (*r->s++ != '}' || n->max < n->min) return refuse(r, "a count"), false;
    } else {
        return true;
    }
    if (*r->s == '?' && exact) return refuse(r, "a quantifier of a quantifier"), false;
    if (*r->s == '?') {
        n->lazy = true;
        return r->s++, true;
    }
    if (*r->s != '+') return true;
    r->s++;
    if (mark)
        n->possessive = true;
    else if (n->min <= 1)
        n->max = ANY_COUNT;
    else
        return refuse(r, "a quantifier of a quantifier"), false;
    return true;
}

static bool holds(const heed__pattern *p, const node *n, int32_t c) {
    bool found = false;
    for (uint32_t i = 0; !found && i < n->count; i++) {
        const member *m = &p->members[n->first + i];
        found =
            m->classed ? heed__in_class(m->class, c) != m->negated : c >= m->low && c <= m->high;
    }
    return found != n->negated;
}

/* A set, an escape or a character, with its quantifier. */
static way read_atom(reader *r) {
    node n = {.kind = SET, .first = (uint32_t)r->p->member_count};
    int32_t c = -1;
    bool good = true;
    if (*r->s == '[' || *r->s == '.' || *r->s == '\\') {
        char first = *r->s++;
        if (first == '.') {
            n.negated = true;
            c = '\n';
        } else {
            good = first == '[' ? read_set(r, &n) : read_escape(r, HEED__PATTERN_WORD, &c);
        }
    } else if (strchr("^$*+?{}", *r->s)) {
        return refuse(r, "an anchor, or a quantifier of nothing");
    } else {
        r->s += heed_utf8_read(r->s, SIZE_MAX, &c);
    }
    if (!good || (c >= 0 && !add_char(r, c)) || !read_quantifier(r, &n)) return no_way;
    n.count = (uint32_t)r->p->member_count - n.first;
    if (n.max == ANY_COUNT) n.loop = r->p->loops++;
    for (int32_t i = 0; i < 128; i++)
        if (holds(r->p, &n, i)) n.ascii[i >> 6] |= (uint64_t)1 << (i & 63);
    int32_t i = add_node(r, n);
    return (way){i, i};
}

static way read_ways(reader *r);

/* After (?<= or (?<!: one character or set. */
static way read_behind(reader *r, bool absent) {
    way inner = strchr("()|^$", *r->s) ? no_way : read_atom(r);
    node *n = inner.first < 0 ? NULL : &r->p->nodes[inner.first];
    if (!n || n->min != 1 || n->max != 1 || *r->s != ')')
        return refuse(r, "a look behind that is not of one character");
    n->kind = BEHIND;
    n->absent = absent;
    r->s++;
    return inner;
}

/* What matches nothing at a place, written with groups; NULL: something else comes next. */
static const char *place_of(reader *r) {
    static const struct {
        const char *name, *group;
    } places[] = {{"^", "(?<![\\s\\S])|(?<=\n)(?=[\\s\\S])"},
                  {"$", "(?![^\n])"},
                  {"\\b", "(?<=\\w)(?!\\w)|(?<!\\w)(?=\\w)"},
                  {"\\B", "(?<=\\w)(?=\\w)|(?<!\\w)(?!\\w)"},
                  {"\\A", "(?<![\\s\\S])"},
                  {"\\z", "(?![\\s\\S])"},
                  {"\\Z", "(?![\\s\\S])|(?=\n(?![\\s\\S]))"}};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        size_t n = strlen(places[i].name);
        if (strncmp(r->s, places[i].name, n) != 0) continue;
        r->s += n;
        return places[i].group;
    }
    return NULL;
}

static way read_place(reader *r, const char *group) {
    const char *rest = r->s;
    r->s = group;
    way inner = read_ways(r);
    r->s = rest;
    return inner;
}

/* After "(". */
static way read_group(reader *r) {
    static const struct {
        const char *begin;
        bool fold, ahead, negated;
    } kinds[] = {{"?:", false, false, false},
                 {"?i:", true, false, false},
                 {"?!", false, true, true},
                 {"?=", false, true, false}};
    bool fold = r->fold;
    size_t i = 0, count = sizeof kinds / sizeof *kinds;
    while (i < count && strncmp(r->s, kinds[i].begin, strlen(kinds[i].begin)) != 0) i++;
    bool behind = strncmp(r->s, "?<=", 3) == 0 || strncmp(r->s, "?<!", 3) == 0;
    if (behind) {
        r->s += 3;
        return read_behind(r, r->s[-1] == '!');
    }
    if (*r->s == '?' && i == count) return refuse(r, "a kind of group");
    if (++r->depth > DEEPEST) return refuse(r, "groups so deep in each other");
    bool ahead = i < count && kinds[i].ahead;
    if (i < count) {
        r->s += strlen(kinds[i].begin);
        r->fold |= kinds[i].fold;
    }
    way inner = read_ways(r);
    r->fold = fold;
    r->depth--;
    if (inner.first < 0) return no_way;
    if (*r->s != ')') return refuse(r, "an unclosed group");
    r->s++;
    if (ahead) {
        int32_t end = add_node(r, (node){.kind = END});
        int32_t at =
            add_node(r, (node){.kind = AHEAD, .sub = inner.first, .absent = kinds[i].negated});
        if (end < 0 || at < 0) return no_way;
        r->p->nodes[inner.last].next = end;
        inner = (way){at, at};
    } else if (*r->s == '?') {
        r->s++;
        int32_t join = add_node(r, (node){.kind = JOIN});
        int32_t fork = add_node(r, (node){.kind = FORK, .sub = inner.first, .other = join});
        if (join < 0 || fork < 0) return no_way;
        r->p->nodes[inner.last].next = join;
        inner = (way){fork, join};
    }
    if (*r->s && strchr("?*+{", *r->s)) return refuse(r, "a repeated group");
    return inner;
}

static way read_sequence(reader *r) {
    int32_t start = add_node(r, (node){.kind = JOIN});
    way all = {start, start};
    while (all.last >= 0 && *r->s && *r->s != '|' && *r->s != ')') {
        bool group = *r->s == '(';
        r->s += group;
        const char *place = group ? NULL : place_of(r);
        way next = group ? read_group(r) : place ? read_place(r, place) : read_atom(r);
        if (next.first < 0) return no_way;
        r->p->nodes[all.last].next = next.first;
        all.last = next.last;
    }
    return all;
}

/* Alternatives: each ends in one JOIN. */
static way read_ways(reader *r) {
    way one = read_sequence(r);
    if (one.first < 0 || *r->s != '|') return one;
    int32_t join = add_node(r, (node){.kind = JOIN});
    way rest = no_way;
    r->s++;
    if (join >= 0) rest = read_ways(r);
    int32_t fork = rest.first < 0
                       ? -1
                       : add_node(r, (node){.kind = FORK, .sub = one.first, .other = rest.first});
    if (fork < 0) return no_way;
    r->p->nodes[one.last].next = r->p->nodes[rest.last].next = join;
    return (way){fork, join};
}

heed__pattern *heed__pattern_new(heed_ctx *c, const char *text, const char **refused) {
    heed__pattern *p = heed__alloc(c, sizeof *p);
    reader r = {.c = c, .p = p, .s = text};
    *refused = NULL;
    if (!p) return NULL;
    way all = strlen(text) > LONGEST ? refuse(&r, "so many characters") : read_ways(&r);
    int32_t end = all.first < 0 ? -1 : add_node(&r, (node){.kind = END});
    if (end >= 0 && *r.s) end = refuse(&r, "a closing parenthesis").first;
    if (end >= 0) {
        p->nodes[all.last].next = end;
        p->start = all.first;
        if (!r.refused) return p;
    }
    heed__pattern_free(p);
    *refused = r.refused;
    return NULL;
}

/* ---- matching ---- */

/* The characters from begin to end are in the set and the one at `end` is not; what follows the set
 * matches nowhere from `failed` to `end`; failed > end: no such place is known. */
struct heed__set_run {
    bool known;
    size_t begin, failed, end;
};

bool heed__search_begin(heed_ctx *c, const heed__pattern *p, size_t n, heed__search *m) {
    *m = (heed__search){.p = p, .steps_left = (n + 64) * (512 + 8 * p->count)};
    m->runs = heed__alloc_array(c, p->loops + 1, sizeof *m->runs);
    return m->runs != NULL;
}

void heed__search_text(heed__search *m, const char *s, size_t n) {
    m->s = s;
    m->n = n;
    memset(m->runs, 0, m->p->loops * sizeof *m->runs);
}

void heed__search_end(heed__search *m) { heed__free(m->runs); }

static bool may_step(heed__search *m) { return m->steps_left && m->steps_left--; }

/* The character at `at` is in the set: its length, else 0. */
static size_t in_set(const heed__search *m, const node *n, size_t at) {
    if (at >= m->n) return 0;
    unsigned char first = (unsigned char)m->s[at];
    if (first < 128) return n->ascii[first >> 6] >> (first & 63) & 1;
    int32_t c;
    size_t length = heed_utf8_read(m->s + at, m->n - at, &c);
    return holds(m->p, n, c) ? length : 0;
}

/* Where the character before `at` begins, which is not before `least`. */
static size_t before(const heed__search *m, size_t at, size_t least) {
    int32_t c;
    size_t back = 1;
    while (back < 4 && back < at - least && ((unsigned char)m->s[at - back] & 0xC0) == 0x80) back++;
    return at - (heed_utf8_read(m->s + at - back, back, &c) == back ? back : 1); /* not UTF-8 */
}

static ptrdiff_t match(heed__search *m, int32_t i, size_t at);

/* As few characters as are needed, then more. */
static ptrdiff_t match_lazy(heed__search *m, const node *n, size_t at) {
    struct heed__set_run none = {0}, *run = n->max == ANY_COUNT ? &m->runs[n->loop] : &none;
    if (run->known && run->failed <= at && at <= run->end) return HEED__NO_MATCH;
    size_t begin = at, least = at, length;
    for (int32_t count = 0; count <= n->max; count++, at += length) {
        if (count == n->min) least = at;
        ptrdiff_t end = count < n->min ? HEED__NO_MATCH : match(m, n->next, at);
        if (end != HEED__NO_MATCH) return end;
        if (!(length = in_set(m, n, at))) {
            if (count >= n->min) *run = (struct heed__set_run){true, begin, least, at};
            break;
        }
        if (!may_step(m)) return HEED__TOO_SLOW;
    }
    return HEED__NO_MATCH;
}

/* As many characters as there are, then fewer. */
static ptrdiff_t match_set(heed__search *m, const node *n, size_t at) {
    struct heed__set_run none = {0}, *run = n->max == ANY_COUNT ? &m->runs[n->loop] : &none;
    size_t end = at, length;
    int32_t count = 0;
    for (; count < n->min && (length = in_set(m, n, end)); count++) end += length;
    if (count < n->min) return HEED__NO_MATCH;
    size_t least = end, begin = at;
    for (; count < n->max && !(run->known && run->begin <= end && end < run->end) &&
           (length = in_set(m, n, end));
         count++, end += length)
        if (!may_step(m)) return HEED__TOO_SLOW;
    if (run->known && run->begin <= end && end < run->end) end = run->end;
    size_t failed = end + 1, place = end;
    if (run->known && run->end == end) {
        failed = run->failed;
        if (run->begin < begin) begin = run->begin;
        if (failed <= end && (n->possessive || failed <= least)) return HEED__NO_MATCH;
        if (failed <= end) place = before(m, failed, least);
    }
    ptrdiff_t found = match(m, n->next, place);
    while (found == HEED__NO_MATCH) {
        failed = place;
        if (n->possessive || place == least) break;
        place = before(m, place, least);
        found = match(m, n->next, place);
    }
    *run = (struct heed__set_run){true, begin, failed, end};
    return found;
}

static ptrdiff_t match(heed__search *m, int32_t i, size_t at) {
    for (const node *n; (n = &m->p->nodes[i])->kind != END; i = n->next) {
        if (!may_step(m)) return HEED__TOO_SLOW;
        if (n->kind == SET) {
            if (n->lazy) return match_lazy(m, n, at);
            if (n->min != 1 || n->max != 1) return match_set(m, n, at);
            size_t length = in_set(m, n, at);
            if (!length) return HEED__NO_MATCH;
            at += length;
        } else if (n->kind == FORK) {
            ptrdiff_t end = match(m, n->sub, at);
            return end == HEED__NO_MATCH ? match(m, n->other, at) : end;
        } else if (n->kind == AHEAD) {
            ptrdiff_t end = match(m, n->sub, at);
            if (end == HEED__TOO_SLOW) return end;
            if ((end == HEED__NO_MATCH) != n->absent) return HEED__NO_MATCH;
        } else if (n->kind == BEHIND) {
            bool found = at && in_set(m, n, before(m, at, 0));
            if (found == n->absent) return HEED__NO_MATCH;
        }
    }
    return (ptrdiff_t)at;
}

ptrdiff_t heed__search_at(heed__search *m, size_t at) { return match(m, m->p->start, at); }
