/* tests/run/shape.h: one task with exact data, its expected output and a worker, and kernels of it
 * compiled and checked there. */
#ifndef AT_TESTS_RUN_SHAPE_H
#define AT_TESTS_RUN_SHAPE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "codegen/codegen.h"
#include "runtime/runtime.h"
#include "templates/pattern.h"
#include "templates/task.h"

typedef struct shape {
    at_arena *arena;
    at_task *task;
    at_store *store;
    at_worker *worker;
    int64_t *offset;   /* [tensor] in the store: of inputs and outputs */
    int64_t *expected; /* [tensor] of outputs, as the expressions give them */
    int64_t **extents; /* [tensor][axis] what the store is filled for; NULL: nothing yet */
} shape;

/* How a kernel is made and run. */
typedef struct way {
    at_compiler compiler;
    at_isa isa;
    bool pack_inline, paranoid;
} way;

typedef struct candidate {
    at_program *program;
    at_kernel *kernel;
} candidate;

/* Fails the test where the task cannot be made. Ended by shape_close. */
void shape_open(shape *s, const char *template_name, const char *args);
void shape_close(shape *s);

/* Everything up to the kernel's text; name is its prefix. The texts that all functions here return:
 * NULL, or what is wrong. */
const char *shape_lower(const shape *s, at_arena *a, const at_config *c, const way *w,
                        const char *name, candidate *out);
/* Runs it once (in paranoid mode three times, between guard pages) and compares the whole output,
 * bit by bit. object: of gcc and clang, holding this kernel among others; else NULL. */
const char *shape_check(shape *s, at_arena *a, const candidate *c, const way *w,
                        const char *object);

#endif
