/* program.h -- functions shared by the commands: the command table, settings, errors, terminal. */
#ifndef HEED_PROGRAM_H
#define HEED_PROGRAM_H

#include <heed/graph.h>
#include <heed/heed.h>
#include <heed/inspect.h>
#include <heed/lesson.h>
#include <heed/model.h>
#include <heed/reconstruction.h>
#include <heed/view.h>
#include <jansson.h>
#include <stdio.h>

/* ---- models ---- */

/* A task has the same name as its model. */
const heed_model *find_model(const heed_model *const *models, const char *name);
const heed_data_kind *data_of(const heed_model *m); /* the kind of the model's data */
/* The main command for the model's runs: "generate". */
const char *use_of(const heed_model *m);
/* An example of a training run: a name for the data ("book.txt"; "" if there is none), and the
 * arguments after it ("-o runs/gpt --steps 300"; written to text, which is returned). */
const char *example_data(const heed_model *m);
const char *example_flags(const heed_model *m, char text[96]);

/* Properties of a model, for settings that only some runs have. */
bool reads_text(const heed_model *m); /* a text file, nothing else */
bool reads_data(const heed_model *m); /* it does not make its own */
bool reads_pictures(const heed_model *m);
bool reads_patches(const heed_model *m); /* pictures that have a grid of patches */
bool sees_pictures(const heed_model *m); /* the same with captions, too */
bool reads_tables(const heed_model *m);  /* CSV, TSV or JSON lines can be its data */
bool has_tokenizer(const heed_model *m); /* reads or writes texts */
bool sees_patches(const heed_model *m);
bool sees_texts(const heed_model *m); /* nothing else */
bool reads_pairs(const heed_model *m);
bool makes_pictures(const heed_model *m);  /* its answer is a picture */
bool names_pictures(const heed_model *m);  /* classifies pictures */
bool has_code(const heed_model *m);        /* reads pictures and makes a code of each */
bool writes_captions(const heed_model *m); /* of pictures */
bool writes_targets(const heed_model *m);  /* captions, or translations */
bool names_class(const heed_model *m);     /* one class for the entire input */
bool names_classes(const heed_model *m);   /* classes of the input or of its words */
bool names_words(const heed_model *m);     /* a label for each word */
bool names_texts(const heed_model *m);     /* a label for a text */
bool fills_masks(const heed_model *m);

/* The settings of a training run of m, as tables for heed_config_new: those in its config.conf. */
enum { TABLES = 8 };
void model_tables(const heed_model *m, const heed_option *tables[TABLES]);
/* The same settings, at the model's defaults. */
heed_config *training_config(heed_ctx *c, const heed_model *m);
/* Applies the preset that the setting `preset` names; files and flags override it. */
bool apply_preset(heed_ctx *c, const heed_model *m, heed_config *f);

/* ---- commands ---- */

/* Rows of a command's table: a switch, off by default; a text, empty by default; one of several
 * words; an integer; a real number. */
#define SWITCH(name, help, group)                                                                  \
    { name, HEED_OPTION_BOOL, "false", 0, 0, NULL, help, group }
#define WORDS(name, help, group)                                                                   \
    { name, HEED_OPTION_STRING, "", 0, 0, NULL, help, group }
#define AS_SVG(group) WORDS("svg", "write the same as a vector picture, for slides", group)
#define CHOICE(name, value, choices, help, group)                                                  \
    { name, HEED_OPTION_STRING, value, 0, 0, choices, help, group }
#define COUNT(name, value, least, most, help, group)                                               \
    { name, HEED_OPTION_INT, value, least, most, NULL, help, group }
#define NUMBER(name, value, least, most, help, group)                                              \
    { name, HEED_OPTION_REAL, value, least, most, NULL, help, group }

/* A setting that has an effect only for some runs. */
typedef struct {
    const char *key;
    bool (*takes)(const heed_model *m); /* whether it applies to a model's runs; NULL: to all */
    const char *with; /* "attention png": has no effect unless one of these settings is given; NULL:
                         always has an effect */
} applies;

