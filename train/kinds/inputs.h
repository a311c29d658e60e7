/* inputs.h -- what the commands that use a trained model share: its inputs. */
#ifndef HEED_INPUTS_H
#define HEED_INPUTS_H

#include "cli/program.h"

/* ---- inputs from arguments or stdin ---- */
/* A text in a line of its own: what is no visible character is a sign, as in heed_label_text. */
void print_shown(heed_ctx *c, const char *text, const char *end);
typedef bool (*take_input)(program *p, void *user, const char *text, size_t n);
/* Calls one for each argument from the second on, or for each line of stdin, but for empty ones, if
 * there is none or one is "-". An error is shown, remembered and forgotten, so that the others go
 * on. by_line: each line gives one line; where it is blank or fails, that is an empty one. */
void each_input(program *p, void *user, take_input one, bool by_line);

/* ---- questions (cloze.c) ---- */
/* Lines of path: TEXT WITH ONE [MASK], a tab, ANSWER; what a masked model answers. */
typedef struct cloze cloze;
/* Whether DATA is a file of questions: by its name. */
bool is_cloze(const program *p, const heed_run *r);
cloze *cloze_open(heed_run *r, const char *path);
size_t cloze_count(const cloze *q);
/* A question through the model in eval mode, added to the score; b: what it was made of. */
bool cloze_ask(const cloze *q, size_t index, heed_batch *b, heed_score *score);
void cloze_close(cloze *q);

#endif
