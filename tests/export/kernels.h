/* tests/export/kernels.h: kernels of templates as `apply` makes them, and compilers. */
#ifndef AT_TESTS_EXPORT_KERNELS_H
#define AT_TESTS_EXPORT_KERNELS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "export/export.h"
#include "templates/task.h"
#include "tests/cpu.h"

#define CALL(call)                                                                                 \
    do {                                                                                           \
        at_error err = {.status = AT_OK};                                                          \
        if ((call) != AT_OK) fail_msg("%s", err.text);                                             \
    } while (0)

at_task *task_of(at_arena *a, const char *name, const char *args);
/* false: this configuration makes no program. */
bool kernel_of(at_arena *a, at_task *task, const at_config *c, at_dialect dialect,
               const at_target *target, const char *name, at_file_kernel *out);
/* A folder of the test program's own, made before and removed behind a group of tests. */
extern char folder[];
int make_folder(void **state);
int remove_folder(void **state);
bool has_compiler(const char *name);
void write_text(const char *name, const char *text); /* in the folder */
/* A shell command there; fails where it does not end with 0. */
void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
