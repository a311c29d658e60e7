/* program.h -- what the commands share: the table of commands, settings, errors, terminal. */
#ifndef HEED_PROGRAM_H
#define HEED_PROGRAM_H

#include <heed/graph.h>
#include <heed/heed.h>
#include <heed/inspect.h>
#include <heed/lesson.h>
#include <heed/model.h>
#include <heed/view.h>
#include <jansson.h>
#include <stdio.h>

/* ---- models ---- */

/* A task is the model of its name. */
const heed_model *find_model(const heed_model *const *models, const char *name);
const heed_data_kind *data_of(const heed_model *m); /* the kind of its data */
/* The command that its runs are for: "generate". */
const char *use_of(const heed_model *m);
/* An example of a training: a name for the data, "" where there is none, and what follows that:
 * "book.txt", "-o runs/gpt --steps 300" (into text, which is returned). */
const char *example_data(const heed_model *m);
const char *example_flags(const heed_model *m, char text[96]);

/* What a model is, for settings that are not for all runs. */
bool reads_pictures(const heed_model *m);
bool reads_patches(const heed_model *m); /* pictures that have a grid of patches */
bool reads_pairs(const heed_model *m);
bool names_class(const heed_model *m);   /* one of the whole input */
bool names_classes(const heed_model *m); /* of the input or of its words */

/* The settings of a training of m, as tables for heed_config_new: what its config.conf holds. */
enum { TABLES = 8 };
void model_tables(const heed_model *m, const heed_option *tables[TABLES]);
/* The same as settings at the model's defaults. */
heed_config *training_config(heed_ctx *c, const heed_model *m);
/* Sets what the setting `preset` names, below files and flags. */
bool apply_preset(heed_ctx *c, const heed_model *m, heed_config *f);

/* ---- commands ---- */

/* Rows of a command's table: a switch that is off, and a text that is empty, unless given. */
#define SWITCH(name, help, group)                                                                  \
    { name, HEED_BOOL, "false", 0, 0, NULL, help, group }
#define WORDS(name, help, group)                                                                   \
    { name, HEED_TEXT, "", 0, 0, NULL, help, group }

/* A setting that does not do something for every run. */
typedef struct {
    const char *key;
    bool (*takes)(const heed_model *m); /* whose runs it is for; NULL: all */
    const char *with; /* "attention png": does nothing without one of them; NULL: stands alone */
} applies;

typedef struct program program;
typedef struct {
    const char *name;           /* "train", "tokenizer info" */
    const char *usage;          /* "RUN [DATA]": positional arguments in capitals */
    const char *help;           /* one line, for the overview */
    const char *about;          /* more, for the command's own --help; may be NULL */
    const char *examples;       /* a line each */
    const char *task_example;   /* with task_options: what follows a task of which there is none */
    const heed_option *options; /* of this command alone, ended by {0}; may be NULL */
    const applies *applies;     /* of them, ended by {0}; may be NULL */
    bool task_options;          /* takes the settings of a task, too */
    bool task_or_run;           /* with task_options: a run may stand in place of the task */
    bool computes;              /* takes --threads and --isa */
    bool opens_run;             /* takes --edited */
    bool continues;             /* its first argument is a run, whose seed it takes */
    bool numbers;               /* the files of its second input are FILE-2, and so on */
    int min, max;               /* positional arguments; max -1: any number */
    void (*run)(program *p);    /* errors go to p->c */
} command;

extern const command cmd_view;
extern const command cmd_init, cmd_data_check, cmd_tokenizer_train, cmd_tokenizer_encode,
    cmd_tokenizer_decode, cmd_tokenizer_info, cmd_train, cmd_resume, cmd_eval, cmd_fill,
    cmd_generate, cmd_classify, cmd_translate, cmd_info, cmd_plot, cmd_compare, cmd_gradcheck,
    cmd_bench, cmd_doctor, cmd_explain, cmd_attend;
extern const command cmd_graph, cmd_influence, cmd_snapshots;
extern const command cmd_heads, cmd_ablate;

struct program {
    const command *command;
    const heed_model *const *models; /* that there are, ended by NULL */
    heed_ctx *c;
    heed_config *flags; /* all settings of the command: its own, the task's, --threads, --isa and
                           --edited */
    const heed_model *model; /* for commands with task options */
    int argc;                /* positional arguments */
    char **argv;
    double started;     /* when the program was */
    uint64_t seed;      /* of the context, when the command continues a run */
    heed_status status; /* of inputs that failed while others went on */
    size_t line;        /* of the standard input, from 1, that is worked on; 0: none */
    bool line_open;     /* a progress line stands on the terminal without its end */
    bool json_lines;    /* stderr is a JSON object a line */
};

