/* templates/template_int.h: a task being defined, which the finished task keeps. */
#ifndef AT_TEMPLATE_INT_H
#define AT_TEMPLATE_INT_H

#include "templates/task.h"

enum { MAX_PARTS = 8 }; /* of a split; as at_split_spec.fallback */

/* The value of a name: slot by slot beside the names in at_template.symbols. */
typedef struct symbol {
    int64_t value; /* while defining: with entity 0 of every knob */
    bool varies;   /* between configurations */
} symbol;

/* PLAIN: a reorder or an annotation, by at_knob_values. */
typedef enum step_kind { STEP_SIZE, STEP_SPLIT, STEP_OPTION, STEP_PLAIN } step_kind;

/* One definition whose value varies, for doing it again per configuration. */
typedef struct step {
    step_kind kind;
    const char *name;    /* of the size or the knob */
    const at_expr *expr; /* the size; the axis of a split, NULL where it is constant */
    int64_t length;      /* the constant axis */
    int knob;
    int num_slots; /* parts of a split, outermost first; else 1 */
    int slots[MAX_PARTS];
} step;

typedef struct knob_default {
    int64_t limits[MAX_PARTS];
    int option;               /* position in the list */
    bool fixed;               /* by at_default, */
    int64_t value[MAX_PARTS]; /* to these: sizes without the first, or an option's value */
} knob_default;

typedef struct sparse_weight {
    const char *blocks, *indices, *indptr; /* NULL: there is none */
    int64_t columns;
} sparse_weight;

typedef enum arg_kind { ARG_NUMBER, ARG_TUPLE, ARG_TEXT } arg_kind;

typedef struct arg {
    const char *name;
    arg_kind kind;
    int64_t least;                 /* of a number, and of each of a tuple */
    int slot, num_slots;           /* of a tuple: one per member; of a text: none */
    bool given;                    /* by the user */
    const at_json *form;           /* text: the value */
    AT_VEC(const at_json *) words; /* of a text: what it may be */
} arg;

typedef struct tree_choice {
    const char *condition_text, *text; /* "": always */
    const at_tree *given;              /* what the text says; NULL: it is to be read */
    const at_expr *condition;          /* NULL: always */
    at_tree *tree;
} tree_choice;

typedef struct sketch_choice {
    const char *name;
    const at_template_row *row;
    at_preference preference;
    const void *mark;
} sketch_choice;

typedef struct layout {
    const char *text;
    int tensor;
    const int *order; /* [axes of the tensor] */
} layout;

/* What of its schedule is left to sketches: a computation has none, or it does not say all. */
typedef enum openness { OPEN_NOTHING, OPEN_ALL, OPEN_REST } openness;

/* A condition over knobs, or, of a knob, when it counts. */
typedef struct knob_require {
    const char *knob; /* NULL: of all */
    const char *condition, *what;
} knob_require;

/* Calls only note the longer texts; they are parsed when all names are known. */
struct at_template {
    at_arena *arena;
    const at_template_row *row;
    AT_VEC(arg) args;
    int num_arg_slots; /* their values are the first symbols */
    at_symbols symbols;
    AT_VEC(symbol) values;
    AT_VEC(step) steps;
    AT_VEC(at_general_step) general; /* every definition and decision so far, in order */
    AT_VEC(int) decisions;           /* those of them that at_evaluate told define() */
    const signed char *forced;       /* what it tells instead; -1: what is true; NULL: nothing */
    int num_forced;
    at_space *space;
    AT_VEC(knob_default) defaults; /* by knob */
    bool by_element;               /* those to come are for such a set: AT_BY_ELEMENT */
    const char *filter;            /* NULL: none */
    const char *compute_text;
    const at_compute *given;                   /* what the text says; NULL: it is to be read */
    const char *compute_file, *compute_source; /* where it stands, and as it does; NULL: nowhere */
    openness open;
    const at_tree *begun;   /* where the rest is open */
    const at_tree *written; /* the part of the tree that somebody wrote; NULL: all or nothing */
    at_compute *compute;
    AT_VEC(tree_choice) trees;
    AT_VEC(sketch_choice) sketches;
    AT_VEC(layout) layouts;
    sparse_weight sparse;
    const void
        *foreign; /* its candidates are made elsewhere, there is no tree; NULL: they are not */
    AT_VEC(knob_require) requires;
    at_config first_valid; /* of a foreign one */
    AT_VEC(at_definition) definitions;
    double flops;     /* -1: to be counted */
    bool in_defaults; /* the row's defaults() runs: the task is defined */
    at_hash hash;
    at_error err;   /* the first mistake */
    bool has_place; /* a file and a line stand before it */
};