typedef struct program program;
typedef struct {
    const char *name;         /* "train", "tokenizer info" */
    const char *usage;        /* "RUN [DATA]": positional arguments in capitals */
    const char *help;         /* one line, for the overview */
    const char *about;        /* a longer text for the command's --help; may be NULL */
    const char *examples;     /* one per line */
    const char *task_example; /* with task_options: the rest of an example for a task that examples
                                 do not show */
    const heed_option *options; /* settings of this command only, ended by {0}; may be NULL */
    const applies *applies;     /* restrictions on options, ended by {0}; may be NULL */
    const char *for_texts;      /* shows of texts what options show over patches; may be NULL */
    bool task_options;          /* also accepts the settings of a task */
    bool task_or_run;           /* with task_options: a run may be given instead of the task */
    bool computes;              /* accepts --threads and --isa */
    bool opens_run;             /* accepts --edited */
    bool continues;             /* its first argument is a run, whose seed is used */
    bool divides;               /* may run in several processes */
    bool numbers;               /* of several inputs, writes FILE-NAME for each */
    struct {
        int least, most;
    } args;                  /* positional arguments; most -1: any number */
    void (*run)(program *p); /* errors go to p->c */
} command;

extern const command cmd_view;
extern const command cmd_init, cmd_data_check, cmd_tokenizer_train, cmd_tokenizer_encode,
    cmd_tokenizer_decode, cmd_tokenizer_info, cmd_train, cmd_resume, cmd_eval, cmd_fill,
    cmd_generate, cmd_classify, cmd_translate, cmd_caption, cmd_info, cmd_plot, cmd_compare,
    cmd_gradcheck, cmd_bench, cmd_doctor, cmd_explain, cmd_attend;
extern const command cmd_merge;
extern const command cmd_import, cmd_export, cmd_embed;
extern const command cmd_graph, cmd_influence, cmd_snapshots;
extern const command cmd_heads, cmd_ablate, cmd_reconstruct, cmd_predict;
extern const command cmd_completion;

/* The processes of a command. */
typedef struct {
    const heed_cluster *processes; /* NULL: this is the only one */
    int on_machine;                /* those on this machine */
} cluster;

struct program {
    const command *command;
    const heed_model *const *models; /* all models, ended by NULL */
    const char *const *commands;     /* the names of all commands, ended by NULL */
    heed_ctx *c;
    heed_config *flags; /* all settings of the command: its options, the task's settings, --threads,
                           --isa and --edited */
    const heed_model *model; /* for commands with task options */
    int argc;                /* positional arguments */
    char **argv;
    char *const *words; /* all arguments as they were typed, ended by NULL */
    double started;     /* when the program started */
    uint64_t seed;      /* the context's seed, when the command continues a run */
    heed_status status; /* status of inputs that failed while others were processed */
    size_t line;        /* the line of standard input being processed, from 1; 0: none */
    bool line_open;     /* the terminal shows a progress line without a line break */
    bool warns_once;   /* a warning is not repeated for the next of several runs; a note never is */
    char last[2][256]; /* the last note, and the last warning */
    bool json_lines;   /* stderr gets JSON, one object per line */
    char joined[1100]; /* a temporary file that inputs were joined to (gather.h); "": none */
    char joined_name[64];             /* what messages call it: "3 texts" */
    heed_choices chosen;              /* settings that were chosen by the data */
    const heed_tokenizer *vocabulary; /* of the texts for the run opened last, while open */
    cluster cluster;
    bool agreed; /* the processes know of each other's errors so far */
};

/* The setting of that name of the command or of any task. NULL: there is none. */
const heed_option *find_option(const program *p, const char *name);
/* The name of an option of n bytes, with - for _. */
void with_dashes(const char *option, size_t n, char name[64]);
/* Whether the argument after "--layers" or "-o" is its value. */
bool takes_value(const program *p, const char *flag);
/* The value of a setting of the command, and whether it was given. (flags.c) */
const char *flag_text(const program *p, const char *key);
bool flag_on(const program *p, const char *key);
int flag_int(const program *p, const char *key);
bool flag_given(const program *p, const char *key);
/* Reads the arguments of a command. False: see p->c. */
bool program_open(program *p, int argc, char **argv);
/* Reports the error if there is one, closes everything and returns the exit status. */
int program_close(program *p);
/* Prints the context's error, clears it and keeps its status: for one bad input among many. */
void program_complain(program *p);
void show_error(program *p, const char *message); /* prints it as an error (messages.c) */
/* The callback `log` of heed_options; user is a program *. */
void show_message(void *user, heed_level level, const char *message);
/* The settings of the task without those of the command, for config.conf. */
heed_config *task_config(program *p);
/* heed_run_has_data of the run argv[0] of m, whose settings are f. option: what the command takes
 * before another path, "--data ". */
bool data_exists(program *p, const heed_model *m, const heed_config *f, const char *key,
                 const char *option);
/* Opens a run of any task, after checking that the command's settings apply to it, or only its
 * settings. NULL: see p->c. */