/* The setting of that name, of the command or of any task; NULL: there is none. */
const heed_option *find_option(const program *p, const char *name);
/* Reads the arguments of a command. False: see p->c. */
bool program_open(program *p, int argc, char **argv);
/* Reports the error if there is one, closes everything and returns the exit status. */
int program_close(program *p);
/* Prints the error at hand, forgets it and remembers its status: for one bad input of many. */
void program_complain(program *p);
/* The settings of the task alone, without the command's own: what goes into config.conf. */
heed_config *task_config(program *p);
/* A run of any task, to which the command's settings apply, or its settings alone; NULL: see p->c.
 */
heed_run *open_run(program *p, const char *dir);
heed_config *run_settings(heed_ctx *c, const heed_model *const *models, const char *dir,
                          const heed_model **m);
/* False, with an error, where a setting was given that would change nothing (applies.c). */
bool settings_apply(program *p, const heed_run *r, const char *dir);
/* Fails: the command takes a run of another model. Names the command for the run at hand. */
bool wrong_run(program *p, const char *takes, const heed_run *r);

/* The status, or HEED_FAILED and a message when the standard output took not all that was printed.
 */
heed_status end_output(heed_status status, bool json_lines);
bool print_help(program *p, int argc, char **argv);
bool wants_help(int argc, char **argv);

/* ---- output ---- */

/* From here on JSON is whole, or the program ends. */
void whole_json(void);
/* Prints v on stdout in one line, and frees it. */
void print_json(program *p, json_t *v);
json_t *json_number(double x); /* null if not finite */
/* A path or another text from without: bytes that are no UTF-8 become U+FFFD; NULL is null. */
json_t *json_text(const char *text);
/* Prints a table's text and frees it. */
void print_text(heed_text *t);
/* Prints a line, wrapped at the terminal's width; and one whose first `indent` columns stand there
 * already, with as many blanks before each further line. */
void print_wrapped(program *p, const char *text);
void print_hanging(program *p, const char *text, int indent);
/* A label, and in column `at` what there is to say: in one line, but where a terminal is too narrow
 * for it; then it goes on below itself. Control characters become signs. */
void print_fact(int at, const char *label, const char *format, ...) HEED_PRINTF(3, 4);
/* Adds the next words of a command to be typed: in a line of their own, behind a \, where the last
 * line of out has no room for them in so many columns. */
void add_typed(heed_text *out, int width, const char *words);
/* A foreign name in at least and at most so many columns, what is no visible character as a sign;
 * and how many it takes. most 0: any. */
void print_name(const char *name, int least, int most);
/* Prints the table in the columns of the terminal. */
void print_table(heed_ctx *c, const heed_table *t);
enum { PLAIN = 4200 }; /* bytes for a message in heed_format_line */
/* A line of --progress json on stderr: {"event":"error","note":"..."}. */
void print_event(const char *event, const char *note);
/* Appends a message of the library, whose settings in backquotes, `lr` or `lr = 0.1`, are shown as
 * flags: --lr, --lr 0.1. (flags.c) */
void add_flags(const program *p, const char *message, heed_text *out);
/* "heed: KIND MESSAGE" as a line of stderr. */
void print_note(const char *kind, const char *message);

/* ---- terminal.c (with files.c, all of the program that knows POSIX) ---- */
bool is_terminal(FILE *f);
bool has_color(FILE *f); /* a terminal, and neither NO_COLOR nor a dumb one */
heed_terminal terminal_kind(FILE *f);
int terminal_width(void); /* COLUMNS, else the terminal's; 100 if unknown */
int line_width(FILE *f);  /* the same; but whatever goes into a file or a pipe fits */
double now(void);         /* monotonic seconds */
size_t peak_memory(void); /* bytes */
void page_faults(long *minor, double *system_seconds);
/* SIGINT, SIGTERM and SIGHUP are noted; a second SIGINT or SIGTERM ends the program. */
void catch_interrupt(void);
/* A write to a pipe that nobody reads is noted in the same way, and then fails. */
void catch_broken_pipe(void);
/* A write beyond the limit of file sizes fails, instead of ending the program. */
void ignore_file_limit(void);
bool was_interrupted(void *unused);
bool is_directory(const char *path);
bool is_file(const char *path);
bool is_stream(const char *path);              /* a pipe or a device */
const char *cpu_name(char *text, size_t size); /* returns text */

#endif
