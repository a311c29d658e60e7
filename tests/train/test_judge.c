/* The sentence that judges a training run at its end, for courses of losses and accuracies. */
#include "kinds/training.h"
#include "test.h"
#include <heed/models.h>

/* Lists of numbers at equal distances over 1,000 steps; each training loss is that of ten rows. */
typedef struct {
    const char *name;
    const heed_model *model;
    const char *settings;
    double answers, epochs;
    const char *train, *val, *accuracy, *steps; /* steps: of evaluations at others */
    const char *says, *and, *hides;
} judged_case;

enum { MOST = 128 };

static int read_list(const char *list, double *x) {
    int n = 0;
    char *end;
    for (const char *s = list ? list : ""; *s; s = end) x[n++] = strtod(s, &end);
    return n;
}

/* Fills the rows at x, room for six columns. */
static run_curves curves_of(const judged_case *t, double x[6][MOST]) {
    double rows[MOST];
    run_curves k = {.train = {.step = x[0], .loss = x[1], .metric = x[2]},
                    .val = {.step = x[3], .loss = x[4], .metric = x[5]}};
    int n = read_list(t->train, rows), evaluations = k.val.count = read_list(t->val, k.val.loss);
    for (int i = 0; i < 10 * n; i++) {
        k.train.step[i] = 100.0 * (i + 1) / n;
        k.train.loss[i] = rows[i / 10];
    }
    k.train.count = 10 * n;
    for (int i = 0; i < evaluations; i++) k.val.step[i] = 1000.0 * (i + 1) / evaluations;
    for (int i = 0; i < evaluations; i++) k.val.metric[i] = (double)NAN;
    read_list(t->steps, k.val.step);
    read_list(t->accuracy, k.val.metric);
    return k;
}

static const char *judge(heed_ctx *c, const judged_case *t, int64_t step, char text[JUDGEMENT]) {
    double x[6][MOST];
    training_course j = {.curves = curves_of(t, x),
                         .f = heed_train_config(c, t->model),
                         .run = "runs/a",
                         .step = step,
                         .answers = t->answers,
                         .sided =
                             strstr(t->settings, "flip") ? "the class \"left\" names a side" : NULL,
                         .epochs = t->epochs,
                         .perplexity = t->model == &heed_model_gpt || t->model == &heed_model_mlm};
    CHECK(heed_config_set_list(j.f, t->settings, "test", HEED_FROM_FLAG));
    judge_course(&j, text);
    return text;
}

#define FALLS "1 .8 .6 .4 .3 .2 .1 .05 .01 .004"
#define VIT   &heed_model_vit, "best=accuracy dropout=0.2 lr=0.002"
#define CNN   &heed_model_cnn, "best=accuracy"
#define MLM   &heed_model_mlm, ""
#define GPT   &heed_model_gpt, ""

