/* flags.c -- the values of a command's flags; and settings and commands that a message names in
 * backquotes, shown as the user types them. */
#include "cli/program.h"

#include <string.h>

const char *flag_text(const program *p, const char *key) { return heed_config_text(p->flags, key); }
bool flag_on(const program *p, const char *key) { return heed_config_bool(p->flags, key); }
int flag_int(const program *p, const char *key) { return (int)heed_config_int(p->flags, key); }
bool flag_given(const program *p, const char *key) {
    return heed_config_rank(p->flags, key) > HEED_FROM_DEFAULT;
}

static bool is_key(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

/* Appends the flag for text in backquotes, `lr`, `lr = 0.1` or `tie = false`. False: it is not a
 * setting. */
static bool add_flag(const program *p, const char *quoted, size_t n, heed_text *out) {
    char key[64];
    size_t length = 0;
    while (length < n && is_key(quoted[length])) length++;
    bool valued = n > length + 3 && memcmp(quoted + length, " = ", 3) == 0;
    if (length == 0 || length >= sizeof key || (length < n && !valued)) return false;
    snprintf(key, sizeof key, "%.*s", (int)length, quoted);
    const heed_option *o = find_option(p, key);
    if (!o) return false;
    if (o->kind == HEED_OPTION_BOOL) {
        bool off = n == length + 8 && memcmp(quoted + length, " = false", 8) == 0;
        return heed_text_add(out, "--%s%s", off ? "no-" : "", key);
    }
    char value[256], shown[300];
    heed_text_add(out, "--%s", key);
    if (!valued) return true;
    snprintf(value, sizeof value, "%.*s", (int)(n - length - 3), quoted + length + 3);
    return heed_text_add(out, " %s", heed_format_shell(shown, sizeof shown, value));
}

/* The word of the command line that stands between s and end, and needs quotes; or NULL. */
static const char *unquoted_at(const program *p, const char *s, const char *end) {
    for (char *const *word = p->words; word && *word; word++) {
        size_t n = strlen(*word);
        bool here = n <= (size_t)(end - s) && strncmp(s, *word, n) == 0;
        if (here && strpbrk(*word, " '\"$&;|<>()*?!#~\\")) return *word;
    }
    return NULL;
}

/* Appends the words of a command as they are typed. */
static void add_words(const program *p, const char *words, size_t n, heed_text *out) {
    char shown[1200];
    const char *end = words + n;
    for (const char *s = words; s < end; s++) {
        const char *word = s > words && s[-1] == ' ' ? unquoted_at(p, s, end) : NULL;
        if (word) {
            heed_text_add(out, "%s", heed_format_shell(shown, sizeof shown, word));
            s += strlen(word) - 1;
        } else
            heed_text_put(out, s, 1);
    }
}

/* The same for a command, `resume RUN`, for `--help`: `heed train mlm --help`, and for `--version`.
 */
static bool add_command(const program *p, const char *quoted, size_t n, heed_text *out) {
    if (n == 9 && memcmp(quoted, "--version", n) == 0)
        return heed_text_add(out, "`%s --version`", program_name());
    if (n == 6 && memcmp(quoted, "--help", n) == 0 && p->command)
        return heed_text_add(out, "`%s %s%s%s --help`", program_name(), p->command->name,
                             p->model ? " " : "", p->model ? p->model->name : "");
    for (const char *const *name = p->commands; *name; name++) {
        size_t word = strcspn(*name, " ");
        if (n < word || memcmp(quoted, *name, word) != 0) continue;
        if (n > word && (quoted[word] != ' ' || quoted[word + 1] == '=')) continue;
        heed_text_add(out, "`%s ", program_name());
        add_words(p, quoted, n, out);
        return heed_text_add(out, "`");
    }
    return false;
}

/* The length of a word of the command line that stands at s and has backquotes of its own. */
static size_t typed_at(const program *p, const char *s) {
    for (char *const *word = p->words; word && *word; word++)
        if (strchr(*word, '`') && strncmp(s, *word, strlen(*word)) == 0) return strlen(*word);
    return 0;
}

static void add_part(const program *p, const char *s, const char *end, bool hint, heed_text *out) {
    while (s < end) {
        const char *close = NULL;
        size_t typed = typed_at(p, s);
        if (typed == 0 && (*s == '`' || *s == '"'))
            close = memchr(s + 1, *s, (size_t)(end - s) - 1);
        const char *next = close ? close + 1 : s + (typed ? typed : 1);
        if (close && *s == '`') {
            size_t n = (size_t)(close - s) - 1;
            bool shown = add_flag(p, s + 1, n, out) || (hint && add_command(p, s + 1, n, out));
            if (shown)
                s = next;
            else
                next = close; /* it may open the next phrase */
        }
        heed_text_put(out, s, (size_t)(next - s));
        s = next;
    }
}

/* Text of the user, in double quotes or typed, stays as it is, and so do commands before the hint.
 */
void add_shown(const program *p, const char *message, heed_text *out) {
    static const char mark[] = "hint: ";
    const char *end = message + strlen(message), *hint = end;
    for (const char *s = message; (s = strstr(s, mark)) != NULL; s += sizeof mark - 1) hint = s;
    add_part(p, message, hint, false, out);
    add_part(p, hint, end, true, out);
}
