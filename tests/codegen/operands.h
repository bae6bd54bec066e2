/* tests/codegen/operands.h: the memory a kernel is called with, made to show every access outside:
 * each buffer ends or begins at a page that cannot be touched, the rest of its pages holds a
 * pattern that must stay, outputs and workspace are NaN, inputs cannot be written. */
#ifndef AT_TESTS_OPERANDS_H
#define AT_TESTS_OPERANDS_H

#include "tests/codegen/ir_run.h"
#include "tests/codegen/random_program.h"

enum { OPERANDS = 24, THREADS = 3 };

typedef struct guarded {
    char *map;
    size_t map_bytes;
    char *data;
    size_t bytes;
} guarded;

/* at_end: data runs up to the untouchable page behind, else it begins right after the one before.
 */
void guarded_open(guarded *g, size_t bytes, bool at_end);
void guarded_close(guarded *g);

typedef struct operands {
    const built *b;
    const at_param *params;
    int num_params;
    guarded mem[OPERANDS], workspace;
    void *buf[OPERANDS];
    ir_memory memory;
} operands;

void operands_open(operands *o, const built *b, const at_param *params, int num_params,
                   int64_t shared_bytes, int64_t thread_bytes, uint64_t seed);
/* What a run makes of what it finds is as before it. */
void operands_begin_again(const operands *o);
/* What a run left behind against what the expressions give: NULL if all is right. */
const char *operands_check(const operands *o, const at_data *expected);
void operands_close(operands *o);
/* Its elements, floats or integers of 32 bits. */
const void *elements_of(const at_data *d);
/* The first element that is not as expected; NULL: none. */
const char *find_difference(const built *b, const char *name, const void *found,
                            const at_data *expected, int64_t n);

#endif
