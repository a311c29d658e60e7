/* picture FILE SIDE RED GREEN BLUE -- a BMP picture of one colour, darker towards its lower right
 * corner. */
#include <stdio.h>
#include <stdlib.h>

static void put(FILE *f, unsigned long v, int bytes) {
    for (; bytes > 0; bytes--, v >>= 8) putc((int)(v & 255), f);
}

int main(int argc, char **argv) {
    if (argc != 6) return 2;
    int side = atoi(argv[2]), rest = (4 - 3 * side % 4) % 4;
    unsigned long pixels = (unsigned long)side * (unsigned long)(3 * side + rest);
    FILE *f = fopen(argv[1], "wb");
    if (!f) return 1;
    fputs("BM", f);
    put(f, 54 + pixels, 4), put(f, 0, 4), put(f, 54, 4), put(f, 40, 4);
    put(f, (unsigned long)side, 4), put(f, (unsigned long)side, 4), put(f, 1, 2), put(f, 24, 2);
    put(f, 0, 4), put(f, pixels, 4), put(f, 0, 4), put(f, 0, 4), put(f, 0, 4), put(f, 0, 4);
    for (int y = 0; y < side; y++) { /* from the bottom */
        for (int x = 0; x < side; x++)
            for (int c = 5; c > 2; c--)
                put(f,
                    (unsigned long)(atoi(argv[c]) * (2 * side - x - (side - 1 - y)) / (2 * side)),
                    1);
        put(f, 0, rest);
    }
    return fclose(f) != 0;
}
