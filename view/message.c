/* view/message.c: what people read. */
#include "view/view.h"

#include <errno.h>
#include <string.h>

at_status at_print(at_text *text, at_error *err) {
    at_status_line_clear();
    errno = 0;
    const bool is_written = at_terminal_write(stdout, text);
    const int why = errno;
    at_text_free(text);
    if (!is_written) return at_fail(err, AT_E_OUTPUT, "standard output: %s", strerror(why));
    return AT_OK;
}

static void say(const at_text *text) {
    at_status_line_clear();
    at_terminal_write(stderr, text);
}

void at_warn(void *unused, const char *text) {
    at_text line = {0};
    (void)unused;
    if (at_terminal_verbosity() == AT_VERBOSITY_QUIET) return;
    at_text_add(&line, "autotune: ");
    at_text_add_styled(&line, AT_STYLE_WARNING, "warning:");
    at_text_add(&line, " ");
    at_text_add_visible(&line, text);
    at_text_add(&line, "\n");
    say(&line);
    at_text_free(&line);
}

void at_say(at_text *text) {
    if (at_terminal_verbosity() != AT_VERBOSITY_QUIET) say(text);
    at_text_free(text);
}

void at_say_error(const char *text) {
    at_text lines = {0};
    at_text_add_styled(&lines, AT_STYLE_BAD, "autotune:");
    at_text_addf(&lines, " %s\n", text);
    say(&lines);
    at_text_free(&lines);
}
