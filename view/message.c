/* view/message.c: what people read. */
#include "view/view.h"

void at_warn(void *unused, const char *text) {
    (void)unused;
    if (at_terminal_verbosity() == AT_VERBOSITY_QUIET) return;
    at_status_line_clear();
    fprintf(stderr, "autotune: %swarning:%s %s\n", at_style_begin(stderr, AT_STYLE_WARNING),
            at_style_begin(stderr, AT_STYLE_NONE), text);
}

void at_say(const char *text) {
    if (at_terminal_verbosity() == AT_VERBOSITY_QUIET) return;
    at_status_line_clear();
    fputs(text, stderr);
}

void at_say_error(const char *text) {
    at_status_line_clear();
    fprintf(stderr, "%sautotune:%s %s\n", at_style_begin(stderr, AT_STYLE_BAD),
            at_style_begin(stderr, AT_STYLE_NONE), text);
}
