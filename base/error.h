/* base/error.h: what a function says of how it ended. */
#ifndef AT_BASE_ERROR_H
#define AT_BASE_ERROR_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* ---- status and error (error.c) ------------------------------------------------------------ */

typedef enum at_status {
#define AT_STATUS(code, exit_code, text) code,
#include "base/status.def"
#undef AT_STATUS
    AT_STATUS_COUNT
} at_status;

int at_exit_code(at_status s);           /* documented exit code of the program */
const char *at_status_text(at_status s); /* one line */

/* The user's mistake, or the world's: one line naming place, value and what would be accepted. */
typedef struct at_error {
    at_status status;
    char text[1024];
} at_error;

/* Fills err (may be NULL) and returns s, so that callers write: return at_fail(err, ...). Names may
 * be of any bytes: the text is made visible (visible.c). */
at_status at_fail(at_error *err, at_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The same, for what quotes several lines: a source with a caret, a compiler. */
at_status at_fail_lines(at_error *err, at_status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Puts "prefix" before the text already in err, for adding the place; returns err->status. err is
 * not NULL. */
at_status at_fail_at(at_error *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Our own bug: prints file, line and text on stderr and aborts. */
#define AT_BUG(...) at_bug(__FILE__, __LINE__, __VA_ARGS__)
#define AT_ASSERT(c) ((c) ? (void)0 : AT_BUG("assertion failed: %s", #c))
_Noreturn void at_bug(const char *file, int line, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Memory has run out in the middle of something: says so on stderr and ends the program, exit code
 * 1. Logs hold whole lines at any time. */
_Noreturn void at_out_of_memory(size_t size_bytes);      /* 0: unknown how much was asked for */
#define AT_NEED(p) ((p) ? (void)0 : at_out_of_memory(0)) /* what malloc has returned */

#define AT_TRY(call)                                                                               \
    do {                                                                                           \
        at_status at_try_s = (call);                                                               \
        if (at_try_s != AT_OK) return at_try_s;                                                    \
    } while (0)

#endif
