/* tests/codegen/phases.h: one program executed in every form that lowering gives it, each compared
 * with the interpreter of the expressions. */
#ifndef AT_TESTS_PHASES_H
#define AT_TESTS_PHASES_H

#include "tests/codegen/operands.h"

enum { NUM_TARGETS = 5 };
const at_target *phase_target(int i); /* below NUM_TARGETS, of every architecture */

typedef enum phase {
    PHASE_TREE, /* interpreter of the tree */
    PHASE_BUFFERS,
    PHASE_PARTITION,
    PHASE_TILES, /* the tile interpreter, one phase per target */
    PHASE_C = PHASE_TILES + NUM_TARGETS,
    PHASE_GNU, /* compiled: each dialect; for one of the sets that this CPU has */
    PHASE_TCC,
    PHASE_COUNT
} phase;
const char *phase_name(phase f);
/* How a phase lowers a program. */
at_lower_options options_of(const random_program *p, phase f, const char *name);

typedef enum verdict { VERDICT_OPEN, VERDICT_RUNNING, VERDICT_RIGHT, VERDICT_WRONG } verdict;
typedef struct outcome { /* lies in shared memory: children write it */
    verdict verdict;
    phase phase; /* running, or wrong */
    char text[600];
} outcome;

/* Runs phases first .. last of n programs, which build_open accepts, in child processes: one that
 * dies or hangs is an outcome like any other. out: from outcomes_new. */
void run_phases(const random_program *const *p, int n, phase first, phase last, outcome *out);
outcome *outcomes_new(int n);
void outcomes_free(outcome *out, int n);
void set_fault(outcome *o, const char *fault); /* or right, where NULL */

/* ---- compiled forms (compiled.c) ----------------------------------------------------------- */

/* Writes the C of one form of program i into dir; NULL or what went wrong. */
const char *write_source(built *b, const random_program *p, phase f, const char *dir, int i);
/* Compiles the forms first .. last of all programs whose verdict is right to dir/all.so, the others
 * stay out: those among them that do not compile get an outcome. false: nothing is left. */
bool compile_all(const random_program *const *p, int n, phase first, phase last, const char *dir,
                 outcome *out);
/* Runs one form of program i. */
const char *run_compiled(built *b, const random_program *p, phase f, int i, void *object,
                         const at_data *expected);

#endif
