/* base/error.c: statuses, the one-line error, and our own bugs. */
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    int exit_code;
    const char *text;
} table[] = {
#define AT_STATUS(code, exit_code, text) {exit_code, text},
#include "base/status.def"
#undef AT_STATUS
};

int at_exit_code(at_status s) {
    AT_ASSERT((unsigned)s < AT_STATUS_COUNT);
    return table[s].exit_code;
}

const char *at_status_text(at_status s) {
    AT_ASSERT((unsigned)s < AT_STATUS_COUNT);
    return table[s].text;
}

/* Both ways of failing print into a buffer of their own first: an argument may be err->text. */
at_status at_fail(at_error *err, at_status s, const char *fmt, ...) {
    if (!err) return s;
    char text[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    err->status = s;
    memcpy(err->text, text, strlen(text) + 1);
    return s;
}

at_status at_fail_at(at_error *err, const char *fmt, ...) {
    AT_ASSERT(err);
    char text[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    size_t n = strlen(text);
    size_t kept = strnlen(err->text, sizeof text - 1 - n);
    memcpy(text + n, err->text, kept);
    text[n + kept] = 0;
    memcpy(err->text, text, n + kept + 1);
    return err->status;
}

void at_bug(const char *file, int line, const char *fmt, ...) {
    va_list ap;
    fflush(stdout);
    fprintf(stderr, "bug: %s:%d: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    abort();
}
