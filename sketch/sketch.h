/* sketch/sketch.h: loop trees that nobody wrote: rules derive from a computation a few trees with
 * knobs, as schedulables; a .te file is a computation, and a template made of its sketches. */
#ifndef AT_SKETCH_H
#define AT_SKETCH_H

#include "sketch/facts.h"
#include "sketch/schedulable.h"

typedef struct at_sketch {
    const char *name;     /* "tile_j+pack_B": the rules and what they chose */
    at_schedulable *s;    /* untried */
    const at_edit *steps; /* from the plain tree, or from: */
    int num_steps;
    const at_tree *begun; /* what somebody wrote, with all its leaves; NULL: nothing */
} at_sketch;

/* What is derived from: a computation with its sizes, whose arguments have values. */
typedef struct at_derivation {
    const char *name, *args, *record_args; /* as in at_template_row */
    const char *compute, *what;            /* its text, and what messages call it */
    const char *tree;                      /* the part of it that somebody wrote; NULL: nothing */
    const char *tree_file;                 /* where that stands; NULL: nowhere */
    const at_definition *definitions;      /* sizes; with a tree, also the knobs that it has */
    int num_definitions;
    const at_symbols *symbols; /* arguments and sizes, and their values */
    const int64_t *values;
    const bool *varies; /* those that knobs decide; NULL: none */
} at_derivation;

/* The sketches in the order of their names' rules, the basic one first; in a. AT_E_INPUT: the text
 * is wrong, or no rule can place it. */
at_status at_derive(at_arena *a, const at_derivation *d, const at_sketch **out, int *n,
                    at_error *err);

/* From here on templates without a schedule are derived. */
void at_sketches_for_templates(void);
/* What sketch i of a task was derived as; NULL: it was not. */
const at_sketch *at_sketch_of_task(const at_task *t, int i);

/* ---- .te files (te_file.c) ------------------------------------------------------------------- */

/* A template of such a text: `args` and `sizes` lines, then a computation; # begins a comment.
 * name: its file's, which is the template's, without folder and ending. The row lives in a and is
 * not registered. AT_E_INPUT: "my.te:3: ..." */
at_status at_te_parse(at_arena *a, const char *path, const char *text, size_t length,
                      const at_template_row **out, at_error *err);
#endif
