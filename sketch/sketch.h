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
