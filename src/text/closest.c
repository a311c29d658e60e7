/* closest.c -- the word that was meant: the closest of several. */
#include <heed/text.h>

#include <ctype.h>
#include <string.h>

static bool same_letters(const char *a, const char *b) {
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
    return !*a && !*b;
}

const char *heed_text_closest(const char *word, const char *const *candidates) {
    size_t n = strlen(word), best = 1 + n / 3;
    const char *found = NULL;
    for (; *candidates; candidates++) {
        if (same_letters(word, *candidates)) return *candidates;
        size_t e = heed_text_edits(word, n, *candidates, strlen(*candidates));
        if (e < best || (e == best && !found)) best = e, found = *candidates;
    }
    return found;
}
