/* sketch/schedulable.h: computation, sizes, knobs and loop tree together: what a template says, as
 * a value. It is made of calls or of a template's task, and printed as a template's file, which
 * compiles and tunes as it is. It never changes.
 *
 * Most are tried when they are made: the trees of the default and of some random configurations
 * keep the rules of at_program_verify. Edits as values, beside it, make the computation and the
 * tree of another one; their source: schedule/edit/edit.h. */
#ifndef AT_SKETCH_SCHEDULABLE_H
#define AT_SKETCH_SCHEDULABLE_H

#include "schedule/edit/edit_compute.h"
#include "templates/task.h"

/* How large the parts of a split are by default, but for the first: from the last on, each the
 * largest divisor of what is left within its limit: so many vectors, else a number, for vectors of
 * 16 lanes and for shorter ones; 0: no limit. */
typedef struct at_part_limit {
    int vectors, wide, narrow;
    bool lanes; /* the part is lanes, as one of so many vectors is */
    bool cut;   /* conditions cut these lanes, which costs a tail more */
    int square; /* a part is whole squares of so many elements, and a rest at least one; 0: any */
} at_part_limit;
typedef struct at_split_limits {
    const char *knob, *axis;
    /* Where no divisor comes near it, the limit itself; of lanes also where it takes fewer
     * registers than the divisor, which leaves a part of each empty; of cut ones three quarters. */
    bool tails;
    int num_parts;
    at_part_limit part[8]; /* [num_parts] the first is not looked at */
} at_split_limits;

typedef struct at_schedulable {
    at_template_row row; /* a template like any other; first, so that its define() finds the rest */
    const at_definition *definitions;
    int num_definitions;
    const at_split_limits *limits;
    int num_limits;
    const char *compute_text, *tree_text;
    const at_tree *written;    /* the part of the tree that somebody wrote; NULL: all or nothing */
    const at_compute *compute; /* what the texts say; NULL: they have not been read */
    const at_tree *tree;
    const char *file;               /* that its text stands in; NULL: none */
    const struct at_sketch *sketch; /* its only one, whose tree it has; NULL: its own */
    at_task *task;                  /* with the default arguments; NULL as long as it is untried */
} at_schedulable;

/* Not tried yet: a row whose texts may be wrong. Everything of `like` is taken but the functions of
 * its row and its task. It lives in a and borrows texts and values, but no lists of these; where a
 * text is NULL, the value is printed. */
at_schedulable *at_schedulable_untried(at_arena *a, const at_schedulable *like);
/* The same with the name of a task, and its numbers as arguments: "N=1, H=56", "[N, H]". Texts and
 * tuples are in its definitions already, as what they evaluated to. */
at_schedulable *at_schedulable_of_numbers(at_arena *a, const at_task *t, at_schedulable like);
/* Tries it, and fills in the rest: the default configuration, which must have a program, and some
 * random ones must keep the rules of trees. AT_E_INPUT, AT_E_USAGE: as at_task_new; "rule 4
 * (completion): ..." where a tree breaks a rule. */
at_status at_schedulable_try_only(at_arena *a, at_schedulable *s, at_error *err);
/* What a template says of a task, with the task's arguments as defaults and the tree that its
 * default configuration chooses. */
at_status at_schedulable_of_task(at_arena *a, const at_task *t, const at_schedulable **out,
                                 at_error *err);
/* The program of a configuration as a template of that configuration alone, in numbers
 * (schedulable_try.c). AT_E_INPUT: there is no program. */
at_status at_schedulable_of_config(at_arena *a, const at_task *t, const at_config *c,
                                   const at_schedulable **out, at_error *err);

