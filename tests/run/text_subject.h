/* tests/run/text_subject.h: a computation with the data that a worker gets for it, and its outputs
 * as they should be: does a changed one compute something else? */
#ifndef AT_TESTS_RUN_TEXT_SUBJECT_H
#define AT_TESTS_RUN_TEXT_SUBJECT_H

#include "engine/data/dataset_cover.h"
#include "tests/run/point_value.h"
#include "tests/run/text_mutant.h"

/* A draw of ordinary and special values, and what the computation makes of it. */
enum { OTHER_DRAWS = 3 };
typedef struct text_other {
    char **inputs; /* [tensor] */
    char *outputs; /* NULL: not yet */
} text_other;

/* The computation as C, compiled. */
typedef struct text_made {
    void *object;
    int (*run)(void *const buf[], void *workspace, void *par);
    int64_t workspace_bytes;
} text_made;

typedef struct text_subject {
    at_arena *arena;
    const char *name;
    const at_task *task;
    at_compute *compute;
    const int64_t *values;
    int64_t **extents;
    at_dataset draw[AT_MOST_DRAWS];
    points *points[AT_MOST_DRAWS];
    int num_draws;
    char **apart[AT_MOST_DRAWS]; /* [draw][tensor] of inputs, NULL: those of the dataset */
    at_dataset cover;            /* its store is NULL where there is none */
    at_moved moved;
    char **kept;     /* [tensor] the cover's inputs before any run */
    int64_t taken;   /* the run that the cover has the inputs of; -1: of none */
    text_made right; /* with limits where the cover needs them; where there is one */
    text_other other[OTHER_DRAWS];
    int64_t bytes; /* of their outputs */
} text_subject;

/* name: of a template, or a computation's file. Fails the test where its task cannot be made, or
 * the elements of the original are not what its reference has. */
void text_subject_open(text_subject *s, const char *name, const char *args);
void text_subject_close(text_subject *s);
/* Do some elements differ, as the worker compares? m: the change that is made; NULL: none. */
bool text_subject_differs_in_points(text_subject *s, const text_mutant *m, at_rng *rng);
/* Is element i of output t so, as the worker compares? */
bool text_subject_agrees(const at_dataset *d, int t, int64_t i, double got);
/* The first draw holds ordinary numbers, from the second seed on special ones among them; of seed 0
 * what the worker gets. */
void text_subject_fill_otherwise(text_subject *s, uint64_t seed);
/* The cover has the inputs of a run with other numbers, or with winners at other places, and what
 * its outputs should be; false: there is no such run. */
bool text_subject_take_run(text_subject *s, int64_t run);
/* The last draw, of exact values, as a run with --paranoid has it: some elements of inputs are no
 * numbers; any false: as it was. Does it have such elements now? */
bool text_subject_add_specials(text_subject *s, bool any);
/* Noticed: some element differs. The same: all bits of all outputs are equal on three draws of
 * ordinary and special values. m is made before and after. */
typedef enum text_verdict { TEXT_NOTICED, TEXT_SAME, TEXT_NOT_NOTICED } text_verdict;
text_verdict text_subject_judge(text_subject *s, const text_mutant *m);

/* Does this text, of the same tensors, make something else of the data? As the worker compares, on
 * all runs whose winners go from place to place, too. */
bool text_subject_tells_from(const text_subject *s, const char *text);

/* Is it, but for rounding, the same function of ordinary numbers? As where what is left out of a
 * difference from a mean adds up to 0. The change is made before and after. */
bool text_subject_rounds_otherwise(text_subject *s, const text_mutant *m, at_rng *rng);

/* How many mutants of a task nobody notices, where so many others are. */
typedef int mutants_missed(const char *name, const char *args, int wanted);
/* The same of all tasks, {name, arguments}, that are asked for: AT_ONLY=softmax: those whose names
 * contain that; AT_ONLY==softmax: the one with this name. wanted: of each; 0: `all`, and five times
 * as many of sums of bytes, which go wrong in few elements. */
int mutants_missed_of(const char *const (*tasks)[2], int n, int wanted, int all,
                      mutants_missed *missed);
/* Those of all tasks, by AT_MUTANTS=all? */
bool mutants_are_all(void);

#endif