static const judged_case cases[] = {
    /* The validation loss rises. */
    {"an answer more of 24", VIT, 24, 99, FALLS, "1.8 1.58 1.7 1.9 2.1 2.4 2.6 2.7 2.8 2.95",
     ".4 .5417 .5 .7083 .5 .5 .5417 .5 .5833 .5833", NULL,
     "overfitting since step 200: the validation loss rose from 1.58 to 2.95", "`dropout = 0.3`",
     "`dropout = 0.1`"},
    {"many answers more", VIT, 2000, 99, FALLS, "1.8 .9 .95 1 1.1 1.2 1.2 1.3 1.3 1.4",
     ".4 .70 .71 .72 .73 .74 .75 .76 .77 .78", NULL,
     "overconfident since step 200: the validation loss rose from 0.9 to 1.4 while the accuracy "
     "rose from 70.00 % to 78.00 %",
     "try `smoothing = 0.1`, `dropout = 0.3` or more data", "overfitting"},
    {"many words more of a language model", GPT, 2000, 99, FALLS,
     "2.3 2.2 2.4 2.6 2.8 3 3.1 3.2 3.3 3.4", ".3 .36 .38 .4 .42 .44 .45 .46 .46 .46", NULL,
     "overfitting since step 200: the validation loss rose from 2.2 to 3.4 while the accuracy rose",
     "or `steps = 200`", "overconfident"},
    {"much dropout", &heed_model_gpt, "dropout=0.5", 9999, 99, FALLS,
     "2 1.5 1.6 1.7 1.8 1.9 2 2 2 2", NULL, NULL,
     "overfitting since step 200: ", "fell; try more data or `steps = 200`", "dropout"},
    {"no dropout", MLM, 9999, 99, FALLS, "2 1.5 1.6 1.7 1.8 1.9 2 2 2 2", NULL, NULL,
     "overfitting since step 200: ", "try `dropout = 0.", "improving"},
    {"within chance of 64 answers", MLM, 64, 99, "2 1.5 1.2 1 .9 .8 .75 .7 .7 .7",
     "2 1.5 1.2 .9 .7 .65 .6 .57 .5535 .5683", ".5 .6 .7 .75 .8 .8 .82 .85 .8594 .8906", NULL,
     "still improving: the validation loss fell by ", "hint: `resume runs/a --steps 2000 --lr ",
     "overfitting"},
    {"a last evaluation alone is worse", GPT, 9999, 99, "2 1.9 1.8 1.7 1.6 1.5 1.4 1.3 1.2 1.1",
     "2 1.9 1.8 1.7 1.6 1.5 1.4 1.3 1.2 1.3", NULL, NULL, "still improving: ", "fell by",
     "overfitting"},
    {"the training loss rises, too", GPT, 9999, 99, "2 1.5 1.5 1.6 1.7 1.7 1.8 1.9 2 2.1",
     "2 1.5 1.5 1.6 1.7 1.7 1.8 1.9 2 2.1", NULL, NULL, "getting worse: the validation loss went",
     "try a lower `lr`", "overfitting"},
    /* It stays. */
    {"digits", &heed_model_vit, "best=accuracy", 1200, 6,
     "1.9283 .9091 .5073 .2951 .2398 .1354 .0877 .0440 .0246 .0160",
     "1.3159 .6743 .4313 .3202 .1949 .1840 .1351 .1241 .1151 .1146",
     ".5558 .7842 .86 .895 .9392 .9433 .9542 .9642 .9633 .9592", NULL,
     "overfitting: the training loss fell to 0.016 while the validation loss stays near 0.1146",
     "`dropout = 0.1`, a smaller `width` or more data", "improving"},
    {"a flat loss far above training", VIT, 1200, 40, "1 .6 .4 .25 .15 .1 .06 .04 .02 .016",
     ".6 .4 .3 .2 .15 .12 .115 .115 .114 .115", ".8 .85 .9 .93 .95 .955 .96 .9642 .9633 .9592",
     NULL,
     "overfitting: the training loss fell to 0.016 while the validation loss stays near 0.115",
     "`dropout = 0.3`, a smaller `width` or more data", "improving"},
    {"a rise within chance", GPT, 100, 40, "4 3.5 3 2.5 2 1.5 1 .6 .4 .3",
     "4 3.9 3.95 3.83 3.85 3.82 3.83 3.9 4.01 4", NULL, NULL, "overfitting: the training loss",
     "rose to 4 (means of the last tenth of the steps)", "improving"},
    {"24 answers after 5 passes", CNN, 24, 4.8, "1.5 1.4 1.3 1.2 1.1 1 .95 .9 .8 .7307",
     "1.5 1.4 1.35 1.3 1.25 1.2 1.2 1.18 1.16 1.14", ".3 .4 .4 .5 .5 .5 .5 .4583 .5 .5", NULL,
     "unclear: the validation loss went from 1.2 to 1.14 in the last third", "24 answers",
     "overfitting"},
    {"a fall within chance", MLM, 130, 18, "4 2.3 1.8 1.6 1.4 1.3 1.2 1.19 1.07 1.03",
     "2.9 1.96 1.7 1.55 1.46 1.51 1.43 1.41 1.395 1.379", NULL, NULL,
     "unclear: the validation loss went from 1.51 to 1.379 in the last third, which may be chance",
     "for 130 answers", "plateau"},
    {"the same below 0", &heed_model_autoencoder, "", 100, 18, "2 .3 -.2 -.5 -.7 -.8 -.9 -.9 -1 -1",
     "-.1 -1 -1.3 -1.4 -1.5 -1.49 -1.57 -1.59 -1.6 -1.62", NULL, NULL,
     "unclear: the validation loss went from -1.49 to -1.62 in the last third", "", "plateau"},
    {"flat", VIT, 1200, 40, ".5 .3 .2 .2 .2 .2 .2 .2 .2 .2", ".5 .3 .2 .2 .2 .2 .2 .2 .2 .2",
     ".7 .8 .9 .9 .9 .9 .9 .9 .9 .901", NULL,
     "plateau: the validation accuracy went from 90.00 % to 90.10 % in the last third",
     "try a larger `width`, another `lr`, a longer training run or more data", "improving"},
    {"new examples only", GPT, 9999, 0.9, FALLS, "2 1.5 1.6 1.7 1.8 1.9 2 2 2 2", NULL, NULL,
     "getting worse: the validation loss went", "lower `lr`", "overfitting"},
    {"few passes", GPT, 9999, 1.5, "2 2 2 2 2 2 2 2 2 2", "2 2 2 2 2 2 2 2 2 2", NULL, NULL,
     "too short to judge: ", "after 1.5 passes over the data; hint: `resume", "plateau"},
    {"few passes at a constant rate", &heed_model_gpt, "schedule=constant", 9999, 1.5,
     "2 2 2 2 2 2 2 2 2 2", "2 2 2 2 2 2 2 2 2 2", NULL, NULL,
     "too short to judge: ", "in the last third, after 1.5 passes over the data", "rate is low"},
    /* It improves. */
    {"by the accuracy", VIT, 1200, 40, FALLS, ".9 .8 .7 .6 .5 .5 .5 .5 .5 .5",
     ".4 .5 .6 .7 .74 .75 .76 .78 .79 .8", NULL,
     "still improving: the validation accuracy went from 75.00 % to 80.00 % in the last third",
     "--lr 0.002`", "overfitting"},
    {"by the loss, which shows more than 24 answers do", VIT, 24, 99, FALLS,
     "2 1.9 1.8 1.7 1.6 1.5 1.3 1 .8 .6", ".5 .5 .5 .5 .5 .5 .5 .5417 .5417 .5417", NULL,
     "still improving: the validation loss fell by 60.0 % in the last third", "resume",
     "overfitting"},
    {"two answers of seven", VIT, 7, 99, "1 1 1 1 1 1 1 1 1 1", "9 9 9 9 9 9 9 9 9 9",
     ".43 .43 .43 .43 .43 .43 .71 .71 .71 .71", NULL, "plateau: the validation loss",
     "where the learning rate is low; try", "more steps change"},
    {"flat at a constant rate", &heed_model_gpt, "schedule=constant", 9999, 40,
     "3 2 2 2 2 2 2 2 2 2", "3 2 2 2 2 2 2 2 2 2", NULL, NULL, "plateau: the validation loss",
     "so more steps change little; try", "learning rate is low"},
    {"an accuracy whose best was early", VIT, 1000, 99, "1 1 1 1 1 1 1 1 1 1",
     "9 9 9 9 9 9 9 9 9 9", ".5 .9 .5 .5 .5 .5 .6 .6 .6 .6", NULL, "plateau: ", "accuracy",
     "improving"},
    {"a loss whose best was early", MLM, 9999, 99, "9 8 7 6 5 4 2 .9 .8 .7",
     "9 8 7 6 5 4 2 1 1.01 1.01", NULL, NULL,
     "plateau: the validation loss went from 4 to 1.01 in the last third, but was lowest at step "
     "800; try",
     "another `lr`", "learning rate is low"},
    {"all right", VIT, 100, 99, FALLS, "1 .5 .1 .01 .01 .02 .02 .03 .03 .03",
     ".5 .8 1 1 1 1 1 1 1 1", NULL, "learned: the validation accuracy is 100.0 %",
     "more steps change little", "overfitting"},
    /* Evaluations of a training run by the clock, at other steps. */
    {"none near two thirds", VIT, 24, 99, FALLS, "1.58 1.6 2.1 2.6 2.95", ".5 .5 .5 .5 .5",
     "100 200 300 900 1000", "overfitting since step 100: ", "2.95", "improving"},
    {"none before two thirds", GPT, 9999, 99, FALLS, "2 1.5 1", NULL, "800 900 1000",
     "still improving: the validation loss fell by ", "resume", "plateau"},
    {"losses below zero", CNN, 9999, 99, "1 .5 0 -.5 -1 -1.5 -2 -2.4 -2.8 -3",
     "1 .5 0 -.5 -1 -1.5 -1.6 -1.65 -1.7 -1.75", NULL, NULL,
     "still improving: the validation loss went from -1.5 to -1.75 in the last third", "resume",
     "overfitting"},
    /* No validation part. */
    {"a training loss alone", MLM, 0, 40, "4 3.5 3 2.5 2 1.5 1 .6 .4 .3", NULL, NULL, NULL,
     "still falling: the training loss fell by ",
     "; no validation part was kept, so this cannot tell whether the model learns its data by "
     "heart: "
     "`val-split = 0.1` measures it",
     "resume"},
    {"a flat one", MLM, 0, 40, "4 3 2 1 1 1 1 1 1 1", NULL, NULL, NULL,
     "plateau: the training loss went from 1 to 1 in the last third", "`val-split = 0.1`",
     "resume"},
    {"a fall within the noise", MLM, 0, 40, "4 3 2 1.5 1.3 1.3 1.3 1.7 1 1.25", NULL, NULL, NULL,
     "unclear: the training loss went from ", "no more than it varies", "change little"},
    {"learned by heart", GPT, 0, 40, FALLS, NULL, NULL, NULL, "learned: the training perplexity",
     "`val-split = 0.1`", "resume"},
    {"a noisy one", MLM, 0, 40, "1 1 1 1 1 1 1.2 .8 1.2 1.1", NULL, NULL, NULL,
     "unclear: the training loss went from 1.14 to 1.1 in the last third", "`val-split = 0.1`",
     "falling"},
    /* A training loss below that of validation by no more than few answers may show. */
    {"of few answers", VIT, 24, 99, "2 1.8 1.6 1.4 1.2 1 .9 .85 .8 .7", "2 1.8 1.5 1.2 1 1 1 1 1 1",
     ".5 .5 .5 .5 .5 .5 .5 .5 .5 .5", NULL, "plateau: the validation loss", "", "overfitting"},
    {"by less than half, while both fell", GPT, 9999, 40, "1.5 1.4 1.3 1.2 1.1 1 .9 .8 .7 .6",
     "2 1.8 1.6 1.5 1.4 1.3 1.2 1.1 1 .999", NULL, NULL,
     "still improving: the validation loss fell", "", "overfitting"},
    /* A schedule that began anew: its loss rises at first. */
    {"better than before", &heed_model_mlm, "schedule-from=500", 0, 40,
     "1 .8 .6 .45 .36 .53 .5 .4 .25 .17", NULL, NULL, NULL,
     "still falling: the training loss fell by 52.8 % since step 500, where the schedule began "
     "anew",
     "`val-split = 0.1`", "resume"},
    {"as before", &heed_model_gpt, "schedule-from=500", 9999, 40,
     "1 .8 .6 .45 .36 .53 .5 .4 .37 .36", "1 .8 .6 .45 .36 .53 .5 .4 .37 .36", NULL, NULL,
     "no better than before: the validation loss went from 0.36 to 0.36 since step 500",
     "try another `lr`", "improving"},
    {"better than before, and best early", &heed_model_gpt, "schedule-from=500", 9999, 40,
     "1 .8 .6 .45 .36 .4 .38 .3 .33 .33", "1 .8 .6 .45 .36 .4 .38 .3 .33 .33", NULL, NULL,
     "plateau: the validation loss went from 0.36 to 0.33 since step 500", "anew",
     "no better than before"},
    {"the same in few passes", &heed_model_gpt, "schedule-from=500", 9999, 2,
     "1 .8 .6 .45 .36 .4 .38 .3 .33 .33", "1 .8 .6 .45 .36 .4 .38 .3 .33 .33", NULL, NULL,
     "plateau: the validation loss went from 0.36 to 0.33 since step 500", "anew", "too short"},
    {"flat for long", &heed_model_gpt, "schedule-from=100", 9999, 40,
     "1 1.1 .6 .4 .3 .3 .3 .3 .3 .3", "1 1.1 .6 .4 .3 .3 .3 .3 .3 .3", NULL, NULL,
     "plateau: ", "in the last third", "improving"},
    {"mirrored left and right", &heed_model_vit, "best=accuracy dropout=0.2 lr=0.002 flip=0.5",
     1000, 9, FALLS, "1 .9 .8 .9 1 1.1 1.2 1.3 1.4 1.5", ".5 .6 .6 .6 .6 .6 .6 .6 .6 .6", NULL,
     "mirrored pictures", "try `flip = 0`", "overfitting"},
    {"not mirrored", &heed_model_vit, "best=accuracy dropout=0.2 lr=0.002 flip=0", 1000, 9, FALLS,
     "1 .9 .8 .9 1 1.1 1.2 1.3 1.4 1.5", ".5 .6 .6 .6 .6 .6 .6 .6 .6 .6", NULL, "overfitting", "",
     "mirrored"},
};

