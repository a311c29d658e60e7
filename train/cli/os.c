/* os.c -- terminals, clocks and signals, by POSIX. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  /* _POSIX_C_SOURCE would hide ru_maxrss, SIGXFSZ and others on macOS and BSD  \
                      */
#endif
#include "cli/program.h"

#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

bool is_terminal(FILE *f) { return isatty(fileno(f)) == 1; }

bool is_dumb(FILE *f) {
    const char *term = getenv("TERM");
    return term ? strcmp(term, "dumb") == 0 : is_terminal(f);
}

bool redraws(FILE *f) { return is_terminal(f) && !is_dumb(f); }

bool has_color(FILE *f) {
    const char *no = getenv("NO_COLOR");
    return redraws(f) && !(no && *no);
}

heed_terminal terminal_kind(FILE *f) {
    if (!has_color(f)) return HEED_ASCII;
    const char *depth = getenv("COLORTERM");
    bool full = depth && (strcmp(depth, "truecolor") == 0 || strcmp(depth, "24bit") == 0);
    return full ? HEED_TRUECOLOR : HEED_COLOR256;
}

int terminal_width(void) {
    enum { LEAST = 20, MOST = 10000 };
    struct winsize w;
    const char *columns = getenv("COLUMNS");
    long width = columns ? strtol(columns, NULL, 10) : 0;
    if (width <= 0 && ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0) width = w.ws_col;
    if (width <= 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) == 0) width = w.ws_col;
    if (width <= 0) return 100;
    return width < LEAST ? LEAST : width > MOST ? MOST : (int)width;
}

int line_width(FILE *f) { return getenv("COLUMNS") || is_terminal(f) ? terminal_width() : INT_MAX; }

double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

size_t peak_memory(void) {
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) != 0) return 0;
#ifdef __APPLE__
    return (size_t)u.ru_maxrss;
#else
    return (size_t)u.ru_maxrss * 1024;
#endif
}

void page_faults(long *minor, double *system_seconds) {
    struct rusage u;
    if (getrusage(RUSAGE_SELF, &u) != 0) memset(&u, 0, sizeof u);
    *minor = u.ru_minflt;
    *system_seconds = (double)u.ru_stime.tv_sec + 1e-6 * (double)u.ru_stime.tv_usec;
}

/* global because a signal handler has no other access */
static volatile sig_atomic_t interrupted;
static char said[1600];

static void on_interrupt(int signal_number) {
    (void)signal_number;
    bool first = !interrupted;
    interrupted = 1;
    if (first && said[0] && write(STDERR_FILENO, said, strlen(said)) < 0) said[0] = 0;
}

void say_on_interrupt(const char *text) { snprintf(said, sizeof said, "%s", text); }

static void catch_signal(int signal_number, int flags) {
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_handler = on_interrupt;
    a.sa_flags = flags;
    sigemptyset(&a.sa_mask);
    sigaction(signal_number, &a, NULL);
}

static bool is_ignored(int signal_number) {
    struct sigaction a;
    return sigaction(signal_number, NULL, &a) == 0 && a.sa_handler == SIG_IGN;
}

void catch_interrupt(void) {
    /* without SA_RESTART, so that waiting for a pipe or the keyboard ends */
    catch_signal(SIGINT, (int)SA_RESETHAND); /* the second one has its default effect */
    catch_signal(SIGTERM, (int)SA_RESETHAND);
    if (!is_ignored(SIGHUP)) catch_signal(SIGHUP, 0); /* nohup ignores it; terminals send several */
}

int cpu_count(void) {
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (int)n : 1;
}

void catch_broken_pipe(void) {
    if (!is_ignored(SIGPIPE)) catch_signal(SIGPIPE, (int)SA_RESTART);
}

void ignore_file_limit(void) { signal(SIGXFSZ, SIG_IGN); }

bool was_interrupted(void *unused) {
    (void)unused;
    return interrupted != 0;
}

/* The kind and permissions of a file; 0: there is none. */
static mode_t mode_of(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 ? s.st_mode : 0;
}

bool is_link(const char *path) {
    struct stat s;
    return lstat(path, &s) == 0 && S_ISLNK(s.st_mode);
}

bool is_directory(const char *path) { return S_ISDIR(mode_of(path)); }
bool is_file(const char *path) { return S_ISREG(mode_of(path)); }
bool has_piped_input(const program *p) {
    enum { WAIT = 2000 }; /* milliseconds */
    struct stat s;
    struct pollfd input = {.fd = STDIN_FILENO, .events = POLLIN};
    if (fstat(STDIN_FILENO, &s) != 0 || !(S_ISFIFO(s.st_mode) || S_ISREG(s.st_mode))) return false;
    if (poll(&input, 1, WAIT) > 0) return true;
    heed_message(p->c, HEED_WARN,
                 "the standard input is a pipe, and nothing came for 2 s: it is not read; hint: - "
                 "waits for it");
    return false;
}

bool is_stream(const char *path) {
    return mode_of(path) != 0 && !is_file(path) && !is_directory(path);
}

const char *cpu_name(char *text, size_t size) {
    snprintf(text, size, "unknown");
    FILE *f = fopen("/proc/cpuinfo", "r");
    if (!f) return text;
    char line[256];
    while (fgets(line, sizeof line, f)) {
        char *value = strchr(line, ':');
        if (strncmp(line, "model name", 10) != 0 || !value) continue;
        value += strspn(value, ": \t");
        snprintf(text, size, "%.*s", (int)strcspn(value, "\n"), value);
        break;
    }
    fclose(f);
    return text;
}
