#!/bin/sh
# null.sh -- calls every public function of the headers, first with zero for every argument, then with real objects and zero
# for the rest, and with each pointer in turn zero beside objects, words, shapes and layers of zeros, each call in a process
# of its own. None may crash: NULL stands for an earlier call that failed.
cd "$(dirname "$0")/.." || exit 1
build=${1:-build/release}
[ $# -gt 0 ] && shift
dir=$(mktemp -d) && trap 'rm -rf "$dir"' EXIT
for header in include/heed/*.h; do echo "#include <heed/$(basename "$header")>"; done >"$dir/all.h"
# What stands outside braces, statement by statement; types and variables have no parenthesis behind a heed_ name.
${CC:-gcc} -std=c11 -E -P -Iinclude "$dir/all.h" | grep -v '^#' | tr '\n' ' ' | sed 's/__attribute__ *((\([^()]*\|([^()]*)\)*))//g; s/[;{}]/\n&\n/g' |
    awk '$0 == "{" {depth++} $0 == "}" {depth--} !depth && /heed_[a-z0-9_]* *\(/ && !/typedef|^ *static/' >"$dir/prototypes"
# A prototype a line; the name is the word before the first parenthesis, an argument's type what stands before its last word.
awk '
function object(type) {
    if (type ~ /(^| )heed_ctx \*/) return "ctx"
    if (type ~ /(^| )heed_tape \*/) return "tape"
    if (type ~ /(^| )heed_params \*/) return "store"
    if (type ~ /(^| )heed_run \*/) return "run"
    if (type ~ /(^| )heed_config \*/) return "run->config"
    if (type ~ /(^| )heed_tokenizer \*/) return "run->tokenizer"
    if (type ~ /(^| )heed_model \*[^c]/) return "run->model"
    if (type ~ /(^| )heed_example \*/) return "&example"
    if (type ~ /(^| )heed_record \*/) return "record"
    if (type ~ /(^| )heed_text \*/) return "&text"
    if (type ~ /(^| )heed_tensor \*[^*]*$/) return "tensor"
    return ""
}
function given(a, type) {
    if (type ~ /const char \*[^*]*$/) return "\"a\""
    if (a ~ /const int \*|const int [a-z]*\[/) return "shape"
    if (type ~ /heed_tensor \*(const )?\*/) return "list"
    if (type ~ /heed_(linear|norm|batchnorm|drop|conv|conv_block|position|mha|ff|block|decoder_block|rnn|attend|cache|attention_kv|recurrent_args|conv_args|additive_attention) \*[^*]*$/) return "memset(zeros, 0, sizeof zeros)"
    return ""
}
{
    open = index($0, "(")
    name = substr($0, 1, open - 1); sub(/ *$/, "", name); sub(/.*[ *]/, "", name)
    if (name !~ /^heed_/ || name ~ /^heed_(format|utf8|label)_|^heed_(closest|quote)$/) next # those write into buffers of their caller
    inside = substr($0, open + 1); sub(/\) *$/, "", inside)
    depth = 0; n = 0; part = ""
    for (i = 1; i <= length(inside); i++) {
        c = substr(inside, i, 1)
        if (c == "(") depth++
        if (c == ")") depth--
        if (c == "," && !depth) { args[++n] = part; part = "" } else part = part c
    }
    args[++n] = part
    zeros = ""; objects = ""; has = 0; split("", zero_of); split("", full)
    for (i = 1; i <= n; i++) {
        a = args[i]; gsub(/^ +| +$/, "", a)
        if (a == "void" || a == "..." || a == "") continue
        type = a; sub(/[A-Za-z_0-9]+$/, "", type)
        zero = a ~ /[*\[(]/ ? "0" : "(" type "){0}"
        thing = a ~ /\[|\(/ ? "" : object(a)
        if (thing) has = 1
        zero_of[i] = zero; full[i] = thing ? thing : a ~ /\(/ ? "" : given(a, type)
        zeros = zeros (zeros ? ", " : "") zero
        objects = objects (objects ? ", " : "") (thing ? thing : zero)
    }
    print "    CALL(" name "(" zeros "));"
    if (has) print "    CALL(" name "(" objects "));"
    for (k = 1; k <= n; k++) {
        if (!(k in full) || full[k] == "") continue
        line = ""
        for (i = 1; i <= n; i++) if (i in zero_of) line = line (line ? ", " : "") (i == k || full[i] == "" ? zero_of[i] : full[i])
        if (line != zeros && line != objects) print "    CALL(" name "(" line "));"
    }
}' "$dir/prototypes" >"$dir/calls"
cat >"$dir/null.c" <<'C'
#include "all.h"
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static heed_ctx *ctx;
static heed_run *run;
static heed_tape *tape;
static heed_params *store;
static heed_record *record;
static heed_tensor *tensor, *list[16];
static const int shape[4] = {2, 3, 1, 1};
static _Alignas(64) char zeros[1 << 16]; /* any struct of zeros */
static heed_example example;
static heed_text text;
static int passed, failed;
static void finish(const char *what, pid_t child) {
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFSIGNALED(status) && WEXITSTATUS(status) == 0) {
        passed++;
        return;
    }
    failed++;
    printf("FAILED %s\n", what);
    fflush(stdout);
}
#define CALL(...)                                                                                  \
    do {                                                                                           \
        pid_t child = fork();                                                                      \
        if (!child) {                                                                              \
            alarm(20);                                                                             \
            (void)(__VA_ARGS__);                                                                   \
            _exit(0);                                                                              \
        }                                                                                          \
        finish(#__VA_ARGS__, child);                                                               \
    } while (0)
int main(int argc, char **argv) {
    if (argc != 2) return 2;
    ctx = heed_open(&(heed_options){.threads = 1});
    run = heed_run_open(ctx, argv[1], heed_models, NULL);
    text.c = ctx;
    tape = heed_tape_new(ctx);
    heed_tape_begin(tape, HEED_TRAIN, 0);
    store = heed_params_new(ctx);
    tensor = heed_param_new(store, "w", "normal:1", 2, (int[]){2, 3});
    heed_run_text(run, "Paris is", 8, NULL, &example);
    record = heed_capture(run, &example, NULL);
    if (!record || !tensor) printf("FAILED objects: %s\n", heed_ctx_error(ctx));
    failed += !record || !tensor;
C
cat "$dir/calls" >>"$dir/null.c"
cat >>"$dir/null.c" <<'C'
    /* Arguments that are incomplete or out of range. */
    heed_example other = {0};
    CALL(heed_run_open(ctx, argv[1], (const heed_model *[]){&(heed_model){.name = "gpt"}, NULL}, NULL));
    CALL(heed_record_subset(ctx, record, &(heed_record_cut){.layer_count = 2}));
    CALL(heed_record_add_guess(record, &(heed_record_guess){.count = 3}), heed_record_json(record, true, &text));
    CALL(heed_page_write(ctx, &(heed_page){.count = 1}, "x.html"), heed_page_size(&(heed_page){.count = 1}));
    CALL(heed_chart_text(&(heed_chart){.series_count = 1}, 40, 10, true, &text));
    CALL(heed_charts_save(ctx, &(heed_chart){.series_count = 1, .series = &(heed_series){"a", 3}}, 1, 400, 100, HEED_PNG, "x.png"));
    CALL(heed_capture(run, &example, &(heed_capture_args){.top = -4}));
    CALL(heed_capture(run, &example, &(heed_capture_args){.layer_count = 1}));
    CALL(heed_run_tokens(run, (int32_t[]){1}, -1, &other));
    CALL(heed_model_data(NULL));
    CALL(heed_config_args(run->config, (int[]){1}, (char *[]){NULL}));
    CALL(heed_generate(run->model, NULL, tape, &(heed_generation){.count = 1}, NULL, NULL));
C
printf '    heed_close(ctx);\n    printf("%%d passed, %%d failed\\n", passed, failed);\n    return failed > 0;\n}\n' >>"$dir/null.c"
[ "$(wc -l <"$dir/calls")" -gt 450 ] || { echo "null.sh: only $(wc -l <"$dir/calls") calls found in the headers"; echo "0 passed, 1 failed"; exit 1; }
tar xzf tests/runs/runs.tar.gz -C "$dir" gpt
${CC:-gcc} -std=c11 -D_GNU_SOURCE -w -Iinclude -I"$dir" "$@" -o "$dir/null" "$dir/null.c" "$build/libheed-program.a" "$build/libheed.a" -fopenmp -ljansson -lutf8proc -lz -lm -lpthread || { echo "0 passed, 1 failed"; exit 1; }
cd "$dir" && ./null gpt 2>"$dir/err"
status=$?
grep -m5 -E 'SUMMARY|runtime error' "$dir/err"
exit $status
