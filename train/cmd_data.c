/* cmd_data.c -- heed data check: what data would give a training. */
#include "training.h"

static const heed_option options[] = {
    {"json", HEED_BOOL, "false", 0, 0, NULL, "print one JSON object", "Output"}, {0}};

static void check(program *p) {
    heed_config_set(p->flags, "data", p->argv[0], "DATA", HEED_FROM_FLAG);
    p->task->kind->check(p);
}

const command cmd_data_check = {
    .name = "data check",
    .usage = "TASK DATA",
    .help = "what a text file holds: lines, tokens, unknown ones, overlap",
    .about = "Reads DATA as a training of TASK would, and reports what it finds: encoding, lines,\n"
             "vocabulary, unknown tokens, overlap of training and validation. Trains nothing.",
    .examples = "  heed data check gpt book.txt\n"
                "  heed data check mlm book.txt --tokenizer word --packing lines\n",
    .options = options,
    .task_options = true,
    .min = 1,
    .max = 1,
    .run = check,
};
