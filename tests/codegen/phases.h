/* tests/codegen/phases.h: one program executed in every form that lowering gives it, each compared
 * with the interpreter of the expressions. */
#ifndef AT_TESTS_PHASES_H
#define AT_TESTS_PHASES_H

#include "tests/codegen/operands.h"

typedef enum phase {
    PHASE_TREE, /* interpreter of the tree */
    PHASE_BUFFERS,
    PHASE_PARTITION,
    PHASE_TILES, /* the tile interpreter, one phase per instruction set */
    PHASE_C = PHASE_TILES + AT_ISA_COUNT,
    PHASE_COUNT
} phase;
const char *phase_name(phase f);

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

#endif
