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

typedef enum step_kind { STEP_SIZE, STEP_SPLIT, STEP_OPTION } step_kind;

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
    int option; /* position in the list */
} knob_default;

typedef struct tree_choice {
    const char *condition_text, *text; /* "": always */
    const at_expr *condition;          /* NULL: always */
    at_tree *tree;
} tree_choice;

/* Calls only note the longer texts; they are parsed when all names are known. */
struct at_template {
    at_arena *arena;
    const at_template_row *row;
    int num_args; /* they are the first symbols */
    at_symbols symbols;
    AT_VEC(symbol) values;
    AT_VEC(step) steps;
    at_space *space;
    AT_VEC(knob_default) defaults; /* by knob */
    const char *filter;            /* NULL: none */
    const char *compute_text;
    at_compute *compute;
    AT_VEC(tree_choice) trees;
    at_hash hash;
    at_error err; /* the first mistake */
};

/* Adds a name that is not there yet. */
int at_template_symbol(at_template *t, const char *name, int64_t value, bool varies);
/* An option as a number (true is 1); false where it is none, such as a text. */
bool at_option_value(const at_entity *e, int64_t *out);
/* Runs define() and parses what it noted; returns the first mistake. */
at_status at_template_define(at_template *t, at_error *err);

/* Arguments (args.c). Declares the row's with their defaults, reads the user's over them. */
at_status at_args_declare(at_template *t, at_error *err);
at_status at_args_read(at_template *t, const char *text, at_error *err);
/* As a record has them; as names. */
at_status at_args_json(at_template *t, const at_json **out, at_error *err);
const char *at_args_text(const at_template *t);

#endif
