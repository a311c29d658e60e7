/* inputs.h -- inputs, shared by the commands that use a trained model. */
#ifndef HEED_INPUTS_H
#define HEED_INPUTS_H

#include "cli/program.h"

/* ---- inputs from arguments or stdin ---- */
/* Prints a text on one line: invisible characters are replaced by visible ones, as in
 * heed_label_text. */
void print_shown(heed_ctx *c, const char *text, const char *end);
typedef bool (*take_input)(program *p, void *user, const char *text, size_t n);
/* Calls `one` for each argument from the second on. If there is none, or for an argument "-", calls
 * it for each line of stdin that is not empty. An error is printed and its status kept, and the
 * next input follows. by_line: each input line gives one output line, which is empty if the input
 * is blank or fails. */
void each_input(program *p, void *user, take_input one, bool by_line);

/* ---- questions (cloze.c) ---- */
/* Questions for a masked model from the lines of a file: TEXT WITH ONE [MASK], a tab, ANSWER. */
typedef struct cloze cloze;
/* Whether DATA is a file of questions, by its name. */
bool is_cloze(const program *p, const heed_run *r);
cloze *cloze_open(heed_run *r, const char *path);
size_t cloze_count(const cloze *q);
/* Runs the model in eval mode on a question and adds the result to the score; b: the batch used. */
bool cloze_ask(const cloze *q, size_t index, heed_batch *b, heed_score *score);
void cloze_close(cloze *q);

#endif
