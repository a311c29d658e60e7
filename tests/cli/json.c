/* json.c -- checks for the transcripts: every line of stdin is JSON; with a path ("a.0.b"), prints
 * what stands there in the first one. */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *at(json_t *v, char *path) {
    for (char *key = strtok(path, "."); v && key; key = strtok(NULL, "."))
        v = json_is_array(v) ? json_array_get(v, (size_t)atoi(key)) : json_object_get(v, key);
    return v;
}

static int print_at(json_t *v, char *path) {
    v = at(v, path);
    if (!v) return fprintf(stderr, "no %s\n", path), 1;
    if (json_is_string(v))
        puts(json_string_value(v));
    else
        printf("%s\n", json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT | JSON_REAL_PRECISION(9)));
    return 0;
}

int main(int argc, char **argv) {
    static char line[1 << 22];
    json_error_t error;
    int lines = 0, bad = 0;
    while (fgets(line, sizeof line, stdin)) {
        json_t *v = json_loads(line, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &error);
        if (!v) return printf("%s\n", error.text), 1;
        if (lines++ == 0 && argc > 1) bad = print_at(v, argv[1]);
        json_decref(v);
    }
    return bad || lines == 0;
}