/* Names (names.c). Adds one that is not there yet. */
int at_template_symbol(at_template *t, const char *name, int64_t value, bool varies);
bool at_template_is_named(const at_template_row *r, const char *name);
const at_template_row *at_template_added(const char *name); /* the user's; NULL (added.c) */
/* The user's file whose functions the row's are; NULL: they are ours. */
const char *at_template_code_file(const at_template_row *row);
/* What the calls of template.h share (template.c). Whether a call is to do something: no mistake
 * before, and no NULL for a text; defines: of a call that only define() makes. */
bool at_template_has_text(at_template *t, const char *call, const char *text);
bool at_template_defines(at_template *t, const char *call, const char *text);
/* A definition, kept for at_task_definition; `call` is a part of the task's hash, too. */
void at_template_keep_hashed(at_template *t, const char *call, at_definition d);
/* A definition or a decision, for other shapes. */
void at_template_note(at_template *t, int slot, const at_expr *e, int64_t value);
/* The current token, a name that nothing has yet. */
at_status at_template_new_name(at_template *t, at_lex *l, char **out);
/* A reorder's number in the lexicographic list of all orders; the marks of an annotation, 0 none,
 * 1 unroll, 2 vec. Returns how many. */
int at_knob_values(const at_entity *e, int64_t *out);
/* An option as a number (true is 1); false where it is none, such as a text. */
bool at_option_value(const at_entity *e, int64_t *out);
/* Names of an expression become slots. varies: set where one of them does. */
at_status at_template_resolve(at_template *t, const at_lex *l, at_expr *e, bool *varies);
/* All of a text as one expression over sizes; its value while defining. They fill t->err. */
at_status at_template_expr(at_template *t, const char *text, const char *what, at_expr **out,
                           bool *varies);
at_status at_template_value(at_template *t, const char *of, const at_expr *e, int64_t *out);
/* What at_layout noted (layout.c). */
at_status at_layout_parse(at_template *t, layout *l);
/* What the computation says; what a schedule says, over the computation as it is now (template.c).
 */
at_status at_template_read_compute(at_template *t, at_compute **out);
at_status at_template_read_tree(at_template *t, const at_compute *c, const tree_choice *x,
                                const char *what, bool may_be_open, at_tree **out);
/* The row's functions (call.c); the first mistake. AT_E_INPUT: the user's own code crashed. */
at_status at_call_define(at_template *t, at_error *err);
at_status at_call_defaults(at_template *t, int lanes, at_error *err);
/* The decisions that change nothing of the computation, [decisions.len] (idle_decisions.c). args:
 * of the task, as text. */
bool *at_idle_decisions(at_arena *a, const at_template *t, const char *args);
/* The configuration that a template's defaults make, in a (defaults.c). */
at_status at_defaults_config(at_arena *a, const at_template *t, at_config *out, at_error *err);
/* An empty space for knobs, of at most 2^56 points: lists of more are thinned. */
at_space *at_template_space(at_arena *a);
/* Runs define() and parses the computation that it noted; then, once what it leaves open has its
 * sketches, the rest. They return the first mistake (define.c). */
at_status at_template_define(at_template *t, at_error *err);
at_status at_template_finish(at_template *t, at_error *err);

/* Arguments. Declares the row's with their defaults (args.c). */
at_status at_args_declare(at_template *t, at_error *err);
arg *at_args_find(at_template *t, const char *name, size_t length); /* NULL if absent */
/* is_whole: a tuple with all of its numbers, as in records; else with as few as say them. */
void at_arg_print(const at_template *t, const arg *a, bool is_whole, at_text *out);
/* "SAME" becomes numbers, where sizes that have been defined say which. False: nothing has. */
bool at_args_work_out(at_template *t);
const char *at_args_text(const at_template *t); /* as names */
/* task_title.c: as at_task_short_args and at_task_title have them. */
const char *at_template_short_args(at_arena *a, at_template *t);
const char *at_template_title(at_arena *a, at_template *t);
/* Reads the user's over the defaults, as names or as a record's array (args_read.c). */
at_status at_args_read(at_template *t, const char *text, at_error *err);
/* When all are read: whether texts are among those that the row lists. AT_E_USAGE */
at_status at_args_check_texts(at_template *t, at_error *err);
/* One value; what: its spelling, for messages. AT_E_USAGE */
at_status at_arg_take(at_template *t, arg *a, const at_json *v, const char *what, at_error *err);
/* As a record has them (args_record.c). text: of the array. */
at_status at_args_json(at_template *t, const at_json **out, at_error *err);
at_status at_args_read_array(at_template *t, const char *text, at_error *err);

#endif
