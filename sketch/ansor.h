/* sketch/ansor.h: records of Ansor (TVM's auto_scheduler): a state is a list of stages with loops,
 * which steps change; the last state becomes a loop tree of ours over a computation with the stages
 * that steps added. */
#ifndef AT_SKETCH_ANSOR_H
#define AT_SKETCH_ANSOR_H

#include "sketch/schedulable.h"

typedef struct at_ansor {
    const char *workload;               /* its name */
    const at_template_row *computation; /* as the workload has it, with the record's numbers */
    at_schedulable *program;            /* the record's, of one configuration */
    const char *notes;                  /* what the tree has not of it, a line each */
    double cost_s;                      /* mean; 0: it failed */
} at_ansor;

/* One line, which is {"i": [[workload key, ...], [[], steps]], ...}; in a. AT_E_INPUT: "step 7
 * (CA):
 * ...", an unknown workload, a tree that breaks a rule. */
at_status at_ansor_read(at_arena *a, const char *line, size_t length, at_ansor *out, at_error *err);
/* What is told of a line without its steps. */
typedef struct at_ansor_head {
    const char *key; /* of the workload: ["matmul_add", 16, 16, 32] */
    double cost_s;   /* mean; 0: it failed */
} at_ansor_head;
/* In a. AT_E_INPUT: the line is no record. */
at_status at_ansor_look(at_arena *a, const char *line, size_t length, at_ansor_head *out,
                        at_error *err);

#endif
