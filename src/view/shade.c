/* shade.c -- values as colours or letters of a terminal, and their legend. */
#include "text/text.h"
#include "view/draw.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The nearest of the 6x6x6 colours of a 256-colour terminal. Its steps are 0, 95, 135 .. 255. */
static int color256(heed__rgb c) {
    int part[3] = {c.r, c.g, c.b}, level[3];
    for (int i = 0; i < 3; i++) {
        level[i] = part[i] < 48 ? 0 : part[i] < 115 ? 1 : (part[i] - 35) / 40;
        if (level[i] > 5) level[i] = 5;
    }
    return 16 + 36 * level[0] + 6 * level[1] + level[2];
}

static void put_color(heed_text *out, heed_terminal terminal, int ground, heed__rgb c) {
    if (terminal == HEED_TRUECOLOR)
        heed_text_add(out, "\033[%d;2;%d;%d;%dm", ground, c.r, c.g, c.b);
    else
        heed_text_add(out, "\033[%d;5;%dm", ground, color256(c));
}

void heed__put_shade(heed_text *out, heed_terminal terminal, double share, int width) {
    bool below = share < 0;
    int at = (int)floor((share == share ? fmin(fabs(share), 1) : 0) * 9.999);
    char letter = terminal != HEED_ASCII ? ' ' : (below ? " abcdefghi" : " .:-=+*#%@")[at];
    if (terminal != HEED_ASCII) put_color(out, terminal, 48, heed__viridis(share));
    for (int i = 0; i < width; i++) heed_text_put(out, &letter, 1);
}

void heed__put_on_shade(heed_text *out, heed_terminal terminal, double share, int width,
                        const char *number) {
    put_color(out, terminal, 48, heed__viridis(share));
    heed_text_add(out, "\033[38;5;%dm%*s \033[0m", share > 0.6 ? 16 : 231, width - 1, number);
}

void heed__put_half(heed_text *out, heed_terminal terminal, heed__rgb upper, heed__rgb lower) {
    put_color(out, terminal, 38, upper);
    put_color(out, terminal, 48, lower);
    heed_text_put(out, "▀", strlen("▀"));
}

void heed__put_plain(heed_text *out, heed_terminal terminal) {
    if (terminal != HEED_ASCII) heed_text_put(out, "\033[0m", 4);
}

void heed__put_legend(heed_text *out, heed_terminal terminal, heed__legend l) {
    char lo[32], hi[32], unit[160];
    snprintf(lo, sizeof lo, "%.3g", l.times * l.lo);
    snprintf(hi, sizeof hi, "%.3g%s", l.times * l.hi, l.above ? " and more" : "");
    snprintf(unit, sizeof unit, "%.120s%s", l.unit,
             terminal == HEED_ASCII ? "" : "; brighter is more");
    int steps = 20, rest = (int)(strlen(lo) + strlen(hi)) + 5 + heed_label_columns(unit);
    if (l.indent + rest + steps > l.width) l.indent = 0;
    if (rest + steps > l.width) steps = l.width - rest < 8 ? 8 : l.width - rest;
    bool below = rest + steps > l.width;
    heed_text_add(out, "%*s %s ", l.indent, "", lo);
    for (int i = 0; i < steps; i++) heed__put_shade(out, terminal, i / (steps - 1.0), 1);
    heed__put_plain(out, terminal);
    heed_text_add(out, " %s  ", hi);
    if (below) {
        heed__end_line(out);
        heed_text_put(out, " ", 1);
    }
    heed_label_words(unit, below, l.width, out);
    heed__end_line(out);
}

bool heed_nearly_uniform(const heed_real *weights, int n) {
    double sum = 0, most = 0;
    for (int i = 0; weights && i < n; i++) {
        sum += fmax((double)weights[i], 0);
        most = fmax(most, (double)weights[i]);
    }
    return heed_evenness(weights, n) >= HEED_NEARLY_UNIFORM && most * n < 2 * sum;
}

double heed_map_least(const char *name) {
    return name && strcmp(name, "occlusion") == 0 ? HEED_LEAST_OCCLUSION : 0;
}

double heed_evenness(const heed_real *weights, int n) {
    double sum = 0, bits = 0;
    for (int i = 0; weights && i < n; i++)
        if (weights[i] > 0) sum += (double)weights[i];
    for (int i = 0; sum > 0 && i < n; i++)
        if (weights[i] > 0) bits -= (double)weights[i] / sum * log2((double)weights[i] / sum);
    return sum > 0 ? exp2(bits) / n : 0;
}
