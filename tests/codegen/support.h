/* tests/codegen/support.h: calls that must succeed, a folder for files of compilers. */
#ifndef AT_TESTS_CODEGEN_SUPPORT_H
#define AT_TESTS_CODEGEN_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/base.h"

#define CALL(call)                                                                                 \
    do {                                                                                           \
        at_error err = {.status = AT_OK};                                                          \
        if ((call) != AT_OK) fail_msg("%s", err.text);                                             \
    } while (0)

/* Made before and removed behind a group of tests. */
extern char folder[];
int make_folder(void **state);
int remove_folder(void **state);

#endif
