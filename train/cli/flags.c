/* flags.c -- the values of a command's flags, and the flags named in the library's messages. */
#include "cli/program.h"

#include <string.h>

const char *flag_text(const program *p, const char *key) { return heed_config_text(p->flags, key); }
bool flag_on(const program *p, const char *key) { return heed_config_bool(p->flags, key); }
int flag_int(const program *p, const char *key) { return (int)heed_config_int(p->flags, key); }
bool flag_given(const program *p, const char *key) {
    return heed_config_rank(p->flags, key) > HEED_FROM_DEFAULT;
}

static bool is_key(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; }

/* Appends the flag for text in backquotes, `lr` or `lr = 0.1`. False: it is not a setting. */
static bool add_flag(const program *p, const char *quoted, size_t n, heed_text *out) {
    char key[64];
    size_t length = 0;
    while (length < n && is_key(quoted[length])) length++;
    bool valued = n > length + 3 && memcmp(quoted + length, " = ", 3) == 0;
    if (length == 0 || length >= sizeof key || (length < n && !valued)) return false;
    snprintf(key, sizeof key, "%.*s", (int)length, quoted);
    if (!find_option(p, key)) return false;
    heed_text_add(out, "--%s", key);
    if (valued) heed_text_add(out, " %.*s", (int)(n - length - 3), quoted + length + 3);
    return true;
}

void add_flags(const program *p, const char *message, heed_text *out) {
    for (const char *open; (open = strchr(message, '`')) != NULL;) {
        const char *end = strchr(open + 1, '`');
        if (!end) break;
        heed_text_put(out, message, (size_t)(open - message));
        bool flag = add_flag(p, open + 1, (size_t)(end - open - 1), out);
        if (!flag)
            heed_text_put(out, open, (size_t)(end - open)); /* the next may begin at its end */
        message = flag ? end + 1 : end;
    }
    heed_text_put(out, message, strlen(message));
}
