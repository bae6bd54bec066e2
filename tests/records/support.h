/* tests/records/support.h: files in a directory of the test's own, warnings kept as text. */
#ifndef AT_TESTS_RECORDS_SUPPORT_H
#define AT_TESTS_RECORDS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "records/records.h"

int scratch_setup(void **state);    /* an empty directory, which becomes the current one */
int scratch_teardown(void **state); /* back again; the directory is removed */

void put_file(const char *name, const char *text);
char *get_file(at_arena *a, const char *name); /* NULL if there is none */
/* A file of the golden folder, from within the scratch directory. */
const at_json *golden(at_arena *a, const char *name);

/* Warnings, one per line. */
void keep_warning(void *text, const char *warning);

/* A record line (with '\n') of the task test_gemm(m), with the cost as it is spelled; error_no != 0
 * makes it a failure. target NULL: "llvm -keys=cpu -mcpu=znver4". extra: the value of our member,
 * or NULL. */
const char *line_of(at_arena *a, const char *target, int m, int index, const char *cost,
                    int error_no, const char *extra);
/* An extra member with this CPU and check state. */
const char *extra_of(at_arena *a, const char *cpu, const char *check);
const char *join(at_arena *a, ...); /* texts, ended by NULL */

#endif