heed_run *open_run(program *p, const char *dir);
void close_run(program *p, heed_run *r); /* opened by it; NULL: none */
heed_config *run_settings(heed_ctx *c, const heed_model *const *models, const char *dir,
                          const heed_model **m);
/* False, with an error, if a given setting would have no effect (applies.c). */
bool settings_apply(program *p, const heed_run *r, const char *dir);
/* Fails because the command requires a run of another model; the error names the right command for
 * this run. */
bool wrong_run(program *p, const char *takes, const heed_run *r);

/* The status, or HEED_FAILED with a message if not all output could be written to standard output.
 */
heed_status end_output(heed_status status, bool json_lines);
bool wants_help(int argc, char **argv);
/* The task of the arguments: that of the first one that is neither a flag nor a flag's value,
 * otherwise of the -c FILE. NULL: none. */
const heed_model *task_of(heed_ctx *c, const program *p, int argc, char **argv);
/* Fails because the arguments do not begin with a task; the error says what may be meant. */
void refuse_task(heed_ctx *c, const program *p, int argc, char **argv);
/* Fails because the standard input has nothing to read; returns false. */
bool refuse_empty_stdin(program *p);
/* The task of the run in a folder; NULL: it holds none. */
const heed_model *model_of_run(heed_ctx *c, const heed_model *const *models, const char *dir);
/* The settings of a command, and of a task (NULL: none), at their defaults. */
heed_config *settings_of(heed_ctx *c, const command *k, const heed_model *m);

/* ---- help.c ---- */
heed_status print_help(program *p, int argc, char **argv);
/* Adds "heed train gpt book.txt ...", for one model or (NULL) for each. */
void add_trainings(const heed_model *const *models, const heed_model *m, heed_text *out);
/* Whether it is a setting of config.conf that nobody types. */
bool is_internal(const heed_option *o);

/* The first model of the list that reads such data; NULL: none. (fitting.c) */
const heed_model *first_of(const heed_model *const *models, bool (*fits)(const heed_model *m));

/* ---- synonyms.c: names that other programs use ---- */

/* The callback `explain` of heed_options; user is a program *. */
bool explain_setting(void *user, const heed_config *f, const char *key, char text[HEED_EXPLAIN]);
/* The command, or the task, that other programs call by that word; or NULL. *note: what to say
 * instead, unless an argument tells more; or NULL. */
const char *known_command(const char *word, const char **note);
const char *known_task(const char *word);

/* ---- cluster.c: several processes, started by mpirun ---- */

/* Connects them; only the first one may then print. False: it failed, and has said so. */
bool cluster_open(cluster *k);
void cluster_close(cluster *k);
bool is_first_process(const program *p);
/* heed_cluster_agree, once: before a training run, or when the command ends without one. */
bool cluster_agree(program *p);
/* The number of threads by the setting `threads`; without it, a share of the machine's CPUs if
 * other processes are on it, else 0. */
int threads_of(const program *p, const heed_config *f);
/* Adds the words that start such processes before a command: "mpirun -n 4 ". */
void add_launcher(const program *p, heed_text *out);
/* In mpi.c. */
bool mpi_open(cluster *k);
void mpi_close(cluster *k);

/* ---- output ---- */

/* What usage, hints and examples type to call the program: argv[0], or its last part if the shell
 * finds it by that. */
const char *program_name(void);
/* What messages begin with, and what pages that are kept call the program: the last part. */
const char *message_name(void);
void set_program_name(const char *path);
/* Appends a command's help, in which the word "heed" becomes the program's name. */
void add_help(heed_text *out, const char *help);

/* After this call JSON is always complete: the program exits if memory for it runs out. */
void whole_json(void);
/* Writes v as a line, numbers with so many digits; controls of a terminal are escaped. */
bool write_json(FILE *file, const json_t *v, int digits);
/* Prints v on one line of stdout, and frees it. */
void print_json(program *p, json_t *v);
/* A probability for people: "0.42", in percent "42.0", or for a column of them "0.4200"; with up to
 * 4 digits, or 2 of percent, so that none between 0 and 1 is shown as 0 or 1: "0.9997", else
 * "<0.0001", ">99.99". */
typedef enum { PROBABILITY, PROBABILITY_PERCENT, PROBABILITY_COLUMN } probability_form;
const char *probability_text(char text[16], double p, probability_form form);
/* After an empty line, names the pictures that a command wrote: png, unless it is "", and --svg. */
void print_drawn(const program *p, const char *png);
json_t *json_number(double x); /* null if not finite */
/* A path or other external text: bytes that are not UTF-8 become U+FFFD; NULL becomes null. What a
 * model made may hold NUL characters, and is given with its length. */