typedef enum at_edit_kind {
    AT_EDIT_SPLIT, /* loop of stage into `names`, by the new knob `knob`; or into two, the second of
                    * them of size `other`; or, neither, into names of these `sizes` */
    AT_EDIT_ORDER, /* `names`: loops of stage */
    AT_EDIT_FUSE,  /* `names`: loops of stage */
    AT_EDIT_NEST,  /* stage into `loop` of `other`, before it or behind it */
    AT_EDIT_JOIN,  /* the same with its own loops; no loop: outside of all */
    AT_EDIT_DISSOLVE, /* stage */
    AT_EDIT_INLINE,   /* stage; of a sum, its reductions `names` have these `sizes` */
    AT_EDIT_COPY,     /* kind `copy` of tensor `other` for stage; names[0]: the new stage */
    AT_EDIT_RENAME,   /* stage: its axes are `names` */
    AT_EDIT_WIDEN,    /* stage: its range `loop` goes as far as it may */
    AT_EDIT_OPERAND,  /* what stage makes of `other` and the like, or reads of it along axis
                       * `loop`; names[0]: the new stage */
    AT_EDIT_PLACE,    /* where stage reads `other`, by entries and axes; names[0]: the new stage */
    AT_EDIT_PAD,      /* what stage reads of `other` by conditions; names[0]: the new stage */
    AT_EDIT_TURN,     /* what stage reads of `other` along axis `loop`; names[0]: the new stage */
    AT_EDIT_ACROSS,   /* stage's sum with axis `loop` as its last one; names[0]: the new stage */
    AT_EDIT_PHASES,   /* stage's sum by phases of axis `loop`; names[0]: the new stage; other: NULL,
                       * or "whole": its reduction is as long for each phase; sizes[1], sizes[2]:
                       * what undoes the reduction's factor, where it has one */
    AT_EDIT_BRANCHES, /* stage's sum by the two sides of a choice; names[0], names[1]: these sums */
    AT_EDIT_SEARCH,   /* stage looks for its place in a block of sizes[0]; names[0]: the extremes of
                       * blocks; names[1]: where the block begins */
    AT_EDIT_BOUND,    /* stage's sum is 0 where nothing counts of it */
    AT_EDIT_QUOTIENT, /* stage's sum of quotients; names[0]: the sum of what is divided */
    AT_EDIT_UNPACK,   /* entries that stage's axis `loop` goes over; names[0]: their stage */
    AT_EDIT_FACTOR,  /* loop of stage; names[0]: the new stage; other: NULL, or before which axis */
    AT_EDIT_MARK,    /* loop of stage: ann */
    AT_EDIT_DROP,    /* loop of stage */
    AT_EDIT_RUNNING, /* stage */
    AT_EDIT_SCATTER, /* stage */
    AT_EDIT_FISSION, /* stage */
    AT_EDIT_REPEAT,  /* stage in names[0] of sizes[0], around `loop`; no loop: around its leaf */
    AT_EDIT_INIT,    /* stage */
    AT_EDIT_ATTRIBUTE, /* stage: `other`, as a tree's text has it */
    AT_EDIT_SIZE,      /* names[0] is sizes[0] */
    AT_EDIT_SHIFT, /* stage's `other` is names[0], names[1] sums of the other operand; names[2] is
                      the sum then */
    AT_EDIT_KINDS
} at_edit_kind;
#define AT_EDIT_MAX_NAMES 64
typedef struct at_edit {
    at_edit_kind kind;
    const char *stage, *loop, *other, *knob;
    const char *names[AT_EDIT_MAX_NAMES]; /* NULL behind the last */
    int64_t sizes[AT_EDIT_MAX_NAMES];     /* of names; 0: not said */
    bool before;
    at_copy_kind copy;
    at_ann ann;
    at_split_spec spec; /* of the knob */
} at_edit;

/* What an edit makes of a computation and its tree. A split's parts become names of symbols, which
 * are c's, and *knob its definition (a split, or sizes; else without a text). */
at_status at_edit_make(at_arena *a, at_symbols *symbols, const at_compute *c, const at_tree *t,
                       const at_edit *e, const at_compute **compute, at_tree **tree,
                       at_definition *knob, at_error *err);

/* "split mul k into k0 k1 by tile_k", "split mul k into k0:4 k1:16" (edits.c). */
void at_edit_print(at_text *out, const at_edit *e);
/* Reads such a line; texts live in a. AT_E_INPUT names its line. */
at_status at_edit_parse(at_arena *a, at_lex *l, at_edit *out, at_error *err);
int at_edit_num_names(const at_edit *e);
/* How long an axis of a stage is, as text; NULL: it has no such axis. */
const char *at_axis_length(at_arena *a, const at_compute *c, const char *stage, const char *axis);
/* As the C file of a template, which says what it was when it was printed. */
void at_schedulable_print(at_text *out, const at_schedulable *s);
/* Is it such a file, and as it was printed? One that somebody went on with is not. */
bool at_schedulable_is_printed(const char *text);

#endif
