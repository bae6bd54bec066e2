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

/* All ways of failing print into a buffer of their own first: an argument may be err->text. */
static at_status fail(at_error *err, at_status s, bool lines, const char *fmt, va_list ap) {
    char text[sizeof err->text];
    if (!err) return s;
    size_t n = (size_t)vsnprintf(text, sizeof text, fmt, ap);
    if (n >= sizeof text) { /* not a part of a character at the end */
        for (n = sizeof text - 1; n && (text[n - 1] & 0xc0) == 0x80; n--) {
        }
        text[n && (text[n - 1] & 0x80) ? n - 1 : n] = 0;
    }
    err->status = s;
    at_visible_into(err->text, sizeof err->text, text, lines);
    return s;
}

at_status at_fail(at_error *err, at_status s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fail(err, s, false, fmt, ap);
    va_end(ap);
    return s;
}

at_status at_fail_lines(at_error *err, at_status s, const char *fmt, ...) {
    va_list ap;
    va_start(ap, fmt);
    fail(err, s, true, fmt, ap);
    va_end(ap);
    return s;
}

at_status at_fail_at(at_error *err, const char *fmt, ...) {
    AT_ASSERT(err);
    char prefix[sizeof err->text], text[sizeof err->text];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(prefix, sizeof prefix, fmt, ap);
    va_end(ap);
    size_t n = at_visible_into(text, sizeof text, prefix, false);
    at_visible_into(text + n, sizeof text - n, err->text, true);
    memcpy(err->text, text, sizeof text);
    return err->status;
}

void at_bug(const char *file, int line, const char *fmt, ...) {
    va_list ap;
    char *text = NULL;
    fflush(stdout);
    va_start(ap, fmt);
    int length = vasprintf(&text, fmt, ap);
    va_end(ap);
    fprintf(stderr, "bug: %s:%d: ", file, line);
    for (const char *s = text, *end = text + length; length >= 0 && s < end;) {
        char shown[AT_VISIBLE_BYTES];
        int n = at_visible_next(&s, end, true, shown);
        fwrite(shown, 1, (size_t)n, stderr);
    }
    fputs("\n", stderr);
    abort();
}
