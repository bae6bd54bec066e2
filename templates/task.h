/* templates/task.h: templates as the rest of the program sees them: the registry, and a task = a
 * template with arguments. */
#ifndef AT_TASK_H
#define AT_TASK_H

#include "base/base.h"
#include "knobs/knobs.h"
#include "schedule/schedule.h"
#include "templates/template.h"

int at_template_count(void);
const at_template_row *at_template_at(int i);
/* Of the user's own, from this file or of this text (NULL: of neither); row and text are borrowed
 * for good. It is found before those of its name that were added earlier or are built in. is_code:
 * its functions are the file's, and may crash. */
void at_template_add(const at_template_row *row, const char *file, const char *text, bool is_code);
const char *at_template_file(const at_template_row *row);     /* NULL: it is built in */
const char *at_template_own_text(const at_template_row *row); /* NULL: the file has it */
/* No file has its text: it came by standard input or with a log. */
bool at_template_has_no_file(const at_template_row *row);
/* As a command names it, behind a blank: " dense+bias", " mine/dense.te --fuse bias". with_log: of
 * a command with a log, which brings along the text that no file has. */
void at_template_add_words(at_text *out, const at_template_row *row, bool with_log);
/* For the user's own code that this thread runs from now on, 0.3 s at least; 10 s at first. */
void at_template_limit(double timeout_s);
/* at_attempt and at_attempt_fail with this limit. */
at_attempt_end at_template_attempt(void (*f)(void *ctx), void *ctx, bool confined,
                                   int *signal_number);
at_status at_template_attempt_fail(at_attempt_end end, int signal_number, at_error *err);
/* By name or record name, also with stages behind it, "dense+bias+relu"; AT_E_USAGE lists those
 * there are. */
at_status at_template_find(const char *name, const at_template_row **out, at_error *err);
/* The template with element-wise stages behind its output (at_epilogue_name), "bias,relu" where
 * `between` is ",": a template named NAME+bias+relu, whose row lives for ever. AT_E_USAGE: there is
 * no such stage. Whether they fit, at_task_new says (AT_E_USAGE). */
at_status at_template_fuse(const at_template_row *row, const char *stages, const char *between,
                           const at_template_row **out, at_error *err);
const at_template_row *at_template_base(const at_template_row *row); /* without such stages */
/* Appends the names of those that begin with this word: "conv2d_NCHWc, conv2d_nhwc". */
void at_template_add_beginning(at_text *out, const char *word);

#define AT_LARGEST_ARG ((int64_t)1 << 53)
typedef struct at_task at_task;
/* A task that is not finished, as sketch.h's at_task_new makes them. args: NULL or "" for the
 * defaults; "N=10,H=256" (the others keep their defaults); or the record's JSON array; over: other
 * values for some, as "N=10,H=256". AT_E_USAGE names argument and value: unknown, not a number,
 * below 1, too large, or a size that leaves 64 bits. AT_E_INPUT: a mistake of the template. The
 * task lives in a. */
at_status at_task_open(at_arena *a, const at_template_row *row, const char *args, const char *over,
                       at_task **out, at_error *err);
/* The template that sketches are to be added to, since it has a computation, sizes and no schedule,
 * or one that leaves something open (at_tree_is_open); NULL: it needs none. */
at_template *at_task_left_open(at_task *t);
/* Its schedules, or its sketches, are read. Errors as above. */
at_status at_task_finish(at_task *t, at_error *err);

/* The arguments of a record in the form in which records of this task are written: where
 * record_args has several, the first that goes with them. args itself where that is its form, or
 * where they are none of a template's; else it lives in a. */
const at_json *at_template_record_args(at_arena *a, const char *task, const at_json *args);

const at_template_row *at_task_row(const at_task *t);
const char *at_task_record_name(const at_task *t);
const at_json *at_task_args(const at_task *t);   /* as a record has them */
const char *at_task_args_text(const at_task *t); /* "N=1,H=56,W=56,CI=64,CO=64" */
/* The same in few signs, for names: "1x56x56x64_64_3x3"; no two tasks of a template have the same.
 * And for tables: "conv3x3 64 to 64 @56". In a. */
const char *at_task_short_args(at_arena *a, at_task *t);
const char *at_task_title(at_arena *a, at_task *t);
at_space *at_task_space(const at_task *t);
const at_compute *at_task_compute(const at_task *t);
/* Of all texts that decide on the space and its programs, 32 hex digits. Defaults are left out:
 * another default does not make old results another context's. */
