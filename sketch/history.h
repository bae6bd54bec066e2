/* sketch/history.h: how a program comes about: the edits that lead to it from the plain tree, one a
 * line, and back; the decisions of its knobs. */
#ifndef AT_SKETCH_HISTORY_H
#define AT_SKETCH_HISTORY_H

#include "sketch/schedulable.h"

typedef struct at_steps {
    const at_edit *steps; /* with numbers; SIZE edits first, of what the computation is made with */
    int num_steps;
} at_steps;

/* Of a configuration's program: what rules did, where they derived it; else edits that make its
 * tree. Applied to the plain tree of the task's computation, they give the same program.
 * AT_E_INPUT: there is no program. */
at_status at_steps_of(at_arena *a, const at_task *t, const at_config *c, at_steps *out,
                      at_error *err);
/* A comment with task and arguments, then the steps. */
void at_steps_print(at_text *out, const at_task *t, const at_steps *h);
/* Edits, one a line; # begins a comment. AT_E_INPUT "FILE:3:7: ..." */
at_status at_steps_parse(at_arena *a, const char *what, const char *text, at_steps *out,
                         at_error *err);
/* The program that steps make of a task's plain tree, as a template of one configuration, for the
 * task's arguments. what names the steps in errors. AT_E_INPUT: a step cannot be done, or the tree
 * breaks a rule. The row lives in a. */
at_status at_steps_row(at_arena *a, const at_task *t, const char *what, const at_steps *h,
                       const at_template_row **out, at_error *err);
/* "tile_y = sample_tile(Y, 3) -> [56, 4, 14]", a line per knob. */
at_status at_trace_print(at_arena *a, const at_task *t, const at_config *c, at_text *out,
                         at_error *err);

/* The edits that make a tree with numbers of the plain one over its computation (tree_steps.c),
 * behind those that are in *out. tree: what the program was built from. AT_E_INPUT: it takes more
 * names than an edit has. */
typedef AT_VEC(at_edit) at_edits;
at_status at_tree_steps(at_arena *a, const at_program *p, const at_tree *tree, at_edits *out,
                        at_error *err);

#endif