json_t *json_text(const char *text);
json_t *json_bytes(const char *text, size_t n);
json_t *json_texts(const char *const *list, int count);
json_t *json_numbers(const heed_real *x, int count);
json_t *json_doubles(const double *x, int count);
/* Prints a table's text and frees it. */
void print_text(heed_text *t);
/* Adds a text to a file of a run, and frees it. A failure is a warning. */
void add_to_run(program *p, const char *run, const char *name, heed_text *t);
/* Prints a line, wrapped at the terminal's width. The second function continues a line that already
 * has `indent` columns, and indents the lines after it by as many spaces. */
void print_wrapped(program *p, const char *format, ...) HEED_PRINTF(2, 3);
void print_hanging(program *p, const char *text, int indent);
/* Prints a label and, from column `at`, a text, which is wrapped within its column on a narrow
 * terminal. Control characters are replaced by visible ones. */
void print_fact(int at, const char *label, const char *format, ...) HEED_PRINTF(3, 4);
/* Adds a piece to the last line of out after `gap` blanks. If it does not fit in `width` columns,
 * it goes to a new line, which is indented. */
void add_piece(heed_text *out, int gap, const char *piece, int indent, int width);
/* Prints a line without blanks at its end, and empties it. */
void print_line(heed_text *line);
/* Adds the next words of a command to be typed. If they do not fit the last line of out in `width`
 * columns, that line ends with a \ and they begin another one. */
void add_typed(heed_text *out, int width, const char *words);
/* Prints an external name, padded to `least` and cut to `most` columns, with invisible characters
 * replaced by visible ones; and the columns that it needs. most 0: no limit. */
void print_name(const char *name, int least, int most);
/* Prints the table, fitted to the terminal's width. */
void print_table(heed_ctx *c, const heed_table *t);
enum { PLAIN = 4200 }; /* bytes for a message in heed_format_line */
/* Prints a line of --progress json on stderr: {"event":"error","note":"..."}. */
void print_event(const char *event, const char *note);
/* Appends a message whose settings in backquotes, `lr` or `lr = 0.1`, are shown as flags: --lr,
 * --lr 0.1; a command in its hint, `resume RUN`, gets the program's name: `heed resume RUN`.
 * (flags.c) */
void add_shown(const program *p, const char *message, heed_text *out);
/* Prints "heed: KIND MESSAGE", with the program's name, on stderr: a line, which is wrapped on a
 * terminal, but not within a command in backquotes. */
void print_note(const char *kind, const char *message);
/* Allocates zeroed memory, which the caller frees. NULL, with an error that says what it was for
 * ("heads"): out of memory. */
void *allocate(heed_ctx *c, size_t count, size_t size, const char *what);

/* ---- os.c (with files.c, the only parts of the program that use POSIX) ---- */
bool is_terminal(FILE *f);
bool is_dumb(FILE *f);   /* TERM says that escapes do nothing, or does not say what a terminal is */
bool redraws(FILE *f);   /* a terminal that can clear a line */
bool has_color(FILE *f); /* a terminal that is not dumb, and NO_COLOR is not set */
heed_terminal terminal_kind(FILE *f);
int terminal_width(void); /* COLUMNS, else the terminal's, at least 20; 100 if unknown */
int line_width(FILE *f);  /* the same for a terminal or with COLUMNS; otherwise INT_MAX */
double now(void);         /* monotonic seconds */
size_t peak_memory(void); /* bytes */
void page_faults(long *minor, double *system_seconds);
/* Records SIGINT, SIGTERM and SIGHUP; a second SIGINT or SIGTERM ends the program. */
void catch_interrupt(void);
/* From now on the first of these signals prints this text on stderr. */
void say_on_interrupt(const char *text);
int cpu_count(void); /* of the machine */
/* Records a write to a closed pipe in the same way; the write then fails. */
void catch_broken_pipe(void);
/* A write beyond the file size limit fails instead of ending the program. */
void ignore_file_limit(void);
bool was_interrupted(void *unused);
bool is_directory(const char *path);
bool is_file(const char *path);
bool is_link(const char *path);
bool is_stream(const char *path); /* a pipe or a device */
/* Whether the standard input is a file, or a pipe from which something came within two seconds:
 * programs that run this one may leave a pipe open. */
bool has_piped_input(const program *p);
const char *cpu_name(char *text, size_t size); /* returns text */

#endif