const char *at_task_hash(const at_task *t);
bool at_task_has_para(const at_task *t); /* some of its kernels run on several threads */
double at_task_flops(const at_task *t);  /* multiply-adds x 2; -1 where they depend on data */
int64_t at_task_arg(const at_task *t, const char *name); /* value of an argument; -1 if absent */
/* The numbers among the arguments, in order, members of tuples each: how many there are, and number
 * i's name and value. */
int at_task_num_numbers(const at_task *t);
int64_t at_task_number(const at_task *t, int i, const char **name);

/* Of a tensor whose shape depends on the configuration: the order in which its axes make up the
 * plain tensor, which does not; NULL where the template says nothing. */
const int *at_task_layout(const at_task *t, int tensor);

/* Whether the value of a name differs between its configurations. slot: of its symbols. */
bool at_task_varies(const at_task *t, int slot);
/* How its computation comes about from the arguments: for shapes that no task was made of. */
void at_task_general(at_arena *a, const at_task *t, at_general *out);
/* Symbol values by slot with nothing in blocks: every tensor as the user has it. AT_E_INPUT: some
 * size cannot be worked out so. */
at_status at_task_plain_values(at_arena *a, const at_task *t, int64_t **values, at_error *err);
/* The task's own computation with these values, and no tree, where the one that was lowered was
 * edited by a sketch; else NULL. */
at_status at_task_written(at_arena *a, const at_task *t, const at_compute *lowered,
                          at_program **out, at_error *err);

/* The block-sparse weight of the template, in blocks of r x c; false: it has none. */
typedef struct at_bsr {
    int blocks, indices, indptr; /* tensors */
    int64_t rows, columns;       /* in blocks */
    int64_t r, c, nnz;
    bool nnz_given, r_given, c_given; /* by args */
} at_bsr;
bool at_task_bsr(const at_task *t, at_bsr *out);
/* What arguments alone say of it (r, c, nnz and which are given), before a task can be made of
 * them; *has: the template takes arguments of these names. Errors as at_task_new's. */
at_status at_sparse_args(at_arena *a, const at_template_row *row, const char *args, at_bsr *out,
                         bool *has, at_error *err);

/* ---- what define() called, for making another template of a task ----------------------------- */

typedef enum at_definition_kind {
    AT_DEFINE_SIZES,    /* text[0] */
    AT_DEFINE_SPLIT,    /* knob, axis, parts; spec */
    AT_DEFINE_OPTION,   /* knob, values; fallback */
    AT_DEFINE_REORDER,  /* knob, name, policy; fallback: loops */
    AT_DEFINE_ANNOTATE, /* knob, names, policy */
    AT_DEFINE_FILTER,   /* condition */
    AT_DEFINE_LAYOUT,
    AT_DEFINE_SPARSE, /* blocks, indices, indptr, columns */
    AT_DEFINE_FLOPS,
    AT_DEFINE_REQUIRE, /* condition, problem */
    AT_DEFINE_KINDS
} at_definition_kind;
typedef struct at_definition {
    at_definition_kind kind;
    const char *text[4];
    at_split_spec spec;
    int fallback;
    const char *file; /* where it stands; NULL: nowhere */
    int line;
} at_definition;
/* All calls but those of computation and trees, in order; owned by the task. */
int at_task_num_definitions(const at_task *t);
const at_definition *at_task_definition(const at_task *t, int i);
void at_define(at_template *t, const at_definition *d); /* calls it */
at_arena *at_template_arena(at_template *t);            /* lives as long as the task */
/* As at_compute_text and at_schedule, of what has been read already: as values, which live as long
 * as the row. The texts are what the task's hash is of. */
void at_compute_value(at_template *t, const at_compute *c, const char *text);
void at_schedule_value(at_template *t, const at_tree *tree, const char *text);
/* The file that messages name; source: the text there, of which lines without the computation are
 * blank. NULL: the computation is a value. */
void at_template_compute_stands(at_template *t, const char *file, const char *source);
const at_compute *at_template_computation(const at_template *t);
/* A mistake that was made now is at that line of a file. */
void at_template_stands_at(at_template *t, const char *file, int line);
/* Of a template that leaves it open, what is written of the schedule; NULL: nothing. It is open. */
const at_tree *at_template_begun(const at_template *t);
/* Of a template whose tree rules completed: what was written, whose lines messages name; borrowed.
 */
