/* cli/options.h: the command line, read through one table of options and one of verbs; help is
 * printed from the same tables. */
#ifndef AT_CLI_OPTIONS_H
#define AT_CLI_OPTIONS_H

#include "engine/engine.h"
#include "export/export.h"
#include "view/view.h"

typedef enum at_verb {
    AT_VERB_TUNE,
    AT_VERB_RUN,
    AT_VERB_SHOW,
    AT_VERB_APPLY,
    AT_VERB_SPACE,
    AT_VERB_DERIVE,
    AT_VERB_REPLAY,
    AT_VERB_PICK_BEST,
    AT_VERB_LOG,
    AT_VERB_VERIFY,
    AT_VERB_CONVERT,
    AT_VERB_PLOT,
    AT_VERB_REPORT,
    AT_VERB_WORKERS,
    AT_VERB_WORK,
    AT_VERB_AGENT,
    AT_VERB_LIST,
    AT_VERB_MACHINE,
    AT_VERB_HELP,
    AT_VERB_VERSION,
    AT_VERB_COUNT
} at_verb;

#define AT_MAX_OPERANDS 256
#define AT_MAX_OPTIONS 128

/* How help is printed. */
typedef enum at_help_as {
    AT_HELP_TEXT,
    AT_HELP_MAN,
    AT_HELP_BASH,
    AT_HELP_ZSH,
    AT_HELP_FISH
} at_help_as;

/* What show prints instead of the tree. */
typedef enum at_history_of_show {
    AT_HISTORY_NONE,
    AT_HISTORY_STEPS,
    AT_HISTORY_TRACE
} at_history_of_show;

/* What was asked for. Texts are borrowed from argv. */
enum { AT_MAX_NAMED = 64 };
typedef struct at_named_files { /* "NAME=FILE", or what else may be given several times */
    const char *items[AT_MAX_NAMED];
    int num;
} at_named_files;

typedef struct at_options {
    at_verb verb;
    const char
        *operands[AT_MAX_OPERANDS]; /* template, or logs; the verb itself is not among them */
    int num_operands;
    const char *template_file; /* operand that was the path of a template; NULL: none */
    const char *template_files[AT_MAX_OPERANDS]; /* all of them */
    int num_template_files;
    bool given[AT_MAX_OPTIONS]; /* per row of the table: at_given */
    const char *given_text[AT_MAX_OPTIONS];
    bool help;

    /* what the engine is asked for; request.log is the log option of verbs that choose from one */
    at_engine_options engine;
    at_request request;
    const char *log, *index; /* index: one, or a list of them */
    const char *workload;
    /* of a network: sizes by name, values of inputs, values to return */
    const char *dims, *sets, *until;
    const char *weights; /* of a network: where they are written, file or source */
    at_named_files net_inputs, net_outputs;
    int task, num_tasks; /* of the workload, from 1; 0: there is none */
    int64_t count;       /* how often the task is in it */
    bool per_task;       /* each task has --trials and --time of its own */
    /* a command instead of a kernel */
    const char *command, *metric;
    at_named_files command_knobs, command_requires;
    bool higher;
    at_named_files transfer, on; /* logs; places that measure */
    double watch_s;              /* 0: the table of speeds */
    double lease_s, idle_s;
    bool once;
    const char *sim_workers; /* of replay, and what follows */
    double trial_time_s, latency_s, losses;
    /* of replay and verify */
    int64_t repeats;
    const char *compare;
    double margin; /* as a share */
    /* output */
    bool measure, stats, json, code, why, with_main, compat, csv, trace, split, diff, force, clean;
    const char *dump, *output, *to, *from, *name, *isas;
    at_abi abi;
    bool fallback;
    at_per per;
    const char *only;
    bool knobs, keep, quiet, verbose, debug;
    at_against against;
    at_color color;
    at_help_as help_as;
    at_history_of_show history;
} at_options;

typedef struct at_option_row {
    const char *name;     /* "--trials" */
    const char *argument; /* "N"; NULL: a switch */
    unsigned verbs;       /* bits 1 << at_verb */
    const char *initial;  /* parsed like a given value; NULL: zero */
    const char *help;
    int kind;         /* how the value is read: options_int.h */
    size_t offset;    /* where it goes in at_options */
    int64_t min, max; /* of integers; max of percent; min of words: the value of the first; min of
                         texts: options_int.h */
} at_option_row;

typedef struct at_verb_row {
    const char *name;
    const char *operands; /* as in the usage line */
    int min_operands, max_operands;
    const char *help;
} at_verb_row;

int at_option_count(void);
const at_option_row *at_option_at(int i);
const at_option_row *at_option_find(const char *name); /* there is one */
/* The option that a tuner declares and that the row stands for; NULL: it is the program's own. */
const at_tuner_option *at_option_of_tuner(const at_option_row *row);
char at_option_letter(const at_option_row *row); /* 'o' of --output, which may be written -o; 0 */
/* The i-th of the words that an option takes; NULL behind the last, and where there is no such
 * list. */
const char *at_option_word(const at_option_row *row, int i);
void at_option_words(const at_option_row *row, const char *separator, at_text *out); /* appended */
bool at_option_takes_file(const at_option_row *row);
bool at_option_is_of(const at_option_row *row, at_verb v);
/* Its help with the default, as far as it concerns the verb; AT_VERB_COUNT: all of it. The caller
 * frees it. */
at_text at_option_help(const at_option_row *row, at_verb v);
const at_verb_row *at_verb_at(at_verb v); /* verbs.c */
/* The verb of that name; pick-best is pick_best. AT_VERB_COUNT if there is none. */
at_verb at_verb_find(const char *name);
/* The verb or template nearest to what was written; NULL: none is near. */
const char *at_verb_nearest(const char *word);

/* AT_E_USAGE names the word and what would do. */
at_status at_options_parse(int argc, char **argv, at_options *out, at_error *err);
bool at_given(const at_options *o, const char *option); /* "--args": was it on the command line? */
/* The value of row i as text, whether given or put there by a workload; NULL: the default, or a
 * switch. */
const char *at_option_text(const at_options *o, int i);

/* Roff (manual.c): autotune(1); the beginnings of autotune-templates(7) and autotune-records(5),
 * which go on with docs/templates.md and docs/notes/records.md. Completions for a shell
 * (complete.c). */
at_status at_manual_program(at_text *out, at_error *err);
at_status at_manual_templates(at_text *out, at_error *err);
at_status at_manual_records(at_text *out, at_error *err);
void at_complete(at_text *out, at_help_as shell);

#endif
