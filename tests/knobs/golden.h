/* tests/knobs/golden.h: recorded AutoTVM spaces, read for the tests of this folder. */
#ifndef AT_TESTS_KNOBS_GOLDEN_H
#define AT_TESTS_KNOBS_GOLDEN_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "knobs/knobs.h"

/* Parses tests/golden/NAME; fails the test if it cannot. */
const at_json *at_golden(at_arena *a, const char *name);
/* Declares one knob as the golden files describe it. */
at_status at_golden_declare(at_arena *a, at_space *s, const at_json *knob, at_error *err);
at_space *at_golden_space(at_arena *a, const at_json *knobs);

/* Text of a value written by print(out, ...), owned by arena. */
#define AT_PRINTED(arena, print, ...)                                                              \
    (at_text_clear(&at_printed), print(&at_printed, __VA_ARGS__),                                  \
     at_strdup((arena), at_text_str(&at_printed)))
extern at_text at_printed;

/* Each entry of array. */
#define AT_EACH(v, array) (const at_json *v = (array)->child; v; v = v->next)

#endif
