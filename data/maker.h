/* maker.h -- what the makers of data share: chance, arguments, files. MAKER is the program's name;
 * with PICTURES it writes PNG files, too, by zlib. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_ROOM = 1024 };

/* ---- chance: the state of a generator ---- */

typedef uint64_t dice;

/* SplitMix64. Steele, Lea, Flood 2014. */
static inline uint64_t roll(dice *d) {
    uint64_t z = *d += 0x9E3779B97F4A7C15u;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline dice dice_of(uint64_t seed, uint64_t part, uint64_t index) {
    dice d = seed;
    d = roll(&d) ^ part;
    d = roll(&d) ^ index;
    return d;
}

/* ---- arguments ---- */

/* A flag with a number between low and high, or one that is set. */
typedef struct {
    const char *name;
    uint64_t low, high, *out;
    bool *set;
} flag;

/* Reads flags, of which the last has no name, and at most `most` other words. */
static inline bool read_arguments(int argc, char **argv, const flag *flags, const char **words,
                                  int most) {
    for (int i = 1; i < argc; i++) {
        const flag *f = flags;
        while (f->name && strcmp(argv[i], f->name) != 0) f++;
        if (f->set) {
            *f->set = true;
        } else if (f->name) {
            const char *text = argv[++i]; /* NULL at the end */
            char *end = NULL;
            errno = 0;
            *f->out = text && text[0] >= '0' && text[0] <= '9' ? strtoull(text, &end, 10) : 0;
            if (!end || *end || errno || *f->out < f->low || *f->out > f->high) return false;
        } else if (argv[i][0] == '-' || most-- < 1 || strlen(argv[i]) > PATH_ROOM - 64) {
            return false;
        } else {
            *words++ = argv[i];
        }
    }
    return most < 1;
}

/* ---- files ---- */

static inline bool complain(const char *path) {
    fprintf(stderr, MAKER ": %s: %s\n", path, strerror(errno));
    return false;
}

static inline bool finish(FILE *f, const char *path) {
    bool ok = f && !ferror(f);
    if (f && fclose(f) != 0) ok = false;
    return ok || complain(path);
}

static inline bool make_folder(const char *path) {
    return mkdir(path, 0777) == 0 || errno == EEXIST || complain(path);
}

static inline void put_u32(FILE *f, uint32_t value) {
    for (int shift = 24; shift >= 0; shift -= 8) putc((int)(value >> shift & 255), f);
}

#ifdef PICTURES
#include <zlib.h>

static inline void put_chunk(FILE *f, const char *type, const unsigned char *data, size_t n) {
    put_u32(f, (uint32_t)n);
    fwrite(type, 1, 4, f);
    fwrite(data, 1, n, f);
    uLong crc = crc32(0, (const Bytef *)type, 4);
    put_u32(f, (uint32_t)(n ? crc32(crc, data, (uInt)n) : crc));
}

/* PNG, 8 bits, grey or of 3 channels, of at most 256 x 256: each row begins with its filter, 0 for
 * none. */
static inline bool write_png(const char *path, int side, int channels,
                             const unsigned char *pixels) {
    static unsigned char rows[256 * (3 * 256 + 1)], packed[2 * sizeof rows];
    const unsigned char high = (unsigned char)(side >> 8), low = (unsigned char)side;
    const unsigned char head[13] = {0, 0, high, low, 0, 0, high, low, 8, channels == 3 ? 2 : 0};
    size_t row = (size_t)(channels * side);
    uLongf n = sizeof packed;
    for (size_t y = 0; y < (size_t)side; y++)
        memcpy(rows + y * (row + 1) + 1, pixels + y * row, row);
    FILE *f = fopen(path, "wb");
    if (f && compress2(packed, &n, rows, (uLong)((row + 1) * (size_t)side), 9) == Z_OK) {
        fwrite("\211PNG\r\n\032\n", 1, 8, f);
        put_chunk(f, "IHDR", head, sizeof head);
        put_chunk(f, "IDAT", packed, n);
        put_chunk(f, "IEND", head, 0);
    }
    return finish(f, path);
}
#endif
