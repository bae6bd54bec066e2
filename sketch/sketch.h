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
    bool is_preferred;    /* the task's default is one of these, if there are any */
    const char *undotted; /* which sums of products of bytes are no dot products, and why; NULL:
                             none */
} at_sketch;

/* ---- tasks (task_new.c) ---------------------------------------------------------------------- */

/* args: NULL or "" for the defaults; "N=10,H=256" (the others keep their defaults); or the record's
 * JSON array. AT_E_USAGE names argument and value: unknown, not a number, below 1, too large, or a
 * size that leaves 64 bits. AT_E_INPUT: a mistake of the template. Where the template leaves its
 * schedule open, rules derive it. The task lives in a. */
at_status at_task_new(at_arena *a, const at_template_row *row, const char *args, at_task **out,
                      at_error *err);
/* The same with other values for some arguments: over is of the form "N=10,H=256". */
at_status at_task_new_over(at_arena *a, const at_template_row *row, const char *args,
                           const char *over, at_task **out, at_error *err);

/* The task that a record names, its arguments as it has them. AT_E_USAGE: there is no such
 * template, or they are none of its. */
at_status at_task_of_record(at_arena *a, const char *task, const at_json *args, at_task **out,
                            at_error *err);

/* What sketch i of a task was derived as; NULL: it was not. */
const at_sketch *at_sketch_of_task(const at_task *t, int i);

/* ---- .te files (te_file.c) ------------------------------------------------------------------- */

/* A template of such a text: `args` and `sizes` lines, then a computation; # begins a comment.
 * name: its file's, which is the template's, without folder and ending. The row lives in a and is
 * not registered. AT_E_INPUT: "my.te:3: ..." */
at_status at_te_parse(at_arena *a, const char *path, const char *text, size_t length,
                      const at_template_row **out, at_error *err);
#endif