TEST_IN(judge_courses_of_training, heed_open(NULL)) {
    char text[JUDGEMENT];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const judged_case *t = &cases[i];
        const char *said = judge(c, t, 1000, text);
        if (strncmp(said, t->says, strlen(t->says)) != 0 || !strstr(said, t->and) ||
            strstr(said, t->hides))
            test_fail(__FILE__, __LINE__, "%s: %s", t->name, said);
    }
}

TEST_IN(judge_says_what_is_too_few, heed_open(NULL)) {
    char text[JUDGEMENT];
    judged_case t = {.model = &heed_model_gpt, .settings = "steps=10 lr=0.01", .train = FALLS};
    CHECK_TEXT(judge(c, &t, 9, text), "");
    CHECK_TEXT(judge(c, &t, 10, text),
               "too short to judge: 10 steps; hint: `resume runs/a --steps 100 --lr 0.01`");
    t.val = "2 1 1";
    CHECK_TEXT(judge(c, &t, 49, text),
               "too short to judge: 49 steps; hint: `resume runs/a --steps 100 --lr 0.01`");
    t.val = "2 1";
    CHECK_TEXT(judge(c, &t, 90, text), "too few evaluations to judge: 2; hint: `eval-every = 9`");
    t.settings = "steps=2000 patience=1"; /* which ended it */
    CHECK_TEXT(judge(c, &t, 40, text), "");
    CHECK_TEXT(judge(c, &t, 90, text), "");
}
