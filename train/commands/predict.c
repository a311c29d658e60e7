/* predict.c -- heed predict: the numbers that a model predicts from numbers. */
#include "kinds/inputs.h"

static const heed_option options[] = {
    SWITCH("json", "print a JSON object for each input", "Output"), {0}};

/* A line of numbers for each prediction, with what it is where there are several. */
static bool predict_one(program *p, void *user, const given_input *in) {
    heed_run *r = user;
    heed_example e = {0};
    bool ok = example_of_given(r, in, NULL, &e);
    heed_tape_begin(r->tape, HEED_EVAL, 0);
    const heed_tensor *y = ok ? heed_run_logits(r, &e, r->tape) : NULL;
    json_t *list = json_array();
    for (int i = 0; y && i < e.question_count; i++) {
        const heed_example_question *q = &e.questions[i];
        int width = y->shape[1];
        const heed_real *row = y->x + q->row * width;
        json_array_append_new(list, json_numbers(row, width));
        for (int k = 0; k < width && !flag_on(p, "json"); k++)
            printf("%s%.6g", k ? " " : "", (double)row[k]);
        if (!flag_on(p, "json")) putchar('\n');
    }
    if (y && flag_on(p, "json"))
        print_json(p, json_pack("{s:o, s:O}", "input", json_text(in->name), "predictions", list));
    json_decref(list);
    heed_example_free(&e);
    return y != NULL;
}

static void predict(program *p) {
    heed_run *r = open_run(p, p->argv[0]);
    if (r && (has_tokenizer(r->model) || sees_pictures(r->model) || !r->model->logits))
        wrong_run(p, "a model of numbers", r);
    else if (r)
        each_given(p, r, r, predict_one, 0);
    close_run(p, r);
}

const command cmd_predict = {
    .name = "predict",
    .usage = "RUN [NUMBERS]...",
    .help = "predict numbers from numbers",
    .about =
        "Prints what a model of numbers predicts from each input, \"1 0.5 2\": the outputs of the\n"
        "model as numbers separated by spaces, a line for each prediction. A semicolon separates\n"
        "positions. Without NUMBERS, each line of the standard input, which must not be empty, is\n"
        "an input. The models of heed itself read texts and pictures; this is the command for a\n"
        "model of your own.",
    .examples = "  heed predict runs/line \"2 5\"\n"
                "  heed predict runs/line --json < numbers.txt\n",
    .options = options,
    .computes = true,
    .opens_run = true,
    .args = {1, -1},
    .run = predict,
};
