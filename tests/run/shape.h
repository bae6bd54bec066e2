/* tests/run/shape.h: one task with data, its expected output and a worker, and kernels of it
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

/* What the inputs are: integers on which all sums are exact, or real values, and of the weights one
 * that is huge, or a row of tiny ones. */
typedef enum shape_values {
    SHAPE_EXACT,
    SHAPE_ORDINARY,
    SHAPE_ONE_HUGE,
    SHAPE_ROW_TINY,
    SHAPE_VALUES_COUNT
} shape_values;

typedef struct shape {
    at_arena *arena;
    at_task *task;
    at_store *store;
    at_worker *worker;
    const at_compute *of; /* whose tensors these are: sketches have stages of their own */
    int64_t *offset;      /* [tensor] in the store: of inputs and outputs */
    int64_t *expected; /* [tensor] of outputs, as the expressions give them; behind them the limits
                        * where values are real */
    shape_values values;
    uint64_t seed;
    int64_t **extents; /* [tensor][axis] what the store is filled for; NULL: nothing yet */
} shape;

/* How a kernel is made and run. */
typedef struct way {
    at_compiler compiler;
    int set; /* of vectors */
    bool pack_inline, paranoid;
} way;

typedef struct candidate {
    at_program *program;
    at_kernel *kernel;
} candidate;

/* Fails the test where the task cannot be made. Data are exact, ordinary where nothing is. Ended by
 * shape_close. */
void shape_open(shape *s, const char *template_name, const char *args);
void shape_close(shape *s);
/* From the next kernel on, other data. */
void shape_set_values(shape *s, shape_values values, uint64_t seed);
/* Puts this program's data where its kernels look for them. */
void shape_refill(shape *s, const at_program *p);

/* Everything up to the kernel's text; name is its prefix. The texts that all functions here return:
 * NULL, or what is wrong. */
const char *shape_lower(const shape *s, at_arena *a, const at_config *c, const way *w,
                        const char *name, candidate *out);
/* Runs it once (in paranoid mode three times, between guard pages) and compares the whole output:
 * bit by bit, of real values within the limits. object: of gcc and clang, holding this kernel among
 * others; else NULL. */
const char *shape_check(shape *s, at_arena *a, const candidate *c, const way *w,
                        const char *object);

#endif
