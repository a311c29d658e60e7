/* reading.c -- a bar on the terminal while a large text is read. */
#include "kinds/training.h"

void add_bar(heed_text *out, double share) {
    int cells = terminal_width() < 80 ? 10 : 24, full = (int)(share * cells);
    bool color = has_color(stderr);
    heed_text_add(out, "%s", color ? "\033[36m" : "");
    for (int i = 0; i < cells; i++) {
        const char *cell = color ? "\xe2\x94\x81" : i < full ? "#" : "-"; /* heavy line */
        heed_text_add(out, "%s%s", i == full && color ? "\033[90m" : "", cell);
    }
    heed_text_add(out, "%s %3.0f%%", color ? "\033[0m" : "", 100 * share);
}

bool show_reading(void *user, uint64_t done, uint64_t all) {
    enum { LEAST = 1 << 24 }; /* less is read in an instant */
    reading *r = user;
    if (!r->bar || all < LEAST || now() - r->drawn < 0.1) return true;
    r->drawn = now();
    heed_text line = {.c = NULL};
    heed_text_add(&line, "\r\033[Kreading ");
    add_bar(&line, done < all ? (double)done / (double)all : 1);
    fputs(line.s ? line.s : "", stderr);
    heed_text_free(&line);
    r->p->line_open = true;
    return true;
}

void end_reading(reading *r) {
    if (r->p->line_open) fputs("\r\033[K", stderr);
    r->p->line_open = false;
}