void at_template_tree_stands(at_template *t, const at_tree *written);
const at_definition *at_template_definitions(const at_template *t, int *n);
/* There is no tree: what makes candidates knows this template by the mark. Tensors must have one
 * shape in all configurations. */
void at_template_foreign(at_template *t, const void *mark);
const void *at_task_foreign(const at_task *t); /* NULL: it has trees */
/* A condition over knobs of all kinds (at_space_require); knob: when that one counts; NULL: what
 * all points keep. what: of the text, for errors. */
void at_knob_require(at_template *t, const char *knob, const char *condition, const char *what);
/* A part of what distinguishes the template's versions. */
void at_template_add_hash(at_template *t, const char *text);
/* The value of a name where the configuration has these (at_task_values). false: there is none. */
bool at_task_value(const at_task *t, const int64_t *values, const char *name, int64_t *out);
/* While a template is being defined: the names so far (a copy), their values by slot, which knobs
 * may decide. */
void at_template_numbers(at_template *t, at_arena *a, at_symbols *names, int64_t **values,
                         bool **varies);
/* The same mistake as `err` is this template's. */
void at_template_refuse(at_template *t, const at_error *err);
/* The row whose define() is running. */
const at_template_row *at_template_row_of(const at_template *t);
/* Instead of a tree: one of several sketches, templates of the same arguments and the same inputs
 * and outputs, whose spaces are summed up. The template's own computation is what is computed: data
 * and reference are its. The default is the first one's of those that are preferred for the
 * instruction set, else of those that always are, else of all. row and mark are borrowed. */
typedef struct at_preference {
    int general; /* how much for every set, as against other sketches; 0: not at all */
    int sets;    /* for those of which one of these facts is true: schedule/default_for.h */
} at_preference;
void at_sketch_add(at_template *t, const char *name, const at_template_row *row,
                   at_preference preference, const void *mark);
#define AT_SKETCH_KNOB "sketch" /* which one: the first knob of the sum */
/* Of a task made of sketches: how many; number i's name and task. */
int at_task_num_sketches(const at_task *t);
const char *at_task_sketch_name(const at_task *t, int i);
const void *at_task_sketch_mark(const at_task *t, int i); /* as given to at_sketch_add */
const at_task *at_task_sketch(const at_task *t, int i);
/* The one whose default is the task's, for lanes as in at_task_default_config; 0 where there are
 * none. */
int at_task_default_sketch(const at_task *t, int lanes);
/* The one of this name. AT_E_USAGE lists those that there are. */
at_status at_task_find_sketch(const at_task *t, const char *name, int *out, at_error *err);
/* The task that makes a configuration's program, and the configuration as a point of that one's
 * space: of a sketch, or the task itself. */
const at_task *at_task_of_config(const at_task *t, const at_config *c, at_config *own);
/* The tree that the template's conditions choose for a configuration of this task. */
at_status at_task_tree(at_arena *a, const at_task *t, const at_config *c, const at_tree **out,
                       at_error *err);

/* The configuration without tuning, for vectors of so many 32-bit lanes, facts of default_for.h
 * besides: what the template says, or fallback_split with its limits. */
at_status at_task_default_config(at_arena *a, const at_task *t, int lanes, at_config *out,
                                 at_error *err);
/* That of one of its sketches; the task's own is that of at_task_default_sketch. */
at_status at_task_sketch_default(at_arena *a, const at_task *t, int sketch, int lanes,
                                 at_config *out, at_error *err);
/* In both, c is a configuration of this task's space.
 * Symbol values by slot, those of the task's own computation. AT_E_INPUT where a size cannot be
 * worked out. */
at_status at_task_values(at_arena *a, const at_task *t, const at_config *c, int64_t **values,
                         at_error *err);
/* Values, the tree its conditions choose, and build: about a microsecond. Not verified. */
at_status at_task_build(at_arena *a, const at_task *t, const at_config *c, at_program **out,
                        at_error *err);
/* The same of many configurations, one at a time: what no knob changes is made once. b lives in a
 * and borrows the task; *out stands until the next is asked for. */
typedef struct at_builds at_builds;
at_builds *at_builds_new(at_arena *a, const at_task *t);
at_status at_builds_program(at_builds *b, const at_config *c, at_program **out, at_error *err);
/* at_task_build, and verify. A violation (AT_E_INPUT) is the candidate's error 1. */
at_status at_task_program(at_arena *a, const at_task *t, const at_config *c, at_program **out,
                          at_error *err);

#endif
