/* tests/codegen/ir_run.h: executes a program as it is between passes: statements and conditions by
 * their addresses (from `buffers` on), tiles by at_tile_interpret. */
#ifndef AT_TESTS_IR_RUN_H
#define AT_TESTS_IR_RUN_H

#include "codegen/tile/tile_make.h"

/* The storage that a kernel is called with. */
typedef struct ir_memory {
    void *const *buf; /* [num_params] */
    char *workspace;  /* the shared part, then one slice per thread */
    int threads;
} ir_memory;

/* Runs the kernel, or with pack the pack function. Iterations of parallel loops run backwards and
 * each poisons its thread's slice first. NULL, or what went wrong: an address outside its tensor.
 */
const char *ir_run(at_low *l, bool pack, const ir_memory *memory);

#endif
