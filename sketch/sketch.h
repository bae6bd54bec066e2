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
    const at_tree *begun;     /* what somebody wrote, with all its leaves; NULL: nothing */
    at_preference preference; /* what it is the default for */
    const char *undotted;     /* which sums of products of bytes are no dot products, and why; NULL:
                                 none */
} at_sketch;

/* ---- tasks (derive.c) ---------------------------------------------------------------------- */

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

/* Sketch i of a task as rules derived it; NULL: somebody wrote it. */
const at_sketch *at_sketch_of_task(const at_task *t, int i);

/* ---- .te files (te_file.c) ------------------------------------------------------------------- */

/* A template of such a text: `args` and `sizes` lines, then a computation; # begins a comment.
 * name: its file's, which is the template's, without folder and ending. The row lives in a and is
 * not registered. AT_E_INPUT: "my.te:3: ..." */
at_status at_te_parse(at_arena *a, const char *path, const char *text, size_t length,
                      const at_template_row **out, at_error *err);

/* The text of a file with the files that it includes in place of its lines `include "FILE.te"`,
 * each between lines that tell where it stands. AT_E_INPUT names file and line. */
at_status at_te_include(at_arena *a, const char *path, char **text, size_t *length,
                        size_t most_bytes, at_error *err);

/* ---- how a program comes about (history.c) ----------------------------------------------------
 * The edits that lead to it from the plain tree, one a line, and back; the decisions of its knobs.
 */

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

/* ---- records of Ansor (ansor_record.c) --------------------------------------------------------
 * A state of TVM's auto_scheduler is a list of stages with loops, which steps change; the last
 * state becomes a loop tree of ours over a computation with the stages that steps added. */

typedef struct at_ansor {
    const char *workload;               /* its name */
    const at_template_row *computation; /* as the workload has it, with the record's numbers */
    at_schedulable *program;            /* the record's, of one configuration */
    const char *notes;                  /* what of the record the tree lacks, a line each */
    double cost_s;                      /* mean; 0: it failed */
} at_ansor;

/* One line, which is {"i": [[workload key, ...], [[], steps]], ...}; in a. AT_E_INPUT: "step 7
 * (CA):
 * ...", an unknown workload, a tree that breaks a rule. */
at_status at_ansor_read(at_arena *a, const char *line, size_t length, at_ansor *out, at_error *err);
/* The part of a record that can be told without its steps. */
typedef struct at_ansor_head {
    const char *key; /* of the workload: ["matmul_add", 16, 16, 32] */
    double cost_s;   /* mean; 0: it failed */
} at_ansor_head;
/* In a. AT_E_INPUT: the line is no record. */
at_status at_ansor_look(at_arena *a, const char *line, size_t length, at_ansor_head *out,
                        at_error *err);
#endif
