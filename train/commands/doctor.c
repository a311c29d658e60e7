/* doctor.c -- heed doctor: facts on the build and the machine for bug reports. */
#include "cli/program.h"

#include <string.h>
#include <utf8proc.h>
#include <zlib.h>

static const heed_option options[] = {SWITCH("json", "print one JSON object", "Output"), {0}};

#if defined(__clang__)
#define COMPILER "clang " __clang_version__
#elif defined(__GNUC__)
#define COMPILER "gcc " __VERSION__
#else
#define COMPILER "unknown"
#endif

/* The instruction sets that this build includes and this CPU supports. */
static void usable_isas(char *text, size_t size) {
    static const char *const names[] = {"generic", "avx2", "avx512", "neon"};
    *text = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        heed_ctx *c = heed_open(&(heed_options){.threads = 1, .isa = names[i]});
        size_t n = strlen(text);
        if (heed_ctx_status(c) == HEED_OK)
            snprintf(text + n, size - n, "%s%s", n ? ", " : "", names[i]);
        heed_close(c);
    }
}

static json_t *facts(program *p) {
    char cpu[128], isas[64], openmp[32] = "none: one thread";
    double load;
    int cpus;
    bool oversubscribed = heed_cpu_oversubscribed(&load, &cpus);
#ifdef _OPENMP
    snprintf(openmp, sizeof openmp, "%d", _OPENMP);
#endif
    usable_isas(isas, sizeof isas);
    return json_pack("{s:s, s:s, s:s, s:s, s:s, s:i, s:i, s:o, s:b, s:s, s:s, s:s, s:s, s:s}",
                     "version", HEED_VERSION, "real", sizeof(heed_real) == 8 ? "double" : "float",
                     "compiler", COMPILER, "openmp", openmp, "cpu", cpu_name(cpu, sizeof cpu),
                     "threads", heed_threads(p->c), "cpus", cpus, "load",
                     load < 0 ? json_null() : json_real(load), "oversubscribed", oversubscribed,
                     "isa", heed_isa(p->c), "isas", isas, "jansson", JANSSON_VERSION, "utf8proc",
                     utf8proc_version(), "zlib", zlibVersion());
}

static void print_value(const char *key, const json_t *value) {
    enum { AT = 16 };
    if (json_is_string(value))
        print_fact(AT, key, "%s", json_string_value(value));
    else if (json_is_real(value))
        print_fact(AT, key, "%.2f", json_real_value(value));
    else if (json_is_true(value))
        print_fact(AT, key, "yes: other programs are at work, and timings vary");
    else if (json_is_integer(value))
        print_fact(AT, key, "%lld", (long long)json_integer_value(value));
    else
        print_fact(AT, key, "%s", json_is_null(value) ? "unknown" : "no");
}

static void doctor(program *p) {
    json_t *o = facts(p), *value;
    const char *key;
    if (flag_on(p, "json")) {
        print_json(p, o);
        return;
    }
    json_object_foreach(o, key, value) print_value(key, value);
    json_decref(o);
}

const command cmd_doctor = {
    .name = "doctor",
    .usage = "",
    .help = "version, build, CPU and threads, for a bug report",
    .examples = "  heed doctor\n",
    .options = options,
    .computes = true,
    .run = doctor,
};
